import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { adaptNewSession, type BrowserChoice, wantsOther } from './capabilities.js'
import type { Driver } from './driver.js'

/** One user's address for new browsers. */
export interface Hub {
  readonly port: number
  /** Ends all its browsers; how many there were. */
  endSessions(): number
  close(): Promise<void>
}

export interface HubPorts {
  readonly choice: BrowserChoice
  readonly startDriver: () => Promise<Driver>
  readonly onSession: () => void
  readonly log: (line: string) => void
  /** The test is being ended: a script must not take that for a failure of its page. */
  readonly isEnding: () => boolean
}

const MAX_BODY_BYTES = 64 << 20
/** When everything is ended at once, a driver may be gone before this process knows why. */
const DOUBT_MS = 300
const NO_SUCH_SESSION = { error: 'invalid session id', message: 'no such session' }

interface Answer {
  readonly status: number
  readonly body: Buffer
}

/** Starts a hub on loopback that answers at `/wd/hub` and at `/`. Each session has a driver and a browser of its own. */
export async function startHub(ports: HubPorts): Promise<Hub> {
  const sessions = new Map<string, Driver>()
  const server = createServer((asked, response) => {
    answer(asked, sessions, ports)
      .then(({ status, body }) => send(response, status, body))
      .catch(async (thrown: unknown) => {
        await sleep(DOUBT_MS)
        if (ports.isEnding()) return
        const isNew = asked.method === 'POST' && asked.url?.endsWith('/session') === true
        const error = isNew ? 'session not created' : 'unknown error'
        send(response, 500, describeError(error, thrown instanceof Error ? thrown.message : String(thrown)))
      })
  })
  // A page may take minutes to load.
  server.requestTimeout = 0
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const endSessions = (): number => {
    const count = sessions.size
    for (const driver of sessions.values()) driver.stop()
    sessions.clear()
    return count
  }
  return {
    port: (server.address() as AddressInfo).port,
    endSessions,
    close: async () => {
      endSessions()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  }
}

async function answer(
  asked: IncomingMessage,
  sessions: Map<string, Driver>,
  ports: HubPorts
): Promise<Answer> {
  const refusal = refuse(asked)
  if (refusal !== undefined) return json(403, describeError('unknown error', refusal))
  const url = (asked.url ?? '/').replace(/^\/wd\/hub(?=\/|$)/, '') || '/'
  const body = await readBody(asked)
  if (url === '/status') return json(200, { value: { ready: true, message: 'ready' } })
  if (url === '/loadgate/sessions' && asked.method === 'DELETE') return endLeftSessions(sessions, ports)
  if (url === '/session' && asked.method === 'POST') return startSession(body, sessions, ports)
  const id = /^\/session\/([^/?]+)/.exec(url)?.[1] ?? ''
  const driver = sessions.get(id)
  if (driver === undefined) return json(404, { value: { ...NO_SUCH_SESSION, stacktrace: '' } })
  if (asked.method === 'DELETE' && url === `/session/${id}`) return endSession(id, driver, sessions)
  return forward(driver, { method: asked.method ?? 'GET', url, body })
}

/** A page in a browser must not be able to use the hub, whatever name its host has: clients of WebDriver are not browsers. */
export function refuse({ headers, socket }: IncomingMessage): string | undefined {
  const own = [`127.0.0.1:${socket.localPort}`, `localhost:${socket.localPort}`]
  if (!own.includes(headers.host ?? ''))
    return `the hub is at ${own[0] ?? ''}, not at ${headers.host ?? 'an unnamed host'}`
  const fromPage = headers.origin ?? headers['sec-fetch-site']
  return fromPage === undefined ? undefined : 'the hub does not take requests from pages'
}

async function startSession(body: Buffer, sessions: Map<string, Driver>, ports: HubPorts): Promise<Answer> {
  const wanted = parse(body)
  const other = wantsOther(wanted, ports.choice.browser)
  if (other !== undefined)
    ports.log(`the script asks for ${other}; the run's tool is ${ports.choice.browser}, which it gets`)
  const driver = await ports.startDriver()
  try {
    const order = Buffer.from(JSON.stringify(adaptNewSession(wanted, ports.choice)))
    const reply = await forward(driver, { method: 'POST', url: '/session', body: order })
    driver.noteBrowser()
    const { sessionId } = (parse(reply.body) as { value?: { sessionId?: unknown } }).value ?? {}
    if (typeof sessionId === 'string') {
      sessions.set(sessionId, driver)
      ports.onSession()
    } else driver.stop()
    return reply
  } catch (thrown) {
    driver.stop()
    throw thrown
  }
}

async function endSession(id: string, driver: Driver, sessions: Map<string, Driver>): Promise<Answer> {
  driver.noteBrowser()
  try {
    return await forward(driver, { method: 'DELETE', url: `/session/${id}`, body: Buffer.alloc(0) })
  } finally {
    sessions.delete(id)
    driver.stop()
  }
}

function endLeftSessions(sessions: Map<string, Driver>, { log }: HubPorts): Answer {
  const count = sessions.size
  if (count > 0)
    log(`the script ended without driver.quit(); closing ${count} browser${count > 1 ? 's' : ''}`)
  for (const driver of sessions.values()) driver.stop()
  sessions.clear()
  return json(200, { value: null })
}

function forward(driver: Driver, asked: { method: string; url: string; body: Buffer }): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const fail = (thrown: Error): void => {
      const words = driver.lastWords()
      reject(words === undefined ? thrown : new Error(`the driver has ended, ${words}`, { cause: thrown }))
    }
    const headers = { 'content-type': 'application/json; charset=utf-8', 'content-length': asked.body.length }
    const { port, agent } = driver
    const call = request(
      { host: '127.0.0.1', port, agent, method: asked.method, path: asked.url, headers },
      (reply) => {
        readBody(reply).then((body) => resolve({ status: reply.statusCode ?? 500, body }), fail)
      }
    )
    call.on('error', fail)
    call.end(asked.body)
  })
}

async function readBody(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of message as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > MAX_BODY_BYTES) throw new Error(`more than ${MAX_BODY_BYTES >> 20} MiB in one message`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8')) as unknown
  } catch {
    return {}
  }
}

function describeError(error: string, message: string): object {
  return { value: { error, message, stacktrace: '' } }
}

function json(status: number, value: object): Answer {
  return { status, body: Buffer.from(JSON.stringify(value)) }
}

function send(response: ServerResponse, status: number, body: Buffer | object): void {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body))
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': bytes.length
  })
  response.end(bytes)
}
