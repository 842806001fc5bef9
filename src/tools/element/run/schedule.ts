import { setTimeout as sleep } from 'node:timers/promises'

const LONGEST_NAP_MS = 60_000
const LEAST_REST_MS = 10

/** When the run is over, and rests that end with it. */
export class Schedule {
  readonly #sleepers = new Set<() => void>()
  #endMs = Infinity
  #isStopped = false

  /** Ends the run this long after now, unless it ends earlier. */
  limit(durationMs: number): void {
    this.#endMs = Math.min(this.#endMs, Date.now() + durationMs)
  }

  /** No new step starts any more. */
  get isOver(): boolean {
    return this.#isStopped || Date.now() >= this.#endMs
  }

  /** Ended from outside: nothing is waited for. */
  get isStopped(): boolean {
    return this.#isStopped
  }

  stop(): void {
    this.#isStopped = true
    for (const wake of [...this.#sleepers]) wake()
  }

  /** Waits, at most until the run is over; then only so long that a loop of rests does not block everything else. */
  readonly rest = async (ms: number): Promise<void> => {
    if (this.isOver) await sleep(Math.min(ms, LEAST_REST_MS))
    else await this.#sleepUntil(() => Math.min(Date.now() + ms, this.#endMs))
  }

  untilEnd(): Promise<void> {
    return this.#sleepUntil(() => this.#endMs)
  }

  /** Waits, at most until it is stopped. */
  untilStop(ms: number): Promise<void> {
    return this.#sleepUntil(() => Date.now() + ms)
  }

  async #sleepUntil(readEnd: () => number): Promise<void> {
    const untilMs = readEnd()
    while (!this.#isStopped && Date.now() < untilMs)
      await this.#nap(Math.min(untilMs - Date.now(), LONGEST_NAP_MS))
  }

  #nap(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer)
        this.#sleepers.delete(wake)
        resolve()
      }
      const timer = setTimeout(wake, ms)
      this.#sleepers.add(wake)
    })
  }
}
