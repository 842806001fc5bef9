import { joinWords, when } from '../../contract/text.js'

/** Text in a plan: as it is, the value of a property that is given at run time (`-Jname=value`), or what an earlier reply contained. */
export type PlanText = readonly PlanPart[]
export type PlanPart = string | ((PlanProperty | PlanVariable) & Encoding)

export interface PlanProperty {
  readonly property: string
}

interface PlanVariable {
  readonly variable: string
}

interface Encoding {
  /** Its value is percent-encoded: in an address or a form signs have meanings. */
  readonly isEncoded?: boolean
}

/** Where a value is in a reply. Patterns are regular expressions with one group. */
export type ReplyPlace =
  | { readonly kind: 'json'; readonly keys: readonly (string | number)[] }
  /** The first element is 1. */
  | { readonly kind: 'element'; readonly selector: string; readonly attribute: string; readonly at: number }
  | { readonly kind: 'header'; readonly name: string; readonly pattern: string }
  | { readonly kind: 'body'; readonly pattern: string }

/** Takes a value from a reply into a variable, for later requests. */
export interface PlanExtract {
  readonly variable: string
  readonly from: ReplyPlace
}

/** What a reply must have in a header, besides its status. */
export interface PlanProof {
  /** What is expected, for people: `redirects as recorded`. */
  readonly words: string
  readonly from: ReplyPlace & { readonly kind: 'header' }
}

/** What a variable has if its reply did not contain it: the reply then counts as failed, whatever its status. */
export const NOT_FOUND = 'NOT_FOUND'

export interface PlanHeader {
  readonly name: string
  readonly value: PlanText
}

export interface PlanRequest {
  /** The label in all results. */
  readonly name: string
  readonly method: string
  /** Percent-encoded, with its query. */
  readonly path: PlanText
  readonly headers: readonly PlanHeader[]
  readonly body?: PlanText
  readonly extracts?: readonly PlanExtract[]
  readonly proofs?: readonly PlanProof[]
  /** It sends a password, and its reply lets the others in. */
  readonly isLogin?: boolean
  readonly isEnabled: boolean
  /** The first digit of the status that it was answered with: another one counts as failed. Without it redirects are followed. */
  readonly expects?: 2 | 3
  /** What to know before it is changed or enabled. */
  readonly note?: string
  /** How long a user waits before it; otherwise what holds for all requests. */
  readonly thinkMs?: number
}

/** Where the requests go unless properties say otherwise. */
export interface PlanTarget {
  readonly protocol: 'http' | 'https'
  readonly host: string
  readonly port: number
}

export interface RequestSet {
  /** Undefined if the source does not say. */
  readonly target: PlanTarget | undefined
  readonly requests: readonly PlanRequest[]
  /** What was left out or replaced, one sentence each. */
  readonly notes: readonly string[]
  /** Values that replies contain and later requests send: `token from POST /login → Authorization of 3 requests`. */
  readonly correlations: readonly string[]
  /** Properties that give access: without them the requests are refused. */
  readonly credentials: readonly string[]
}

/** A source that no plan can be made from; the message says why and what to do. */
export class SourceError extends Error {
  override name = 'SourceError'
}

/** A plan with more is not read by anyone. */
export const MOST_REQUESTS = 500
export const DEFAULT_TARGET: PlanTarget = { protocol: 'http', host: 'localhost', port: 8080 }

/** What a body is: others are not in a plan. */
export const FORM_TYPE = /^application\/x-www-form-urlencoded\b/i
export const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\b/i

const SAFE_METHODS: readonly string[] = ['GET', 'HEAD']
const METHODS: readonly string[] = [...SAFE_METHODS, 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** Whether a request only reads: the others are not sent thousands of times unless someone says so. */
export function isSafe(method: string): boolean {
  return SAFE_METHODS.includes(method)
}

export function isMethod(method: string): boolean {
  return METHODS.includes(method)
}

export function addressOf({ protocol, host, port }: PlanTarget): string {
  return new URL(`${protocol}://${host}:${port}`).origin
}

/** The target of an address; undefined if it is not an address that a plan can use. */
export function readTarget(url: URL): PlanTarget | undefined {
  const protocol = url.protocol === 'http:' ? 'http' : url.protocol === 'https:' ? 'https' : undefined
  // URLs allow more, but in a plan the name is an argument of a function.
  const isPlain = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])$/i.test(url.hostname)
  if (protocol === undefined || !isPlain) return undefined
  return { protocol, host: url.hostname, port: Number(url.port) || (protocol === 'http' ? 80 : 443) }
}

/** The properties that the enabled requests send. */
export function propertiesOf(requests: readonly PlanRequest[]): Set<string> {
  const enabled = requests.filter(({ isEnabled }) => isEnabled)
  return new Set(
    enabled.flatMap(({ path, headers, body = [] }) =>
      propertiesIn([...path, ...headers.flatMap(({ value }) => value), ...body])
    )
  )
}

export function propertiesIn(text: PlanText): string[] {
  return text.flatMap((part) => (typeof part !== 'string' && 'property' in part ? part.property : []))
}

const SHOWN_DISABLED = 10

