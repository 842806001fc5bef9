import type { BaselineFacts } from '../baseline/baseline-facts.js'
import type { ComparisonEvidence } from '../baseline/judge-lines.js'
import type { Trend } from '../baseline/trend.js'
import type { StoppedEarly } from '../report/outcome.js'
import type { Judgement } from '../thresholds/judge/judgement.js'
import type { Run } from '../service/documents/documents.js'
import type { Collection } from './collect/collect.js'
import type { Failure } from './errors.js'
import type { Watched } from './run/watch-run.js'

/** A stop by the gate itself, because a threshold could not hold any more. */
export interface EarlyStop extends StoppedEarly {
  /** On that threshold, by the samples that decided it. */
  readonly judgement: Judgement
}

/** What is known of the run so far; each part may be missing. */
export interface Findings {
  readonly run?: Run
  readonly watched?: Watched
  readonly collection?: Collection
  /** Why the gate could not continue. */
  readonly failure?: Failure
  readonly isDetached?: boolean
  /** The gate itself stopped the run. */
  readonly isStoppedHere?: boolean
  /** What the lines that name `baseline` are judged by. */
  readonly comparison?: ComparisonEvidence
  readonly baseline?: BaselineFacts
  readonly trend?: Trend
  readonly stoppedEarly?: EarlyStop
  /** When following the run ended, by the clock. */
  readonly endedMs?: number
}
