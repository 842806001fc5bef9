import { LONGEST_FINGERPRINT_TEXT, MOST_FINGERPRINT_PARTS } from '../../../contract/baseline.js'
import { shorten } from '../../../contract/text.js'

/**
 * What must be equal for two runs to be comparable: the name of each part, and its value or hash. The names are used in messages:
 * "the plan changed".
 */
export type Fingerprint = Readonly<Record<string, string>>

/** The names of the parts. Those of data files and parameters have the file's or the parameter's own name in them. */
export const FINGERPRINT_KEYS = {
  plan: 'plan',
  tool: 'tool',
  toolVersion: 'tool version',
  threads: 'threads',
  rampUp: 'ramp-up',
  duration: 'duration',
  warmUp: 'warm-up',
  grids: 'grids',
  regions: 'regions',
  system: 'system',
  cpu: 'CPU',
  cores: 'cores'
} as const

const DATA_FILE = 'data file '
const PARAMETER = 'parameter '

export function dataFileKey(name: string): string {
  return `${DATA_FILE}${name}`
}

export function parameterKey(name: string): string {
  return `${PARAMETER}${name}`
}

const SHOWN_DIFFERENCES = 4
const SHOWN_LENGTH = 60

/** In the order in which differences are told: the plan first, because it explains most of the others. */
const ORDER: readonly string[] = [
  FINGERPRINT_KEYS.plan,
  DATA_FILE,
  FINGERPRINT_KEYS.tool,
  FINGERPRINT_KEYS.toolVersion,
  FINGERPRINT_KEYS.threads,
  FINGERPRINT_KEYS.rampUp,
  FINGERPRINT_KEYS.duration,
  FINGERPRINT_KEYS.warmUp,
  FINGERPRINT_KEYS.grids,
  FINGERPRINT_KEYS.regions,
  PARAMETER,
  FINGERPRINT_KEYS.system,
  FINGERPRINT_KEYS.cpu,
  FINGERPRINT_KEYS.cores
]

/** Parts whose values are shown. Those of others are hashes, or nobody's business. */
const SETTINGS: readonly string[] = [
  FINGERPRINT_KEYS.threads,
  FINGERPRINT_KEYS.rampUp,
  FINGERPRINT_KEYS.duration,
  FINGERPRINT_KEYS.warmUp,
  FINGERPRINT_KEYS.grids,
  FINGERPRINT_KEYS.regions
]
const PHRASES: Readonly<Record<string, string>> = {
  [FINGERPRINT_KEYS.tool]: 'the tool changed',
  [FINGERPRINT_KEYS.toolVersion]: "the tool's version changed",
  [FINGERPRINT_KEYS.system]: "the runner's system differs",
  [FINGERPRINT_KEYS.cpu]: "the runner's CPU differs",
  [FINGERPRINT_KEYS.cores]: "the runner's number of cores differs"
}

/** What differs, in one phrase: "the plan changed; threads: 10, was 5". Undefined if the runs are comparable. */
export function describeDifference(base: Fingerprint, head: Fingerprint): string | undefined {
  const was = new Map(Object.entries(boundFingerprint(base)))
  const is = new Map(Object.entries(boundFingerprint(head)))
  const keys = [...new Set([...is.keys(), ...was.keys()])].filter((key) => was.get(key) !== is.get(key))
  if (keys.length === 0) return undefined
  const phrases = keys.sort(byOrder).map((key) => describePart(key, was.get(key), is.get(key)))
  const shown = phrases.slice(0, SHOWN_DIFFERENCES)
  const hidden = phrases.length - shown.length
  return shown.join('; ') + (hidden > 0 ? `; and ${hidden} more differences` : '')
}

export function isSameFingerprint(a: Fingerprint, b: Fingerprint): boolean {
  return describeDifference(a, b) === undefined
}

/**
 * A fingerprint that any document can hold: long texts are replaced by their hashes, and where there are too many parts the last
 * ones by one of them all. Applied to both sides, so that equal runs stay equal.
 */
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

/** FNV-1a with 128 bits. It only has to tell texts apart, and the report page, which has no crypto module, imports this file's types. */
function hash(text: string): string {
  const [offset, prime] = [0x6c62272e07bb014262b821756295c58dn, 0x1000000000000000000013bn]
  let sum = offset
  for (let at = 0; at < text.length; at++)
    sum = BigInt.asUintN(128, (sum ^ BigInt(text.charCodeAt(at))) * prime)
  return sum.toString(16).padStart(32, '0')
}

function byOrder(a: string, b: string): number {
  return placeOf(a) - placeOf(b) || (a < b ? -1 : a > b ? 1 : 0)
}

function placeOf(key: string): number {
  const place = ORDER.findIndex((known) => (known.endsWith(' ') ? key.startsWith(known) : key === known))
  return place < 0 ? ORDER.length : place
}

function describePart(key: string, was: string | undefined, is: string | undefined): string {
  const phrase = new Map(Object.entries(PHRASES)).get(key)
  const isReadable = [was, is].every((value) => value === undefined || !isHash(value))
  if (SETTINGS.includes(key) && isReadable) return `${key}: ${show(is)}, was ${show(was)}`
  // A service tells it or does not; nobody sets it.
  const missing = key === FINGERPRINT_KEYS.toolVersion ? 'unknown' : 'not set'
  if (phrase !== undefined)
    return isReadable ? `${phrase} (${show(is, missing)}, was ${show(was, missing)})` : phrase
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
