import * as v from 'valibot'
import { about, type Decoded } from './decode.js'
import { details, detailSeries } from './verdict/details.js'
import { ID } from './vocabulary.js'

// `verdict.json`: what a gate found, for machines. `schema/verdict.schema.json` is made from it.

const aboutOptional = <S extends v.GenericSchema>(schema: S, words: string) =>
  v.optional(about(schema, words))
const text = v.string()
const textOrNull = v.nullable(text)
const number = v.number()
const count = v.pipe(v.number(), v.integer(), v.minValue(0))
const countOrNull = v.nullable(count)
const notNegative = v.pipe(v.number(), v.minValue(0))
const figure = v.nullable(number)
const share = v.nullable(v.pipe(v.number(), v.minValue(0), v.maxValue(1)))
const epoch = about(v.pipe(v.number(), v.integer()), 'Epoch, in ms.')

const run = v.strictObject({
  id: text,
  url: v.optional(text),
  name: v.optional(text),
  status: text,
  tool: v.optional(text),
  threads: v.optional(v.pipe(v.number(), v.integer())),
  durationSeconds: v.optional(v.pipe(v.number(), v.integer())),
  startedMs: v.optional(epoch),
  stoppedMs: v.optional(epoch)
})

const figures = {
  samples: count,
  failures: count,
  error_rate: share,
  throughput: figure,
  mean: figure,
  min: figure,
  max: figure,
  median: figure,
  p90: figure,
  p95: figure,
  p99: figure,
  apdex: share,
  concurrency: figure
}
const overTime = about(
  v.strictObject({ median: figure, p90: figure, p95: figure, p99: figure, apdex: share }),
  'What users who arrived at any moment of the run would have seen at best, by its stalls; absent if that is unknown.'
)
const overall = v.strictObject({ ...figures, over_time: v.optional(overTime) })
const scope = { label: v.optional(text), region: v.optional(text), grid: v.optional(text) }
const scoped = v.strictObject({ ...scope, ...overall.entries })
const metrics = v.strictObject({
  overall: v.nullable(overall),
  labels: about(v.array(scoped), 'Those with the most samples first.'),
  regions: v.array(scoped),
  grids: v.array(scoped)
})

const gappy = v.array(figure)
const series = v.strictObject({
  bucketMs: v.pipe(v.number(), v.gtValue(0)),
  atMs: v.array(number),
  throughput: v.array(number),
  failures: v.array(number),
  p50Ms: gappy,
  p95Ms: gappy,
  p99Ms: gappy,
  activeThreads: gappy
})

const source = v.strictObject({
  grid: text,
  region: text,
  shape: v.picklist(['samples', 'tidy', 'unknown']),
  header: text,
  rows: count,
  problems: v.array(text),
  aside_groups: v.exactOptional(
    about(
      v.array(text),
      'setUp and tearDown thread groups of the plan, by name: their rows count for their labels only. Absent if there are none.'
    )
  )
})

const error = v.strictObject({
  label: about(textOrNull, 'Null for all other reasons together.'),
  code: about(text, 'The response code.'),
  message: about(text, 'What the assertion said, or else the response message, on one line and shortened.'),
  count: v.pipe(v.number(), v.integer(), v.minValue(1))
})

const line = {
  text: about(text, 'As written, without warn: and comment.'),
  level: v.picklist(['fail', 'warn']),
  verdict: v.picklist(['passed', 'failed', 'inconclusive']),
  actual: about(figure, 'In base units: ms, a ratio, per second, or plain.'),
  actual_text: textOrNull,
  margin: about(figure, 'Distance to the limit as a share of it; negative when it is broken.'),
  scope: v.nullable(v.strictObject(scope)),
  reason: text,
  over_time: aboutOptional(
    number,
    'The figure that users who arrived at any moment would have seen at best; only where there were stalls.'
  ),
  by_samples: aboutOptional(
    number,
    'The figure of the requests that were sent; only where there were stalls. The line is judged by the worse of the two, unless on-stall says otherwise.'
  ),
  stall_effect: aboutOptional(
    v.picklist(['fails', 'warns', 'ignored', 'none']),
    'What stalls do to the line, where it holds for the requests that were sent and breaks over time; none otherwise.'
  )
}
const comparison = {
  outcome: about(
    v.picklist(['holds', 'broken', 'unsure', 'no baseline', 'not comparable']),
    'What comparing with the baseline found; only holds and broken are a judgement.'
  ),
  base: about(figure, 'What the baseline expects, in the units of actual.'),
  baseRuns: about(count, 'How many runs (the newest ones), or side by side rounds, that is the mean of.'),
  changePct: about(
    figure,
    'Percent for times and throughput, percentage points for error_rate, hundredths for apdex; the sign is that of the figure itself.'
  ),
  interval: about(
    v.nullable(v.strictTuple([number, number])),
    'Where the change is, in the units of changePct.'
  ),
  resolutionPct: about(figure, 'The smallest change that these runs can find nine times out of ten.'),
  p: share
}
/** A line with a limit of its own, or one that names `baseline`, whose limit is null when there is none. */
const threshold = v.union([
  v.strictObject({ ...line, limit: number }),
  v.strictObject({ ...line, limit: figure, ...comparison })
])

