import type { ServiceClient } from '../../service/client.js'
import type { Clock } from '../../service/clock.js'
import { MalformedReplyError, RefusedError, isTransient } from '../../service/errors.js'
import { RETRY, retry } from '../../service/retry.js'
import { gridPhaseOf } from './run-status.js'

/** Terminates a grid; throws if it cannot confirm that the grid has ended. */
export async function endGrid(
  client: ServiceClient,
  id: string,
  { clock, signal }: { clock: Clock; signal: AbortSignal }
): Promise<void> {
  const end = async (): Promise<void> => {
    try {
      await client.terminateGrid(id, signal)
    } catch (thrown) {
      // A grid that has already ended may refuse to be terminated, and the reply may have another format.
      const isRefused = thrown instanceof RefusedError && !isTransient(thrown)
      const isAnswered = isRefused || thrown instanceof MalformedReplyError
      if (!isAnswered || !(await isSeenEnded(client, id, signal))) throw thrown
    }
  }
  try {
    await retry(end, RETRY.terminateGrid, { clock, signal })
  } catch (thrown) {
    const isGone = thrown instanceof RefusedError && thrown.status === 404
    if (!isGone) throw thrown
  }
}

async function isSeenEnded(client: ServiceClient, id: string, signal: AbortSignal): Promise<boolean> {
  return client.showGrid(id, signal).then(
    ({ status }) => gridPhaseOf(status) === 'ended',
    () => false
  )
}
