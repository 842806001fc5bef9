/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index into a typed array is in range by construction */
import { END_PAGE_BITS, END_PAGE_WORDS, QUIET_MS } from '../kernel/assembly/layout.js'

/** One bit per millisecond in which a sample ended; pages of equal size, ascending, only those with a bit. */
export interface EndTimesScan {
  /** Page `n` begins at `n << END_PAGE_BITS` ms. */
  readonly pages: Float64Array
  /** END_PAGE_WORDS per page, in the order of the pages. */
  readonly bits: Uint32Array
}

const PAGE_MS = 2 ** END_PAGE_BITS
/** More than two days with a sample in every page: rows so far apart are not one run's. */
const MOST_PAGES = 8192
const NO_PAGE: Uint32Array = new Uint32Array(END_PAGE_WORDS)

/** Remembers in which milliseconds samples ended. In any order: a CSV may have one node's rows after the other's. */
export class EndTimes {
  readonly #pages = new Map<number, Uint32Array>()
  #current = -1
  /** Whether there was no space for some. */
  isCut = false
  #bits = NO_PAGE

  add(endMs: number): void {
    const page = Math.floor(endMs / PAGE_MS)
    if (page !== this.#current && !this.#open(page)) return
    const at = endMs - page * PAGE_MS
    this.#bits[at >>> 5]! |= 1 << (at & 31)
  }

  absorb({ pages, bits }: EndTimesScan): void {
    pages.forEach((page, index) => {
      if (!this.#open(page)) return
      const from = index * END_PAGE_WORDS
      for (let word = 0; word < END_PAGE_WORDS; word++) this.#bits[word]! |= bits[from + word]!
    })
  }

  /** Whether 2 * QUIET_MS without an end may be there, by what is known so far: later ends only fill stretches, so a no is final. */
  hasQuiet(startMs: number, endMs: number): boolean {
    let from = Math.ceil(startMs / QUIET_MS)
    const to = Math.floor(endMs / QUIET_MS)
    for (; from < to; from++) {
      const page = Math.floor((from * QUIET_MS) / PAGE_MS)
      const bits = this.#pages.get(page)
      if (bits === undefined) return true
      const word = (from * QUIET_MS - page * PAGE_MS) >>> 5
      if (bits[word] === 0 && bits[word + 1] === 0) return true
    }
    return false
  }

  toScan(): EndTimesScan {
    const pages = Float64Array.from(this.#pages.keys()).sort()
    const bits = new Uint32Array(pages.length * END_PAGE_WORDS)
    pages.forEach((page, index) => bits.set(this.#pages.get(page)!, index * END_PAGE_WORDS))
    return { pages, bits }
  }

  #open(page: number): boolean {
    let bits = this.#pages.get(page)
    if (bits === undefined) {
      this.isCut ||= this.#pages.size >= MOST_PAGES
      if (this.#pages.size >= MOST_PAGES) return false
      bits = new Uint32Array(END_PAGE_WORDS)
      this.#pages.set(page, bits)
    }
    this.#current = page
    this.#bits = bits
    return true
  }
}

/** Infinity if there is none. */
export function findFirst({ pages, bits }: EndTimesScan): number {
  const word = bits.findIndex((own) => own !== 0)
  if (word < 0) return Infinity
  const own = bits[word]!
  const inPage = (word % END_PAGE_WORDS) * 32 + 31 - Math.clz32(own & -own)
  return pages[Math.floor(word / END_PAGE_WORDS)]! * PAGE_MS + inPage
}

/** Calls back for every two consecutive ends that are at least so far apart; that must be at least LEAST_STALL_MS. */
export function eachGap(
  { pages, bits }: EndTimesScan,
  leastMs: number,
  take: (fromMs: number, toMs: number) => void
): void {
  // Words are numbered from the epoch on. Between ends that far apart there is a whole word without any.
  let lastWord = Infinity
  let lastBits = 0
  for (let index = 0; index < pages.length; index++) {
    const firstWord = pages[index]! * END_PAGE_WORDS
    const from = index * END_PAGE_WORDS
    for (let word = 0; word < END_PAGE_WORDS; word++) {
      const own = bits[from + word]!
      if (own === 0) continue
      if (firstWord + word - lastWord > 1) {
        const fromMs = lastWord * 32 + 31 - Math.clz32(lastBits)
        const toMs = (firstWord + word) * 32 + 31 - Math.clz32(own & -own)
        if (toMs - fromMs >= leastMs) take(fromMs, toMs)
      }
      lastWord = firstWord + word
      lastBits = own
    }
  }
}
