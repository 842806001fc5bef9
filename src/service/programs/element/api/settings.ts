/** What a script sets with `export const settings` or `setup()`. */
export type TestSettings = Readonly<Record<string, unknown>>

export interface StepSettings {
  readonly waitTimeoutMs: number
  readonly waitUntil: 'present' | 'visible' | 'ready' | false
  readonly actionDelayMs: number
  readonly stepDelayMs: number
}

export type Settings = ReturnType<typeof readSettings>

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
export function readSettings(given: TestSettings) {
  // It changes what is measured: a run without it would be a different test.
  if (isSet(given.stages))
    throw new Error(
      'the setting stages is not supported: set threads, rampup and duration of the run instead'
    )
  const text = (name: string): string | undefined =>
    read(given, name, (value) => typeof value === 'string', 'not a text')
  const texts = (name: string): readonly string[] => read(given, name, isTexts, 'not a list of texts') ?? []
  const loopCount = read(given, 'loopCount', isCount, 'not a whole number') ?? Infinity
  const headers = read(given, 'extraHTTPHeaders', isObject, 'not an object')
  return {
    ...readStepSettings(given, { ...DEFAULTS, waitUntil: false }),
    /** Infinity if the script does not limit it. */
    loopCount: loopCount > 0 ? loopCount : Infinity,
    durationMs: readDuration(given),
    countsThinkTime:
      read(given, 'responseTimeMeasurement', isMeasurement, MEASUREMENTS) === 'stepWithThinkTime',
    clearCookies: given.clearCookies !== false,
    /** A new context for every loop. */
    isFresh: Boolean(given.clearCache) || Boolean(given.incognito),
    disableCache: Boolean(given.disableCache),
    userAgent: text('userAgent'),
    viewport: given.viewport === null ? null : read(given, 'viewport', isSize, 'without width and height'),
    device: text('device'),
    ignoreHTTPSErrors: Boolean(given.ignoreHTTPSErrors ?? given.ignoreHTTPSError),
    extraHTTPHeaders:
      headers && Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
    blockedDomains: texts('blockedDomains'),
    launchArgs: texts('launchArgs'),
    /** Settings that have no effect, one sentence each. */
    warnings: [...listWarnings(given)] as readonly string[]
  }
}

/** The settings of a step: its options, and otherwise the script's. */
export function readStepSettings(given: TestSettings, otherwise: StepSettings): StepSettings {
  const waitUntil = given.waitUntil === null ? false : read(given, 'waitUntil', isWaitUntil, WAITS)
  return {
    waitTimeoutMs: readTime(given, 'waitTimeout') ?? otherwise.waitTimeoutMs,
    actionDelayMs: readTime(given, 'actionDelay') ?? otherwise.actionDelayMs,
    stepDelayMs: readTime(given, 'stepDelay') ?? otherwise.stepDelayMs,
    waitUntil: waitUntil ?? otherwise.waitUntil
  }
}

const MEASUREMENTS =
  "which is not supported: use 'step' or 'stepWithThinkTime'; the times of the page itself are reported for every step that loads one"
const WAITS = "not 'present', 'visible', 'ready' or false"

const isCount = (value: unknown): value is number => value === Infinity || Number.isInteger(value)
const isObject = (value: unknown): value is object => typeof value === 'object'
const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((entry) => typeof entry === 'string')
const isMeasurement = (value: unknown): value is string => value === 'step' || value === 'stepWithThinkTime'
const isWaitUntil = (value: unknown): value is StepSettings['waitUntil'] =>
  value === false || value === 'present' || value === 'visible' || value === 'ready'
const isSize = (value: unknown): value is { width: number; height: number } => {
  const { width, height } = value as { width?: unknown; height?: unknown }
  return typeof width === 'number' && typeof height === 'number'
}

function read<T>(given: TestSettings, name: string, isFine: (value: unknown) => value is T, problem: string) {
  const value = given[name]
  if (value === undefined || value === null || value === '') return undefined
  if (isFine(value)) return value
  throw new Error(`the setting ${name} is ${JSON.stringify(value)}, ${problem}`)
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

/** The longest timer: more than three weeks. */
export const MAX_MS = 2 ** 31 - 1

const UNITS: readonly (readonly [RegExp, number])[] = [
  [/^ms$/, 1],
  [/^s(ec(ond)?s?)?$/, 1000],
  [/^m(in(ute)?s?)?$/, 60_000],
  [/^h(ours?)?$/, 3_600_000]
]

/** A time in ms. Element's first versions count in s, later ones in ms: nobody means less than 1 s, or more than a quarter of an hour. */
export function toMs(value: unknown): number {
  return Math.min(readMs(value), MAX_MS)
}

function readMs(value: unknown): number {
  if (typeof value === 'number' && value >= 0) return value < 1000 ? value * 1000 : value
  if (typeof value === 'string') {
    const [, amount, unit] = /^\s*(\d+(?:\.\d+)?|\.\d+)\s*([a-z]*)\s*$/i.exec(value) ?? []
    const [, factor] = UNITS.find(([name]) => name.test(unit?.toLowerCase() ?? '')) ?? []
    if (amount !== undefined && factor !== undefined) return Number(amount) * factor
    if (amount !== undefined && unit === '') return readMs(Number(amount))
  }
  const shown = typeof value === 'string' ? `'${value}'` : String(value)
  throw new Error(`${shown} is not a time: use seconds, or a string with a unit such as '500ms' or '2s'`)
}
