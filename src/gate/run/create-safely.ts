import { CertificateError, RefusedError, hadNoEffect } from '../../service/errors.js'
import { pauseBefore } from '../../service/retries.js'
import type { Gate } from '../gate.js'
import { messageOf } from '../errors.js'

/** Only a request that cannot have had an effect is retried, and not forever. */
const MOST_ATTEMPTS = 5

/** Sends a request that creates something; it is retried only if nothing can have been created: no connection, or 429. */
export async function createSafely<T>(
  { ports }: Gate,
  create: () => Promise<T>,
  signal: AbortSignal
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await create()
    } catch (thrown) {
      if (signal.aborted || attempt >= MOST_ATTEMPTS || !isWorthAnother(thrown)) throw thrown
      ports.log.info(`${messageOf(thrown)}; nothing was created, retrying.`)
      await ports.clock.sleep(pauseBefore(attempt + 1, thrown), signal)
    }
  }
}

function isWorthAnother(thrown: unknown): boolean {
  const isFinal = thrown instanceof RefusedError ? thrown.status !== 429 : thrown instanceof CertificateError
  return hadNoEffect(thrown) && !isFinal
}
