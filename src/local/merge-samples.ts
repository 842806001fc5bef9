import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, rename, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { once } from 'node:events'
import { finished } from 'node:stream/promises'
import type { WriteStream } from 'node:fs'

const NEWLINE = 0x0a
const QUOTE = 0x22

/** Gets the bytes of the whole rows of one node's file, header included. */
export type RowSink = (rows: Uint8Array) => void

/**
 * Joins the nodes' files into one CSV with one header. A row that was cut when its tool was killed is left out.
 * Each file's bytes also go to its sink, so that they are read only once.
 */
export async function mergeSamples(options: {
  files: readonly string[]
  target: string
  sinkOf: (index: number) => RowSink
}): Promise<void> {
  await mkdir(dirname(options.target), { recursive: true })
  const draft = `${options.target}.part`
  const out = createWriteStream(draft)
  let isFirst = true
  for (const [index, file] of options.files.entries()) {
    if (!(await isFile(file))) continue
    const wrote = await appendRows({ file, out, keepsHeader: isFirst, sink: options.sinkOf(index) })
    isFirst &&= !wrote
  }
  out.end()
  await finished(out)
  await rename(draft, options.target)
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile(),
    () => false
  )
}

async function appendRows(source: {
  file: string
  out: WriteStream
  keepsHeader: boolean
  sink: RowSink
}): Promise<boolean> {
  const cutter = new RowCutter()
  let inHeader = true
  let wrote = false
  for await (const chunk of createReadStream(source.file, { highWaterMark: 1 << 20 })) {
    const rows = cutter.push(chunk as Buffer)
    if (rows.length === 0) continue
    source.sink(rows)
    const kept = inHeader && !source.keepsHeader ? rows.subarray(rows.indexOf(NEWLINE) + 1) : rows
    inHeader = false
    wrote = true
    if (!source.out.write(kept)) await once(source.out, 'drain')
  }
  return wrote
}

/** Lets whole rows through. A line feed within quotes ends no row: messages may have several lines. */
export class RowCutter {
  private rest: Buffer = Buffer.alloc(0)
  private inQuotes = false

  push(chunk: Buffer): Buffer {
    const end = this.findLastRowEnd(chunk)
    if (end === 0) {
      this.rest = Buffer.concat([this.rest, chunk])
      return Buffer.alloc(0)
    }
    const rows =
      this.rest.length > 0 ? Buffer.concat([this.rest, chunk.subarray(0, end)]) : chunk.subarray(0, end)
    this.rest = Buffer.from(chunk.subarray(end))
    return rows
  }

  /** Goes from quote to quote: they are rare, and the search between them is the machine's own. */
  private findLastRowEnd(chunk: Buffer): number {
    let end = 0
    let position = 0
    while (position < chunk.length) {
      const quote = chunk.indexOf(QUOTE, position)
      const stop = quote < 0 ? chunk.length : quote
      if (!this.inQuotes) {
        const newline = chunk.subarray(position, stop).lastIndexOf(NEWLINE)
        if (newline >= 0) end = position + newline + 1
      }
      if (quote >= 0) this.inQuotes = !this.inQuotes
      position = stop + 1
    }
    return end
  }
}
