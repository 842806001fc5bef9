import type { Row } from '../../analysis/results/csv/row-splitter.js'
import { openRegular } from '../regular-file.js'
import { SampleRows } from './sample-rows.js'

const NEWLINE = 0x0a
const COMMA = 0x2c
const QUOTE = 0x22

/** A longer row means an unclosed quote. The scanner gives up at the same size. */
const MAX_ROW_BYTES = 16 * 1024 * 1024

/** Passes complete rows through. A line feed within quotes ends no row; a quote only opens a field at its start. */
export class RowCutter {
  /** Pieces of an incomplete row, joined once it ends. */
  private rest: Buffer[] = []
  /** Bytes after the last complete row; possibly the start of a row that is still being written. */
  restBytes = 0
  private inQuotes = false
  /** The last byte was a quote within quotes: the next byte shows whether it was doubled. */
  private isUndecided = false
  private lastByte = NEWLINE
  /** A row had no end; it and everything after it is left out. */
  isBroken = false

  /** Keeps no reference to the chunk; the result may point into it. */
  push(chunk: Buffer): Buffer {
    if (chunk.length === 0) return chunk
    const end = this.isBroken ? 0 : this.findLastRowEnd(chunk)
    const ended = chunk.subarray(0, end)
    const rows = end > 0 && this.restBytes > 0 ? Buffer.concat([...this.rest, ended]) : ended
    if (end > 0) {
      this.rest = []
      this.restBytes = 0
    }
    this.hold(chunk.subarray(end))
    return rows
  }

  private hold(piece: Buffer): void {
    this.restBytes += piece.length
    this.isBroken ||= this.restBytes > MAX_ROW_BYTES
    if (this.isBroken) this.rest = []
    else if (piece.length > 0) this.rest.push(Buffer.from(piece))
  }

  /** Jumps from quote to quote: they are rare, and the native search between them is fast. */
  private findLastRowEnd(chunk: Buffer): number {
    let end = 0
    let position = 0
    if (this.isUndecided) {
      this.isUndecided = false
      this.inQuotes = chunk[0] === QUOTE
      position = this.inQuotes ? 1 : 0
    }
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
}

const CHUNK_BYTES = 1 << 18

/** Passes on the thread name of each row until the callback has enough, the file ends or time is up. */
export async function readThreadNames(file: string, take: (thread: string) => boolean, signal: AbortSignal) {
  const cutter = new RowCutter()
  const sampleRows = new SampleRows()
  const asked = { isEnough: false }
  const stream = (await openRegular(file)).createReadStream({ highWaterMark: CHUNK_BYTES })
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    const rows = cutter.push(chunk)
    if (cutter.isBroken || signal.aborted) return
    if (rows.length === 0) continue
    const start = sampleRows.takeHeader(rows)
    const column = sampleRows.at?.threadName ?? -1
    if (column < 0) return
    sampleRows.split(rows.subarray(start), (row) => {
      if (!asked.isEnough && row.columns === sampleRows.columns) asked.isEnough = !take(fieldOf(row, column))
    })
    if (asked.isEnough) return
  }
}

function fieldOf({ buffer, starts, ends, escapes }: Row, column: number): string {
  const text = Buffer.from(buffer.subarray(starts[column], ends[column])).toString('utf8')
  return escapes[column] === 1 ? text.replaceAll('""', '"') : text
}
