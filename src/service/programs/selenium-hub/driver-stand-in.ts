import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { quote } from '../../../contract/regions/regions.js'
import { failed, json, send } from './hub.js'
import type { BrowserKind } from './order.js'

/** Programs that a script may start as its own drivers; they lead to the user's hub. */
export type StandIns = ReturnType<typeof writeStandIns>

/** The drivers that Selenium knows, by the name in its property. */
const DRIVERS = [
  { property: 'chrome', file: 'chromedriver', wanted: 'chrome' },
  { property: 'gecko', file: 'geckodriver', wanted: 'firefox' },
  { property: 'edge', file: 'msedgedriver', wanted: 'edge' }
] as const

/** Selenium wants one executable file each. The hub's port is in the environment of the script that starts it. */
export function writeStandIns(tempDir: string, browser: BrowserKind) {
  const folder = join(tempDir, 'drivers')
  mkdirSync(folder)
  const program = [process.execPath, process.argv[1] ?? ''].map(quote).join(' ')
  const properties = DRIVERS.map(({ property, file, wanted }) => {
    const path = join(folder, file)
    writeFileSync(path, `#!/bin/sh\nexec ${program} driver ${browser} ${wanted} "$@"\n`)
    chmodSync(path, 0o700)
    return `-Dwebdriver.${property}.driver=${path}`
  })
  // The folder is to be first on the PATH; the properties of the JVM lead Selenium to the programs.
  return { folder, properties }
}

const PARENT_LOOK_MS = 500

/** Which hub, and which browsers: the run's, and the one for which a script starts this program. */
interface StandInChoice {
  readonly hubPort: number
  readonly browser: BrowserKind
  readonly wanted: string
}

/** Takes the place of the driver of `new ChromeDriver()`: passes all on to the user's hub, so that such scripts get the same browsers. */
export function standInForDriver(args: readonly string[], { hubPort, browser, wanted }: StandInChoice) {
  const port = Number(/--port[= ](\d+)/.exec(args.join(' '))?.[1] ?? 0)
  const server = createServer((asked, response) => {
    if (asked.url === '/shutdown') {
      response.end()
      end(server)
    } else if (wanted !== browser && asked.url === '/session') {
      // A browser other than the tool's would give the figures of that browser.
      const message = `the script starts a driver for ${wanted}, and this run is for ${browser}: choose the tool for the browser, or the browser for the tool`
      asked.resume()
      send(response, failed(500, 'session not created', message))
    } else if (wanted !== browser && asked.url === '/status')
      send(response, json(200, { value: { ready: true, message: 'ready' } }))
    else passOn(asked, response, { port, hubPort })
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

function passOn(
  asked: IncomingMessage,
  response: ServerResponse,
  { port, hubPort }: { port: number; hubPort: number }
): void {
  const { method, url: path, headers } = asked
  // A request that is not for this program is not for the hub.
  const isOwn = [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`].includes(headers.host ?? '')
  const host = isOwn ? `127.0.0.1:${hubPort}` : (headers.host ?? '')
  const call = request(
    { host: '127.0.0.1', port: hubPort, method, path, headers: { ...headers, host } },
    (reply) => {
      response.writeHead(reply.statusCode ?? 500, reply.headers)
      reply.pipe(response)
    }
  )
  call.on('error', () => response.destroy())
  asked.pipe(call)
}
