import { readTimestamp } from '../../results/csv/timestamp.js'
import { ColumnRewriter } from './column-rewriter.js'

/** Digits of the largest time that can be written. */
const MAX_DIGITS = 16

/** Subtracts what a node's clock is ahead from the time stamps of its complete rows, header first. */
export class TimeShift {
  readonly #rewriter: ColumnRewriter | undefined

  constructor(offsetMs: number) {
    const wholeMs = Math.round(offsetMs)
    if (wholeMs === 0) return
    this.#rewriter = new ColumnRewriter({
      column: 'timeStamp',
      mostAddedBytes: MAX_DIGITS,
      rewrite: (bytes, start, end) => {
        const atMs = readTimestamp(bytes, start, end)
        return atMs < 0 ? undefined : String(Math.max(0, atMs - wholeMs))
      }
    })
  }

  /** The same rows with this machine's times. */
  push(rows: Buffer): Buffer {
    return this.#rewriter?.push(rows) ?? rows
  }
}