const grid = v.strictObject({
  gridId: text,
  region: text,
  nodeCount: v.optional(v.pipe(v.number(), v.integer())),
  bytes: v.optional(count),
  problem: v.optional(text)
})

const node = v.strictObject({
  grid: text,
  region: text,
  number: about(count, 'Among the nodes of its grid, from 1.'),
  place: about(text, 'A machine, or a pod and where it was scheduled.'),
  startedMs: figure,
  rows: countOrNull,
  firstSampleMs: v.exactOptional(
    about(number, 'When its first sample started; absent if the service does not say.')
  ),
  lastSampleMs: v.exactOptional(
    about(number, 'When its last sample ended; absent if the service does not say.')
  ),
  threads: countOrNull,
  cpuLimit: about(figure, 'In cores.'),
  restarts: countOrNull,
  throttled: about(share, 'The part of the run in which its CPU was throttled.'),
  clockOffsetMs: about(
    number,
    "Its clock minus that of the service; its samples' times are corrected by it."
  ),
  lost: about(textOrNull, 'Which part of its load was lost.')
})

const baseline = v.strictObject({
  state: v.picklist(['compared', 'no baseline', 'not comparable', 'off']),
  kind: v.picklist(['recorded', 'side-by-side']),
  branch: textOrNull,
  commit: about(textOrNull, 'Of the newest base run.'),
  runs: about(v.array(text), 'The ids of the base runs, oldest first; side by side, of the base segments.'),
  reason: about(textOrNull, 'Why nothing was compared.'),
  notes: v.array(text),
  fingerprint: about(
    v.nullable(v.record(text, text)),
    'What must be equal for two runs to be comparable, by name.'
  )
})

const band = v.nullable(v.strictObject({ low: number, centre: number, high: number }))
const trend = v.strictObject({
  branch: text,
  points: v.array(
    v.strictObject({
      atMs: about(number, 'Epoch, in ms.'),
      commit: text,
      runId: text,
      unusable: about(textOrNull, 'Why the run is not part of the baseline.'),
      isHead: about(v.boolean(), 'True for the run that was judged.'),
      isAfterChange: about(v.boolean(), 'True if the run is not comparable with the one before.'),
      p95Ms: figure,
      throughput: figure,
      errorRate: figure
    })
  ),
  bands: v.strictObject({ p95Ms: band, throughput: band, errorRate: band })
})

const bothCounts = v.strictObject({ base: count, head: count })
const labelChange = v.strictObject({
  label: text,
  base: about(figure, 'The time of the base, in ms: the mean of its newest runs, or of the rounds.'),
  head: about(figure, 'The same time of this run, in ms.'),
  changePct: about(
    figure,
    'How much longer it takes, in percent; null where the two cannot be compared, or the base is below 1 ms.'
  ),
  interval: about(
    v.nullable(v.strictTuple([number, number])),
    'Where the change is, in percent; that of a line that judges the label by the same time. Null where there are too few samples or rounds to tell.'
  ),
  outcome: about(
    v.picklist(['slower', 'faster', 'no clear change', 'new', 'gone', 'not comparable']),
    'Slower and faster only where the interval does not contain 0. Never part of the verdict.'
  ),
  samples: about(bothCounts, 'What the two times are computed from.'),
  errorRate: v.strictObject({ base: share, head: share })
})
const labelChanges = v.strictObject({
  metric: about(v.picklist(['p95', 'median', 'mean']), 'The time that labels are compared by.'),
  rows: about(v.pipe(v.array(labelChange), v.maxLength(200)), 'What costs users most time first.'),
  leftOut: about(
    count,
    'How many further labels are left out: those whose change costs users least time. Up to 20 whose error rate rose are kept in any case.'
  )
})

