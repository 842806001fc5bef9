import type { Source, TimeSeries } from '../../results/measurements.js'
import type { FiguresDocument } from '../figures-document.js'
import type { JudgementRow } from '../judgement-rows.js'
import type { GridFacts, Verdict } from '../outcome.js'

/** A run that is still going has no verdict yet. */
export type Headline = Verdict | 'running'

/** All that the page shows, as the data block in it and as what a page that is open can be fed with again. */
export interface PageDocument {
  readonly headline: Headline
  readonly reason: string
  /** The words that must stand beside synthetic samples; null for measurements. */
  readonly rehearsal: string | null
  readonly notes: readonly string[]
  readonly run: RunDocument | null
  /** The service's own figure. */
  readonly apdex: { readonly score: number; readonly targetMs: number } | null
  readonly summary: string | null
  readonly thresholds: readonly ThresholdRow[]
  /** Epoch ms of the first start. */
  readonly startMs: number | null
  readonly series: TimeSeries | null
  /** The first is of all samples; then each region and each grid, where there are several. */
  readonly views: readonly View[]
  readonly grids: readonly GridFacts[]
  readonly sources: readonly Source[]
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
