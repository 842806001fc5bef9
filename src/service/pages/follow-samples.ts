import type { Measurements } from '../../analysis/results/figures/measurements.js'
import type { ScannerOptions } from '../../analysis/results/counts/scan-result.js'
import { ByteScanner } from '../../analysis/results/scan/byte-scanner.js'
import { mergeScans } from '../../analysis/results/figures/merge.js'
import { readOn, RowRewriter, type GrowingFile } from '../samples/sample-rows.js'
import { RowCutter } from '../samples/row-cutter.js'
import { RowRedactor } from '../samples/row-redactor.js'

const CHUNK_BYTES = 1 << 20

interface Source extends GrowingFile {
  readonly scanner: ByteScanner
  readonly cutter: RowCutter
  readonly redactor: RowRedactor
  readonly offsetMs: () => number
  /** Known when its first rows come. */
  shift: RowRewriter | undefined
}

export interface FollowedFile {
  readonly file: string
  readonly grid: string
  readonly region: string
  readonly asideGroups?: readonly string[]
  /** How far the node's clock is ahead; asked for when there are rows. */
  readonly offsetMs?: () => number
}

/** Reads the files that a run's nodes write as they grow, each byte once. */
export class SampleFollower {
  readonly #sources: readonly Source[]
  #buffer: Buffer | undefined

  /** Takes the secrets to redact in every form in which they may be written, and the labels that thresholds name. */
  constructor(
    files: readonly FollowedFile[],
    secrets: readonly string[] = [],
    stallLabels: ScannerOptions['stallLabels'] = []
  ) {
    this.#sources = files.map(({ file, grid, region, asideGroups, offsetMs = () => 0 }) => ({
      file,
      scanner: new ByteScanner({ grid, region, stallLabels, asideGroups }),
      cutter: new RowCutter(),
      redactor: new RowRedactor(secrets),
      offsetMs,
      shift: undefined,
      position: 0
    }))
  }

  async look(): Promise<Measurements | undefined> {
    this.#buffer ??= Buffer.alloc(CHUNK_BYTES)
    // A node that has not started has no file yet, and the files disappear when the run ends.
    for (const source of this.#sources)
      if (!source.cutter.isBroken) await readOn(source, this.#buffer, (bytes) => readRows(source, bytes))
    const scans = this.#sources.filter(({ shift }) => shift !== undefined).map(({ scanner }) => scanner.end())
    return scans.length === 0 ? undefined : mergeScans(scans)
  }
}

/** Nothing can be read after a row without an end. */
function readRows(source: Source, bytes: Buffer): boolean {
  const rows = source.cutter.push(bytes)
  if (rows.length === 0) return !source.cutter.isBroken
  source.redactor.cover(rows)
  source.shift ??= new RowRewriter({ offsetMs: source.offsetMs() })
  source.scanner.push(source.shift.push(rows))
  return !source.cutter.isBroken
}
