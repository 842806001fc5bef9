/** An injectable clock, so that tests can control time. */
export interface Clock {
  now(): number
  /** For durations: it never jumps. Without it, `now` does not either. */
  steady?(): number
  /** Calls back once after the delay, unless the process ends before; the returned function cancels it. */
  after(delayMs: number, act: () => void): () => void
  /** Resolves after the time, or rejects with the signal's reason as soon as it is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/** The maximum for Node's timers; beyond it they fire at once. Nothing waits for so long: 24 days. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

export const systemClock: Clock = {
  now: () => Date.now(),
  steady: () => performance.now(),
  after: (delayMs, act) => {
    const timer = startTimer(delayMs, act).unref()
    return () => clearTimeout(timer)
  },
  sleep: sleepBy((ms, act) => {
    const timer = startTimer(ms, act)
    return () => clearTimeout(timer)
  })
}

function startTimer(ms: number, act: () => void): NodeJS.Timeout {
  return setTimeout(act, Math.min(ms, LONGEST_TIMER_MS))
}

/** Sleeps by these timers. */
export function sleepBy(after: Clock['after']): Clock['sleep'] {
  return (ms, signal) => {
    let cancel: (() => void) | undefined
    const slept = new Promise<void>((resolve) => {
      if (!signal?.aborted) cancel = after(ms, resolve)
    })
    return orAborted(slept, signal).finally(() => cancel?.())
  }
}

/** A time that only makes sense compared with another one. */
export function steadyNow(clock: Clock): number {
  return clock.steady?.() ?? clock.now()
}

/** Rejects with the signal's reason if it is aborted before the work is done, which then goes on unattended. */
export function orAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(reasonOf(signal))
    signal.addEventListener('abort', abort, { once: true })
    if (signal.aborted) abort()
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}

/** The error an aborted signal carries; a reason can be anything, but only errors are thrown. */
export function reasonOf(signal: AbortSignal | undefined): Error {
  const reason: unknown = signal?.reason
  return reason instanceof Error ? reason : new Error('aborted', { cause: reason })
}