const warmUp = v.strictObject({
  seconds: about(
    v.pipe(v.number(), v.gtValue(0)),
    'Samples that start within this time after the first one are left out.'
  ),
  samples: about(count, 'How many were left out.'),
  failures: about(count, 'How many of them failed.')
})

const stall = v.strictObject({
  atMs: about(number, 'From the first start of the run, its warm-up included.'),
  ms: notNegative,
  waiting: about(v.pipe(v.number(), v.integer(), v.minValue(2)), 'How many users waited.')
})
const stalls = v.strictObject({
  count,
  longest: about(v.pipe(v.array(stall), v.maxLength(20)), 'The longest ones, in order of time.')
})

const stoppedEarly = v.strictObject({
  afterSeconds: notNegative,
  ofSeconds: notNegative,
  savedSeconds: notNegative,
  threshold: about(text, 'The line that decided it, as written.')
})

/** Parts that the JSON schema names. */
export const VERDICT_PARTS = {
  ...{ run, overTime, figures: overall, scoped, metrics, series, source, error, threshold, grid, node },
  ...{ baseline, trend, labelChanges, warmUp, stalls, stoppedEarly, details, detailSeries }
}

export const verdictSchema = v.strictObject({
  schema: about(v.literal(1), 'Raised when a reader of the old form would misread the new one.'),
  verdict: v.picklist([
    ...(['passed', 'failed', 'inconclusive', 'timed-out'] as const),
    ...(['error', 'cancelled', 'skipped', 'detached'] as const)
  ]),
  reason: about(text, 'One sentence: why.'),
  rehearsal: about(v.boolean(), 'True when the samples are synthetic.'),
  note: textOrNull,
  'run-id': v.nullable(v.pipe(text, v.regex(ID))),
  'run-url': textOrNull,
  status: about(textOrNull, "The run's status, as the service gives it."),
  run: v.nullable(run),
  apdex: share,
  'apdex-target': about(figure, 'The satisfied limit, in ms.'),
  summary: about(textOrNull, "The service's report, for people."),
  means: v.record(text, number),
  metrics,
  series: v.nullable(series),
  sources: v.array(source),
  errors: about(
    v.array(error),
    'Why samples failed, the most frequent reason first. The counts add up to the overall failures and those of setUp and tearDown groups, whose messages say so; there are none where the CSVs do not hold single samples.'
  ),
  details: v.exactOptional(
    about(
      v.nullable(details),
      'What a second reading of the CSVs found, of what counts; null where there is none. Not part of the verdict.'
    )
  ),
  thresholds: v.array(threshold),
  grids: v.array(grid),
  nodes: about(
    v.array(node),
    'Where the load came from, node by node; empty where the service does not say.'
  ),
  warnings: about(v.array(text), 'Load that was requested and not reached, with both numbers.'),
  remote_errors: about(v.array(text), "The service's own words on what went wrong, line by line."),
  notes: v.array(text),
  baseline: v.nullable(baseline),
  shown_comparisons: about(
    v.array(threshold),
    'Where no line names baseline: how such lines would have come out. Not part of the verdict.'
  ),
  label_changes: about(
    v.nullable(labelChanges),
    'What changed by label, against the baseline or side by side; null where nothing was compared. Not part of the verdict.'
  ),
  trend: v.nullable(trend),
  warm_up: about(v.nullable(warmUp), 'What was left out of all figures; null without a warm-up.'),
  stalls: about(
    v.nullable(stalls),
    'The times in which users waited and nothing was answered; null if that is unknown.'
  ),
  stopped_early: v.nullable(stoppedEarly),
  'saved-seconds': about(v.nullable(notNegative), 'What stopping the run early saved.')
})

export type VerdictDocument = Decoded<typeof verdictSchema>
export type DetailsDocument = Decoded<typeof details>
export type DetailSeries = Decoded<typeof detailSeries>
export type ThresholdDocument = Decoded<typeof threshold>
export type FiguresDocument = Decoded<v.StrictObjectSchema<typeof figures, undefined>>
export type BothFigures = Decoded<typeof overall>
export type MetricsDocument = Decoded<typeof metrics>
