import { closeSync, openSync, readSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { ByteScanner } from '../scan/byte-scanner.js'
import { joinProblems } from '../scan/row-problems.js'
import type { ScannerOptions, ScanResult } from '../counts/scan-result.js'

/** A complete CSV on disk, and what to read of it. */
export interface ResultFile extends ScannerOptions {
  readonly path: string
}

/** The rows of a file that begin at or after `from` and before `to`. */
export interface Stretch extends ResultFile {
  readonly from: number
  readonly to: number
  /** Whether it is read to sort its transactions, which takes more time and all of the file; else it is only read up to the first one. */
  readonly follows?: boolean
  /** How many bytes the file has so far, if it is still being written; see `ArrivingScan`. */
  readonly arrivals?: BigInt64Array
}

export interface StretchScan {
  readonly result: ScanResult
  /** Where the row after the last one begins: the only correct start of the next stretch. */
  readonly next: number
}

const READS_IN_ONE_GO = 32
const LARGE_BYTES = 1024 * 1024

/** Scans a stretch of a complete file. Yields to the event loop now and then, which costs nothing in a separate thread. */
export async function scanStretch(stretch: Stretch): Promise<StretchScan> {
  const { path, from, to, follows = false, arrivals, ...options } = stretch
  const scanner = new ByteScanner({
    ...options,
    limit: to - from,
    isLarge: to - from >= LARGE_BYTES,
    stopsAtTransaction: !follows
  })
  const file = openSync(path, 'r')
  try {
    let position = from
    // Created once: a view and a function per read would be most of the garbage of a scan.
    const read = (buffer: Uint8Array, at: number, end: number) =>
      readSync(file, buffer, at, Math.min(end - at, size - position), position)
    let size = Infinity
    for (let reads = 1; !scanner.isDone; reads++) {
      if (arrivals !== undefined) size = waitForBytes(arrivals, position)
      const count = scanner.fill(read)
      if (count === 0) break
      position += count
      if (reads % READS_IN_ONE_GO === 0) await setImmediate()
    }
  } finally {
    closeSync(file)
  }
  const result = scanner.end()
  if (result.hasTransactions && !follows && from === 0 && to === Infinity)
    return scanStretch({ ...stretch, follows: true })
  return { result, next: scanner.isStopped ? Infinity : from + scanner.consumed }
}

/** Blocks the thread until the file is longer than this, or complete. Returns how long it is. */
function waitForBytes(arrivals: BigInt64Array, position: number): number {
  for (;;) {
    const known = Atomics.load(arrivals, 0)
    // Below zero: complete, and one less than its negative length.
    const size = Number(known < 0n ? -1n - known : known)
    if (size > position || known < 0n) return size
    Atomics.wait(arrivals, 0, known)
  }
}

export function joinScans(scans: readonly [ScanResult, ...ScanResult[]]): ScanResult {
  return {
    ...scans[0],
    rows: scans.reduce((sum, { rows }) => sum + rows, 0),
    isZoneless: scans.some(({ isZoneless }) => isZoneless),
    earlyRows: scans.reduce((sum, { earlyRows }) => sum + earlyRows, 0),
    problems: joinProblems(scans),
    problemCount: scans.reduce((sum, { problemCount }) => sum + problemCount, 0),
    parts: scans.flatMap(({ parts }) => parts),
    hasTransactions: scans.some(({ hasTransactions }) => hasTransactions)
  }
}
