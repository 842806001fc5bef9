import { basename } from 'node:path'
import type { K6Order, ScriptOrder } from './order.js'

/** The options of a script that decide how it is started, as `k6 inspect` prints them. */
export interface ScriptOptions {
  readonly vus?: number | null
  readonly duration?: string | null
  readonly iterations?: number | null
  readonly stages?: readonly unknown[] | null
  readonly paused?: boolean | null
  readonly scenarios?: Readonly<Record<string, unknown>> | null
  readonly hosts?: Readonly<Record<string, unknown>> | null
  readonly executionSegment?: unknown
}

/** The same with the settings of the run, as `k6 inspect --execution-requirements` prints them for this node's part. */
export interface TestOptions {
  readonly systemTags?: readonly string[] | null
  readonly summaryTrendStats?: readonly string[] | null
  readonly setupTimeout?: string | null
  readonly teardownTimeout?: string | null
  readonly thresholds?: Readonly<Record<string, readonly unknown[]>> | null
  readonly totalDuration?: string | null
  readonly maxVUs?: number
}

/** What the samples are made from. */
const NEEDED_TAGS = [
  ...['check', 'error', 'error_code', 'expected_response', 'group', 'method', 'name', 'scenario'],
  ...['service', 'status', 'url'],
  // No metric uses it: it only says whose request a row is.
  'vu'
]

/** Why the script cannot be run as it is asked for; undefined if it can. */
export function refuseOptions(own: ScriptOptions, order: ScriptOrder): string | undefined {
  const { hosts, executionSegment, paused } = own
  const { vus, durationSec } = order
  const name = basename(order.script)
  if (order.hosts.length > 0 && hosts && Object.keys(hosts).length > 0)
    return `${name} sets options.hosts, which wins over override-hosts: remove one of the two`
  if (executionSegment)
    return `${name} sets options.executionSegment, by which the nodes of a run share the load: remove it from the script`
  if (paused === true)
    return `${name} sets options.paused, and nothing would tell k6 to continue: remove it from the script`
  if (vus !== null && durationSec === null && !hasScenarios(own) && !saysHowLong(own))
    return `threads is ${vus}, but nothing says for how long, and k6 would run a single iteration: set duration, or give ${name} a duration, iterations or stages in its options`
  return undefined
}

function saysHowLong(own: ScriptOptions): boolean {
  return own.duration != null || own.iterations != null || hasStages(own)
}

function hasStages({ stages }: ScriptOptions): boolean {
  return (stages ?? []).length > 0
}

/** A host that k6 would look up although it has another address: k6 compares names as they are, and takes none with a final dot. */
export function findDottedHost(text: string, hosts: K6Order['hosts']): string | undefined {
  const lower = text.toLowerCase()
  return hosts.map(({ host }) => `${host}.`).find((dotted) => holdsHost(lower, dotted.toLowerCase()))
}

/** `//shop.example.` before a port, a path or the end of a line; what follows the text is unknown. */
function holdsHost(text: string, dotted: string): boolean {
  for (let at = text.indexOf(`//${dotted}`); at >= 0; at = text.indexOf(`//${dotted}`, at + 1))
    if (/[^\w-]/.test(text[at + 2 + dotted.length] ?? '')) return true
  return false
}

/** What is in k6's config file, below the options of a script. */
export function describeConfig({ hosts, part, parts }: ScriptOrder): Record<string, unknown> {
  const mark = (index: number): string => (index === 0 ? '0' : index === parts ? '1' : `${index}/${parts}`)
  return {
    ...(hosts.length > 0 && { hosts: Object.fromEntries(hosts.map(({ host, address }) => [host, address])) }),
    // `0:1/3` of `0,1/3,2/3,1`: k6 divides VUs, rates and iterations so that the parts together are exactly the whole.
    ...(parts > 1 && {
      executionSegment: `${mark(part)}:${mark(part + 1)}`,
      executionSegmentSequence: Array.from({ length: parts + 1 }, (_, index) => mark(index)).join(',')
    })
  }
}

function hasScenarios({ scenarios }: ScriptOptions): boolean {
  return Object.keys(scenarios ?? {}).length > 0
}

interface Shape {
  readonly vus?: string
  readonly duration?: string
  readonly stage?: string
}

