import { makeRandom } from './seeded-random.js'

/** Choices that are the same for the same seed. */
export class Choice {
  readonly #random: () => number

  constructor(seed: number) {
    this.#random = makeRandom(seed)
  }

  chance(probability: number): boolean {
    return this.#random() < probability
  }

  /** A whole number, both ends included. */
  between(least: number, most: number): number {
    return least + Math.floor(this.#random() * (most - least + 1))
  }

  of<T>(list: readonly T[]): T {
    return list[this.between(0, list.length - 1)]!
  }
}
