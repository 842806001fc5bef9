import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'

interface Refusal {
  readonly status: number
  readonly error: string
}

/** What cannot even be read as a request never comes to a route, and is answered in the same form as any other mistake. */
export function answerUnreadable(thrown: NodeJS.ErrnoException & { reason?: string }, socket: Duplex): void {
  // Whoever sent this may also be gone before the answer is.
  socket.on('error', () => undefined)
  if (thrown.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const { status, error } = refusalOf(thrown)
  const body = JSON.stringify({ error })
  socket.end(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
      'content-type: application/json; charset=utf-8',
      `content-length: ${Buffer.byteLength(body)}`,
      'connection: close',
      '',
      body
    ].join('\r\n'),
    () => socket.destroy()
  )
}

function refusalOf({ code, message, reason }: NodeJS.ErrnoException & { reason?: string }): Refusal {
  switch (code ?? '') {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { status: 408, error: 'the request did not come in time' }
    case 'HPE_HEADER_OVERFLOW':
      return { status: 431, error: 'the headers are larger than what is accepted' }
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return { status: 413, error: 'the extensions of a chunk are larger than what is accepted' }
    case 'HPE_INVALID_METHOD':
      return { status: 400, error: 'the request has a method that is not known' }
    default:
      return { status: 400, error: `the request cannot be read as HTTP: ${reason ?? message}` }
  }
}

/** Node answers these without words. */
export function answerExpectations(server: Server): void {
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    const body = JSON.stringify({ error: 'the header Expect asks for what is not supported' })
    response
      .writeHead(417, { 'content-type': 'application/json; charset=utf-8', connection: 'close' })
      .end(body)
  })
  server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
    answerUnreadable({ name: 'Error', message: '', reason: 'this service is no proxy' }, socket)
  })
}
