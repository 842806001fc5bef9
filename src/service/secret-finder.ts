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
 * chooses its secrets and what it prints, and the service does nothing else meanwhile.
 */
export class SecretFinder {
  /** The next state, by state and character: see `#slotOf`. */
  readonly #keys: Float64Array
  readonly #nexts: Int32Array
  /** How much of a text each state has read. */
  readonly #lengths: number[] = [0]
  /** The longest beginning that a state's own beginning ends with. */
  readonly #shorter: number[] = [START]
  /** How long the longest text is that ends here; 0 if none does. */
  readonly #found: number[] = [0]
  /** Whether a text begins with this character. */
  readonly #begins = new Uint8Array(2 ** 16)

  constructor(texts: readonly string[]) {
    const characters = texts.reduce((sum, { length }) => sum + length, 0)
    const slots = 2 ** Math.ceil(Math.log2(2 * characters + 2))
    this.#keys = new Float64Array(slots).fill(-1)
    this.#nexts = new Int32Array(slots)
    for (const text of texts) this.#add(text)
    this.#link(texts)
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
      if (state === START && this.#begins[character] === 0) continue
      const length = text[at] === cut ? (this.#lengths[state] ?? 0) : 0
      if (length >= LEAST_LENGTH) addStretch(stretches, at - length, at)
      state = this.#step(state, character)
      const found = this.#found[state] ?? 0
      if (found > 0) addStretch(stretches, at + 1 - found, at + 1)
    }
    return stretches
  }

  #step(from: number, character: number): number {
    let state = from
    for (;;) {
      const next = this.#nexts[this.#slotOf(state, character)] ?? 0
      if (next !== START || state === START) return next
      state = this.#shorter[state] ?? 0
    }
  }

  /** Of the state and the character, or where they would be. */
  #slotOf(state: number, character: number): number {
    const key = state * 2 ** 16 + character
    const last = this.#keys.length - 1
    let slot = (Math.imul(state, 0x9e3779b1) ^ Math.imul(character, 0x85ebca6b)) & last
    while (this.#keys[slot] !== key && this.#keys[slot] !== -1) slot = (slot + 1) & last
    return slot
  }

  #add(text: string): void {
    let state = START
    for (let at = 0; at < text.length; at++) {
      const slot = this.#slotOf(state, text.charCodeAt(at))
      if (this.#nexts[slot] === START) {
        this.#keys[slot] = state * 2 ** 16 + text.charCodeAt(at)
        this.#nexts[slot] = this.#lengths.push(at + 1) - 1
        this.#shorter.push(START)
        this.#found.push(0)
      }
      state = this.#nexts[slot] ?? 0
    }
    this.#found[state] = text.length
    if (text !== '') this.#begins[text.charCodeAt(0)] = 1
  }

  /** Shorter beginnings are needed before longer ones, so all texts are gone through side by side. */
  #link(texts: readonly string[]): void {
    let under = texts.map((text) => ({ text, state: START }))
    for (let at = 0; under.length > 0; at++) {
      under = under.filter(({ text }) => at < text.length)
      for (const one of under) {
        const character = one.text.charCodeAt(at)
        const next = this.#nexts[this.#slotOf(one.state, character)] ?? 0
        if (one.state !== START) {
          this.#shorter[next] = this.#step(this.#shorter[one.state] ?? START, character)
          this.#found[next] ||= this.#found[this.#shorter[next]] ?? 0
        }
        one.state = next
      }
    }
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
