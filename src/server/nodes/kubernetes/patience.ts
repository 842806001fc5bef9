import { setTimeout as sleep } from 'node:timers/promises'
import { clauseOf } from '../../errors.js'
import { type Cluster, ClusterError } from './cluster.js'
import { isBusy } from './failures.js'

/** How long a busy cluster is asked again; tests replace the waiting. */
export interface Patience {
  readonly limitMs: number
  readonly now: () => number
  readonly wait: (delayMs: number, signal: AbortSignal | undefined) => Promise<unknown>
}

export const PATIENCE: Patience = {
  limitMs: 20_000,
  now: () => Date.now(),
  wait: (delayMs, signal) => sleep(delayMs, undefined, { ...(signal && { signal }) })
}

const FIRST_RETRY_MS = 500
const LAST_RETRY_MS = 5_000

/** The same cluster; requests that it is too busy for are repeated, all together no longer than the limit from now on. */
export function askPatiently(cluster: Cluster, { limitMs, now, wait }: Patience): Cluster {
  const deadlineMs = now() + limitMs
  return {
    ...cluster,
    request: async <T>(...request: Parameters<Cluster['request']>): Promise<T> => {
      for (let delayMs = FIRST_RETRY_MS; ; delayMs = Math.min(2 * delayMs, LAST_RETRY_MS)) {
        try {
          return await cluster.request<T>(...request)
        } catch (error) {
          if (!isBusy(error)) throw error
          const waitMs = error.retryAfterMs ?? delayMs
          if (now() + waitMs > deadlineMs) throw stillBusy(error, limitMs)
          await wait(waitMs, request[2]?.signal)
        }
      }
    }
  }
}

function stillBusy(error: ClusterError, limitMs: number): ClusterError {
  return new ClusterError(
    `The cluster has been too busy for ${limitMs / 1000} s: ${clauseOf(error)}. Run again later.`,
    error.status,
    { cause: error }
  )
}
