import { encodePath, propertyName } from './plan-text.js'
import type { PlanText } from './request.js'
import { isSecretName, isSecretValue } from './secrets.js'

/** Collects the names of what was replaced or dropped. */
export interface Removed {
  readonly properties: Set<string>
  readonly headers: Set<string>
}

/** Path and query. */
export function keepPath({ pathname, search }: URL, removed: Removed): PlanText {
  const path = pathname.split('/').flatMap((segment, at): PlanText => {
    const slash = at === 0 ? '' : '/'
    // A session id of Java servers.
    const [plain = '', ...parameters] = segment.split(';')
    if (isSecretValue(decode(plain))) return [slash, replaceBy('path-value', removed)]
    const kept = parameters.filter((text) => !isSecretName(text.split('=')[0] ?? '') && !isSecretValue(text))
    return [slash + encodePath([plain, ...kept].join(';'))]
  })
  return search === '' ? path : [...path, '?', ...keepPairs(search.slice(1), removed)]
}

/** `a=1&b=2` of a query or a form. */
export function keepPairs(text: string, removed: Removed): PlanText {
  return text.split('&').flatMap((pair, at): PlanText => {
    const ampersand = at === 0 ? '' : '&'
    const [name = '', ...value] = pair.split('=')
    const isSecret =
      value.length > 0 && (isSecretName(decode(name)) || isSecretValue(decode(value.join('='))))
    if (!isSecret) return [ampersand + encodePath(pair)]
    return [`${ampersand}${encodePath(name)}=`, replaceBy(decode(name), removed)]
  })
}

/** A plan is committed: what may be secret comes from a property instead. */
export function replaceBy(name: string, removed: Removed): { property: string } {
  const property = propertyName(name)
  removed.properties.add(property)
  return { property }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}

/** The sentence about what has to be given at run time. */
export function describeProperties({ properties }: Removed): string[] {
  if (properties.size === 0) return []
  const given = [...properties].map((name) => `-J${name}=…`).join(', ')
  return [`Values that may be secret are not in the plan; give them as override-parameters: ${given}`]
}
