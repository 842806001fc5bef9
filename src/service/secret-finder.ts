/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index into a list is in range by construction */
import { CUT } from './lines.js'

/** Shorter texts are in every log for other reasons. */
export const LEAST_LENGTH = 6

export interface Stretch {
  readonly start: number
  readonly end: number
}

/** A state has read the beginning of a text: of those that it may be in the middle of, the longest one. */
const START = 0

/**
 * Finds texts in another one, by the algorithm of Aho and Corasick. What it costs does not depend on how many there are, or how alike: a plan
 * chooses its secrets and what it prints, and the service does nothing else meanwhile. So there is no hash table either, whose places a plan
 * could choose: states are numbered by how much they have read, and those that follow the same one in the order of their characters.
 */
export class SecretFinder {
  /** The state that has read only this character. */
  readonly #begins = new Int32Array(2 ** 16)
  /** The last character that a state has read. */
  readonly #characters: Uint16Array
  /** The first state that follows this one; behind the last one is the first of the next state. */
  readonly #following: Int32Array
  /** The longest beginning that a state's own beginning ends with. */
  readonly #shorter: Int32Array
  /** How long the longest text is that ends here; 0 if none does. */
  readonly #found: Int32Array
  /** The first state that has read so many characters. */
  readonly #firsts: number[] = []

  constructor(given: readonly string[]) {
    const texts = [...new Set(given)].filter((text) => text !== '').sort()
    const most = texts.reduce((sum, { length }) => sum + length, 1)
    this.#characters = new Uint16Array(most)
    this.#following = new Int32Array(most + 1)
    this.#shorter = new Int32Array(most)
    this.#found = new Int32Array(most)
    this.#build(texts)
  }

  /** Also their starts, where a line was cut. */
  replaceIn(text: string, replacement: string): string {
    const pieces: string[] = []
    let shownTo = 0
    for (const { start, end } of this.#find(text, CUT)) {
      pieces.push(text.slice(shownTo, start), replacement)
      shownTo = end
    }
    return pieces.join('') + text.slice(shownTo)
  }

  /** Where they are; those that overlap are one stretch. */
  findIn(text: string): readonly Stretch[] {
    return this.#find(text)
  }

  #find(text: string, cut?: string): Stretch[] {
    const stretches: { start: number; end: number }[] = []
    let state = START
    for (let at = 0; at < text.length; at++) {
      const character = text.charCodeAt(at)
      if (state === START && this.#begins[character] === START) continue
      const length = text[at] === cut ? this.#lengthOf(state) : 0
      if (length >= LEAST_LENGTH) addStretch(stretches, at - length, at)
      state = this.#step(state, character)
      const found = this.#found[state]!
      if (found > 0) addStretch(stretches, at + 1 - found, at + 1)
    }
    return stretches
  }

  #step(from: number, character: number): number {
    for (let state = from; state !== START; state = this.#shorter[state]!) {
      const next = this.#next(state, character)
      if (next !== START) return next
    }
    return this.#begins[character]!
  }

  /** The state that follows with this character; START if there is none. */
  #next(state: number, character: number): number {
    const end = this.#following[state + 1]!
    let [low, high] = [this.#following[state]!, end]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#characters[middle]! < character) low = middle + 1
      else high = middle
    }
    return low < end && this.#characters[low] === character ? low : START
  }

  /** How much of a text the state has read. */
  #lengthOf(state: number): number {
    let [low, high] = [0, this.#firsts.length]
    while (high - low > 1) {
      const middle = (low + high) >>> 1
      if (this.#firsts[middle]! <= state) low = middle
      else high = middle
    }
    return low
  }

  /** Makes the states that have read one character, then those that have read two, and so on: what is linked to is there before. */
  #build(texts: readonly string[]): void {
    let states = START + 1
    /** Which texts begin as each of them has read: neighbours, for they are in order. */
    let [from, to] = [[0], [texts.length]]
    let first = START
    for (let length = 0; from.length > 0; length++) {
      this.#firsts.push(first)
      const next: [from: number[], to: number[]] = [[], []]
      for (let index = 0; index < from.length; index++) {
        const state = first + index
        const isEnd = texts[from[index]!]?.length === length
        this.#found[state] = isEnd ? length : this.#found[this.#shorter[state]!]!
        this.#following[state] = states
        for (let at = from[index]! + Number(isEnd); at < to[index]!; states++) {
          const character = texts[at]!.charCodeAt(length)
          next[0].push(at)
          while (at < to[index]! && texts[at]!.charCodeAt(length) === character) at++
          next[1].push(at)
          this.#characters[states] = character
          if (state === START) this.#begins[character] = states
          else this.#shorter[states] = this.#step(this.#shorter[state]!, character)
        }
        this.#following[state + 1] = states
      }
      first += from.length
      ;[from, to] = next
    }
  }
}

/** Makes a finder of each list once: a tool prints thousands of lines, and a run may have a thousand nodes. */
export function rememberFinders(
  textsOf: (list: readonly string[]) => string[]
): (list: readonly string[]) => SecretFinder {
  const finders = new WeakMap<readonly string[], SecretFinder>()
  return (list) => {
    const finder = finders.get(list) ?? new SecretFinder(textsOf(list))
    finders.set(list, finder)
    return finder
  }
}

/** The ends come in order. What is found later may reach back over what was found before. */
function addStretch(stretches: { start: number; end: number }[], start: number, end: number): void {
  let from = start
  for (let last = stretches.at(-1); last !== undefined && last.end > start; last = stretches.at(-1)) {
    from = Math.min(from, last.start)
    stretches.pop()
  }
  stretches.push({ start: from, end })
}
