import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'

interface Refusal {
  readonly status: number
  readonly error: string
}

/** Requests that are not valid HTTP never reach a route; they get the same JSON error as any other mistake. */
export function answerUnreadable(
  thrown: NodeJS.ErrnoException & { reason?: string },
  socket: Duplex,
  headers: Readonly<Record<string, string>> = {}
): void {
  // The client may have disconnected already.
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
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
      '',
      body
    ].join('\r\n'),
    () => socket.destroy()
  )
}

function refusalOf({ code, message, reason }: NodeJS.ErrnoException & { reason?: string }): Refusal {
  switch (code ?? '') {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { status: 408, error: 'the request timed out' }
    case 'HPE_HEADER_OVERFLOW':
      return { status: 431, error: 'the headers are too large' }
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return { status: 413, error: 'the chunk extensions are too large' }
    case 'HPE_INVALID_METHOD':
      return { status: 400, error: 'the request method is unknown' }
    default:
      return { status: 400, error: `the request is not valid HTTP: ${reason ?? message}` }
  }
}

/** Node answers these without a body. */
export function answerExpectations(server: Server, headers: Readonly<Record<string, string>> = {}): void {
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    const body = JSON.stringify({ error: 'the Expect header is not supported' })
    response
      .writeHead(417, { ...headers, 'content-type': 'application/json; charset=utf-8', connection: 'close' })
      .end(body)
  })
  server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
    answerUnreadable({ name: 'Error', message: '', reason: 'this service is not a proxy' }, socket, headers)
  })
}
