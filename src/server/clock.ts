/** The service's clock; tests replace it with a manual one. */
export interface Clock {
  now(): number
  /** Calls back once after the delay; the returned function cancels it. */
  after(delayMs: number, act: () => void): () => void
}

export const systemClock: Clock = {
  now: () => Date.now(),
  after: (delayMs, act) => {
    const timer = setTimeout(act, delayMs)
    timer.unref()
    return () => clearTimeout(timer)
  }
}
