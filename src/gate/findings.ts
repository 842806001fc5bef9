import type { BaselineFacts, StoppedEarly } from '../analysis/outcome.js'
import type { ComparisonEvidence } from '../analysis/baseline/judge/sides.js'
import type { Trend } from '../analysis/baseline/build-trend.js'
import type { Measurements } from '../analysis/results/figures/measurements.js'
import type { Judgement } from '../analysis/thresholds/judge/judgement.js'
import type { Run } from '../contract/api.js'
import type { Apdex } from '../analysis/evidence/apdex.js'
import type { Collection } from './collect/collect.js'
import type { Failure } from './errors.js'
import type { Watched } from './run/watch-run.js'

/** A stop by the gate itself, because of a broken threshold. */
export interface EarlyStop extends StoppedEarly {
  /** On that threshold, by the samples that decided it. */
  readonly judgement: Judgement
  readonly live?: Measurements
}

/** A further run that was complete evidence. */
export interface ConfirmingRun {
  /** `confirming run 1` */
  readonly stage: string
  readonly findings: Findings
}

/** What is known about the run so far; each part may be missing. */
export interface Findings {
  readonly run?: Run
  readonly watched?: Omit<Watched, 'waitedUntilMs'>
  readonly collection?: Collection
  readonly failure?: Failure
  readonly isDetached?: boolean
  readonly isStoppedHere?: boolean
  /** What the lines that name `baseline` are judged by. */
  readonly comparison?: ComparisonEvidence
  /** Lines with limits of their own judge each of them too. */
  readonly confirming?: readonly ConfirmingRun[]
  readonly baseline?: BaselineFacts
  /** The run is one of the branch that is compared with: there, a missing baseline never fails the gate. */
  readonly isOnBaselineBranch?: boolean
  readonly trend?: Trend
  /** Computed from the samples of several runs, or why it cannot be; otherwise the run has the service's own. */
  readonly apdex?: Apdex | string
  /** Why several runs together are not enough evidence. */
  readonly gap?: string
  /** Runs that ended badly besides the one that the outputs name; their logs are kept in a folder of that name. */
  readonly badRuns?: readonly { readonly runId: string; readonly folder: string }[]
  readonly stoppedEarly?: EarlyStop
  /** What cleaning up has shown about the load. */
  readonly warnings?: readonly string[]
  /** When following the run ended, by the clock. */
  readonly endedMs?: number
}
