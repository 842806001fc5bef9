import { formatElapsed } from '../format-elapsed.js'

/** Why work was cut short; used as the reason of an aborted signal. */
export class Interruption extends Error {
  override name = 'Interruption'

  constructor(
    private readonly words: {
      /** What happened, as in `stopped by a caller`; a full sentence is used as it is, without the time. */
      readonly what: string
      /** Added after the time, if anything. */
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
    const { what, why, atMs } = this.words
    if (what.endsWith('.')) return what
    const when = startedMs === null ? 'before the run started' : `after ${formatElapsed(atMs - startedMs)}`
    return [what, when, ...(why === undefined ? [] : [why])].join(' ')
  }
}
