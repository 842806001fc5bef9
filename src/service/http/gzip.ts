import { pipeline } from 'node:stream'
import type { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'

export interface RawReply {
  readonly status: number
  readonly headers: Record<string, string | string[] | undefined>
  readonly body: Readable
}

/** Headers about the encoded bytes: they do not apply to the decoded ones, and parts of those could not be joined. */
const OF_ENCODED_BYTES: readonly string[] = ['content-encoding', 'content-length', 'etag']

/**
 * A proxy may compress a response that was requested uncompressed. It is decoded as it arrives, before anything searches it; a truncated
 * one is an error, since gzip ends with its length and checksum. A part of a compressed response is left as it is.
 */
export function withoutGzip(reply: RawReply): RawReply {
  const encoding = String(reply.headers['content-encoding'] ?? '')
    .trim()
    .toLowerCase()
  if (reply.status === 206 || (encoding !== 'gzip' && encoding !== 'x-gzip')) return reply
  const headers = Object.fromEntries(
    Object.entries(reply.headers).filter(([name]) => !OF_ENCODED_BYTES.includes(name))
  )
  // Errors of either stream reach the reader of the decoded bytes, and both are closed when it stops reading.
  const body = pipeline(reply.body, createGunzip(), () => undefined)
  return { ...reply, headers, body }
}
