import { createReadStream } from 'node:fs'
import { cutHeader, readHeader } from '../../results/csv/header.js'
import { type Row, RowSplitter } from '../../results/csv/row-splitter.js'
import { RowCutter } from './row-cutter.js'

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
