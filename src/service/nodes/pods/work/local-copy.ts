import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { type FileHandle, open, stat, truncate } from 'node:fs/promises'
import { dirname } from 'node:path'
import { makeFolder } from '../../../../contract/files.js'
import { messageOf } from '../../../../contract/text.js'
import { NodeError } from '../../load-node.js'
import type { Sink } from './follow-file.js'

/** A file of this machine that grows with what arrives, and what has arrived so far. It exists from its first byte on. */
export class LocalCopy implements Sink {
  readonly #hash = createHash('sha256')
  #size = 0
  #handle: Promise<FileHandle> | undefined
  /** One after the other, in the order in which the bytes arrived. */
  #written: Promise<unknown> = Promise.resolve()
  #pending = 0

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
      for await (const bytes of createReadStream(file, { end: found.size - 1 })) copy.#count(bytes as Buffer)
    await copy.finish(true)
    return copy
  }

  get size(): number {
    return this.#size
  }

  get isBusy(): boolean {
    return this.#pending > 0
  }

  get sha256(): string {
    return this.#hash.copy().digest('hex')
  }

  add(bytes: Uint8Array): Promise<void> {
    this.#count(bytes)
    return this.#write(async (handle) => handle.appendFile(bytes))
  }

  async finish(exists: boolean): Promise<void> {
    await (exists ? this.#write(() => Promise.resolve()) : this.#written)
  }

  async close(): Promise<void> {
    await this.#written.catch(() => undefined)
    await this.#handle?.then((handle) => handle.close()).catch(() => undefined)
  }

  #count(bytes: Uint8Array): void {
    this.#hash.update(bytes)
    this.#size += bytes.length
  }

  /** After a failure nothing more is written: every call fails in the same words. */
  #write(act: (handle: FileHandle) => Promise<void>): Promise<void> {
    this.#pending++
    const written = this.#written
      .then(async () => act(await (this.#handle ??= this.#open())))
      .catch((error: unknown) => {
        throw error instanceof NodeError ? error : this.#notWritten(error)
      })
      .finally(() => this.#pending--)
    this.#written = written
    written.catch(() => undefined)
    return written
  }

  async #open(): Promise<FileHandle> {
    makeFolder(dirname(this.file))
    return open(this.file, 'a', 0o600)
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
