import type { ServiceClient } from '../service/client.js'
import type { Clock } from '../service/clock.js'
import type { Run } from '../service/documents.js'
import { isPassing } from '../service/errors.js'
import { hasEnded } from './run-status.js'

const LOOK_EVERY_MS = 2_000

/** Stops a run and looks until it has ended; throws when it cannot be made sure. */
export async function endRun(
  client: ServiceClient,
  id: string,
  options: { clock: Clock; signal: AbortSignal }
): Promise<Run> {
  const { clock, signal } = options
  let failure: unknown
  for (;;) {
    try {
      // Stopping is repeated, for it does no harm, until a look shows the end.
      const answered = await client.stopRun(id, signal)
      const run = hasEnded(answered.status) ? await client.showRun(id, signal) : answered
      if (hasEnded(run.status)) return run
    } catch (thrown) {
      if (signal.aborted) throw failure ?? thrown
      if (!isPassing(thrown)) throw thrown
      failure = thrown
    }
    await clock.sleep(LOOK_EVERY_MS, signal)
  }
}
