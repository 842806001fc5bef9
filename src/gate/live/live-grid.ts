import {
  partsOfLoad,
  type ScannerOptions,
  type ScanResult
} from '../../analysis/results/counts/scan-result.js'
import { ByteScanner } from '../../analysis/results/scan/byte-scanner.js'
import { TimedRows, type TimedRow } from '../../analysis/results/scan/timed-rows.js'
import { LiveReadingError } from './live-csv.js'

export const WINDOW_MS = 10_000
/** Tools write a row when its sample has ended, or up to half a second later; a service needs a moment to pass it on. */
const SETTLE_MS = 2_000
/** Grids that are ten minutes apart will not meet again, and open windows take memory. */
const MOST_WINDOWS = 60

/**
 * Which samples belong to the warm-up, as far as that is known while they arrive; shared by all grids. A slow request may yet show that
 * the run began earlier, so some samples may seem to belong that do not in the end, but never the other way round.
 */
export interface LiveWarmUp {
  readonly ms: number
  /** The earliest start in any grid. */
  firstMs: number
}

/** The samples of one CSV so far: all of them, and those of each 10-second window by the time at which they ended. */
export class LiveGrid {
  readonly #rows = new TimedRows()
  readonly #total: ByteScanner
  readonly #windows = new Map<number, ByteScanner>()
  readonly #windowsWithRows = new Set<number>()
  newestMs = -Infinity
  /** How late a row has come, at most: after the one look that should have had it. */
  #latenessMs = 0
  #forgottenBefore = -Infinity
  /** The samples after the warm-up; undefined before there is one. */
  #counted: ByteScanner | undefined
  /** When the last sample of the warm-up ended. */
  lastEarlyEndMs = -Infinity

  constructor(
    private readonly place: Pick<ScannerOptions, 'grid' | 'region' | 'asideGroups'>,
    private readonly warmUp?: LiveWarmUp
  ) {
    this.#total = new ByteScanner(place)
  }

  /** Up to here all rows are there, as far as one can tell: rows may come a little late, and more so if some already have. */
  get settledMs(): number {
    return this.newestMs - SETTLE_MS - 2 * this.#latenessMs
  }

  /** Takes what follows the rows read so far; returns how many bytes of it were complete rows. */
  take(bytes: Uint8Array): number {
    // Within one look the rows of several nodes may follow each other.
    const before = this.newestMs
    const rows: TimedRow[] = []
    const used = this.#rows.take(bytes, (timed) => {
      const { bytes: row, endMs } = timed
      if (this.warmUp !== undefined) rows.push(timed)
      this.#latenessMs = Math.max(this.#latenessMs, before - endMs)
      this.newestMs = Math.max(this.newestMs, endMs)
      const window = Math.floor(endMs / WINDOW_MS)
      this.#windowsWithRows.add(window)
      this.#push(row, window)
      // The window after it needs the row to tell whether a transaction's requests have rows of their own.
      this.#push(row, window + 1)
    })
    const { problem, header } = this.#rows
    // Before its first line is a header, it may be an error page.
    if (problem !== undefined) throw header === undefined ? new Error(problem) : new LiveReadingError(problem)
    this.#total.push(bytes.subarray(0, used))
    if (this.warmUp !== undefined) this.#leaveOut(this.warmUp, rows)
    if (this.#windows.size > MOST_WINDOWS)
      throw new LiveReadingError('the samples of the grids are too far apart')
    return used
  }

  scan(): ScanResult {
    return this.#total.end()
  }

  /** The same without those of the warm-up; undefined if there are none. */
  scanCounted(): ScanResult | undefined {
    return this.warmUp === undefined ? this.scan() : this.#counted?.end()
  }

  /** The samples that ended in the window; undefined if there are none. */
  scanWindow(window: number): ScanResult | undefined {
    return this.#windowsWithRows.has(window) ? this.#windows.get(window)?.end() : undefined
  }

  forgetBefore(window: number): void {
    this.#forgottenBefore = window
    for (const each of this.#windows.keys()) if (each < window) this.#windows.delete(each)
  }

  #leaveOut(warmUp: LiveWarmUp, rows: readonly TimedRow[]): void {
    // Not by the rows themselves: some are not samples.
    for (const { startMs } of partsOfLoad(this.scan())) warmUp.firstMs = Math.min(warmUp.firstMs, startMs)
    for (const { bytes, startMs, endMs } of rows)
      if (startMs < warmUp.firstMs + warmUp.ms) this.lastEarlyEndMs = Math.max(this.lastEarlyEndMs, endMs)
      else if (this.#rows.header !== undefined) {
        this.#counted ??= new ByteScanner({ ...this.place, header: this.#rows.header })
        this.#counted.push(bytes)
      }
  }

  #push(row: Uint8Array, window: number): void {
    const { header } = this.#rows
    if (window < this.#forgottenBefore || header === undefined) return
    const countEndsFromMs = window * WINDOW_MS
    const scanner = this.#windows.get(window) ?? new ByteScanner({ ...this.place, header, countEndsFromMs })
    this.#windows.set(window, scanner)
    scanner.push(row)
  }
}
