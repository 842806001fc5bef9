import { createServer, request } from 'node:http'

/**
 * Scripts that create `new ChromeDriver()` start a driver of their own. This program takes its place: it listens where the
 * script wants and passes everything on to the user's hub, so that such scripts get the same browsers as the others.
 */
export function standInForDriver(args: readonly string[], hubPort: number): void {
  const port = Number(/--port[= ](\d+)/.exec(args.join(' '))?.[1] ?? 0)
  const server = createServer((asked, response) => {
    if (asked.url === '/shutdown') {
      response.end()
      server.close()
      server.closeAllConnections()
      return
    }
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
  })
  server.requestTimeout = 0
  server.listen(port, '127.0.0.1')
}
