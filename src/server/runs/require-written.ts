import { clauseOf } from '../errors.js'
import type { Store } from '../store/store.js'

/** Before what must not happen twice: after a crash nobody would know of it. Throws with what was not done, and why. */
export function requireWritten(store: Pick<Store, 'flush'>, what: string): void {
  try {
    store.flush()
  } catch (thrown) {
    const why = clauseOf(thrown instanceof Error ? (thrown.cause ?? thrown) : thrown)
    throw new Error(
      `${what}, because the service could not write that down (${why}); free up space in its data folder and try again`,
      { cause: thrown }
    )
  }
}
