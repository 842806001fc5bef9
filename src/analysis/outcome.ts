import type { Trend } from './baseline/build-trend.js'
import type { Measurements } from './results/figures/measurements.js'
import type { Judgement } from './thresholds/judge/judgement.js'

export type Verdict =
  'passed' | 'failed' | 'inconclusive' | 'timed-out' | 'error' | 'cancelled' | 'skipped' | 'detached'

export interface RunFacts {
  readonly id: string
  /** The run's web page; undefined if there is none that may be linked. */
  readonly url: string | undefined
  readonly name: string | undefined
  readonly status: string
  readonly tool: string | undefined
  readonly threads: number | undefined
  readonly durationSeconds: number | undefined
  readonly startedMs: number | undefined
  readonly stoppedMs: number | undefined
  readonly user?: string | undefined
}

export interface GridFacts {
  readonly gridId: string
  readonly region: string
  readonly nodeCount: number | undefined
  readonly bytes: number | undefined
  readonly problem: string | undefined
}

/** Where a part of the load came from; null is unknown. */
export interface NodeFacts {
  readonly grid: string
  readonly region: string
  /** Among the nodes of its grid, from 1. */
  readonly number: number
  readonly place: string
  readonly startedMs: number | null
  readonly rows: number | null
  /** When its first sample started and its last one ended; absent if the service does not say. */
  readonly firstSampleMs?: number
  readonly lastSampleMs?: number
  readonly threads: number | null
  /** In cores. */
  readonly cpuLimit: number | null
  readonly restarts: number | null
  /** The part of the run, from 0 to 1, in which its CPU was throttled. */
  readonly throttled: number | null
  /** Its clock minus that of the service. */
  readonly clockOffsetMs: number
  readonly lost: string | null
}

export interface StoppedEarly {
  readonly afterSeconds: number
  readonly ofSeconds: number
  readonly savedSeconds: number
  /** The line that decided it, as written. */
  readonly threshold: string
}

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
  /** What makes the figures doubtful without changing the verdict: load that was requested and not reached. */
  readonly warnings: readonly string[]
  readonly remoteErrors: readonly string[]
  readonly notes: readonly string[]
  readonly baseline?: BaselineFacts | undefined
  /** Where no line names `baseline`: the comparison to show. It was not part of the verdict. */
  readonly shownComparisons?: readonly Judgement[]
  readonly trend?: Trend | undefined
  /** Set if the gate stopped the run because of a broken threshold: the verdict is on the part before. */
  readonly stoppedEarly?: StoppedEarly | undefined
}

export const REHEARSAL = 'rehearsal, synthetic samples'

export interface BaselineFacts {
  readonly state: 'compared' | 'no baseline' | 'not comparable' | 'off'
  readonly kind: 'recorded' | 'side-by-side'
  readonly branch: string | undefined
  readonly commit: string | undefined
  /** The ids of the base runs, oldest first; side by side, of the base segments. */
  readonly runs: readonly string[]
  /** One sentence: why nothing was compared, and what to do. */
  readonly reason: string | undefined
  /** Sentences such as "no run on main for a514cef, so 8c5a0f1 was used". */
  readonly notes: readonly string[]
  /** What a later run must share to be comparable: `loadgate baseline record` takes it from verdict.json. */
  readonly fingerprint?: Readonly<Record<string, string>>
}
