import type { Source, TimeSeries } from '../../results/figures/measurements.js'
import type { FiguresDocument } from '../figures-document.js'
import type { ErrorRow } from '../error-rows.js'
import type { JudgementRow } from '../judgement-rows.js'
import type { GridFacts, Verdict } from '../outcome.js'

/** Of a run that nobody judges, or not yet. */
export type RunStatus = 'queued' | 'running' | 'stopping' | 'finished' | 'problem'

export type Headline = Verdict | RunStatus

/** All that the page shows, as the data block in it and as what a page that is open can be fed with again. */
export interface PageDocument {
  readonly headline: Headline
  readonly reason: string
  /** The words that must stand beside synthetic samples; null for measurements. */
  readonly rehearsal: string | null
  readonly warnings: readonly string[]
  readonly notes: readonly string[]
  readonly run: RunDocument | null
  /** The service's own figure. */
  readonly apdex: { readonly score: number; readonly targetMs: number } | null
  readonly summary: string | null
  readonly thresholds: readonly ThresholdRow[]
  /** Why samples failed, the most frequent reason first. */
  readonly errors: readonly ErrorRow[]
  /** Epoch ms of the first start. */
  readonly startMs: number | null
  readonly series: TimeSeries | null
  /** The first is of all samples; then each region and each grid, where there are several. */
  readonly views: readonly View[]
  readonly grids: readonly GridFacts[]
  readonly sources: readonly Source[]
  /** Only while the run goes on. */
  readonly live?: Live
}

/** Where a run stands that goes on. */
export interface Live {
  readonly elapsedMs: number | null
  /** Null when nobody knows how long it will take. */
  readonly durationMs: number | null
  /** Null until there are samples. */
  readonly now: CurrentFigures | null
}

/** What the last seconds were like. */
export interface CurrentFigures {
  /** Of throughput and failures. */
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
  /** The actual value as a multiple of the limit; null where there is none. */
  readonly ratio: number | null
  /** Whether the actual value has to stay below the limit or above it. */
  readonly side: 'below' | 'above' | 'at'
}

/** The samples of one scope from all sides. */
export interface View {
  readonly kind: 'all' | 'region' | 'grid'
  readonly name: string
  readonly figures: FiguresDocument
  readonly histogram: Histogram | null
  readonly zones: Zones | null
  readonly limits: readonly Limit[]
  readonly labels: readonly LabelRow[]
  /** How many labels with fewer samples are not among them. */
  readonly labelsLeftOut: number
}

/** Bin `i` holds the share of samples above `edgesMs[i]` and up to `edgesMs[i + 1]`. */
export interface Histogram {
  readonly edgesMs: readonly number[]
  readonly shares: readonly number[]
}

/** Shares of the samples by their times, at the limits of the apdex. */
export interface Zones {
  readonly targetMs: number
  readonly satisfied: number
  readonly tolerated: number
  readonly frustrated: number
}

/** A threshold on a time, as a line in the charts. */
export interface Limit {
  readonly text: string
  readonly name: string
  readonly ms: number
  readonly verdict: string
}

export interface LabelRow extends FiguresDocument {
  readonly label: string
  /** Where the label's response times lie between the fastest and the slowest of all: heights from 0 to 9, a digit each. */
  readonly spark: string
}
