import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import type { BrowserKind } from './order.js'
import { describeError, json, send } from './hub.js'

const PARENT_LOOK_MS = 500

/** Which hub, and which browsers: the run's, and the one for which a script starts this program. */
export interface StandInChoice {
  readonly hubPort: number
  readonly browser: BrowserKind
  readonly wanted: string
}

/**
 * Scripts that create `new ChromeDriver()` start a driver of their own. This program takes its place: it listens where the
 * script wants and passes everything on to the user's hub, so that such scripts get the same browsers as the others.
 */
export function standInForDriver(args: readonly string[], choice: StandInChoice): Server {
  const port = Number(/--port[= ](\d+)/.exec(args.join(' '))?.[1] ?? 0)
  const server = createServer((asked, response) => {
    if (asked.url === '/shutdown') {
      response.end()
      end(server)
    } else if (choice.wanted !== choice.browser && asked.url === '/session')
      refuseSession(asked, response, choice)
    else if (choice.wanted !== choice.browser && asked.url === '/status')
      send(response, json(200, { value: { ready: true, message: 'ready' } }))
    else passOn(asked, response, { port, hubPort: choice.hubPort })
  })
  endWithParent(server)
  server.requestTimeout = 0
  return server.listen(port, '127.0.0.1')
}

/** A script that ends without driver.quit() leaves its driver behind. */
function endWithParent(server: Server): void {
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid !== parent) end(server)
  }, PARENT_LOOK_MS)
  server.once('close', () => clearInterval(timer))
}

function end(server: Server): void {
  server.close()
  server.closeAllConnections()
}

/** Another browser than the tool's would give figures of another browser. */
function refuseSession(asked: IncomingMessage, response: ServerResponse, choice: StandInChoice): void {
  const message = `the script starts a driver for ${choice.wanted}, and this run is for ${choice.browser}: choose the tool for the browser, or the browser for the tool`
  asked.resume()
  send(response, json(500, describeError('session not created', message)))
}

function passOn(
  asked: IncomingMessage,
  response: ServerResponse,
  { port, hubPort }: { port: number; hubPort: number }
): void {
  const { host, ...headers } = asked.headers
  // Whoever does not speak to this program does not speak to the hub.
  const isOwn = [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`].includes(host ?? '')
  const hub = isOwn ? `127.0.0.1:${hubPort}` : (host ?? '')
  const call = request(
    {
      ...{ host: '127.0.0.1', port: hubPort, method: asked.method, path: asked.url },
      headers: { ...headers, host: hub }
    },
    (reply) => {
      response.writeHead(reply.statusCode ?? 500, reply.headers)
      reply.pipe(response)
    }
  )
  call.on('error', () => response.destroy())
  asked.pipe(call)
}
