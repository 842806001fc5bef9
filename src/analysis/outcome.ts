import type { DetailsDocument, VerdictDocument } from '../contract/verdict.js'
import type { LabelChanges } from './baseline/compare-labels.js'
import type { Trend } from './baseline/build-trend.js'
import type { Measurements } from './results/figures/measurements.js'
import type { Judgement } from './thresholds/judge/judgement.js'

export type Verdict = VerdictDocument['verdict']

export interface RunFacts extends NonNullable<VerdictDocument['run']> {
  readonly user?: string | undefined
}

export type GridFacts = VerdictDocument['grids'][number]

/** Where a part of the load came from; null is unknown. */
export type NodeFacts = VerdictDocument['nodes'][number]

export type StoppedEarly = NonNullable<VerdictDocument['stopped_early']>

export type Details = DetailsDocument

/** The samples at the start of the run that are in no figure. */
export interface WarmUpFacts {
  readonly ms: number
  /** When it began, in epoch ms; undefined for several runs, which have one each. */
  readonly startMs?: number
  /** How many were left out; those of tidy CSVs are whole buckets. */
  readonly samples: number
  readonly failures: number
  /** All samples together with those that count: for the charts. */
  readonly whole: Measurements
}

export interface Outcome {
  readonly verdict: Verdict
  readonly reason: string
  readonly run: RunFacts | undefined
  readonly apdex: { readonly score: number; readonly targetMs: number } | undefined
  readonly summary: string | undefined
  readonly means: Readonly<Record<string, number>>
  /** True if the samples are synthetic: then nothing here was measured. */
  readonly rehearsal: boolean
  readonly judgements: readonly Judgement[]
  readonly grids: readonly GridFacts[]
  readonly nodes?: readonly NodeFacts[] | undefined
  /** All of it came from this machine, whatever the grids' regions are. */
  readonly isAllHere?: boolean
  readonly measurements: Measurements | undefined
  readonly warmUp?: WarmUpFacts | undefined
  /** What a second reading of the CSVs found, of what counts. */
  readonly details?: Details | undefined
  /** What makes the figures doubtful without changing the verdict: load that was requested and not reached. */
  readonly warnings: readonly string[]
  readonly remoteErrors: readonly string[]
  readonly notes: readonly string[]
  readonly baseline?: BaselineFacts | undefined
  /** Where no line names `baseline`: the comparison to show. It was not part of the verdict. */
  readonly shownComparisons?: readonly Judgement[]
  /** What changed by label; it was not part of the verdict. */
  readonly labelChanges?: LabelChanges | undefined
  readonly trend?: Trend | undefined
  /** Set if the gate stopped the run because of a broken threshold: the verdict is on the part before. */
  readonly stoppedEarly?: StoppedEarly | undefined
}

export const REHEARSAL = 'rehearsal, synthetic samples'

type BaselinePart = NonNullable<VerdictDocument['baseline']>

export interface BaselineFacts extends Pick<BaselinePart, 'state' | 'kind' | 'runs'> {
  readonly branch: string | undefined
  readonly commit: string | undefined
  /** One sentence: why nothing was compared, and what to do. */
  readonly reason: string | undefined
  /** Sentences such as "no run on main for a514cef, so 8c5a0f1 was used". */
  readonly notes: readonly string[]
  /** What a later run must share to be comparable: `loadgate baseline record` takes it from verdict.json. */
  readonly fingerprint?: Readonly<Record<string, string>>
}
