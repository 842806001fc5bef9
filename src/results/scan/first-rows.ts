import { createHash } from 'node:crypto'

const LF = 10
/** No two results begin with as many equal rows: they have the time of each sample in ms. */
const MOST_ROWS = 20

/** Digests of the rows with which a CSV begins, after its header. */
export class FirstRows {
  readonly #hash = createHash('sha256')
  readonly #digests: string[] = []
  #isInHeader = true
  /** Of a row that has not ended yet. */
  #bytes = 0

  get isFull(): boolean {
    return this.#digests.length === MOST_ROWS
  }

  /** The last row of a file may have no line break. */
  get digests(): readonly string[] {
    if (this.isFull || this.#bytes === 0) return [...this.#digests]
    return [...this.#digests, this.#hash.copy().update('\n').digest('base64')]
  }

  push(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length && !this.isFull;) {
      const found = bytes.indexOf(LF, at)
      const end = found < 0 ? bytes.length : found + 1
      if (!this.#isInHeader) this.#take(bytes.subarray(at, end), found >= 0)
      if (found >= 0) this.#isInHeader = false
      at = end
    }
  }

  #take(piece: Uint8Array, isEnd: boolean): void {
    this.#hash.update(piece)
    this.#bytes = isEnd ? 0 : this.#bytes + piece.length
    if (isEnd) this.#digests.push(this.#hash.copy().digest('base64'))
  }
}
