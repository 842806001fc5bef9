/** Time as the story sees it, so that tests can hold it in their hands. */
export interface Clock {
  now(): number
  /** Resolves after the time, or rejects with the signal's reason as soon as it is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/** Node's timers take no more, and fire at once beyond it. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

export const systemClock: Clock = {
  now: () => Date.now(),
  async sleep(ms, signal) {
    let leftMs = ms
    for (; leftMs > LONGEST_TIMER_MS; leftMs -= LONGEST_TIMER_MS) await startTimer(LONGEST_TIMER_MS, signal)
    await startTimer(leftMs, signal)
  }
}

function startTimer(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
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
