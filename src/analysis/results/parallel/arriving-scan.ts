import { availableParallelism } from 'node:os'
import type { Worker } from 'node:worker_threads'
import type { ScannerOptions, ScanResult } from '../counts/scan-result.js'
import { ByteScanner } from '../scan/byte-scanner.js'
import { askWorker, findWorker, startWorker } from './scan-files.js'
import { joinScans, scanStretch, type Stretch, type StretchScan } from './scan-stretch.js'

/** A thread that reads the rest of a file takes a moment to start, which only pays off for large files. */
const THREAD_FROM_BYTES = 16 * 1024 * 1024

export interface ArrivingScanOptions {
  readonly threadFromBytes?: number
  readonly workerUrl?: URL
}

interface Rest {
  readonly worker: Worker
  readonly stretch: Stretch
  readonly arrivals: BigInt64Array
  readonly scan: Promise<StretchScan | undefined>
}

/** How many files are being read by threads of their own. */
let threads = 0

/**
 * Reads a CSV while it is being written to a file. The beginning is read here; the rest of a large one by another thread, from the file,
 * so that who receives the bytes can receive more.
 */
export class ArrivingScan {
  readonly #options: ScannerOptions & { readonly path: string }
  readonly #beginning: ByteScanner
  readonly #workerUrl: URL | undefined
  #threadFrom: number
  #bytes = 0
  #rest: Rest | undefined

  constructor(
    options: ScannerOptions & { readonly path: string },
    { threadFromBytes = THREAD_FROM_BYTES, workerUrl = findWorker() }: ArrivingScanOptions = {}
  ) {
    this.#options = options
    this.#beginning = new ByteScanner({ ...options, stopsAtTransaction: true })
    this.#workerUrl = workerUrl
    this.#threadFrom = workerUrl === undefined ? Infinity : threadFromBytes
  }

  /** Whether another thread reads the rest. */
  get hasThread(): boolean {
    return this.#rest !== undefined
  }

  /** Takes the next bytes, which are about to be written to the file. What was pushed before them must be in it. */
  push(chunk: Uint8Array): void {
    if (this.#rest !== undefined) this.#announce(this.#rest, BigInt(this.#bytes))
    this.#bytes += chunk.length
    if (this.#rest !== undefined) return
    this.#beginning.push(chunk)
    if (this.#bytes >= this.#threadFrom && threads < availableParallelism() - 1) this.#startThread()
  }

  /** The result, when all bytes are in the file, which may have been moved to `path` since. */
  async end(path: string): Promise<ScanResult> {
    const rest = this.#rest
    if (rest !== undefined) this.#announce(rest, -1n - BigInt(this.#bytes))
    const results: [ScanResult, ...ScanResult[]] = [this.#beginning.end()]
    if (rest !== undefined) {
      const scan = await rest.scan
      await this.close()
      // If its thread failed, the rest is read here; if the file is the problem, this reports it.
      const isWhole = scan !== undefined && scan.next >= this.#bytes
      results.push((isWhole ? scan : await scanStretch({ ...rest.stretch, path })).result)
    }
    // Which requests belong to a transaction shows in all rows of its thread.
    if (results.some(({ hasTransactions }) => hasTransactions))
      return (await scanStretch({ ...this.#options, path, from: 0, to: Infinity, follows: true })).result
    return joinScans(results)
  }

  /** Ends the thread, whose result is lost if there was none. */
  async close(): Promise<void> {
    const rest = this.#rest
    if (rest === undefined) return
    this.#rest = undefined
    threads--
    await rest.worker.terminate()
  }

  // The rows from here on are not read by both, nor by none: the thread is there before the beginning ends.
  #startThread(): void {
    this.#threadFrom = Infinity
    const worker = this.#workerUrl && startWorker(this.#workerUrl)
    if (worker === undefined) return
    const from = this.#beginning.cut()
    const { header } = this.#beginning
    if (from === undefined || header === undefined) {
      void worker.terminate()
      return
    }
    threads++
    const arrivals = new BigInt64Array(new SharedArrayBuffer(8))
    const stretch = { ...this.#options, header, from, to: Infinity }
    this.#rest = { worker, stretch, arrivals, scan: askWorker(worker, { ...stretch, arrivals }) }
  }

  #announce({ arrivals }: Rest, bytes: bigint): void {
    Atomics.store(arrivals, 0, bytes)
    Atomics.notify(arrivals, 0)
  }
}
