import type { Clock } from '../../service/clock.js'
import { isPassing, mayBeMomentary } from '../../service/errors.js'
import { pauseBefore } from '../../service/retries.js'

const MINUTE_MS = 60_000
/** Something else may answer in the service's place for a while; a run that was really deleted must not be waited for much longer. */
export const REFUSAL_MS = MINUTE_MS
const LONGEST_PAUSE_ATTEMPT = 6
/** A refusal is asked about more often than an outage, for it is not borne for long. */
const LONGEST_PAUSE_ATTEMPT_AFTER_REFUSAL = 4

export interface PatienceOptions {
  readonly clock: Clock
  /** How long the service may be away. */
  readonly outageMs: number
  /** How long it may refuse what it should know. */
  readonly refusalMs?: number
}

/**
 * How long failures in a row are borne where the same thing may be asked again: an outage for minutes; a refusal for a minute, for it
 * may come from an ingress in the middle of a deployment; a refusal of the token, or an error of our own, not at all.
 */
export class Patience {
  readonly #options: PatienceOptions
  #failures = 0
  #failingSinceMs: number | undefined
  #refusedSinceMs: number | undefined

  constructor(options: PatienceOptions) {
    this.#options = options
  }

  /** True after a failure, until there is an answer. */
  get isFailing(): boolean {
    return this.#failures > 0
  }

  noteAnswer(): void {
    this.#failures = 0
    this.#failingSinceMs = undefined
    this.#refusedSinceMs = undefined
  }

  /** The wait before the next attempt; throws the error where it is not to be borne any longer. */
  bear(error: unknown): number {
    const { clock, outageMs, refusalMs = REFUSAL_MS } = this.#options
    const nowMs = clock.now()
    this.#failures++
    this.#failingSinceMs ??= nowMs
    if (isPassing(error)) {
      if (nowMs - this.#failingSinceMs > outageMs) throw error
      return pauseBefore(Math.min(this.#failures, LONGEST_PAUSE_ATTEMPT), error)
    }
    this.#refusedSinceMs ??= nowMs
    if (!mayBeMomentary(error) || nowMs - this.#refusedSinceMs >= refusalMs) throw error
    return pauseBefore(Math.min(this.#failures, LONGEST_PAUSE_ATTEMPT_AFTER_REFUSAL), error)
  }
}
