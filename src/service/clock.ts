/** Time as the story sees it, so that tests can hold it in their hands. */
export interface Clock {
  now(): number
  /** Resolves after the time, or rejects with the signal's reason as soon as it is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      const abort = (): void => {
        clearTimeout(timer)
        reject(reasonOf(signal))
      }
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', abort)
        resolve()
      }, ms)
      if (signal?.aborted) abort()
      else signal?.addEventListener('abort', abort, { once: true })
    })
}

/** The error an aborted signal carries; anything can be a reason, only errors are thrown. */
export function reasonOf(signal: AbortSignal | undefined): Error {
  const reason: unknown = signal?.reason
  return reason instanceof Error ? reason : new Error('aborted', { cause: reason })
}
