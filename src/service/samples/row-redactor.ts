import type { FileHandle } from 'node:fs/promises'
import type { SampleColumns } from '../../analysis/results/csv/header.js'
import type { Row } from '../../analysis/results/csv/row-splitter.js'
import { openRegular } from '../regular-file.js'
import { RowCutter } from './row-cutter.js'
import { SampleRows } from './sample-rows.js'

const COVER = '*'.charCodeAt(0)
const DIGITS = new Set(Buffer.from('0123456789'))
/** The characters that structure a row. */
const STRUCTURE = new Set(Buffer.from('",\r\n'))

/** Columns that hold text, even if it looks like a number. */
const TEXTS: readonly (keyof SampleColumns)[] = [
  ...([
    'label',
    'responseCode',
    'responseMessage',
    'threadName',
    'failureMessage',
    'url',
    'hostname'
  ] as const)
]

interface Stretch {
  readonly start: number
  readonly end: number
}

/** Masks secrets with asterisks in the complete rows of a samples file, header first. Lengths, numbers and the row structure are kept. */
export class RowRedactor {
  readonly #forms: readonly Buffer[]
  readonly #rows = new SampleRows()

  /** Takes the secrets in every form in which they may be written. */
  constructor(forms: readonly string[]) {
    // In a quoted field a quote is doubled; masking one of the two would end the field.
    this.#forms = forms.map((form) => Buffer.from(form.replaceAll('"', '""')))
  }

  /** Masks the secrets in place; returns whether there were any. */
  cover(rows: Buffer): boolean {
    const body = rows.subarray(this.#rows.takeHeader(rows))
    const found = this.#find(body)
    const { at } = this.#rows
    if (at === undefined) for (const stretch of found) coverText(body, stretch)
    else if (found.length > 0) this.#coverFields(body, found, new Set(TEXTS.map((name) => at[name])))
    return found.length > 0
  }

  #find(rows: Buffer): Stretch[] {
    const found: Stretch[] = []
    for (const form of this.#forms)
      for (let at = rows.indexOf(form); at >= 0; at = rows.indexOf(form, at + form.length))
        found.push({ start: at, end: at + form.length })
    return found.sort((one, other) => one.start - other.start)
  }

  #coverFields(rows: Buffer, found: readonly Stretch[], texts: ReadonlySet<number>): void {
    let next = 0
    this.#rows.split(rows, (row, isWhole) => {
      for (let stretch = found[next]; stretch && stretch.start < row.end; stretch = found[++next])
        if (!isWhole) coverText(rows, stretch)
        else if (isText(row, stretch, texts)) rows.fill(COVER, stretch.start, stretch.end)
    })
  }
}

/** A secret of digits may occur in any number by chance. */
function isText(row: Row, { start, end }: Stretch, texts: ReadonlySet<number>): boolean {
  for (let column = 0; column < row.columns; column++) {
    const from = row.starts[column] ?? 0
    const to = row.ends[column] ?? 0
    const isNumber = (): boolean => row.buffer.subarray(from, to).every((byte) => DIGITS.has(byte))
    if (start >= from && end <= to) return texts.has(column) || !isNumber()
  }
  return false
}

function coverText(bytes: Buffer, { start, end }: Stretch): void {
  for (let at = start; at < end; at++) if (!STRUCTURE.has(bytes[at] ?? 0)) bytes[at] = COVER
}

const CHUNK_BYTES = 1 << 20

/** Redacts a node's file in place, which needs no space on a disk that may be full. Returns up to where it consists of complete rows. */
export async function redactSamples(file: string, forms: readonly string[], signal?: AbortSignal) {
  const handle = await openRegular(file, 'r+')
  try {
    const cutter = new RowCutter()
    const redactor = new RowRedactor(forms)
    const buffer = Buffer.alloc(CHUNK_BYTES)
    let wholeBytes = 0
    let position = 0
    for (;;) {
      signal?.throwIfAborted()
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, position)
      if (bytesRead === 0 || cutter.isBroken) return wholeBytes
      position += bytesRead
      const rows = cutter.push(buffer.subarray(0, bytesRead))
      if (redactor.cover(rows)) await writeAll(handle, rows, wholeBytes)
      wholeBytes += rows.length
    }
  } finally {
    await handle.close()
  }
}

async function writeAll(handle: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let at = 0; at < bytes.length;)
    at += (await handle.write(bytes, at, bytes.length - at, position + at)).bytesWritten
}
