import { once } from 'node:events'
import http from 'node:http'
import type { IncomingMessage } from 'node:http'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import { StandInExec } from './stand-in-exec.js'

export interface StandInRequest {
  readonly method: string
  /** Without the query. */
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: http.IncomingHttpHeaders
  readonly body: unknown
}

export interface StandInReply {
  readonly status?: number
  /** Sent as JSON, or as it is if it is a string. */
  readonly body?: unknown
}

export interface StandInOptions {
  /** What it serves; what is not answered is a 404 in Kubernetes' words. A rejected promise cuts the connection. */
  readonly answer?: (request: StandInRequest) => StandInReply | undefined | Promise<StandInReply | undefined>
  /** Refuses to open a stream. */
  readonly refuseExec?: (request: StandInRequest) => StandInReply | undefined
  /** What a command does; it ends with `exit` or `fail`, or is cut. */
  readonly onExec?: (exec: StandInExec) => void | Promise<void>
  /** By default as a current cluster. */
  readonly protocols?: readonly string[]
  readonly tls?: { readonly key: Buffer; readonly cert: Buffer }
}

export interface StandInCluster {
  readonly url: string
  readonly port: number
  /** Everything that was asked, in order; streams too. */
  readonly requests: readonly StandInRequest[]
  readonly execs: readonly StandInExec[]
  close(): Promise<void>
}

/** An API server in this process: real HTTP and WebSockets, and only what tests tell it. */
export async function startStandInCluster(options: StandInOptions = {}): Promise<StandInCluster> {
  const server = options.tls ? https.createServer(options.tls) : http.createServer()
  const sockets = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    handleProtocols: (offered) => chooseProtocol(offered, options.protocols) ?? false
  })
  const requests: StandInRequest[] = []
  const execs: StandInExec[] = []
  server.on('request', (request, response) => {
    void (async () => {
      const asked = await readRequest(request)
      requests.push(asked)
      try {
        const { status, bytes } = encode((await options.answer?.(asked)) ?? notFound(asked))
        response.writeHead(status, { 'Content-Type': 'application/json' }).end(bytes)
      } catch {
        response.destroy()
      }
    })()
  })
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const asked = describe(request, undefined)
    requests.push(asked)
    const refused = options.refuseExec?.(asked)
    if (refused !== undefined) {
      refuse(socket, refused)
      return
    }
    sockets.handleUpgrade(request, socket, head, (opened: WebSocket) => {
      const exec = new StandInExec(opened, asked.path, asked.query)
      execs.push(exec)
      void options.onExec?.(exec)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `${options.tls ? 'https' : 'http'}://127.0.0.1:${port}`,
    port,
    requests,
    execs,
    close: async () => {
      for (const client of sockets.clients) client.terminate()
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    }
  }
}

/** The body of a refusal, as Kubernetes writes it. */
export function makeStatus(code: number, reason: string, message: string): unknown {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code }
}

const PROTOCOLS: readonly string[] = ['v5.channel.k8s.io', 'v4.channel.k8s.io']

function chooseProtocol(offered: Set<string>, known = PROTOCOLS): string | undefined {
  return [...offered].find((protocol) => known.includes(protocol))
}

function notFound({ path }: StandInRequest): StandInReply {
  return {
    status: 404,
    body: makeStatus(404, 'NotFound', `the server could not find ${path}`)
  }
}

function encode({ status = 200, body = {} }: StandInReply): { status: number; bytes: Buffer } {
  return { status, bytes: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)) }
}

function refuse(socket: Duplex, reply: StandInReply): void {
  const { status, bytes } = encode(reply)
  socket.end(
    Buffer.concat([
      Buffer.from(
        `HTTP/1.1 ${status} ${http.STATUS_CODES[status] ?? ''}\r\nContent-Length: ${bytes.length}\r\nConnection: close\r\n\r\n`
      ),
      bytes
    ])
  )
}

async function readRequest(request: IncomingMessage): Promise<StandInRequest> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const text = Buffer.concat(chunks).toString('utf8')
  return describe(request, text === '' ? undefined : (JSON.parse(text) as unknown))
}

function describe(request: IncomingMessage, body: unknown): StandInRequest {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://stand-in')
  return {
    method: request.method ?? '',
    path: pathname,
    query: searchParams,
    headers: request.headers,
    body
  }
}
