import { RETRY, retry } from '../../service/retry.js'
import { asSentence, messageOf } from '../errors.js'
import type { Ports } from '../ports.js'

/** Sends a request that creates something; it is retried only if nothing can have been created: no connection, or 429. */
export function createSafely<T>(
  { ports }: { readonly ports: Pick<Ports, 'log' | 'clock'> },
  create: () => Promise<T>,
  signal: AbortSignal
): Promise<T> {
  const onRetry = (thrown: unknown): void =>
    ports.log.info(`${asSentence(messageOf(thrown))} Nothing was created; retrying.`)
  return retry(create, RETRY.create, { clock: ports.clock, signal, onRetry })
}
