import { createServer } from 'node:http'
import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from 'node:http'
import { createServer as createSocketServer } from 'node:net'
import type { AddressInfo, Server as SocketServer, Socket } from 'node:net'

interface SeenRequest {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly rawHeaders: readonly string[]
  readonly body: Buffer
}

export type Answer = (reply: ServerResponse, request: SeenRequest) => void

export interface TestServer {
  /** Such as `http://127.0.0.1:41234`. */
  readonly origin: string
  readonly port: number
  /** Every request that came in whole, in order. */
  readonly seen: readonly SeenRequest[]
}

const running = new Set<Server | SocketServer>()
const sockets = new Set<Socket>()

/** Ends every server of the test that is over, with all its connections. */
export async function closeServers(): Promise<void> {
  for (const socket of sockets) socket.destroy()
  await Promise.all([...running].map((server) => new Promise((resolve) => server.close(resolve))))
  running.clear()
}

/** A real HTTP server on loopback that reads each request whole, keeps it, and lets the test answer. */
export async function startServer(answer: Answer): Promise<TestServer> {
  const seen: SeenRequest[] = []
  const server = createServer((incoming, reply) => {
    void readRequest(incoming).then((request) => {
      seen.push(request)
      answer(reply, request)
    })
  })
  const port = await listen(server)
  return { origin: `http://127.0.0.1:${port}`, port, seen }
}

/** A server that speaks in bytes, for answers that no HTTP library would give. */
export async function startSocketServer(onConnection: (socket: Socket) => void): Promise<{
  origin: string
  port: number
}> {
  const port = await listen(createSocketServer(onConnection))
  return { origin: `http://127.0.0.1:${port}`, port }
}

/** Answers with JSON, as the service does. */
export function sendJson(reply: ServerResponse, document: unknown, status = 200): void {
  reply.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(document))
}

/** Ends the connection the hard way: the other side sees a reset. */
export function reset(reply: ServerResponse): void {
  reply.socket?.resetAndDestroy()
}

async function listen(server: Server | SocketServer): Promise<number> {
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => sockets.delete(socket))
  })
  running.add(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

async function readRequest(incoming: IncomingMessage): Promise<SeenRequest> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk)
  const { method = '', url = '', headers, rawHeaders } = incoming
  return { method, path: url, headers, rawHeaders, body: Buffer.concat(chunks) }
}
