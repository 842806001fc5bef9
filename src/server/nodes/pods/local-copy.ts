import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { type FileHandle, open, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { makeFolder } from '../../../files/make-folder.js'
import type { Sink } from './follow-file.js'

/** More than that is not read from the network before it is on the disk. */
const BUFFER_BYTES = 128 * 1024

/** A file of this machine that grows with what arrives, and what has arrived so far. It exists from its first byte on. */
export class LocalCopy implements Sink {
  readonly #hash = createHash('sha256')
  #size = 0
  #handle: FileHandle | undefined
  #buffers: Uint8Array[] = []
  #bufferedBytes = 0
  #writing: Promise<void> | undefined
  #failure: unknown

  private constructor(readonly file: string) {}

  /** Without what a file of this name may contain. */
  static async start(file: string): Promise<LocalCopy> {
    await rm(file, { force: true })
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
    copy.#handle = await open(file, 'a', 0o600)
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
    this.#handle ??= await this.#open()
  }

  async close(): Promise<void> {
    await this.#writing
    await this.#handle?.close()
    this.#handle = undefined
  }

  #count(bytes: Uint8Array): void {
    this.#hash.update(bytes)
    this.#size += bytes.length
  }

  /** Many small pieces become one write. */
  async #write(): Promise<void> {
    try {
      this.#handle ??= await this.#open()
      while (this.#buffers.length > 0) {
        const buffers = this.#buffers
        const bytes = this.#bufferedBytes
        this.#buffers = []
        await writeAll(this.#handle, buffers, bytes)
        this.#bufferedBytes -= bytes
      }
    } catch (error) {
      this.#failure = error
      this.#buffers = []
    } finally {
      this.#writing = undefined
    }
  }

  async #open(): Promise<FileHandle> {
    makeFolder(dirname(this.file))
    return open(this.file, 'a', 0o600)
  }

  #throwIfFailed(): void {
    if (this.#failure !== undefined) throw this.#failure as Error
  }
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
