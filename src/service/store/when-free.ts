import { type Clock, steadyNow } from '../../contract/clock.js'
import { isBusy } from './database-errors.js'

/** How long a caller waits for another process that is writing. */
const CALLER_WAITS_MS = 10_000
const LOOK_AGAIN_MS = 50

/**
 * Writes to the database as soon as no other process is writing. SQLite itself would wait in the only thread, and everyone with it; this
 * tries again now and then. Throws what the last attempt threw.
 */
export async function whenFree<T>(act: () => T, clock: Clock, withinMs = CALLER_WAITS_MS): Promise<T> {
  const untilMs = steadyNow(clock) + withinMs
  for (;;) {
    try {
      return act()
    } catch (thrown) {
      if (!isLocked(thrown) || steadyNow(clock) >= untilMs) throw thrown
    }
    await clock.sleep(LOOK_AGAIN_MS)
  }
}

function isLocked(thrown: unknown): boolean {
  return isBusy(thrown) || (thrown instanceof Error && isBusy(thrown.cause ?? {}))
}
