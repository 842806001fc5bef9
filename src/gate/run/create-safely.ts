import { RETRY, retry } from '../../service/retry.js'
import { asSentence, messageOf } from '../errors.js'
import type { Ports } from '../ports.js'
import { outlastRestart } from './outlast-restart.js'

/** Sends a request that creates something; it is retried only if nothing can have been created: no connection, 429, or a restart. */
export function createSafely<T>(
  { ports }: { readonly ports: Pick<Ports, 'log' | 'clock'> },
  create: () => Promise<T>,
  signal: AbortSignal
): Promise<T> {
  const onRetry = (thrown: unknown): void =>
    ports.log.info(`${asSentence(messageOf(thrown))} Nothing was created; retrying.`)
  const createOnce = (): Promise<T> => retry(create, RETRY.create, { clock: ports.clock, signal, onRetry })
  return outlastRestart(ports, createOnce, signal)
}
