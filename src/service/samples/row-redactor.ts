import type { FileHandle } from 'node:fs/promises'
import type { SampleColumns } from '../../analysis/results/csv/header.js'
import type { Row } from '../../analysis/results/csv/row-splitter.js'
import { rememberFinders, type SecretFinder, type Stretch } from '../secret-finder.js'
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

const finderOf = rememberFinders((forms) => forms.map(asInRow))

/** In a quoted field a quote is doubled; masking one of the two would end the field. A character per byte: what is found are places in the bytes. */
function asInRow(form: string): string {
  return Buffer.from(form.replaceAll('"', '""')).toString('latin1')
}

/** Masks secrets with asterisks in the complete rows of a samples file, header first. Lengths, numbers and the row structure are kept. */
export class RowRedactor {
  readonly #finder: SecretFinder
  readonly #rows = new SampleRows()

  /** Takes the secrets in every form in which they may be written. */
  constructor(forms: readonly string[]) {
    this.#finder = finderOf(forms)
  }

  /** Masks the secrets in place; returns whether there were any. */
  cover(rows: Buffer): boolean {
    const body = rows.subarray(this.#rows.takeHeader(rows))
    const found = this.#finder.findIn(body.toString('latin1'))
    const { at } = this.#rows
    if (at === undefined) for (const stretch of found) coverText(body, stretch)
    else if (found.length > 0) this.#coverFields(body, found, at)
    return found.length > 0
  }

  #coverFields(rows: Buffer, found: readonly Stretch[], at: SampleColumns): void {
    const texts = new Set(TEXTS.map((name) => at[name]))
    let next = 0
    this.#rows.split(rows, (row, isWhole) => {
      for (let stretch = found[next]; stretch && stretch.start < row.end; stretch = found[++next]) {
        if (!isWhole) coverText(rows, stretch)
        else
          for (const { column, start, end } of fieldsOf(row, stretch))
            // Whether a sample failed is no secret; one of digits may occur in any number by chance.
            if (texts.has(column) || (column !== at.success && !isNumber(row, column)))
              rows.fill(COVER, start, end)
        // It may go on in the next row.
        if (stretch.end > row.end) return
      }
    })
  }
}

/** The parts of a stretch that are in fields: what is between them stays. */
function* fieldsOf({ columns, starts, ends }: Row, stretch: Stretch): Iterable<Stretch & { column: number }> {
  for (let column = 0; column < columns; column++) {
    const [from = 0, to = 0] = [starts[column], ends[column]]
    const [start, end] = [Math.max(from, stretch.start), Math.min(to, stretch.end)]
    if (start < end) yield { column, start, end }
  }
}

function isNumber({ buffer, starts, ends }: Row, column: number): boolean {
  return buffer.subarray(starts[column], ends[column]).every((byte) => DIGITS.has(byte))
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
