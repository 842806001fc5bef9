import type { Clock } from '../../src/service/clock.js'

export interface ManualClock extends Clock {
  /** Every sleep that was asked for, in order. */
  readonly sleeps: number[]
}

/** A clock that jumps over every sleep at once. */
export function makeClock(startMs = 1_700_000_000_000): ManualClock {
  let nowMs = startMs
  const sleeps: number[] = []
  return {
    sleeps,
    now: () => nowMs,
    sleep: async (ms, signal) => {
      signal?.throwIfAborted()
      sleeps.push(ms)
      nowMs += ms
    }
  }
}
