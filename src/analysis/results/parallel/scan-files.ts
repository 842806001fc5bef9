import { existsSync, statSync, closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { mergeScans } from '../figures/merge.js'
import type { Measurements } from '../figures/measurements.js'
import type { ScanResult } from '../counts/scan-result.js'
import { ByteScanner } from '../scan/byte-scanner.js'
import { cutHeader, readHeader, TRANSACTION_MESSAGE } from '../csv/header.js'
import { type ResultFile, joinScans, scanStretch, type Stretch, type StretchScan } from './scan-stretch.js'

/** Below this a thread takes longer to start than it saves. */
const THREADS_FROM_BYTES = 64 * 1024 * 1024
const MAX_THREADS = 4
/** Next to this module when compiled, and next to its folder when bundled. */
const WORKER_PLACES = ['./scan-worker.js', '../worker/index.js']

export interface ScanFilesOptions {
  /** The number of threads; 1 is only this one. */
  readonly threads?: number
  readonly workerUrl?: URL
}

/** Scans complete CSV files, in several threads if that is faster. The figures are the same either way. */
export async function scanFiles(
  files: readonly ResultFile[],
  options: ScanFilesOptions = {}
): Promise<Measurements> {
  return mergeScans(await scanEach(files, options))
}

export async function scanEach(
  files: readonly ResultFile[],
  options: ScanFilesOptions = {}
): Promise<ScanResult[]> {
  const workerUrl = options.workerUrl ?? findWorker()
  const threads = workerUrl === undefined ? 1 : (options.threads ?? chooseThreads(files))
  const plans = files.map((file) => planStretches(file, threads))
  const scans = await scanAll(plans.flat(), threads, workerUrl)
  const results: ScanResult[] = []
  for (const plan of plans) results.push(await verifyStretches(plan, scans))
  return results
}

export function findWorker(): URL | undefined {
  return WORKER_PLACES.map((place) => new URL(place, import.meta.url)).find((url) => existsSync(url))
}

function chooseThreads(files: readonly ResultFile[]): number {
  const bytes = files.reduce((sum, { path }) => sum + statSync(path).size, 0)
  return bytes < THREADS_FROM_BYTES ? 1 : Math.min(availableParallelism(), MAX_THREADS)
}

/** Scans every stretch; each thread takes the next one when it is done. */
async function scanAll(
  stretches: readonly Stretch[],
  threads: number,
  workerUrl: URL | undefined
): Promise<Map<Stretch, StretchScan>> {
  const scans = new Map<Stretch, StretchScan>()
  const waiting = stretches.values()
  const work = async (scan: (stretch: Stretch) => Promise<StretchScan>) => {
    for (const stretch of waiting) scans.set(stretch, await scan(stretch))
  }
  const helpers = workerUrl === undefined ? 0 : Math.min(threads, stretches.length) - 1
  // This thread works too, and first: it is already running.
  const crew = [work(scanStretch)]
  for (let i = 0; i < helpers && workerUrl !== undefined; i++) crew.push(withWorker(workerUrl, work))
  await Promise.all(crew)
  return scans
}

/** Undefined if the machine has no thread left: what it would read must be read here. */
export function startWorker(url: URL): Worker | undefined {
  try {
    // Nothing long-lived is in the young generation there; without a limit it grows with the file.
    return new Worker(url, { resourceLimits: { maxYoungGenerationSizeMb: 8 } })
  } catch {
    return undefined
  }
}

async function withWorker(
  url: URL,
  work: (scan: (stretch: Stretch) => Promise<StretchScan>) => Promise<void>
): Promise<void> {
  const worker = startWorker(url)
  if (worker === undefined) return
  let isAlive = true
  try {
    await work(async (stretch) => {
      const scan = isAlive ? await askWorker(worker, stretch) : undefined
      isAlive = scan !== undefined
      // If its thread failed, scan the stretch here; if the file is the problem, this reports it.
      return scan ?? scanStretch(stretch)
    })
  } finally {
    await worker.terminate()
  }
}

/** Undefined if the thread ended without an answer. */
export function askWorker(worker: Worker, stretch: Stretch): Promise<StretchScan | undefined> {
  return new Promise((resolve) => {
    // Only remove our own listeners: a worker has its own, without which it stops responding.
    const settle = (scan: StretchScan | undefined) => {
      worker.off('message', settle).off('error', giveUp).off('exit', giveUp)
      resolve(scan)
    }
    const giveUp = () => settle(undefined)
    worker.on('message', settle).on('error', giveUp).on('exit', giveUp)
    worker.postMessage(stretch)
  })
}

/** Joins a file's stretches, and reads those again whose start was guessed wrong. */
async function verifyStretches(
  plan: readonly [Stretch, ...Stretch[]],
  scans: ReadonlyMap<Stretch, StretchScan>
): Promise<ScanResult> {
  // A transaction's requests may be in another stretch, so such a file must be read in one go.
  if (plan.length > 1 && plan.some((stretch) => scans.get(stretch)?.result.hasTransactions === true))
    return (await scanStretch({ ...plan[0], to: Infinity, follows: true })).result
  const results: ScanResult[] = []
  let next = 0
  for (const stretch of plan) {
    if (next >= stretch.to) continue
    const guessed = scans.get(stretch)
    const isRight = guessed !== undefined && stretch.from === next
    const scan = isRight ? guessed : await scanStretch({ ...stretch, from: next })
    results.push(scan.result)
    next = scan.next
  }
  const [first, ...others] = results
  if (first === undefined) throw new Error('A file has nothing to scan')
  return joinScans([first, ...others])
}

const LF = 10
const HEADER_BYTES = 64 * 1024
const WINDOW_BYTES = 64 * 1024
const MAX_GUESSES = 200
/** What the main thread reads while the others start. */
const HEAD_START_BYTES = 24 * 1024 * 1024

/** About `count` stretches of rows. Starts are guesses, as a line break may be quoted: each must begin where the previous one ended. */
export function planStretches(file: ResultFile, count: number): [Stretch, ...Stretch[]] {
  const handle = openSync(file.path, 'r')
  try {
    const { size } = fstatSync(handle)
    const whole = { ...file, from: 0, to: Infinity }
    const beginning = read(handle, 0, HEADER_BYTES)
    const header = cutHeader(beginning, size <= HEADER_BYTES)
    if (header === undefined || readHeader(header.line).shape !== 'samples') return [whole]
    // Most files with transactions have some near the start, and must be read in one go.
    const isLikely = Buffer.from(beginning).includes(Buffer.from(TRANSACTION_MESSAGE))
    if (isLikely || file.details?.hasTransactions === true) return [{ ...whole, follows: true }]
    const starts = [0]
    const headStart = size > count * HEAD_START_BYTES ? HEAD_START_BYTES : 0
    for (let i = 1; i < count; i++) {
      const near = Math.max(header.length, headStart + Math.floor(((size - headStart) * i) / count))
      const start = guessRowStart(read(handle, near, WINDOW_BYTES), header.line)
      if (start !== undefined && near + start > (starts.at(-1) ?? 0)) starts.push(near + start)
    }
    const [first, ...others] = starts.map((from, i) => ({
      ...whole,
      from,
      to: starts[i + 1] ?? Infinity,
      ...(from === 0 ? {} : { header: header.line })
    }))
    return [first ?? whole, ...others]
  } finally {
    closeSync(handle)
  }
}

/** The first line of the window that parses as a valid row: a line within quotes hardly ever does. */
function guessRowStart(window: Uint8Array, header: Uint8Array): number | undefined {
  let start = window.indexOf(LF) + 1
  for (let guesses = 0; guesses < MAX_GUESSES && start > 0 && start < window.length; guesses++) {
    const scanner = new ByteScanner({ grid: '', region: '', header, limit: 1 })
    scanner.push(window.subarray(start))
    const { rows, problemCount } = scanner.end()
    if (rows === 1 && problemCount === 0) return start
    start = window.indexOf(LF, start) + 1
  }
  return undefined
}

function read(handle: number, position: number, length: number): Uint8Array {
  const bytes = new Uint8Array(length)
  return bytes.subarray(0, readSync(handle, bytes, 0, length, position))
}
