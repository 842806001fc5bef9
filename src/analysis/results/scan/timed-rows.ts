/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index into a typed array is in range by construction */
import { cutHeader, readHeader, type SampleColumns } from '../csv/header.js'
import { RowSplitter } from '../csv/row-splitter.js'
import { readDigits, readTimestamp } from '../csv/timestamp.js'

export interface TimedRow {
  readonly bytes: Uint8Array
  readonly startMs: number
  readonly endMs: number
}

/** Divides the rows of a growing sample CSV by the time at which each sample ended, which is when it was written. */
export class TimedRows {
  /** The header line; undefined before it was read. */
  header: Uint8Array | undefined
  #at: SampleColumns | undefined
  #splitter: RowSplitter | undefined
  /** Why the rows cannot be divided. */
  problem: string | undefined

  /** Takes what follows the rows read so far. Returns how many bytes were complete rows; the caller passes the others again. */
  take(bytes: Uint8Array, each: (row: TimedRow) => void): number {
    const from = this.header === undefined ? this.#takeHeader(bytes) : 0
    const [splitter, at] = [this.#splitter, this.#at]
    if (splitter === undefined || at === undefined) return from
    const length = bytes.length - from
    // The splitter needs one byte of space after the rows.
    const buffer = new Uint8Array(length + 1)
    buffer.set(bytes.subarray(from))
    const used = splitter.split({ buffer, length, limit: length, isLast: false }, (row) => {
      const startMs = readTimestamp(buffer, row.starts[at.timeStamp]!, row.ends[at.timeStamp]!)
      const elapsedMs = readDigits(buffer, row.starts[at.elapsed]!, row.ends[at.elapsed]!)
      const isGood = row.fault === undefined && row.columns > Math.max(at.timeStamp, at.elapsed)
      if (isGood && startMs >= 0 && elapsedMs >= 0)
        each({ bytes: buffer.subarray(row.start, row.end + 1), startMs, endMs: startMs + elapsedMs })
      else if (!this.#isHeader(buffer.subarray(row.start, row.end)))
        this.problem ??= 'a row has no readable times'
    })
    return from + used
  }

  #takeHeader(bytes: Uint8Array): number {
    const header = cutHeader(bytes, false)
    if (header === undefined) return 0
    const layout = readHeader(header.line)
    // It may be an error page, and the CSV may come with the next look.
    this.problem = layout.shape === 'unknown' ? 'it is not a CSV of samples' : undefined
    if (layout.shape === 'unknown') return 0
    this.header = header.line
    if (layout.shape !== 'samples' || layout.at.timeStamp < 0 || layout.at.elapsed < 0)
      this.problem ??= 'its rows are not single samples with their times'
    else {
      this.#at = layout.at
      this.#splitter = new RowSplitter(layout.delimiter, layout.columns)
    }
    return header.length
  }

  /** Concatenated CSVs repeat their header. */
  #isHeader(row: Uint8Array): boolean {
    const line = new TextDecoder().decode(row).trimEnd()
    return line === new TextDecoder().decode(this.header)
  }
}