/** The settings of the run as options of k6; a script with scenarios of its own reads them from its environment. */
export function shapeOf(own: ScriptOptions, order: ScriptOrder): Shape {
  const { vus, rampupSec, durationSec } = order
  if (hasScenarios(own)) return {}
  if (vus !== null && rampupSec !== null && rampupSec > 0 && durationSec !== null && durationSec > rampupSec)
    // Otherwise it would start with as many VUs as the script has.
    return { vus: '0', stage: `${rampupSec}s:${vus},${durationSec - rampupSec}s:${vus}` }
  // Stages have VUs of their own.
  const isVus = vus !== null && (durationSec !== null || !hasStages(own))
  return {
    ...(isVus && { vus: String(vus) }),
    ...(durationSec !== null && { duration: `${durationSec}s` })
  }
}

/** Settings, and options of the script, that have no effect, one sentence each. */
export function doubtShape(own: ScriptOptions, { stage }: Shape, order: ScriptOrder): string[] {
  if (hasScenarios(own)) return []
  const { vus, rampupSec, durationSec } = order
  const name = basename(order.script)
  const [given, verb] = vus === null ? ['duration', 'replaces'] : ['threads and duration', 'replace']
  const replaced = [
    ...(hasStages(own) ? ['stages'] : []),
    ...(own.iterations == null ? [] : ['iterations'])
  ].join(' and ')
  return [
    ...(durationSec !== null && replaced !== ''
      ? [
          `${name} has ${replaced} of its own, which ${given} ${verb}: remove them from the script, or remove ${given} to run it as it is`
        ]
      : []),
    ...(vus !== null && durationSec === null && hasStages(own)
      ? [
          `threads has no effect: ${name} has stages of its own, which say how many VUs there are: remove threads, or set duration too, to replace the stages`
        ]
      : []),
    ...(rampupSec !== null && rampupSec > 0 && stage === undefined
      ? [
          'rampup has no effect: k6 starts all VUs at once unless threads and a duration longer than rampup are given, or the script has scenarios or stages of its own'
        ]
      : [])
  ]
}

/** For `k6 inspect`, which takes no other options, and does not know that a script without VUs has one. */
export function shapeVariables({ vus, duration, stage }: Shape, own: ScriptOptions): Record<string, string> {
  const isOne = own.vus == null && !hasScenarios(own)
  return {
    ...((vus !== undefined || isOne) && { K6_VUS: vus ?? '1' }),
    ...(duration !== undefined && { K6_DURATION: duration }),
    ...(stage !== undefined && { K6_STAGES: stage })
  }
}

/** What k6 shows of a Trend unless the script says otherwise. */
const TREND_STATS = ['avg', 'min', 'med', 'max', 'p(90)', 'p(95)']

export function loadArguments({ vus, duration, stage }: Shape, options: TestOptions): string[] {
  const { systemTags, summaryTrendStats } = options
  return [
    ...(vus === undefined ? [] : [`--vus=${vus}`]),
    ...(duration === undefined ? [] : [`--duration=${duration}`]),
    ...(stage === undefined ? [] : [`--stage=${stage}`]),
    // Those of the script too: its thresholds may be about them.
    `--system-tags=${[...new Set([...(systemTags ?? []), ...NEEDED_TAGS])].join(',')}`,
    // The count says whether a threshold had samples to judge.
    `--summary-trend-stats=${[...new Set([...(summaryTrendStats ?? TREND_STATS), 'count'])].join(',')}`
  ]
}

const DEFAULT_TIMEOUT = '60s'

/** How long the script can take, with setup and teardown: k6 itself ends what takes longer. */
export function longestMs({ totalDuration, setupTimeout, teardownTimeout }: TestOptions): number {
  return (
    readDuration(totalDuration ?? '0s') +
    readDuration(setupTimeout ?? DEFAULT_TIMEOUT) +
    readDuration(teardownTimeout ?? DEFAULT_TIMEOUT)
  )
}

const UNITS_MS: Readonly<Record<string, number>> = {
  h: 3_600_000,
  m: 60_000,
  s: 1000,
  ms: 1,
  µs: 1e-3,
  ns: 1e-6
}

/** As Go writes durations: `1h2m3.5s`, `500ms`. */
function readDuration(text: string): number {
  const parts = [...text.matchAll(/([\d.]+)(h|ms|m|s|µs|ns)/g)]
  return parts.reduce((sum, [, number, unit = '']) => sum + Number(number) * (UNITS_MS[unit] ?? 0), 0)
}
