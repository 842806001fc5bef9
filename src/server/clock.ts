/** Time as the service sees it, so that tests can hold it in their hands. */
export interface Clock {
  now(): number
  /** Acts once after the time; the returned function calls it off. */
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
