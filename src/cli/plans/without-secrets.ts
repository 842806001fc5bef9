import { encodePath, propertyName } from './plan-text.js'
import type { PlanText } from './request.js'
import { isConfidentialName } from '../../contract/secret-names.js'
import { isPlainName, isSecretSegment, mayBeSecret, isSecretValue } from './secrets.js'

/** Collects what was replaced or dropped. */
export interface Removed {
  readonly properties: Set<string>
  /** By the name of a value: the property of each. */
  readonly values: Map<string, Map<string, string>>
  readonly headers: Set<string>
}

const MOST_LISTED = 20
/** What says by its value what its neighbour is: `name=password&value=…`. */
const SELECTOR = /^(?:name|key|field|id|label|param|parameter|property|attribute|header)$/i

export function nothingRemoved(): Removed {
  return { properties: new Set(), values: new Map(), headers: new Set() }
}

/** What counts as secret in an address. */
interface Rules {
  readonly mayBeSecret: (value: string, name?: string) => boolean
  readonly isSecretSegment: (segment: string, before: string) => boolean
  readonly isSecretName: (name: string) => boolean
}

/** Nobody has read what was recorded. */
const RECORDED: Rules = { mayBeSecret, isSecretSegment, isSecretName: (name) => !isPlainName(name) }
/** Who types an address for a plan wants it there as it is. */
export const TYPED: Rules = {
  mayBeSecret: (value, name = '') => isConfidentialName(name) || isSecretValue(value),
  isSecretSegment: isSecretValue,
  isSecretName: isSecretValue
}

/** Path and query. */
export function keepPath({ pathname, search }: URL, removed: Removed, rules = RECORDED): PlanText {
  const segments = pathname.split('/')
  const path = segments.flatMap((segment, at): PlanText => {
    const slash = at === 0 ? '' : '/'
    // A session id of Java servers.
    const [plain = '', ...parameters] = segment.split(';')
    const before = decode(segments[at - 1] ?? '')
    if (rules.isSecretSegment(decode(plain), before)) return [slash, replaceBy('path-value', plain, removed)]
    const kept = parameters.filter((text) => !isSecretParameter(text, rules))
    return [slash + encodePath([plain, ...kept].join(';'))]
  })
  return search === '' ? path : [...path, '?', ...keepPairs(search.slice(1), removed, rules)]
}

/** `a=1&b=2` of a query or a form. */
export function keepPairs(text: string, removed: Removed, rules = RECORDED): PlanText {
  const pairs = text.split('&').map(splitPair)
  const isTelling = pairs.some(([name, value]) => namesSecret(decode(name), decode(value ?? '')))
  return pairs.flatMap(([name, value], at): PlanText => {
    const ampersand = at === 0 ? '' : '&'
    const plainName = decode(name)
    if (value === undefined)
      return [
        ampersand,
        rules.mayBeSecret(plainName) ? replaceBy('query-value', name, removed) : encodePath(name)
      ]
    const isNeighbour = isTelling && !namesSecret(plainName, decode(value))
    const isSecret = value !== '' && (isNeighbour || rules.mayBeSecret(decode(value), plainName))
    return [
      ampersand,
      rules.isSecretName(plainName) ? replaceBy('query-name', name, removed) : encodePath(name),
      '=',
      isSecret
        ? replaceBy(isPlainName(plainName) ? plainName : 'query-value', value, removed)
        : encodePath(value)
    ]
  })
}

export function namesSecret(name: string, value: unknown): boolean {
  return SELECTOR.test(name) && typeof value === 'string' && isPlainName(value) && isConfidentialName(value)
}

function isSecretParameter(text: string, rules: Rules): boolean {
  const [name, value] = splitPair(text)
  return rules.isSecretName(decode(name)) || rules.mayBeSecret(decode(value ?? name), decode(name))
}

/** The value is undefined if there is no `=`. */
function splitPair(text: string): [name: string, value: string | undefined] {
  const at = text.indexOf('=')
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)]
}

/**
 * A plan is committed: what may be secret comes from a property instead, one for each value, so that each can be given. The name
 * is printed: it never comes from a value.
 */
export function replaceBy(name: string, value: string, removed: Removed): { property: string } {
  const base = propertyName(name)
  const values = removed.values.get(base) ?? new Map<string, string>()
  removed.values.set(base, values)
  const given = values.get(value)
  if (given !== undefined) return { property: given }
  let count = values.size + 1
  const numbered = (): string => (count === 1 ? base : `${base.slice(0, 52)}-${count}`)
  // Another value may have such a name by itself.
  while (removed.properties.has(numbered())) count++
  const property = numbered()
  values.set(value, property)
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
export function describeProperties(properties: ReadonlySet<string>): string[] {
  if (properties.size === 0) return []
  const given = [...properties].slice(0, MOST_LISTED).map((name) => `-J${name}=…`)
  const more = properties.size - given.length
  const rest = more > 0 ? `, and ${more} more, each \${__P(name,)} in the plan` : ''
  return [
    `Values that may be secret are not in the plan; give them as override-parameters: ${given.join(', ')}${rest}`
  ]
}
