const { imul, floor, sqrt, log, cos, PI } = Math

/** A small generator with a seed (mulberry32): the same numbers on every machine. */
export class Random {
  private state: number

  constructor(seed: number) {
    this.state = seed >>> 0
  }

  /** Between 0 and 1, both excluded. */
  uniform(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0
    let mixed = imul(this.state ^ (this.state >>> 15), this.state | 1)
    mixed ^= mixed + imul(mixed ^ (mixed >>> 7), mixed | 61)
    return (((mixed ^ (mixed >>> 14)) >>> 0) + 0.5) / 2 ** 32
  }

  /** A whole number from 0 to below `count`. */
  below(count: number): number {
    return floor(this.uniform() * count)
  }

  /** Standard normal (Box and Muller). */
  normal(): number {
    return sqrt(-2 * log(this.uniform())) * cos(2 * PI * this.uniform())
  }
}
