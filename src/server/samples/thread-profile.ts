/** More than a day in seconds. A file with more distinct times is sampled more coarsely. */
const MAX_BUCKETS = 100_000
const FIRST_BUCKET_MS = 1000

/** How many threads a node had over time, by its samples: the maximum of each second. */
export class ThreadProfile {
  #bucketMs = FIRST_BUCKET_MS
  #most = new Map<number, number>()
  #buckets: number[] | undefined

  add(atMs: number, threads: number): void {
    this.#buckets = undefined
    const bucket = Math.floor(atMs / this.#bucketMs)
    const known = this.#most.get(bucket)
    if (known === undefined || threads > known) this.#most.set(bucket, threads)
    while (this.#most.size > MAX_BUCKETS) this.#widen()
  }

  /** The last known number at this time; 0 before the first sample and after the last one. */
  at(timeMs: number): number {
    const buckets = (this.#buckets ??= [...this.#most.keys()].sort((a, b) => a - b))
    const wanted = Math.floor(timeMs / this.#bucketMs)
    let from = 0
    let to = buckets.length
    while (from < to) {
      const middle = (from + to) >> 1
      if ((buckets[middle] ?? 0) <= wanted) from = middle + 1
      else to = middle
    }
    const found = buckets[from - 1]
    const isOver = from === buckets.length && found !== wanted
    return found === undefined || isOver ? 0 : (this.#most.get(found) ?? 0)
  }

  #widen(): void {
    const narrow = this.#most
    this.#bucketMs *= 2
    this.#most = new Map()
    for (const [bucket, threads] of narrow) {
      const wide = Math.floor(bucket / 2)
      this.#most.set(wide, Math.max(this.#most.get(wide) ?? 0, threads))
    }
  }
}
