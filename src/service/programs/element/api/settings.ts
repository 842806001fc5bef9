import { toMs } from './time.js'

/** What a script sets with `export const settings` or `setup()`. */
export type TestSettings = Readonly<Record<string, unknown>>

/** What a step may set for itself. */
export interface StepSettings {
  readonly waitTimeoutMs: number
  readonly waitUntil: 'present' | 'visible' | 'ready' | false
  readonly actionDelayMs: number
  readonly stepDelayMs: number
}

export interface Settings extends StepSettings {
  /** Infinity if the script does not limit it. */
  readonly loopCount: number
  /** Undefined if the script does not set one. */
  readonly durationMs: number | undefined
  readonly countsThinkTime: boolean
  readonly clearCookies: boolean
  /** A new context for every loop. */
  readonly isFresh: boolean
  readonly disableCache: boolean
  readonly userAgent: string | undefined
  readonly viewport: { readonly width: number; readonly height: number } | null | undefined
  readonly device: string | undefined
  readonly ignoreHTTPSErrors: boolean
  readonly extraHTTPHeaders: Readonly<Record<string, string>> | undefined
  readonly blockedDomains: readonly string[]
  readonly launchArgs: readonly string[]
  /** Settings that have no effect, one sentence each. */
  readonly warnings: readonly string[]
}

/** Each would change what the numbers are about, so a run without it is another test. */
const REFUSED: Readonly<Record<string, string>> = {
  stages: 'set threads, rampup and duration of the run instead'
}
/** Without effect on what is measured. */
const WITHOUT_EFFECT: Readonly<Record<string, string>> = {
  screenshotOnFailure: 'no screenshots are taken in a load test',
  DOMSnapshotOnFailure: 'no snapshots are taken in a load test',
  chromeVersion: 'the browser of this machine is used',
  consoleFilter: 'messages of the pages are not logged',
  sandbox: 'whether the browser has one depends on this machine',
  devtools: 'the browser always runs without a window',
  verbose: 'the log has everything that the script prints',
  tries: 'give the number of tries to step.recovery'
}
const KNOWN = new Set([
  ...['name', 'description', 'actionDelay', 'stepDelay', 'loopCount', 'duration', 'waitTimeout', 'waitUntil'],
  ...['responseTimeMeasurement', 'clearCookies', 'clearCache', 'incognito', 'disableCache', 'userAgent'],
  ...['viewport', 'device', 'ignoreHTTPSErrors', 'ignoreHTTPSError', 'extraHTTPHeaders', 'blockedDomains'],
  ...['launchArgs', 'headless', 'browser', 'browserType']
])
const DEFAULTS = { actionDelayMs: 2000, stepDelayMs: 6000, waitTimeoutMs: 30_000 }

/** Checks what a script sets; throws for what cannot be honoured. */
export function readSettings(given: TestSettings): Settings {
  for (const [name, instead] of Object.entries(REFUSED))
    if (isSet(given[name])) throw new Error(`the setting ${name} is not supported: ${instead}`)
  return {
    ...readStepSettings(given, { ...DEFAULTS, waitUntil: false }),
    loopCount: readLoopCount(given.loopCount),
    durationMs: readDuration(given),
    countsThinkTime: readMeasurement(given.responseTimeMeasurement),
    clearCookies: given.clearCookies !== false,
    isFresh: Boolean(given.clearCache) || Boolean(given.incognito),
    disableCache: Boolean(given.disableCache),
    userAgent: readText(given, 'userAgent'),
    viewport: readViewport(given.viewport),
    device: readText(given, 'device'),
    ignoreHTTPSErrors: Boolean(given.ignoreHTTPSErrors ?? given.ignoreHTTPSError),
    extraHTTPHeaders: readHeaders(given.extraHTTPHeaders),
    blockedDomains: readTexts(given, 'blockedDomains'),
    launchArgs: readTexts(given, 'launchArgs'),
    warnings: [...listWarnings(given)]
  }
}

