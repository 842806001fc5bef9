import { Random as SeededRandom } from '../../../src/analysis/baseline/statistics/evidence-of-change.js'

export class Random extends SeededRandom {
  /** A whole number from 0 to below `count`. */
  below(count: number): number {
    return Math.floor(this.uniform() * count)
  }

  /** How many of `count` happen if each does with a small probability; by the gaps between them. */
  binomial(count: number, probability: number): number {
    if (probability >= 1) return count
    const scale = Math.log1p(-probability)
    let happened = 0
    let at = Math.ceil(Math.log(this.uniform()) / scale)
    while (at <= count) {
      happened++
      at += Math.ceil(Math.log(this.uniform()) / scale)
    }
    return happened
  }
}
