import { open } from 'node:fs/promises'
import type { Measurements } from '../../results/figures/measurements.js'
import { createScanner, mergeScans, type Scanner } from '../../results/scan/scanner.js'
import { RowCutter } from '../samples/row-cutter.js'
import { RowRedactor } from '../samples/row-redactor.js'

const CHUNK_BYTES = 1 << 20

interface Source {
  readonly file: string
  readonly scanner: Scanner
  readonly cutter: RowCutter
  readonly redactor: RowRedactor
  position: number
  hasRows: boolean
}

/** Reads the files that a run's nodes write as they grow, each byte once. */
export class SampleFollower {
  readonly #sources: readonly Source[]
  #buffer: Buffer | undefined

  /** Takes the secrets to redact in every form in which they may be written. */
  constructor(
    files: readonly { file: string; grid: string; region: string }[],
    secrets: readonly string[] = []
  ) {
    this.#sources = files.map(({ file, grid, region }) => ({
      file,
      scanner: createScanner({ grid, region }),
      cutter: new RowCutter(),
      redactor: new RowRedactor(secrets),
      position: 0,
      hasRows: false
    }))
  }

  /** The figures so far; undefined before there are any. */
  async look(): Promise<Measurements | undefined> {
    this.#buffer ??= Buffer.alloc(CHUNK_BYTES)
    for (const source of this.#sources) await readOn(source, this.#buffer)
    const scans = this.#sources.filter(({ hasRows }) => hasRows).map(({ scanner }) => scanner.end())
    return scans.length === 0 ? undefined : mergeScans(scans)
  }
}

async function readOn(source: Source, buffer: Buffer): Promise<void> {
  // A node that has not started has no file yet, and the files disappear when the run ends.
  const handle = await open(source.file).catch(() => undefined)
  if (handle === undefined) return
  try {
    for (;;) {
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, source.position)
      if (bytesRead === 0) return
      source.position += bytesRead
      const rows = source.cutter.push(buffer.subarray(0, bytesRead))
      source.redactor.cover(rows)
      source.scanner.push(rows)
      source.hasRows ||= rows.length > 0
    }
  } finally {
    await handle.close()
  }
}
