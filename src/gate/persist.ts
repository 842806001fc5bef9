import type { Clock } from '../service/clock.js'
import { isPassing } from '../service/errors.js'
import { pauseBefore } from '../service/retries.js'

const LONGEST_PAUSE_ATTEMPT = 6

/** Tries again what fails in passing, until it has failed for so long or the signal is aborted. For what may be done twice alone. */
export async function persist<T>(
  attempt: () => Promise<T>,
  options: { clock: Clock; signal: AbortSignal | undefined; longestMs: number }
): Promise<T> {
  const { clock, signal, longestMs } = options
  const sinceMs = clock.now()
  for (let failures = 1; ; failures++) {
    try {
      return await attempt()
    } catch (thrown) {
      if (signal?.aborted || !isPassing(thrown) || clock.now() - sinceMs > longestMs) throw thrown
      await clock.sleep(pauseBefore(Math.min(failures, LONGEST_PAUSE_ATTEMPT), thrown), signal)
    }
  }
}
