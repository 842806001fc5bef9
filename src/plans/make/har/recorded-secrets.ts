import type { PlanHeader, PlanText } from '../request.js'
import { isSecretName, isSecretValue } from '../secrets.js'
import { keepPairs, replaceBy } from '../without-secrets.js'
import type { Removed } from '../without-secrets.js'
import type { Recorded } from './recorded.js'

/** What a browser sends by itself; JMeter has its own, or the server does not need it. */
const BROWSERS_OWN =
  /^(?::.*|sec-.*|host|connection|content-length|user-agent|referer|origin|accept-encoding|cache-control|pragma|upgrade-insecure-requests|dnt|te|priority|if-none-match|if-modified-since|keep-alive|proxy-connection|purpose)$/
const KEPT = /^(?:accept|accept-language|content-type|x-requested-with)$/
const DEEPEST_JSON = 60
const MOST_BODY_BYTES = 256 * 1024
/** Stand around a property's name while a body is JSON; for private use, so that no text needs them. */
const [MARK_START, MARK_END] = ['\ue000', '\ue001']

/** Headers that the application may need. Values are kept only where they cannot be secret: the others become properties. */
export function keepHeaders(headers: Recorded['headers'], removed: Removed): PlanHeader[] {
  const seen = new Set<string>()
  return headers.flatMap(([name, value]): PlanHeader[] => {
    const key = name.toLowerCase()
    if (BROWSERS_OWN.test(key) || !/^[a-z0-9_.-]+$/.test(key) || seen.has(key)) return []
    seen.add(key)
    if (key === 'cookie' || key === 'proxy-authorization') {
      removed.headers.add(name)
      return []
    }
    if (KEPT.test(key) && !isSecretValue(value)) return [{ name, value: [oneLine(value)] }]
    return [{ name, value: [replaceBy(key, removed)] }]
  })
}

/** A form or JSON; undefined for bodies in which secrets cannot be found. */
export function keepBody(body: NonNullable<Recorded['body']>, removed: Removed): PlanText | undefined {
  if (body.text.length > MOST_BODY_BYTES) return undefined
  if (/^application\/x-www-form-urlencoded/i.test(body.type)) return keepPairs(body.text, removed)
  if (!/^application\/(?:[\w.+-]+\+)?json/i.test(body.type)) return undefined
  try {
    const value: unknown = JSON.parse(body.text.replace(/[\ue000\ue001]/g, ''))
    return splitMarks(JSON.stringify(keepJson(value, removed, 0), null, 2))
  } catch {
    return undefined
  }
}

function keepJson(value: unknown, removed: Removed, depth: number): unknown {
  if (depth > DEEPEST_JSON) throw new Error('too deep')
  if (typeof value === 'string' && isSecretValue(value)) return mark('body-value', removed)
  if (Array.isArray(value)) return value.map((element) => keepJson(element, removed, depth + 1))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [
      key,
      isSecretName(key) && field !== null ? mark(key, removed) : keepJson(field, removed, depth + 1)
    ])
  )
}

function mark(name: string, removed: Removed): string {
  return `${MARK_START}${replaceBy(name, removed).property}${MARK_END}`
}

function splitMarks(text: string): PlanText {
  return text.split(MARK_START).flatMap((part, at): PlanText => {
    if (at === 0) return [part]
    const [property = '', rest = ''] = part.split(MARK_END)
    return [{ property }, rest]
  })
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}
