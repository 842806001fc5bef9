import { reasonOf, type Clock } from '../contract/clock.js'

interface DeadlineOptions {
  /** A function where it depends on what has happened until then. */
  readonly error: Error | (() => Error)
  readonly others?: readonly (AbortSignal | undefined)[]
}

/** Returns a signal that is aborted when the time has passed, or when one of the others is aborted; `release` clears the timer. */
export function startDeadline(
  clock: Clock,
  ms: number,
  { error, others = [] }: DeadlineOptions
): { readonly signal: AbortSignal; release(): void } {
  const expiry = new AbortController()
  const released = new AbortController()
  clock.sleep(ms, released.signal).then(
    () => expiry.abort(typeof error === 'function' ? error() : error),
    () => undefined
  )
  return {
    signal: AbortSignal.any([expiry.signal, ...others.filter((other) => other !== undefined)]),
    release: () => released.abort()
  }
}

/** Does the work with such a signal. */
export async function withDeadline<T>(
  clock: Clock,
  ms: number,
  options: DeadlineOptions,
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
