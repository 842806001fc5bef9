import type { SampleColumns } from '../../analysis/results/csv/header.js'
import type { Row } from '../../analysis/results/csv/row-splitter.js'
import { readTimestamp } from '../../analysis/results/csv/timestamp.js'
import { readThreads, SampleRows } from './sample-rows.js'

/** A number has no more digits, and the name of a node no more letters. */
const MOST_ADDED_BYTES = 16

/** How the rows of a node become those of its grid. */
export interface RowChanges {
  /** What its clock is ahead: its times are corrected by that. */
  readonly offsetMs?: number
  /** Which one it is, from 0: in one CSV the names of threads begin with the node, as those of JMeter's remote hosts do. No name stays none. */
  readonly node?: number | undefined
  /** How many threads the others had when a sample ended. */
  readonly othersAt?: ((endMs: number) => number) | undefined
}

type Rewrite = (bytes: Buffer, start: number, end: number, row: Row, at: SampleColumns) => string | undefined

/** Rewrites columns of the complete rows of a samples file, header first. Everything else stays as it is; so does a row that cannot be read. */
export class RowRewriter {
  readonly #rewrites: readonly (readonly [keyof SampleColumns, Rewrite])[]
  readonly #rows = new SampleRows()

  constructor({ offsetMs = 0, node, othersAt }: RowChanges) {
    const aheadMs = Math.round(offsetMs)
    const shift: Rewrite = (bytes, start, end) => {
      const atMs = readTimestamp(bytes, start, end)
      return atMs < 0 ? undefined : String(Math.max(0, atMs - aheadMs))
    }
    const name: Rewrite = (bytes, start, end) =>
      start === end ? undefined : `node${(node ?? 0) + 1}-${bytes.toString('latin1', start, end)}`
    const add: Rewrite = (_bytes, _start, _end, row, at) => {
      const found = readThreads(row, at)
      return found && String(found.threads + (othersAt?.(found.endMs - aheadMs) ?? 0))
    }
    this.#rewrites = [
      ...(aheadMs === 0 ? [] : [['timeStamp', shift] as const]),
      ...(node === undefined ? [] : [['threadName', name] as const]),
      ...(othersAt === undefined ? [] : [['allThreads', add] as const])
    ]
  }

  push(rows: Buffer): Buffer {
    const start = this.#rows.takeHeader(rows)
    const { at } = this.#rows
    if (at === undefined || this.#rewrites.length === 0) return rows
    const rewrites = this.#rewrites
      .map(([column, rewrite]) => ({ column: at[column], rewrite }))
      .filter(({ column }) => column >= 0)
      .sort((one, other) => one.column - other.column)
    const body = rows.subarray(start)
    // A row is at least as long as its delimiters and its line break.
    const mostRows = Math.ceil(body.length / this.#rows.columns)
    const output = Buffer.allocUnsafe(rows.length + mostRows * rewrites.length * MOST_ADDED_BYTES)
    let written = rows.copy(output, 0, 0, start)
    let read = 0
    this.#rows.split(body, (row, isWhole) => {
      if (!isWhole) return
      for (const { column, rewrite } of rewrites) {
        const [from, to] = [row.starts[column] ?? 0, row.ends[column] ?? 0]
        const text = rewrite(body, from, to, row, at)
        if (text === undefined) continue
        written += body.copy(output, written, read, from)
        written += output.write(text, written, 'latin1')
        read = to
      }
    })
    written += body.copy(output, written, read)
    return output.subarray(0, written)
  }
}
