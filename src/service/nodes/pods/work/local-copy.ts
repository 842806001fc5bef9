import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { type FileHandle, open, stat, truncate } from 'node:fs/promises'
import { dirname } from 'node:path'
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
  /** One for all that ask for it, even while it is being opened. */
  #handle: Promise<FileHandle> | undefined
  #buffers: Uint8Array[] = []
  #bufferedBytes = 0
  #writing: Promise<void> | undefined
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
    await copy.create()
    return copy
  }

  get size(): number {
    return this.#size
  }

  get isBusy(): boolean {
    return this.#bufferedBytes > BUFFER_BYTES
  }

  get sha256(): string {
    return this.#hash.copy().digest('hex')
  }

  add(bytes: Uint8Array): Promise<void> | undefined {
    this.#throwIfFailed()
    this.#count(bytes)
    this.#buffers.push(bytes)
    this.#bufferedBytes += bytes.length
    this.#writing ??= this.#write()
    return this.#bufferedBytes > BUFFER_BYTES ? this.flush() : undefined
  }

  /** Fulfilled when everything that arrived is written. */
  async flush(): Promise<void> {
    await this.#writing
    this.#throwIfFailed()
  }

  async create(): Promise<void> {
    await this.#open()
  }

  async close(): Promise<void> {
    await this.#writing
    const handle = await this.#handle?.catch(() => undefined)
    this.#handle = undefined
    await handle?.close()
  }

  #count(bytes: Uint8Array): void {
    this.#hash.update(bytes)
    this.#size += bytes.length
  }

  /** Many small pieces become one write. */
  async #write(): Promise<void> {
    try {
      const handle = await this.#open()
      while (this.#buffers.length > 0) {
        const buffers = this.#buffers
        const bytes = this.#bufferedBytes
        this.#buffers = []
        await writeAll(handle, buffers, bytes)
        this.#bufferedBytes -= bytes
      }
    } catch (error) {
      this.#failure = error instanceof NodeError ? error : this.#notWritten(error)
      this.#buffers = []
    } finally {
      this.#writing = undefined
    }
  }

  #open(): Promise<FileHandle> {
    return (this.#handle ??= openToAppend(this.file).catch((error: unknown) => {
      throw this.#notWritten(error)
    }))
  }

  #throwIfFailed(): void {
    if (this.#failure !== undefined) throw this.#failure
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

async function openToAppend(file: string): Promise<FileHandle> {
  makeFolder(dirname(file))
  return open(file, 'a', 0o600)
}

/** Without joining them first: memory that is asked for at the rate of the load is memory that is cleared away at that rate. */
async function writeAll(handle: FileHandle, buffers: readonly Uint8Array[], bytes: number): Promise<void> {
  let { bytesWritten } = await handle.writev(buffers)
  // What a full disk or a signal left over.
  if (bytesWritten < bytes) {
    const all = Buffer.concat(buffers)
    while (bytesWritten < bytes)
      bytesWritten += (await handle.write(all, bytesWritten, bytes - bytesWritten)).bytesWritten
  }
}
