import { Readable, pipeline } from 'node:stream'
import { readUpTo } from '../../contract/files.js'
import { MalformedReplyError } from '../errors.js'
import type { Call, Upload } from './failures.js'

const LARGEST_JSON_BYTES = 32 * 1024 * 1024
const MOST_ERROR_BYTES = 256 * 1024

export async function readText(call: Call, body: Readable): Promise<string> {
  const { bytes, hasMore } = await readUpTo(body, LARGEST_JSON_BYTES)
  if (hasMore)
    throw new MalformedReplyError(call.operation, `the reply is larger than ${LARGEST_JSON_BYTES} bytes`)
  return bytes.toString()
}

/** As much of an error's body as anyone would read; of a truncated one, what arrived. */
export async function readErrorText(body: Readable): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes > MOST_ERROR_BYTES) break
    }
  } catch {
    // The status says enough.
  }
  return Buffer.concat(chunks).subarray(0, MOST_ERROR_BYTES).toString('utf8')
}

export interface RawReply {
  readonly status: number
  readonly headers: Record<string, string | string[] | undefined>
  readonly body: Readable
}

/** Headers about the encoded bytes: they do not apply to the decoded ones, and parts of those could not be joined. */
const OF_ENCODED_BYTES: readonly string[] = ['content-encoding', 'content-length', 'etag']

/** A proxy may compress all the same: decoded as it arrives; a truncated one is an error. Part of a compressed response stays as it is. */
export async function withoutGzip(reply: RawReply): Promise<RawReply> {
  const encoding = String(reply.headers['content-encoding'] ?? '')
    .trim()
    .toLowerCase()
  if (reply.status === 206 || (encoding !== 'gzip' && encoding !== 'x-gzip')) return reply
  const headers = Object.fromEntries(
    Object.entries(reply.headers).filter(([name]) => !OF_ENCODED_BYTES.includes(name))
  )
  // It may fail before anyone reads it: that must not crash the process.
  reply.body.on('error', () => undefined)
  const { createGunzip } = await import('node:zlib')
  // Errors of either stream reach the reader of the decoded bytes, and both are closed when it stops reading.
  const body = pipeline(reply.body, createGunzip(), () => undefined)
  return { ...reply, headers, body }
}

/** So much must be left of a body before it certainly was not sent: less may be on its way between here and the other side's reader. */
const SURELY_UNSENT_BYTES = 1024 * 1024

/** The body of one request, and whether much of it is not even on its way, so that it cannot have been read to its end. */
export function sendBody(upload: Upload | undefined): { stream: Readable | null; isUnsent: () => boolean } {
  if (upload === undefined) return { stream: null, isUnsent: () => false }
  let bytes = 0
  const read = async function* (): AsyncGenerator<Uint8Array> {
    for await (const chunk of upload.open()) {
      // Before they are handed out: from here on it is unknown how far they got.
      bytes += chunk.length
      yield chunk
    }
  }
  const stream = Readable.from(read(), { objectMode: false })
  return { stream, isUnsent: () => upload.length - bytes >= SURELY_UNSENT_BYTES }
}
