import type { Clock } from './clock.js'
import { clauseOf } from './errors.js'
import { probeFolder } from './store/probe-folder.js'
import type { Store } from './store/store.js'

/** Anyone may ask; the disk is asked no more often than this. */
const PROBE_EVERY_MS = 2000
/** A disk that is almost full takes a few bytes still. */
const PROBE_BYTES = 64 * 1024

export interface Readiness {
  /** Undefined if new runs are welcome. */
  readonly whyNot: () => string | undefined
  /** From now on they are not. */
  readonly drain: () => void
}

/** Whether the service can take new runs: it can keep what it is given, and is not about to end. */
export function createReadiness({ folder }: Pick<Store, 'folder'>, clock: Clock): Readiness {
  let isDraining = false
  let probedMs = -Infinity
  let failure: string | undefined
  return {
    whyNot: () => {
      if (isDraining) return 'the service is about to end and takes no new runs'
      // A clock that was set back must not keep an old answer.
      const sinceMs = clock.now() - probedMs
      if (sinceMs >= PROBE_EVERY_MS || sinceMs < 0) {
        probedMs = clock.now()
        failure = probe(folder.path)
      }
      return failure
    },
    drain: () => {
      isDraining = true
    }
  }
}

function probe(folder: string): string | undefined {
  try {
    probeFolder(folder, PROBE_BYTES)
    return undefined
  } catch (thrown) {
    return `the data folder cannot be written: ${clauseOf(thrown)}`
  }
}
