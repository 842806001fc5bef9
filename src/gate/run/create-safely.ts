import { RETRY, retry } from '../../service/retry.js'
import type { Gate } from '../gate.js'
import { asSentence, messageOf } from '../errors.js'

/** Sends a request that creates something; it is retried only if nothing can have been created: no connection, or 429. */
export function createSafely<T>({ ports }: Gate, create: () => Promise<T>, signal: AbortSignal): Promise<T> {
  const onRetry = (thrown: unknown): void =>
    ports.log.info(`${asSentence(messageOf(thrown))} Nothing was created; retrying.`)
  return retry(create, RETRY.create, { clock: ports.clock, signal, onRetry })
}
