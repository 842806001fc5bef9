import type { IncomingMessage } from 'node:http'
import type { Multipart } from '@fastify/multipart'
import type { FastifyRequest } from 'fastify'
import { messageOf, RequestError } from '../errors.js'

const LOOK_EVERY_MS = 100

/** A body that is not a valid multipart form is the client's mistake. */
export async function* readParts(request: FastifyRequest): AsyncGenerator<Multipart> {
  const parts = request.parts()
  try {
    for (;;) {
      const next = await nextOf(parts, request.raw)
      if (next.done === true) return
      yield next.value
    }
  } catch (thrown) {
    throw refuseForm(thrown)
  }
}

export function refuseForm(thrown: unknown): RequestError {
  const { statusCode } = thrown as { statusCode?: number }
  const words = messageOf(thrown)
  return statusCode === 413
    ? new RequestError(413, words)
    : new RequestError(400, `the body is not a valid multipart form: ${words}`)
}

/** The parser waits for ever at a part whose header has no end: nobody reads that part, and it reads no further. */
async function nextOf(
  parts: AsyncIterator<Multipart>,
  raw: IncomingMessage
): Promise<IteratorResult<Multipart>> {
  let stop = (): void => undefined
  const stuck = new Promise<never>((_resolve, reject) => {
    stop = watchParser(raw, () => reject(new Error('the header of a part is malformed')))
  })
  try {
    return await Promise.race([parts.next(), stuck])
  } finally {
    stop()
  }
}

/** Calls back if there are bytes to be read, or the body has ended, and nothing has changed between two looks. */
function watchParser(raw: IncomingMessage, onStuck: () => void): () => void {
  let seen = ''
  const timer = setInterval(() => {
    const now = `${raw.socket.bytesRead} ${raw.readableLength} ${raw.readableEnded}`
    if (now === seen && (raw.readableEnded || raw.readableLength > 0)) onStuck()
    seen = now
  }, LOOK_EVERY_MS)
  return () => clearInterval(timer)
}
