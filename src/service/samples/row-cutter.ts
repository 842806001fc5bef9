import { createReadStream } from 'node:fs'
import { cutHeader, readHeader } from '../../analysis/results/csv/header.js'
import { type Row, RowSplitter } from '../../analysis/results/csv/row-splitter.js'

const NEWLINE = 0x0a
const COMMA = 0x2c
const QUOTE = 0x22

/** A longer row means an unclosed quote. The scanner gives up at the same size. */
const MAX_ROW_BYTES = 16 * 1024 * 1024

/**
 * Passes complete rows through. A line feed within quotes does not end a row: messages may have several lines. A quote
 * only opens a field at its start; elsewhere it is an ordinary character.
 */
export class RowCutter {
  /** Pieces of an incomplete row, joined once it ends. */
  private rest: Buffer[] = []
  private heldBytes = 0
  private inQuotes = false
  /** The last byte was a quote within quotes: the next byte shows whether it was doubled. */
  private isUndecided = false
  private lastByte = NEWLINE
  private isStuck = false

  /** Bytes after the last complete row; possibly the start of a row that is still being written. */
  get restBytes(): number {
    return this.heldBytes
  }

  /** A row had no end; it and everything after it is left out. */
  get isBroken(): boolean {
    return this.isStuck
  }

  /** Keeps no reference to the chunk; the result may point into it. */
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

  /** Jumps from quote to quote: they are rare, and the native search between them is fast. */
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

  /** Returns where to continue after a quote. */
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

const CHUNK_BYTES = 1 << 18

/** Passes on the thread name of each row until the callback has enough, the file ends or time is up. */
export async function readThreadNames(
  file: string,
  take: (thread: string) => boolean,
  signal: AbortSignal
): Promise<void> {
  const cutter = new RowCutter()
  let read: ((rows: Buffer) => boolean) | undefined
  for await (const chunk of createReadStream(file, { highWaterMark: CHUNK_BYTES }) as AsyncIterable<Buffer>) {
    const rows = cutter.push(chunk)
    if (rows.length === 0) continue
    const headerBytes = read === undefined ? (cutHeader(rows, true)?.length ?? 0) : 0
    read ??= createReader(rows, take)
    if (read === undefined || !read(rows.subarray(headerBytes)) || signal.aborted) return
  }
}

function createReader(
  rows: Buffer,
  take: (thread: string) => boolean
): ((rows: Buffer) => boolean) | undefined {
  const layout = readHeader(cutHeader(rows, true)?.line ?? rows)
  if (layout.shape !== 'samples' || layout.at.threadName < 0) return undefined
  const { at, columns, delimiter } = layout
  const splitter = new RowSplitter(delimiter, columns)
  return (rows) => {
    // The splitter needs one byte of space after the rows.
    const buffer = Buffer.alloc(rows.length + 1)
    rows.copy(buffer)
    let isWanted = true
    splitter.split({ buffer, length: rows.length, limit: rows.length, isLast: false }, (row) => {
      if (isWanted && row.columns === columns) isWanted = take(fieldOf(row, buffer, at.threadName))
    })
    return isWanted
  }
}

function fieldOf(row: Row, buffer: Buffer, column: number): string {
  const text = buffer.toString('utf8', row.starts[column], row.ends[column])
  return row.escapes[column] === 1 ? text.replaceAll('""', '"') : text
}
