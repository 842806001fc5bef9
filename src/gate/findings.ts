import type { Run } from '../service/documents/documents.js'
import type { Collection } from './collect/collect.js'
import type { Failure } from './errors.js'
import type { Watched } from './run/watch-run.js'

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
  /** When following the run ended, by the clock. */
  readonly endedMs?: number
}
