import { literal } from '../../../analysis/plans/check/request.js'
import { isConfidentialName } from '../../../contract/secret-names.js'
import type { ReplyPlace } from '../request.js'
import { isPlainName, mayBeSecret } from '../secrets.js'
import type { Recorded } from './recording.js'

/** A value of a reply that a later request may send. */
export interface ReplyValue {
  readonly value: string
  /** What the reply calls it. */
  readonly name: string
  readonly place: ReplyPlace
  /** Too short to be unique: it counts only in a path, after the name of its thing. */
  readonly isShortId: boolean
}

const MOST_CHARACTERS = 4 * 1024 * 1024
const MOST_VALUES = 10_000
const DEEPEST = 30
/** A shorter value may be anywhere by chance. */
const [LEAST_RANDOM, LEAST_NAMED, LONGEST] = [12, 6, 8192]
/** No spaces, quotes or backslashes: neither a sentence nor what would end the text around it. */
const ONE_WORD = /^[\w.~+/=:|@!*-]+$/
const ID_NAME = /^_?(?:id|ID|uuid|guid|number|no)$|(?:[a-z\d]I|[-_.]i|^i)d$|[a-z]ID$|[-_](?:uuid|guid)$/

/** The values of a reply that identify a user, a form or an object; the most specific place of each comes first. */
export function listValues(recorded: Recorded): ReplyValue[] {
  const text = recorded.responseText?.slice(0, MOST_CHARACTERS) ?? ''
  const isJson = /\bjson\b/.test(recorded.responseType)
  // Some APIs put this in front of it, so that no other site can run it; neither tool would read the rest as JSON.
  const isGuarded = isJson && text.startsWith(")]}'")
  const values = [
    ...(isJson && !isGuarded ? jsonValues(text) : []),
    ...(/html|xml/.test(recorded.responseType) ? elementValues(text) : []),
    ...headerValues(recorded),
    ...(isGuarded || /html|javascript|^text\//.test(recorded.responseType) ? assignedValues(text) : [])
  ]
  const seen = new Set<string>()
  return values.flatMap(({ value, name, place }) => {
    const strength = strengthOf(value, name, place)
    if (strength === undefined || !isPlainName(name) || seen.has(value)) return []
    seen.add(value)
    return [{ value, name, place, isShortId: strength === 'short id' }]
  })
}

type Candidate = Omit<ReplyValue, 'isShortId'>

/** Undefined if a request may contain the same by chance. */
function strengthOf(value: string, name: string, { kind }: ReplyPlace): 'strong' | 'short id' | undefined {
  if (value.length > LONGEST || !ONE_WORD.test(value) || /^\/|:\/\//.test(value)) return undefined
  const isId = ID_NAME.test(name)
  if (/^\d+$/.test(value)) {
    if (isId && kind === 'json') return value.length < LEAST_RANDOM ? 'short id' : 'strong'
    return isConfidentialName(name) && value.length >= LEAST_NAMED ? 'strong' : undefined
  }
  if (value.length >= LEAST_RANDOM && mayBeSecret(value)) return 'strong'
  const isNamed = isId || isConfidentialName(name)
  return isNamed && value.length >= LEAST_NAMED && /\d/.test(value) ? 'strong' : undefined
}

function jsonValues(text: string): Candidate[] {
  const found: Candidate[] = []
  const walk = (value: unknown, keys: readonly (string | number)[]): void => {
    if (found.length >= MOST_VALUES || keys.length > DEEPEST) return
    if (typeof value === 'string' || typeof value === 'number') {
      const name = keys.findLast((key) => typeof key === 'string') ?? ''
      found.push({ value: String(value), name, place: { kind: 'json', keys } })
    } else if (Array.isArray(value)) {
      value.forEach((element: unknown, at) => walk(element, [...keys, at]))
    } else if (typeof value === 'object' && value !== null) {
      for (const [key, field] of Object.entries(value)) if (isPlainName(key)) walk(field, [...keys, key])
    }
  }
  try {
    walk(JSON.parse(text), [])
  } catch {
    return []
  }
  return found
}

/** Fields of forms, and meta elements. */
function elementValues(text: string): Candidate[] {
  const counts = new Map<string, number>()
  return [...text.matchAll(/<(input|meta)\b((?:[^<>"']|"[^"]{0,8192}"|'[^']{0,8192}')*)>/gi)].flatMap(
    ([, tag = '', attributes = '']): Candidate[] => {
      const attribute = tag.toLowerCase() === 'meta' ? 'content' : 'value'
      const [name, value] = [attributeIn(attributes, 'name'), attributeIn(attributes, attribute)]
      if (name === undefined || value === undefined || !isPlainName(name)) return []
      const selector = `${tag.toLowerCase()}[name="${name}"]`
      const at = (counts.get(selector) ?? 0) + 1
      counts.set(selector, at)
      return [{ value, name, place: { kind: 'element', selector, attribute, at } }]
    }
  )
}

function attributeIn(attributes: string, name: string): string | undefined {
  const [, double, single, plain] =
    new RegExp(`(?:^|\\s)${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s"'>]+))`, 'i').exec(attributes) ?? []
  const text = double ?? single ?? plain
  return text?.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(amp|quot|apos|lt|gt));/gi, unescape)
}

const SIGNS: Readonly<Record<string, string>> = { amp: '&', quot: '"', apos: "'", lt: '<', gt: '>' }

function unescape(whole: string, decimal?: string, hexadecimal?: string, name = ''): string {
  const code = Number.parseInt(decimal ?? hexadecimal ?? '', decimal === undefined ? 16 : 10)
  if (Number.isNaN(code)) return SIGNS[name.toLowerCase()] ?? whole
  return code <= 0x10ffff ? String.fromCodePoint(code) : whole
}

/** Cookies, the addresses of redirects, and the application's own headers. */
function headerValues({ responseHeaders, url }: Recorded): Candidate[] {
  return responseHeaders.flatMap(([name, value]): Candidate[] => {
    const key = name.toLowerCase()
    if (key === 'set-cookie') return cookieValues(value)
    if (key === 'location') return locationValues(value, url)
    if (!isPlainName(name) || !/^[\w-]+$/.test(name) || COMMON_HEADER.test(key)) return []
    const [, scheme = '', word = ''] = /^\s*(Bearer\s+)?(\S+)\s*$/i.exec(value) ?? []
    const pattern = `^\\s*${scheme === '' ? '' : 'Bearer\\s+'}(\\S+)`
    return [{ value: word, name, place: { kind: 'header', name, pattern } }]
  })
}

const COMMON_HEADER =
  /^(?:etag|date|age|via|server|vary|expires|last-modified|content-.*|cache-.*|access-control-.*)$/

/** Browsers save several as one header with a line each. */
export function cookieValues(lines: string) {
  return lines.split('\n').flatMap((line) => {
    const [, name = '', value = ''] = /^\s*([\w.-]+)=([^;\s]+)/.exec(line) ?? []
    if (name === '' || !isPlainName(name)) return []
    const pattern = `(?:^|[\\s,;])${literal(name)}=([^;,\\s]+)`
    return [{ value, name, place: { kind: 'header' as const, name: 'Set-Cookie', pattern } }]
  })
}

function locationValues(location: string, base: URL): Candidate[] {
  if (!URL.canParse(location, base.href)) return []
  const { pathname, searchParams } = new URL(location, base)
  const segments = pathname.split('/')
  const ofPath = segments.flatMap((value, at): Candidate[] => {
    const before = segments[at - 1] ?? ''
    if (before === '' || !isPlainName(before)) return []
    const pattern = `/${literal(before)}/([^/?#\\s]+)`
    return [{ value, name: `${singular(before)}_id`, place: { kind: 'header', name: 'Location', pattern } }]
  })
  const ofQuery = [...searchParams].flatMap(([name, value]): Candidate[] => {
    if (!isPlainName(name)) return []
    const pattern = `[?&]${literal(name)}=([^&#\\s]+)`
    return [{ value, name, place: { kind: 'header', name: 'Location', pattern } }]
  })
  return [...ofPath, ...ofQuery]
}

/** `order` of `orders`. */
export function singular(word: string): string {
  return word.replace(/ies$/, 'y').replace(/(?<=[^s])s$/, '')
}

/** Attributes that say nothing about a value. */
const NOT_A_NAME = /^(?:value|content|href|src|class|style|id|for|action|integrity|type|charset|name)$/i

/** `csrfToken: "…"` in a script, `data-token="…"` of an element: the first of its name alone. */
function assignedValues(text: string): Candidate[] {
  const names = new Set<string>()
  const found = text.matchAll(/(?<![\w-])([\w-]{2,40})["']?\s{0,3}[:=]\s{0,3}["']([^"'\s<>\\]{6,4096})["']/g)
  return [...found].slice(0, MOST_VALUES).flatMap(([, name = '', value = '']): Candidate[] => {
    if (names.has(name) || NOT_A_NAME.test(name) || !isPlainName(name)) return []
    names.add(name)
    const pattern = `(?:^|[^\\w-])${literal(name)}["']?\\s{0,3}[:=]\\s{0,3}["']([^"'\\s<>\\\\]{6,})["']`
    return [{ value, name, place: { kind: 'body', pattern } }]
  })
}
