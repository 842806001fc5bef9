import { matchesPieces } from './label-pattern.js'

/** Each takes 4 KB per half a minute of the run. */
const MOST_LABELS = 100
const UNKNOWN = 0
const FOLLOWED = 1
const OTHER = 2

/** Which labels have figures over time of their own: those that thresholds name. */
export class FollowedLabels {
  readonly #patterns: readonly (readonly string[])[]
  readonly #textOf: (label: number) => string
  #states = new Uint8Array(64)
  #size = 0

  constructor(patterns: readonly (readonly string[])[], textOf: (label: number) => string) {
    this.#patterns = patterns
    this.#textOf = textOf
  }

  has(label: number): boolean {
    if (this.#patterns.length === 0) return false
    if (label >= this.#states.length) {
      const grown = new Uint8Array(Math.max(label + 1, this.#states.length * 2))
      grown.set(this.#states)
      this.#states = grown
    }
    if (this.#states[label] === UNKNOWN) this.#states[label] = this.#decide(label)
    return this.#states[label] === FOLLOWED
  }

  #decide(label: number): number {
    if (this.#size >= MOST_LABELS) return OTHER
    const text = this.#textOf(label)
    if (!this.#patterns.some((pieces) => matchesPieces(pieces, text))) return OTHER
    this.#size++
    return FOLLOWED
  }
}