/** Which requests are not sent, and how they would be. */
export function describeDisabled(requests: readonly PlanRequest[]): string[] {
  const disabled = requests.filter(({ isEnabled }) => !isEnabled)
  const isMethodOnly = ({ note = '' }: PlanRequest): boolean => note.includes('--all-methods')
  const namesOf = (list: readonly PlanRequest[]): string =>
    joinWords([...new Set(list.map(({ name }) => name))], SHOWN_DISABLED)
  const [unsafe, others] = [disabled.filter(isMethodOnly), disabled.filter((one) => !isMethodOnly(one))]
  return [
    ...when(
      unsafe.length > 0,
      `Disabled, because they change data: ${namesOf(unsafe)}. --all-methods --force enables them.`
    ),
    ...when(others.length > 0, `Disabled, with the reason in the plan: ${namesOf(others)}.`)
  ]
}

/** `token from POST /api/login → Authorization of 3 requests`. */
export function describeCorrelation(
  variable: string,
  from: string,
  to: readonly { readonly at: number; readonly name: string; readonly request: string }[]
): string {
  const names = [...new Set(to.map(({ name }) => readableName(name)))].slice(0, 3).join(', ')
  const places = new Set(to.map(({ at }) => at))
  const where = places.size === 1 ? (to[0]?.request ?? '') : `${places.size} requests`
  return `${variable} from ${from} → ${names} of ${where}`
}

const LONGEST_NAME = 120
/** What XML 1.0 cannot contain, not even escaped; and characters that change the direction of text. */
const UNPRINTABLE =
  // eslint-disable-next-line no-control-regex -- control characters are what is looked for
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\ufffe\uffff\u202a-\u202e\u2066-\u2069]|\p{Surrogate}/gu

export function escapeXml(text: string): string {
  const escapes: Record<string, string> = {
    ...{ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', '\r': '&#xd;' }
  }
  return text.replace(UNPRINTABLE, '\ufffd').replace(/[&<>"\r]/g, (sign) => escapes[sign] ?? sign)
}

/** Within a comment two hyphens would end it. */
export function escapeComment(text: string): string {
  return text.replace(UNPRINTABLE, '\ufffd').replace(/-(?=-)/g, '- ')
}

/** JMeter would run every `${…}`, wherever it comes from. Only in a text that contains a function does it read backslashes as escapes. */
export function encodeText(text: PlanText): string {
  const parts = joinLiterals(text)
  // Nothing but one literal, which JMeter leaves as it is.
  const [only = ''] = parts
  if (parts.length < 2 && typeof only === 'string' && !only.includes('${')) return only
  return parts
    .map((part) => {
      if (typeof part === 'string') return part.replaceAll('\\', '\\\\').replaceAll('${', '${__char(36)}{')
      const value = 'property' in part ? `\${__P(${propertyName(part.property)},)}` : `\${${part.variable}}`
      return part.isEncoded ? `\${__urlencode(${value})}` : value
    })
    .join('')
}

/** A `$` at the end of one part and a `{` at the start of the next are a function too. */
function joinLiterals(text: PlanText): PlanText {
  const joined: PlanPart[] = []
  for (const part of text) {
    const last = joined.at(-1)
    if (typeof part === 'string' && typeof last === 'string') joined[joined.length - 1] = last + part
    else joined.push(part)
  }
  return joined
}

/** A label: one short line, without anything that JMeter would run. */
export function readableName(text: string): string {
  const line = text
    .slice(0, 10 * LONGEST_NAME)
    .replace(UNPRINTABLE, ' ')
    .replace(/\$+(?=\{)/g, '')
    .replace(/\s+/g, ' ')
    .trim()
  // Not within a character of two units.
  return line.length <= LONGEST_NAME
    ? line
    : `${line.slice(0, LONGEST_NAME - 1).replace(/\p{Surrogate}$/u, '')}…`
}

/** The path as people read it, without its query. */
export function labelOf(path: PlanText): string {
  const nameOf = (part: Exclude<PlanPart, string>): string =>
    'property' in part ? part.property : part.variable
  const text = path.map((part) => (typeof part === 'string' ? part : `{${nameOf(part)}}`)).join('')
  return text.split('?')[0] ?? ''
}

/** Java refuses an address with other characters, although browsers send them. */
export function encodePath(path: string): string {
  return path
    .replace(/\p{Surrogate}/gu, '\ufffd')
    .replace(/[^A-Za-z0-9\-._~!$&'()*+,;=:@/?%]/gu, (sign) => encodeURIComponent(sign))
    .replace(/%(?![0-9A-Fa-f]{2})/g, '%25')
}

/** A name for `-Jname=value`: no commas, brackets or equals signs, and not one that the plan uses for itself. */
export function propertyName(text: string): string {
  const name =
    text
      .replace(/[^A-Za-z0-9_.-]+/g, '-')
      .slice(0, 60)
      .toLowerCase() || 'value'
  return OWN_PROPERTIES.includes(name) ? `recorded-${name}` : name
}

const OWN_PROPERTIES = ['threads', 'rampup', 'duration', 'protocol', 'host', 'port', 'think']

/** A name for a value of a reply that none of the others has. */
export function claimVariable(name: string, used: Set<string>): string {
  const base = name
    .replace(/\W+/g, '_')
    .replace(/^(?=\d)|^$/, 'value_')
    .slice(0, 60)
  return claimName(base, used)
}

/** The name, with a number if another one differs from it in capitals at most. */
export function claimName(base: string, used: Set<string>): string {
  let name = base
  for (let count = 2; used.has(name.toLowerCase()); count++) name = `${base}_${count}`
  used.add(name.toLowerCase())
  return name
}
