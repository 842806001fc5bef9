import type { Source, TimeSeries } from '../../analysis/results/figures/measurements.js'
import type { FiguresDocument } from '../../contract/verdict.js'
import type { ErrorRow, JudgementRow, NodeRow } from '../rows.js'
import type { StallBand, StallWords } from '../stalls.js'
import type { Trend } from '../../analysis/baseline/build-trend.js'
import type { GridFacts, StoppedEarly, Verdict } from '../../analysis/outcome.js'

/** Of a run without a verdict, or not yet. */
export type RunStatus = 'queued' | 'running' | 'stopping' | 'finished' | 'problem'

/** A service that judges leaves comparisons with a baseline to the gate. */
export type Headline = Verdict | RunStatus | 'left to the gate'

/** Everything the page shows, as its embedded data and as the updates of an open page. */
export interface PageDocument {
  readonly headline: Headline
  readonly reason: string
  /** The label required for synthetic samples; null for measurements. */
  readonly rehearsal: string | null
  readonly warnings: readonly string[]
  readonly notes: readonly string[]
  readonly run: RunDocument | null
  /** The service's own figure. */
  readonly apdex: { readonly score: number; readonly targetMs: number } | null
  readonly summary: string | null
  readonly thresholds: readonly ThresholdRow[]
  /** How many of them the baseline gave no judgement on. */
  readonly notJudged: number
  /** Where none of them names a baseline: the comparison to show. */
  readonly shownComparisons: readonly ThresholdRow[]
  /** What the run was compared with, or why it was not. */
  readonly baselineSentences: readonly string[]
  /** The last runs of the branch; absent properties are unknown. */
  readonly trend: Trend | null
  readonly stoppedEarly: StoppedEarly | null
  /** Why samples failed, the most frequent reason first. */
  readonly errors: readonly ErrorRow[]
  /** Epoch ms of the first start. */
  readonly startMs: number | null
  /** Of the whole run, its warm-up too if the charts can show which part of it that is. */
  readonly series: TimeSeries | null
  readonly warmUp: WarmUpDocument | null
  readonly stalls: StallDocument | null
  /** First all samples, then each region and each grid if there are several. */
  readonly views: readonly View[]
  readonly grids: readonly GridRow[]
  readonly nodes: readonly NodeRow[]
  /** How many are not shown. */
  readonly nodesLeftOut: number
  /** Where the load came from, if all of it came from one place. */
  readonly placeNote: string | null
  readonly sources: readonly Source[]
  /** Only while the run is in progress. */
  readonly live?: Live
}

export interface WarmUpDocument {
  readonly sentence: string
  /** Where it ends on the axis of the series; null if it is not among what the series shows. */
  readonly untilMs: number | null
  /** What counts, in the buckets of the series; null if that is all of it. */
  readonly counted: CountedSeries | null
}

export interface StallDocument extends StallWords {
  /** On the axis of the series, in order of time. */
  readonly bands: readonly StallBand[]
}

/** Lists as long as those of the series; null where nothing counts. */
export type CountedSeries = Readonly<
  Record<Exclude<keyof TimeSeries, 'bucketMs' | 'atMs'>, readonly (number | null)[]>
>

export interface GridRow extends GridFacts {
  readonly lostNodes: number
}

export interface Live {
  readonly elapsedMs: number | null
  /** Null if its duration is unknown. */
  readonly durationMs: number | null
  /** Null until there are samples. */
  readonly now: CurrentFigures | null
  /** For how long nothing has been answered, in words; null while that is nothing unusual. */
  readonly quiet: string | null
}

export interface CurrentFigures {
  /** For throughput and failures. */
  readonly windowMs: number
  readonly throughput: number
  readonly failures: number
  /** The last point of the chart, which is this wide. */
  readonly bucketMs: number
  readonly p95Ms: number | null
}

export interface RunDocument {
  readonly id: string
  /** https, or null. */
  readonly url: string | null
  readonly name: string | null
  readonly facts: readonly (readonly [name: string, value: string])[]
}

export interface ThresholdRow extends JudgementRow {
  /** The actual value as a multiple of the limit; null if there is none. */
  readonly ratio: number | null
  /** In the units of a comparison; null without one. */
  readonly change: Change | null
}

export interface Change {
  readonly pct: number
  readonly low: number
  readonly high: number
  /** The change that the threshold allows; null if it is unknown. */
  readonly limitPct: number | null
}

export interface View {
  readonly kind: 'all' | 'region' | 'grid'
  readonly name: string
  readonly figures: FiguresDocument
  readonly histogram: Histogram | null
  readonly zones: Zones | null
  readonly limits: readonly Limit[]
  readonly labels: readonly LabelRow[]
  /** How many labels with fewer samples are left out. */
  readonly labelsLeftOut: number
}

/** Bin `i` has the share of samples above `edgesMs[i]` and up to `edgesMs[i + 1]`. */
export interface Histogram {
  readonly edgesMs: readonly number[]
  readonly shares: readonly number[]
}

/** Shares of the samples by response time, at the limits of the apdex. */
export interface Zones {
  readonly targetMs: number
  readonly satisfied: number
  readonly tolerated: number
  readonly frustrated: number
}

export interface Limit {
  readonly text: string
  readonly name: string
  readonly ms: number
  readonly verdict: string
}

export interface LabelRow extends FiguresDocument {
  readonly label: string
  /** The label's distribution of response times between the fastest and the slowest of all: heights from 0 to 9, one digit each. */
  readonly spark: string
}
