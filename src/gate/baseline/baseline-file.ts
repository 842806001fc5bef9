import { randomUUID } from 'node:crypto'
import { open, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { BaselineDocument } from '../../baseline/document/baseline-document.js'
import { decodeBaseline } from '../../baseline/document/decode.js'
import { makeFolder } from '../../files/make-folder.js'
import { MOST_DOCUMENT_BYTES } from './document-file.js'

/** Undefined if there is no such file; throws if it is not a document. */
export async function readBaselineFile(path: string): Promise<BaselineDocument | undefined> {
  const bytes = await readCapped(path)
  return bytes && decodeBaseline(bytes)
}

async function readCapped(path: string): Promise<Uint8Array | undefined> {
  const file = await open(path).catch((thrown: unknown) => {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw thrown
  })
  if (file === undefined) return undefined
  try {
    // One byte more than allowed, so that the decoder sees that it is too large.
    const buffer = Buffer.alloc(MOST_DOCUMENT_BYTES + 1)
    let bytes = 0
    for (let read = -1; read !== 0 && bytes < buffer.length; bytes += read)
      read = (await file.read(buffer, bytes, buffer.length - bytes)).bytesRead
    return buffer.subarray(0, bytes)
  } finally {
    await file.close()
  }
}

/** In one step: a reader finds the old document or the new one. */
export async function writeBaselineFile(path: string, bytes: Uint8Array): Promise<void> {
  const full = resolve(path)
  makeFolder(dirname(full))
  const temporary = `${full}.${randomUUID()}.part`
  try {
    await writeFile(temporary, bytes, { flush: true })
    await rename(temporary, full)
  } catch (thrown) {
    await rm(temporary, { force: true })
    throw thrown
  }
}
