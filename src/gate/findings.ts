import type { Run } from '../service/documents/documents.js'
import type { Collection } from './collect/collect.js'
import type { Failure } from './errors.js'
import type { Watched } from './run/watch-run.js'

/** What the story has brought together so far; each part may be missing. */
export interface Findings {
  readonly run?: Run
  readonly watched?: Watched
  readonly collection?: Collection
  /** What kept the story from going on. */
  readonly failure?: Failure
  readonly isDetached?: boolean
  /** The gate itself has told the run to stop. */
  readonly isStoppedHere?: boolean
  /** When there was nothing more to find out, by the clock. */
  readonly endedMs?: number
}
