/** An injectable clock, so that tests can control time. */
export interface Clock {
  now(): number
  /** Resolves after the time, or rejects with the signal's reason as soon as it is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/** The maximum for Node's timers; beyond it they fire at once. */
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

/** The error an aborted signal carries; a reason can be anything, but only errors are thrown. */
export function reasonOf(signal: AbortSignal | undefined): Error {
  const reason: unknown = signal?.reason
  return reason instanceof Error ? reason : new Error('aborted', { cause: reason })
}
