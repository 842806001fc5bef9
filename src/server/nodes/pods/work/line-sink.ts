import { PassThrough } from 'node:stream'
import { splitLines } from '../../lines.js'
import type { Sink } from './follow-file.js'

/** Calls back with the lines of a file of the pod. */
export class LineSink implements Sink {
  readonly isBusy = false
  readonly #stream = new PassThrough()
  readonly #end: Promise<unknown>
  #size = 0

  constructor(onLine: (line: string) => void) {
    this.#end = new Promise((resolve) => this.#stream.once('end', resolve))
    splitLines(this.#stream, onLine)
  }

  get size(): number {
    return this.#size
  }

  add(bytes: Uint8Array): undefined {
    this.#size += bytes.length
    this.#stream.write(bytes)
  }

  create(): Promise<void> {
    return Promise.resolve()
  }

  flush(): Promise<void> {
    return Promise.resolve()
  }

  /** Fulfilled when every line was told. */
  async close(): Promise<void> {
    this.#stream.end()
    await this.#end
  }
}
