import { matchesPieces } from '../../../contract/text.js'
import { grow } from '../typed-arrays.js'

/** Each takes 4 KB per half a minute of the run. */
export const MOST_LABELS = 100
const UNKNOWN = -1

/** Which labels have figures over time of their own: those that thresholds name. */
export class FollowedLabels {
  readonly #patterns: readonly (readonly string[])[]
  readonly #textOf: (label: number) => string
  #scopes = new Int8Array(64).fill(UNKNOWN)
  #size = 0

  constructor(patterns: readonly (readonly string[])[], textOf: (label: number) => string) {
    this.#patterns = patterns
    this.#textOf = textOf
  }

  /** Numbered from 1 as they are met; 0 for a label without. */
  scopeOf(label: number): number {
    if (this.#patterns.length === 0) return 0
    const { length } = this.#scopes
    if (label >= length)
      this.#scopes = grow(this.#scopes, new Int8Array(Math.max(label + 1, length * 2)).fill(UNKNOWN))
    const known = this.#scopes[label] ?? UNKNOWN
    if (known !== UNKNOWN) return known
    return (this.#scopes[label] = this.#isNamed(label) ? ++this.#size : 0)
  }

  #isNamed(label: number): boolean {
    if (this.#size >= MOST_LABELS) return false
    const text = this.#textOf(label)
    return this.#patterns.some((pieces) => matchesPieces(pieces, text))
  }
}
