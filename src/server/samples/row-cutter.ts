const NEWLINE = 0x0a
const COMMA = 0x2c
const QUOTE = 0x22

/** A row that is longer is a quote that is never closed. The scanner gives up at the same size. */
const MAX_ROW_BYTES = 16 * 1024 * 1024

/**
 * Lets whole rows through. A line feed within quotes ends no row: messages may have several lines. A quote opens a
 * field only at its start; elsewhere it is a character like any other.
 */
export class RowCutter {
  /** Pieces of a row that has not ended: joined once, when it ends. */
  private rest: Buffer[] = []
  private heldBytes = 0
  private inQuotes = false
  /** The last byte was a quote within quotes: the next byte tells whether it was doubled. */
  private isUndecided = false
  private lastByte = NEWLINE
  private isStuck = false

  /** Bytes after the end of the last whole row; they may be the start of a row that is still being written. */
  get restBytes(): number {
    return this.heldBytes
  }

  /** A row had no end; it and everything after it is left out. */
  get isBroken(): boolean {
    return this.isStuck
  }

  /** Keeps nothing of the chunk itself; what it returns may lie in it. */
  push(chunk: Buffer): Buffer {
    if (chunk.length === 0) return chunk
    const end = this.isStuck ? 0 : this.findLastRowEnd(chunk)
    const rows = end === 0 ? Buffer.alloc(0) : this.takeRows(chunk.subarray(0, end))
    this.hold(chunk.subarray(end))
    return rows
  }

  private takeRows(rows: Buffer): Buffer {
    const whole = this.heldBytes > 0 ? Buffer.concat([...this.rest, rows]) : rows
    this.rest = []
    this.heldBytes = 0
    return whole
  }

  private hold(piece: Buffer): void {
    this.heldBytes += piece.length
    this.isStuck ||= this.heldBytes > MAX_ROW_BYTES
    if (this.isStuck) this.rest = []
    else if (piece.length > 0) this.rest.push(Buffer.from(piece))
  }

  /** Goes from quote to quote: they are rare, and the search between them is the machine's own. */
  private findLastRowEnd(chunk: Buffer): number {
    let end = 0
    let position = this.isUndecided ? this.decide(chunk) : 0
    while (position < chunk.length) {
      const quote = chunk.indexOf(QUOTE, position)
      const stop = quote < 0 ? chunk.length : quote
      if (!this.inQuotes) {
        const newline = chunk.subarray(position, stop).lastIndexOf(NEWLINE)
        if (newline >= 0) end = position + newline + 1
      }
      position = quote < 0 ? chunk.length : this.passQuote(chunk, quote)
    }
    this.lastByte = chunk[chunk.length - 1] ?? NEWLINE
    return end
  }

  /** Answers where to go on after a quote. */
  private passQuote(chunk: Buffer, quote: number): number {
    if (!this.inQuotes) {
      const before = quote === 0 ? this.lastByte : chunk[quote - 1]
      this.inQuotes = before === COMMA || before === NEWLINE
      return quote + 1
    }
    if (chunk[quote + 1] === QUOTE) return quote + 2
    this.isUndecided = quote + 1 === chunk.length
    this.inQuotes = this.isUndecided
    return quote + 1
  }

  private decide(chunk: Buffer): number {
    this.isUndecided = false
    this.inQuotes = chunk[0] === QUOTE
    return this.inQuotes ? 1 : 0
  }
}
