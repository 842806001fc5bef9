import type { ServiceClient } from '../../service/client.js'
import type { Clock } from '../../service/clock.js'
import { startDeadline } from '../deadline.js'

/** Nearly every service answers "no": nobody waits long for it. */
const LONGEST_CHECK_MS = 10_000

/**
 * Whether there is more of a CSV by now than the bytes that were downloaded, by one HEAD request. What cannot be read as growth is none:
 * a service need not say how large a CSV is.
 */
export async function hasGrown(
  client: ServiceClient,
  href: string,
  { bytes, clock, signal }: { bytes: number; clock: Clock; signal: AbortSignal }
): Promise<boolean> {
  const deadline = startDeadline(clock, LONGEST_CHECK_MS, { error: new Error('no answer'), others: [signal] })
  try {
    const size = await client.resultSize(href, deadline.signal)
    return size !== undefined && size > bytes
  } catch {
    return false
  } finally {
    deadline.release()
  }
}
