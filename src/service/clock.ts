/** The service's clock; tests replace it with a manual one. */
export interface Clock {
  now(): number
  /** For durations: it never jumps. Without it, `now` does not either. */
  steady?(): number
  /** Calls back once after the delay; the returned function cancels it. */
  after(delayMs: number, act: () => void): () => void
}

/** The maximum for Node's timers; beyond it they fire at once. Nothing waits for so long: 24 days. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

export const systemClock: Clock = {
  now: () => Date.now(),
  steady: () => performance.now(),
  after: (delayMs, act) => {
    const timer = setTimeout(act, Math.min(delayMs, LONGEST_TIMER_MS))
    timer.unref()
    return () => clearTimeout(timer)
  }
}

/** A time that only makes sense compared with another one. */
export function steadyNow(clock: Clock): number {
  return clock.steady?.() ?? clock.now()
}

/** Rejects with the reason if the signal aborts first. */
export function orAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error)
    signal.addEventListener('abort', abort, { once: true })
    if (signal.aborted) abort()
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
