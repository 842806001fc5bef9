import type { Measurements } from '../../results/figures/measurements.js'
import { createScanner, mergeScans, type Scanner } from '../../results/scan/scanner.js'
import { readOn, type GrowingFile } from '../samples/read-on.js'
import { RowCutter } from '../samples/row-cutter.js'
import { RowRedactor } from '../samples/row-redactor.js'

const CHUNK_BYTES = 1 << 20

interface Source extends GrowingFile {
  readonly scanner: Scanner
  readonly cutter: RowCutter
  readonly redactor: RowRedactor
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
    // A node that has not started has no file yet, and the files disappear when the run ends.
    for (const source of this.#sources) await readOn(source, this.#buffer, (bytes) => readRows(source, bytes))
    const scans = this.#sources.filter(({ hasRows }) => hasRows).map(({ scanner }) => scanner.end())
    return scans.length === 0 ? undefined : mergeScans(scans)
  }
}

function readRows(source: Source, bytes: Buffer): void {
  const rows = source.cutter.push(bytes)
  source.redactor.cover(rows)
  source.scanner.push(rows)
  source.hasRows ||= rows.length > 0
}
