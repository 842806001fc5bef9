import { existsSync, statSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { mergeScans } from '../figures/merge.js'
import { planStretches } from './plan-stretches.js'
import type { ResultFile } from './result-file.js'
import { joinScans, scanStretch, type Stretch, type StretchScan } from './scan-stretch.js'
import type { Measurements } from '../figures/measurements.js'
import type { ScanResult } from '../counts/scan-result.js'

/** Below this a thread takes longer to start than it saves. */
const THREADS_FROM_BYTES = 64 * 1024 * 1024
const MAX_THREADS = 4
/** Next to this module when compiled, and next to its folder when bundled. */
const WORKER_PLACES = ['./scan-worker.js', '../scan-worker/index.js']

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

/** The same, file by file. */
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

function findWorker(): URL | undefined {
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

async function withWorker(
  url: URL,
  work: (scan: (stretch: Stretch) => Promise<StretchScan>) => Promise<void>
): Promise<void> {
  // Nothing long-lived is in the young generation here; without a limit it grows with the file.
  const worker = new Worker(url, { resourceLimits: { maxYoungGenerationSizeMb: 8 } })
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
function askWorker(worker: Worker, stretch: Stretch): Promise<StretchScan | undefined> {
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
  if (plan.length > 1 && plan.some((stretch) => scans.get(stretch)?.result.hasTransactions === true)) {
    return (await scanStretch({ ...plan[0], to: Infinity })).result
  }
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
