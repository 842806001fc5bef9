import { UnreachableError, isAboutToRestart } from '../../client/errors.js'
import { RETRY, retry, type RetryPolicy } from '../../client/retry.js'
import { asSentence, messageOf } from '../../contract/text.js'
import type { Ports } from '../ports.js'

/** Sends a request that creates something again after a service refused it because it is about to restart, and while it is gone: neither creates anything. */
export function outlastRestart<T>(
  { log, clock }: Pick<Ports, 'log' | 'clock'>,
  create: () => Promise<T>,
  signal: AbortSignal
): Promise<T> {
  let isAnnounced = false
  const isTransient: RetryPolicy['isTransient'] = (thrown) =>
    isAboutToRestart(thrown) || (isAnnounced && thrown instanceof UnreachableError && thrown.neverSent)
  const onRetry = (thrown: unknown): void => {
    if (!isAnnounced)
      log.info(`${asSentence(messageOf(thrown))} Nothing was created; waiting for the service to restart.`)
    isAnnounced = true
  }
  return retry(create, { ...RETRY.outlastRestart, isTransient }, { clock, signal, onRetry })
}

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
