import type { ServiceClient } from '../../service/client.js'
import type { Clock } from '../../service/clock.js'
import { UnreachableError, isTransient } from '../../service/errors.js'
import { retry } from '../../service/retry.js'
import type { RetryPolicy } from '../../service/retry.js'
import { startDeadline } from '../deadline.js'

/** The answer is almost always "no", so do not wait long for it. */
const LONGEST_CHECK_MS = 10_000
/** Leaves time for another request if one gets no answer. */
const LONGEST_ANSWER_MS = 5_000

const RETRY_WITHIN_CHECK: RetryPolicy = {
  isTransient,
  transientMs: LONGEST_CHECK_MS,
  isRefusal: () => false,
  refusalMs: 0
}

export interface GrowthCheck {
  /** The number of bytes downloaded. */
  readonly bytes: number
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Returns the newest link to the same CSV: a signed link may have expired. */
  readonly renew: (href: string, signal: AbortSignal) => Promise<string>
}

/**
 * Whether a CSV is now larger than what was downloaded, by a HEAD request, with a few retries after transient errors. Anything that
 * does not show growth counts as none: a service need not say how large a CSV is.
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
  const error = new UnreachableError('checking the size of a result CSV', 'no answer', { neverSent: false })
  const deadline = startDeadline(clock, LONGEST_ANSWER_MS, { error, others: [signal] })
  try {
    return await client.resultSize(href, deadline.signal)
  } finally {
    deadline.release()
  }
}
