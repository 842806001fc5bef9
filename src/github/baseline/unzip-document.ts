import type { Readable } from 'node:stream'
import { fromBufferPromise } from 'yauzl'
import { MOST_BYTES } from '../../baseline/document/limits.js'
import { DOCUMENT_FILE } from '../../gate/baseline/baseline-file.js'

/** Artifacts with many files are not ours. */
const MOST_ENTRIES = 10

/** The document in the artifact's zip. What a zip says of itself is not trusted: bytes are counted. */
export async function unzipDocument(zip: Buffer): Promise<Uint8Array> {
  const file = await fromBufferPromise(zip)
  if (file.entryCount > MOST_ENTRIES) throw new Error(`its zip has ${file.entryCount} files, not one`)
  for await (const entry of file.eachEntry()) {
    if (entry.fileName !== DOCUMENT_FILE) continue
    if (entry.uncompressedSize > MOST_BYTES) throw tooLarge()
    return await readAll(await file.openReadStreamPromise(entry))
  }
  throw new Error(`its zip has no ${DOCUMENT_FILE}`)
}

async function readAll(stream: Readable): Promise<Uint8Array> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > MOST_BYTES) throw tooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function tooLarge(): Error {
  return new Error(`its ${DOCUMENT_FILE} is larger than ${MOST_BYTES} bytes`)
}
