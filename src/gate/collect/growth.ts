import type { ServiceClient } from '../../service/client.js'
import type { Clock } from '../../service/clock.js'
import { UnreachableError, isTransient } from '../../service/errors.js'
import { retry } from '../../service/retry.js'
import type { RetryPolicy } from '../../service/retry.js'
import { startDeadline } from '../deadline.js'

/** Nearly every service answers "no": nobody waits long for it. */
const LONGEST_CHECK_MS = 10_000
/** One answer that never comes leaves time for another request. */
const LONGEST_ANSWER_MS = 5_000

const RETRY_WITHIN_CHECK: RetryPolicy = {
  isTransient,
  transientMs: LONGEST_CHECK_MS,
  isRefusal: () => false,
  refusalMs: 0
}

export interface GrowthCheck {
  /** As many as were downloaded. */
  readonly bytes: number
  readonly clock: Clock
  readonly signal: AbortSignal
  /** The newest address of the same CSV: a signed link may have expired. */
  readonly renew: (href: string, signal: AbortSignal) => Promise<string>
}

/**
 * Whether there is more of a CSV by now than the bytes that were downloaded, by HEAD requests: one, and a few more where it fails in
 * passing. What cannot be read as growth is none: a service need not say how large a CSV is.
 */
export async function hasGrown(client: ServiceClient, href: string, check: GrowthCheck): Promise<boolean> {
  const { bytes, clock, signal } = check
  const deadline = startDeadline(clock, LONGEST_CHECK_MS, { error: new Error('no answer'), others: [signal] })
  let address = href
  const ask = (): Promise<number | undefined> => sizeOf(client, address, { clock, signal: deadline.signal })
  const askAnew = async (failure: unknown): Promise<number | undefined> => {
    const before = address
    address = await check.renew(before, deadline.signal)
    if (isTransient(failure) || address === before) throw failure
    return ask()
  }
  try {
    const size = await retry(() => ask().catch(askAnew), RETRY_WITHIN_CHECK, {
      clock,
      signal: deadline.signal
    })
    return size !== undefined && size > bytes
  } catch {
    return false
  } finally {
    deadline.release()
  }
}

async function sizeOf(
  client: ServiceClient,
  href: string,
  { clock, signal }: Pick<GrowthCheck, 'clock' | 'signal'>
): Promise<number | undefined> {
  const error = new UnreachableError('looking at a result CSV', 'no answer came', { neverSent: false })
  const deadline = startDeadline(clock, LONGEST_ANSWER_MS, { error, others: [signal] })
  try {
    return await client.resultSize(href, deadline.signal)
  } finally {
    deadline.release()
  }
}
