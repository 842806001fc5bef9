import { createHash } from 'node:crypto'
import { LONGEST_FINGERPRINT_TEXT, MOST_FINGERPRINT_PARTS } from '../../../contract/baseline.js'
import { shorten } from '../../../contract/text.js'

/** What must be equal for two runs to be comparable: the name of each part, as messages say it, and its value or hash. */
export type Fingerprint = Readonly<Record<string, string>>

const DATA_FILE = 'data file '
const PARAMETER = 'parameter '

export function dataFileKey(name: string): string {
  return `${DATA_FILE}${name}`
}

export function parameterKey(name: string): string {
  return `${PARAMETER}${name}`
}

/** The last word of a name that says where the target is: `target_host`, `BASE-URL`, `serverPort`, `host2`. */
const ADDRESS_WORDS = new Set([
  ...['host', 'hostname', 'port', 'url', 'uri', 'baseurl', 'server', 'domain', 'address', 'endpoint', 'ip'],
  ...['protocol', 'scheme']
])

/** Whether a parameter only says where the target is: it makes no difference between two runs. `users_per_host` is a load. */
export function isAddress(name: string): boolean {
  const words = name
    .replace(/(?<=[\p{Ll}\d])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/gu, '_')
    .toLowerCase()
    .split(/[^a-z]+/)
  return ADDRESS_WORDS.has(words.findLast((word) => word !== '') ?? '') && !words.includes('per')
}

/** Names whose values may be a path alone. */
const MAY_BE_PATH = /(?:ur[il]|endpoint)[^a-z]*$/i
const PLACE = /^(?:(?:[a-z][\w+.-]*:)?\/\/[^/?#]*|[\w.-]+:\d+(?![^/?#]))/i

/** What an address says besides where the target is: its path and its query. */
export function pathOf(name: string, value: string): string {
  const rest = value.replace(PLACE, '').replace(/^\/$/, '')
  return MAY_BE_PATH.test(name) || /[/?]/.test(rest) ? rest : ''
}

/** Without the parameters that do not count. */
export function withoutParameters(
  fingerprint: Fingerprint,
  isIgnored: (name: string) => boolean
): Fingerprint {
  return Object.fromEntries(
    Object.entries(fingerprint).filter(
      ([key]) => !key.startsWith(PARAMETER) || !isIgnored(key.slice(PARAMETER.length))
    )
  )
}

const SHOWN_DIFFERENCES = 4
const SHOWN_LENGTH = 60

/** How a difference is described: by both values, by a phrase, or only as a change, where the values are hashes. */
type Telling = 'values' | 'change' | { readonly phrase: string }

/** The parts in the order in which differences are listed: the plan explains most others. A name follows those that end with a space. */
const PARTS: ReadonlyMap<string, Telling> = new Map(
  Object.entries<Telling>({
    plan: 'change',
    [DATA_FILE]: 'change',
    tool: { phrase: 'the tool changed' },
    'tool version': { phrase: "the tool's version changed" },
    threads: 'values',
    'ramp-up': 'values',
    duration: 'values',
    'warm-up': 'values',
    'setUp and tearDown samples': 'values',
    grids: 'values',
    regions: 'values',
    [PARAMETER]: 'change',
    system: { phrase: "the runner's system differs" },
    CPU: { phrase: "the runner's CPU differs" },
    cores: { phrase: "the runner's number of cores differs" }
  })
)

const ORDER: readonly string[] = [...PARTS.keys()]

interface Difference {
  /** In one phrase: "the plan changed; threads: 10, was 5". */
  readonly words: string
  /** Whether a parameter is part of it. */
  readonly hasParameter: boolean
}

/** Undefined if the runs are comparable. Earlier versions recorded parameters that only say where the target is. */
export function findDifference(base: Fingerprint, head: Fingerprint): Difference | undefined {
  const [was, is] = [base, head].map(
    (side) => new Map(Object.entries(boundFingerprint(withoutParameters(side, isAddress))))
  ) as [Map<string, string>, Map<string, string>]
  const keys = [...new Set([...is.keys(), ...was.keys()])].filter((key) => was.get(key) !== is.get(key))
  if (keys.length === 0) return undefined
  const shown = keys.sort(byOrder).slice(0, SHOWN_DIFFERENCES)
  const phrases = shown.map((key) => describePart(key, was.get(key), is.get(key)))
  const hidden = keys.length - shown.length
  return {
    words: phrases.join('; ') + (hidden > 0 ? `; and ${hidden} more differences` : ''),
    hasParameter: shown.some((key) => key.startsWith(PARAMETER))
  }
}

export function describeDifference(base: Fingerprint, head: Fingerprint): string | undefined {
  return findDifference(base, head)?.words
}

export function isSameFingerprint(a: Fingerprint, b: Fingerprint): boolean {
  return findDifference(a, b) === undefined
}

/** Long texts are replaced by their hashes, and the last of too many parts by one hash: on both sides, so that equal runs stay equal. */
export function boundFingerprint(fingerprint: Fingerprint): Fingerprint {
  const parts = Object.entries(fingerprint).map(([key, value]) => [boundText(key), boundText(value)] as const)
  if (parts.length <= MOST_FINGERPRINT_PARTS) return Object.fromEntries(parts)
  const sorted = parts.sort(([a], [b]) => byOrder(a, b))
  const rest = sorted.slice(MOST_FINGERPRINT_PARTS - 1)
  return Object.fromEntries([
    ...sorted.slice(0, MOST_FINGERPRINT_PARTS - 1),
    [`${rest.length} further parts`, hash(JSON.stringify(rest))]
  ])
}

function boundText(text: string): string {
  if (text.length <= LONGEST_FINGERPRINT_TEXT) return text
  return `${text.slice(0, LONGEST_FINGERPRINT_TEXT / 2)}… ${hash(text)}`
}

export function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32)
}

function byOrder(a: string, b: string): number {
  return placeOf(a) - placeOf(b) || (a < b ? -1 : a > b ? 1 : 0)
}

function placeOf(key: string): number {
  const place = ORDER.findIndex((known) => (known.endsWith(' ') ? key.startsWith(known) : key === known))
  return place < 0 ? ORDER.length : place
}

function describePart(key: string, was: string | undefined, is: string | undefined): string {
  const telling = PARTS.get(key)
  const isReadable = [was, is].every((value) => value === undefined || !isHash(value))
  if (telling === 'values' && isReadable) return `${key}: ${show(is)}, was ${show(was)}`
  // The service may report it; nobody sets it.
  const missing = key === 'tool version' ? 'unknown' : 'not set'
  if (typeof telling === 'object')
    return isReadable ? `${telling.phrase} (${show(is, missing)}, was ${show(was, missing)})` : telling.phrase
  return `${nameOf(key)} ${was === undefined ? 'is new' : is === undefined ? 'is gone' : 'changed'}`
}

/** A hash tells people nothing. */
function isHash(value: string): boolean {
  return /^(sha\d+[:-])?[0-9a-f]{16,}$/i.test(value)
}

function show(value: string | undefined, missing = 'not set'): string {
  return value === undefined ? missing : shorten(value, SHOWN_LENGTH) || 'empty'
}

function nameOf(key: string): string {
  if (key.startsWith(DATA_FILE)) return `the data file ${shorten(key.slice(DATA_FILE.length), SHOWN_LENGTH)}`
  if (key.startsWith(PARAMETER))
    return `the parameter \`${shorten(key.slice(PARAMETER.length), SHOWN_LENGTH)}\``
  return ORDER.includes(key) ? `the ${key}` : `"${shorten(key, SHOWN_LENGTH)}"`
}
