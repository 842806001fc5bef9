import { spawnSync } from 'node:child_process'
import { closeSync, constants, ftruncateSync, openSync, writeSync } from 'node:fs'
import { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { K6Csv } from '../../../analysis/results/formats/k6-csv.js'
import { messageOf } from '../../../contract/text.js'

interface SamplesRequest {
  /** Where the pipe is made; nothing is there yet. */
  readonly pipe: string
  readonly samplesFile: string
  readonly threadPrefix: string
  /** Called once if rows cannot be written any more. */
  readonly onFailure: () => void
}

/** For what is in the pipe when k6 has ended: a process that it has left behind may hold it open forever. */
const LAST_ROWS_MS = 10_000

/** Reads k6's CSV from a pipe, and writes rows as they come: the CSV has some 16 lines per request, and is never on a disk. */
export class Samples {
  readonly translation: K6Csv
  /** Why rows are missing: a full disk, perhaps. */
  failure: string | undefined
  readonly #request: SamplesRequest
  readonly #file: number
  readonly #writer: number
  readonly #input: Readable
  readonly #done: Promise<void>
  /** Up to the end of the last row that was written completely. */
  #bytes = 0

  constructor(request: SamplesRequest) {
    const { pipe, samplesFile, threadPrefix } = request
    const made = spawnSync('mkfifo', ['-m', '600', pipe], { encoding: 'utf8' })
    if (made.status !== 0) throw new Error(`mkfifo ${pipe}: ${made.error?.message ?? made.stderr.trim()}`)
    this.#request = request
    this.translation = new K6Csv({ threadPrefix })
    this.#file = openSync(samplesFile, 'w')
    this.#write(this.translation.header)
    this.#input = new Socket({
      fd: openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK),
      readable: true,
      writable: false
    })
    // A pipe ends when everyone who writes has closed it, and k6 has not opened it yet.
    this.#writer = openSync(pipe, constants.O_WRONLY)
    this.#input.on('data', (chunk: Buffer) => this.#write(this.translation.push(chunk)))
    this.#done = finished(this.#input, { writable: false })
  }

  /** After k6 has ended. */
  async end(): Promise<void> {
    closeSync(this.#writer)
    const limit = setTimeout(() => {
      this.failure ??= 'k6 has ended, but a process that it had started still writes them'
      this.#input.destroy()
    }, LAST_ROWS_MS)
    await this.#done.catch(() => undefined)
    clearTimeout(limit)
    this.#write(this.translation.end())
    closeSync(this.#file)
  }

  /** Half a row does not count. */
  #cutRow(): void {
    try {
      ftruncateSync(this.#file, this.#bytes)
    } catch {
      // The reader of the rows leaves it out too.
    }
  }

  /** After a failure the rest is read all the same: k6 must not wait forever for a reader. */
  #write(rows: string | Buffer): void {
    if (this.failure !== undefined) return
    const bytes = Buffer.from(rows)
    try {
      for (let at = 0; at < bytes.length;) at += writeSync(this.#file, bytes, at)
      this.#bytes += bytes.length
    } catch (thrown) {
      this.failure = messageOf(thrown)
      this.#cutRow()
      this.#request.onFailure()
    }
  }
}
