import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createReadStream, createWriteStream, type WriteStream } from 'node:fs'
import { stat, truncate } from 'node:fs/promises'
import { dirname } from 'node:path'
import { finished } from 'node:stream/promises'
import { makeFolder } from '../../../../contract/files.js'
import { messageOf } from '../../../../contract/text.js'
import { NodeError } from '../../load-node.js'
import type { Sink } from './follow-file.js'

/** More than that is not read from the network before it is on the disk. */
const BUFFER_BYTES = 128 * 1024

/** A file of this machine that grows with what arrives, and what has arrived so far. It exists from its first byte on. */
export class LocalCopy implements Sink {
  readonly #hash = createHash('sha256')
  #size = 0
  #stream: WriteStream | undefined
  #failure: NodeError | undefined

  private constructor(readonly file: string) {}

  /** Without what a file of this name may contain. It stays the same file: somebody may have opened it to read what arrives. */
  static async start(file: string): Promise<LocalCopy> {
    await truncate(file).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    })
    return new LocalCopy(file)
  }

  /** Continues the file of an earlier process; its bytes are read again. */
  static async continue(file: string): Promise<LocalCopy> {
    const copy = new LocalCopy(file)
    const found = await stat(file).catch(() => undefined)
    if (found === undefined) return copy
    // Up to here and no further: nobody else writes to it.
    if (found.size > 0)
      for await (const bytes of createReadStream(file, { end: found.size - 1, highWaterMark: BUFFER_BYTES }))
        copy.#count(bytes as Buffer)
    await copy.finish(true)
    return copy
  }

  get size(): number {
    return this.#size
  }

  get isBusy(): boolean {
    return this.#stream?.writableNeedDrain ?? false
  }

  get sha256(): string {
    return this.#hash.copy().digest('hex')
  }

  add(bytes: Uint8Array): Promise<void> | undefined {
    const stream = this.#open()
    this.#count(bytes)
    return stream.write(bytes) ? undefined : this.flush()
  }

  /** Fulfilled when everything that arrived is written. */
  async flush(): Promise<void> {
    const stream = this.#stream
    try {
      if (stream?.pending && this.#failure === undefined) await once(stream, 'ready')
      if (stream && stream.writableLength > 0)
        await new Promise<void>((resolve, reject) => {
          stream.write('', (error) => (error ? reject(error) : resolve()))
        })
    } catch (error) {
      this.#failure ??= this.#notWritten(error)
    }
    if (this.#failure !== undefined) throw this.#failure
  }

  async finish(exists: boolean): Promise<void> {
    if (exists) this.#open()
    await this.flush()
  }

  async close(): Promise<void> {
    if (this.#stream !== undefined) await finished(this.#stream.end()).catch(() => undefined)
  }

  #count(bytes: Uint8Array): void {
    this.#hash.update(bytes)
    this.#size += bytes.length
  }

  #open(): WriteStream {
    if (this.#failure !== undefined) throw this.#failure
    if (this.#stream !== undefined) return this.#stream
    try {
      makeFolder(dirname(this.file))
    } catch (error) {
      throw (this.#failure = this.#notWritten(error))
    }
    this.#stream = createWriteStream(this.file, { flags: 'a', mode: 0o600, highWaterMark: BUFFER_BYTES })
    return this.#stream.on('error', (error) => (this.#failure ??= this.#notWritten(error)))
  }

  #notWritten(error: unknown): NodeError {
    const folder = dirname(this.file)
    const isFull = ['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException).code ?? '')
    return new NodeError(
      `What it measured cannot be written to ${this.file} on this machine: ${messageOf(error)}. ` +
        (isFull ? `Free space in ${folder}, and run again.` : `Check that ${folder} can be written to.`),
      { cause: error }
    )
  }
}
