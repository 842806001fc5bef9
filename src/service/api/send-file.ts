import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'

interface Content {
  readonly type: string
  readonly fileName: string
  readonly etag: string
}

/** Streams the first bytes of a file, or the requested range of them, so that a download can resume. */
export function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  { file, bytes: total, ...content }: Content & { file: string; bytes: number }
): FastifyReply {
  const range = readRange(request, { total, etag: content.etag })
  void describeFile(reply, content).header('accept-ranges', 'bytes')
  if (range === 'unsatisfiable')
    return reply
      .code(416)
      .headers({ 'content-range': `bytes */${total}`, 'content-type': 'application/json' })
      .send({ error: `the range is outside the file's ${total} bytes` })
  const { start, end } = range ?? { start: 0, end: total }
  if (range) void reply.code(206).header('content-range', `bytes ${start}-${end - 1}/${total}`)
  void reply.header('content-length', end - start)
  // Nothing is read from disk for a HEAD.
  const isEmpty = request.method === 'HEAD' || start === end
  return reply.send(
    isEmpty ? Readable.from([]) : createReadStream(file, { start, end: end - 1, highWaterMark: 256 * 1024 })
  )
}

export function describeFile(reply: FastifyReply, { type, fileName, etag }: Content): FastifyReply {
  return reply.headers({
    'content-type': type,
    'content-disposition': `attachment; filename="${fileName}"`,
    etag
  })
}

/** Supports a single range; anything else gets the whole file, as the standard allows. */
function readRange(request: FastifyRequest, whole: { total: number; etag: string }) {
  const { range, 'if-range': ifRange } = request.headers
  const match = /^bytes=(\d*)-(\d*)$/.exec(range ?? '')
  if (!match || range === 'bytes=-' || (ifRange !== undefined && ifRange !== whole.etag)) return undefined
  const [, first = '', last = ''] = match
  const start = first === '' ? Math.max(0, whole.total - Number(last)) : Number(first)
  const end = first === '' || last === '' ? whole.total : Math.min(whole.total, Number(last) + 1)
  if (start >= whole.total) return 'unsatisfiable'
  return start < end ? { start, end } : undefined
}