/** The settings of a step: its options, and otherwise the script's. */
export function readStepSettings(given: TestSettings, otherwise: StepSettings): StepSettings {
  return {
    waitTimeoutMs: readTime(given, 'waitTimeout') ?? otherwise.waitTimeoutMs,
    actionDelayMs: readTime(given, 'actionDelay') ?? otherwise.actionDelayMs,
    stepDelayMs: readTime(given, 'stepDelay') ?? otherwise.stepDelayMs,
    waitUntil: given.waitUntil === undefined ? otherwise.waitUntil : readWaitUntil(given.waitUntil)
  }
}

function* listWarnings(given: TestSettings): Generator<string> {
  for (const [name, value] of Object.entries(given)) {
    const reason = WITHOUT_EFFECT[name]
    if (reason !== undefined && isSet(value)) yield `the setting ${name} has no effect: ${reason}`
    if (reason === undefined && !KNOWN.has(name)) yield `the setting ${name} is unknown and has no effect`
  }
  if (isSet(given.headless))
    yield 'the setting headless has no effect: the browser always runs without a window'
  for (const name of ['browser', 'browserType'])
    if (isSet(given[name]) && !/^chrom/i.test(String(given[name])))
      throw new Error(
        `the setting ${name} is ${JSON.stringify(given[name])}, but only Chrome and Chromium are supported`
      )
}

function isSet(value: unknown): boolean {
  return (
    value !== undefined && value !== null && value !== false && !(Array.isArray(value) && value.length === 0)
  )
}

function readTime(given: TestSettings, name: string): number | undefined {
  const value = given[name]
  if (value === undefined || value === null || value === '') return undefined
  try {
    return toMs(value)
  } catch (thrown) {
    throw new Error(`the setting ${name}: ${(thrown as Error).message}`, { cause: thrown })
  }
}

/** -1 and 0 mean no limit. */
function readDuration(given: TestSettings): number | undefined {
  if (given.duration === -1 || given.duration === Infinity) return undefined
  const durationMs = readTime(given, 'duration') ?? 0
  return durationMs > 0 ? durationMs : undefined
}

function readLoopCount(value: unknown): number {
  if (value === undefined || value === null || value === Infinity) return Infinity
  if (typeof value !== 'number' || !Number.isInteger(value))
    throw new Error(`the setting loopCount is ${JSON.stringify(value)}, not a whole number`)
  return value > 0 ? value : Infinity
}

function readMeasurement(value: unknown): boolean {
  if (value === undefined || value === 'step') return false
  if (value === 'stepWithThinkTime') return true
  throw new Error(
    `the setting responseTimeMeasurement is ${JSON.stringify(value)}, which is not supported: use 'step' or 'stepWithThinkTime'; the times of the page itself are reported for every step that loads one`
  )
}

function readWaitUntil(value: unknown): StepSettings['waitUntil'] {
  if (value === false || value === null) return false
  if (value === 'present' || value === 'visible' || value === 'ready') return value
  throw new Error(
    `the setting waitUntil is ${JSON.stringify(value)}, not 'present', 'visible', 'ready' or false`
  )
}

function readText(given: TestSettings, name: string): string | undefined {
  const value = given[name]
  if (value === undefined || value === null || value === '') return undefined
  if (typeof value !== 'string')
    throw new Error(`the setting ${name} is ${JSON.stringify(value)}, not a text`)
  return value
}

function readTexts(given: TestSettings, name: string): readonly string[] {
  const value = given[name] ?? []
  if (Array.isArray(value) && value.every((entry) => typeof entry === 'string')) return value
  throw new Error(`the setting ${name} is ${JSON.stringify(value)}, not a list of texts`)
}

function readViewport(value: unknown): Settings['viewport'] {
  if (value === undefined || value === null) return value
  const { width, height } = value as { width?: unknown; height?: unknown }
  if (typeof width === 'number' && typeof height === 'number') return { width, height }
  throw new Error(`the setting viewport is ${JSON.stringify(value)}, without width and height`)
}

function readHeaders(value: unknown): Readonly<Record<string, string>> | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value === 'object')
    return Object.fromEntries(Object.entries(value).map(([name, text]) => [name, String(text)]))
  throw new Error(`the setting extraHTTPHeaders is ${JSON.stringify(value)}, not an object`)
}
