import { reasonOf } from '../contract/clock.js'
import type { Clock } from '../contract/clock.js'

export interface Deadline {
  readonly signal: AbortSignal
  /** Clears the timer. */
  release(): void
}

/**
 * Returns a signal that is aborted when the time has passed, or when one of the others is aborted. An error that depends on what has
 * happened until then is created when the time has passed.
 */
export function startDeadline(
  clock: Clock,
  ms: number,
  options: { error: Error | (() => Error); others?: AbortSignal[] }
): Deadline {
  const { error } = options
  const expiry = new AbortController()
  const released = new AbortController()
  clock.sleep(ms, released.signal).then(
    () => expiry.abort(typeof error === 'function' ? error() : error),
    () => undefined
  )
  return {
    signal: AbortSignal.any([expiry.signal, ...(options.others ?? [])]),
    release: () => released.abort()
  }
}

/** Does the work with such a signal. */
export async function withDeadline<T>(
  clock: Clock,
  ms: number,
  options: Parameters<typeof startDeadline>[2],
  work: (signal: AbortSignal) => Promise<T>
): Promise<T> {
  const deadline = startDeadline(clock, ms, options)
  try {
    return await work(deadline.signal)
  } finally {
    deadline.release()
  }
}

/** Returns a signal that is aborted a while after the other one, with its reason: time to finish what has begun. */
export function delayAbort(clock: Clock, signal: AbortSignal, ms: number): AbortSignal {
  const later = new AbortController()
  const abort = (): void => void clock.sleep(ms).then(() => later.abort(reasonOf(signal)))
  if (signal.aborted) abort()
  else signal.addEventListener('abort', abort, { once: true })
  return later.signal
}
