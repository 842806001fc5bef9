import { extname } from 'node:path'
import { shorten as shortenTo } from '../../../contract/text.js'
import { isJmx } from '../jmx/plan-tree.js'

/** What is larger is not looked at: it would take seconds. The gate takes the first for the plan and all other files together. */
export const LARGEST_PLAN_BYTES = 4 << 20
export const LARGEST_OTHER_BYTES = 1 << 20

export interface RunFile {
  /** Without its folder, which a service drops. */
  readonly name: string
  /** Undefined if it is not a plan or a source, cannot be read or is too large. */
  readonly text: string | undefined
}

/** A parameter by name; its value may be a secret, and is never shown. */
export interface Parameter {
  readonly kind: 'J' | 'D'
  readonly name: string
  readonly value: string
}

export interface PlanRequest {
  readonly tool: string
  /** The tool runs on this machine, as part of the step; otherwise a service of its own or a pod runs it. */
  readonly isHere: boolean
  /** The embedded service runs it: here, or in pods. */
  readonly isEmbedded: boolean
  readonly plan: RunFile & { readonly text: string }
  readonly others: readonly RunFile[]
  readonly threads: number | undefined
  readonly rampupSeconds: number | undefined
  readonly durationSeconds: number | undefined
  readonly parameters: readonly Parameter[]
  /** Those of them that lead to the server of the base, where base and head run side by side. */
  readonly baselineParameters?: readonly Parameter[]
  /** Names of values that something else gives: a file of properties or variables, or the JMeter of this machine. */
  readonly given?: ReadonlySet<string>
  /** What stops a run that does not end: "the timeout of 2 h". */
  readonly limit: string
  isThere(path: string): boolean
  /** Whether the JMeter that will be used has this class; undefined if unknown. */
  hasClass(name: string): boolean | undefined
}

export type PlanInputs = Pick<
  PlanRequest,
  'others' | 'parameters' | 'threads' | 'rampupSeconds' | 'durationSeconds'
>

/** The settings of a run by the names that plans read them under. */
export const SETTINGS: readonly string[] = ['threads', 'rampup', 'duration']

/** Those of them that are given, and their values. */
export function settingsOf({ threads, rampupSeconds, durationSeconds }: PlanInputs): Map<string, number> {
  const given = { threads, rampup: rampupSeconds, duration: durationSeconds }
  return new Map(
    Object.entries(given).flatMap(([name, value]): [string, number][] =>
      value === undefined ? [] : [[name, value]]
    )
  )
}

export interface Finding {
  /** `error`: the run would fail. `warning`: it would not do what was asked of it. `note`: worth knowing. */
  readonly level: 'error' | 'warning' | 'note'
  readonly message: string
  /** An input that cannot be meant like this: nothing is started with it. */
  readonly isInput?: true
}

export function error(message: string): Finding {
  return { level: 'error', message }
}

export function warning(message: string): Finding {
  return { level: 'warning', message }
}

const MAX_QUOTE = 100

export function quote(text: string): string {
  return `"${shorten(text)}"`
}

export function shorten(text: string): string {
  return shortenTo(text, MAX_QUOTE)
}

export function literal(name: string): string {
  return name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}

export function hasWord(text: string, name: string): boolean {
  return new RegExp(`(?<![\\w])${literal(name)}(?![\\w])`).test(text)
}

export type Decoded = { readonly text: string; readonly hasBadBytes: boolean } | { readonly problem: string }

const SIGNATURES: readonly (readonly [bytes: readonly number[], problem: string])[] = [
  [[0x1f, 0x8b], 'is compressed (gzip); unpack it first'],
  [[0x50, 0x4b, 0x03, 0x04], 'is a zip archive; unpack it first'],
  [[0xff, 0xfe], 'is encoded in UTF-16; save it as UTF-8'],
  [[0xfe, 0xff], 'is encoded in UTF-16; save it as UTF-8']
]
const LOOKED_AT_BYTES = 4096

export function decodePlan(bytes: Uint8Array): Decoded {
  const signature = SIGNATURES.find(([start]) => start.every((byte, at) => bytes[at] === byte))
  if (signature !== undefined) return { problem: signature[1] }
  if (bytes.subarray(0, LOOKED_AT_BYTES).includes(0))
    return { problem: 'is not a text: it has zero bytes in it; it may be the wrong file' }
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
  if (text.replace('\ufeff', '').trim() === '') return { problem: 'is empty' }
  return { text, hasBadBytes: text.includes('\ufffd') && !isValid(bytes) }
}

/** The sign for bad bytes may be in the text itself. */
function isValid(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return true
  } catch {
    return false
  }
}

/** What to do about a class that JMeter does not have. */
export const GET_PLUGIN =
  'add its jar to files, or install the plugin into your own JMeter and point JMETER_HOME to it'

/** JMeter would not read it, and nothing would show that. */
export function refuseProperties(names: readonly string[]): string[] {
  if (!names.includes('jmeter.properties')) return []
  return ['jmeter.properties would not be used; put what differs from the defaults into user.properties']
}

const SELENIUM = 'java-selenium-chrome or java-selenium-firefox'
const OTHER_TOOLS: Readonly<Record<string, string>> = {
  '.java': `gatling, ${SELENIUM}`,
  '.scala': 'gatling',
  '.kt': 'gatling',
  '.jar': 'gatling',
  '.ts': 'k6 or service-chrome',
  '.js': 'k6 or service-chrome'
}

/** Why JMeter cannot run these files, of which the first is the plan: its own words would be those of an XML parser. */
export function refuseForJMeter([plan = '', ...others]: readonly string[]): string | undefined {
  if (isJmx(plan)) return undefined
  const tool = OTHER_TOOLS[extname(plan).toLowerCase()]
  const later = others.find(isJmx)
  const advice =
    later !== undefined
      ? `the plan must be the first file, so put ${later} first`
      : tool !== undefined
        ? `set tool to ${tool}`
        : 'the name of the plan must end in .jmx'
  return `tool jmeter runs .jmx plans, not ${plan}; ${advice}`
}
