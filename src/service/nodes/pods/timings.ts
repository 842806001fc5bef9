import { NodeError } from '../load-node.js'

/** How long things may take; tests shorten them. */
export interface PodTimings {
  /** An open stream without a sign of life for so long is dead; the pod sends one every 5 s. */
  readonly silenceMs: number
  /** How long the cluster may be out of reach while the load goes on. */
  readonly giveUpMs: number
  /** How long it may say no to everything: tokens are renewed, permissions are not. */
  readonly refusedMs: number
  readonly firstRetryMs: number
  readonly lastRetryMs: number
  /** For a short question, once its stream is open: a thousand others may be opened before it. */
  readonly askMs: number
  /** After a stop, how long the last bytes may take without any arriving. */
  readonly lastBytesMs: number
}

export const POD_TIMINGS: PodTimings = {
  silenceMs: 15_000,
  giveUpMs: 5 * 60_000,
  refusedMs: 30_000,
  firstRetryMs: 250,
  lastRetryMs: 5_000,
  askMs: 30_000,
  lastBytesMs: 10_000
}

/** The node may well be working, but nobody here may use it any more. */
export class RefusedError extends NodeError {
  override name = 'RefusedError'
}
