import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { refuseDeleted } from '../errors.js'
import type { FilePart } from '../runs/live-samples.js'

interface Content {
  readonly type: string
  readonly fileName: string
  readonly etag: string
}

/** Streams parts of files one after the other, or the requested range of them, so that a download can resume. */
export function sendPieces(
  request: FastifyRequest,
  reply: FastifyReply,
  content: Content & { pieces: readonly FilePart[] }
): FastifyReply {
  const total = sum(content.pieces)
  const range = readRange(request, { total, etag: content.etag })
  void describeFile(reply, content).header('accept-ranges', 'bytes')
  if (range === 'unsatisfiable') {
    void reply
      .code(416)
      .header('content-range', `bytes */${total}`)
      .header('content-type', 'application/json')
    return reply.send({ error: `the range is outside the file's ${total} bytes` })
  }
  const { start, end } = range ?? { start: 0, end: total }
  if (range) void reply.code(206).header('content-range', `bytes ${start}-${end - 1}/${total}`)
  void reply.header('content-length', end - start)
  // Nothing is read from disk for a HEAD.
  const isHead = request.method === 'HEAD'
  return reply.send(isHead ? Readable.from([]) : streamPieces(cutPieces(content.pieces, start, end)))
}

export function describeFile(reply: FastifyReply, { type, fileName, etag }: Content): FastifyReply {
  return reply.headers({
    'content-type': type,
    'content-disposition': `attachment; filename="${fileName}"`,
    etag
  })
}

function sum(pieces: readonly FilePart[]): number {
  return pieces.reduce((total, piece) => total + piece.end - piece.start, 0)
}

function cutPieces(pieces: readonly FilePart[], start: number, end: number): FilePart[] {
  let offset = 0
  return pieces.flatMap((piece) => {
    const from = piece.start + Math.max(0, start - offset)
    const to = Math.min(piece.end, piece.start + end - offset)
    offset += piece.end - piece.start
    return from < to ? [{ file: piece.file, start: from, end: to }] : []
  })
}

function streamPieces(pieces: readonly FilePart[]): Readable {
  async function* read(): AsyncGenerator<Buffer> {
    for (const { file, start, end } of pieces) {
      try {
        yield* createReadStream(file, {
          start,
          end: end - 1,
          highWaterMark: 256 * 1024
        }) as AsyncIterable<Buffer>
      } catch (thrown) {
        throw refuseDeleted(thrown)
      }
    }
  }
  return Readable.from(read(), { objectMode: false })
}

interface Range {
  readonly start: number
  readonly end: number
}

/** Supports a single range; anything else gets the whole file, as the standard allows. */
function readRange(
  request: FastifyRequest,
  whole: { total: number; etag: string }
): Range | 'unsatisfiable' | undefined {
  const { range, 'if-range': ifRange } = request.headers
  const match = /^bytes=(\d*)-(\d*)$/.exec(range ?? '')
  if (!match || range === 'bytes=-' || (ifRange !== undefined && ifRange !== whole.etag)) return undefined
  const [, first = '', last = ''] = match
  const start = first === '' ? Math.max(0, whole.total - Number(last)) : Number(first)
  const end = first === '' || last === '' ? whole.total : Math.min(whole.total, Number(last) + 1)
  if (start >= whole.total) return 'unsatisfiable'
  return start < end ? { start, end } : undefined
}
