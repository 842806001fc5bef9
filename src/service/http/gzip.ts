import { pipeline } from 'node:stream'
import type { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'

export interface RawReply {
  readonly status: number
  readonly headers: Record<string, string | string[] | undefined>
  readonly body: Readable
}

/** What is said of the encoded bytes: it does not hold for what is read, and a part of it could not be joined to another. */
const OF_ENCODED_BYTES: readonly string[] = ['content-encoding', 'content-length', 'etag']

/**
 * A proxy may compress what was asked for as it is. Its bytes are decoded as they arrive, before anything is looked for in them; what
 * breaks off is an error, for gzip ends with its length and checksum. A part of something compressed is left as it is.
 */
export function withoutGzip(reply: RawReply): RawReply {
  const encoding = String(reply.headers['content-encoding'] ?? '')
    .trim()
    .toLowerCase()
  if (reply.status === 206 || (encoding !== 'gzip' && encoding !== 'x-gzip')) return reply
  const headers = Object.fromEntries(
    Object.entries(reply.headers).filter(([name]) => !OF_ENCODED_BYTES.includes(name))
  )
  // Errors of either reach the reader of the decoded bytes, and its leaving ends both.
  const body = pipeline(reply.body, createGunzip(), () => undefined)
  return { ...reply, headers, body }
}
