/**
 * Which samples belong to the warm-up, as far as that is known while they arrive; shared by all grids. A slow request may yet show that
 * the run began earlier, so some samples may seem to belong that do not in the end, but never the other way round.
 */
export class LiveWarmUp {
  readonly #ms: number
  #firstMs = Infinity

  constructor(ms: number) {
    this.#ms = ms
  }

  /** Takes the earliest start of a grid. */
  see(startMs: number): void {
    this.#firstMs = Math.min(this.#firstMs, startMs)
  }

  has(startMs: number): boolean {
    return startMs < this.#firstMs + this.#ms
  }
}
