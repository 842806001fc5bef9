import { formatDuration } from '../../contract/text.js'
import { clauseOf } from '../errors.js'
import type { Store } from '../store/store.js'

/** Why work was cut short; used as the reason of an aborted signal. */
export class Interruption extends Error {
  override name = 'Interruption'

  constructor(
    private readonly words: {
      /** What happened, as in `stopped by a caller`; a full sentence is used as it is, without the time. */
      readonly what: string
      readonly why?: string
      readonly atMs: number
      /** Allowed by the API, so that the run counts as finished; the load that was not generated is still lost. */
      readonly isAllowed?: boolean
    }
  ) {
    super(words.what)
  }

  get isAllowed(): boolean {
    return this.words.isAllowed ?? false
  }

  /** With how long the run had taken by then. */
  describe(startedMs: number | null): string {
    const { what, why = '', atMs } = this.words
    if (what.endsWith('.')) return what
    const when = startedMs === null ? 'before the run started' : `after ${formatDuration(atMs - startedMs)}`
    return `${what} ${when} ${why}`.trim()
  }
}

/** A run can wait longer for another process that is writing than a caller. */
const RUN_WAITS_MS = 60_000

/** For what must not happen twice: after a crash nobody would know that it happened. Throws with what was not done, and why. */
export async function requireWritten(store: Pick<Store, 'flushWhenFree'>, what: string): Promise<void> {
  try {
    await store.flushWhenFree(RUN_WAITS_MS)
  } catch (thrown) {
    const why = clauseOf(thrown instanceof Error ? (thrown.cause ?? thrown) : thrown)
    throw new Error(
      `${what}, because the service could not record it (${why}); free up space in its data folder and try again`,
      { cause: thrown }
    )
  }
}
