import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '../../../contract/text.js'
import { hostRules } from '../element/run/run-order.js'
import type { Driver } from './driver.js'
import type { BrowserKind, SeleniumOrder } from './order.js'

export type Hub = Awaited<ReturnType<typeof startHub>>

export interface HubPorts {
  readonly choice: BrowserChoice
  readonly startDriver: () => Promise<Driver>
  readonly onSession: () => void
  /** The script has ended in a process that may start it again. */
  readonly onPassEnd: () => void
  readonly log: (line: string) => void
  /** The test is being ended: a script must not take that for a failure of its page. */
  readonly isEnding: () => boolean
}

/** When everything is ended at once, a browser may be gone before this process knows why. */
const DOUBT_MS = 200
/** What drivers answer when their browser is gone; the rest is about the page. */
const GONE = ['unknown error', 'invalid session id', 'disconnected', 'tab crashed', 'session not created']
const ABOUT_PAGE = /net::ERR|about:neterror/

/** The drivers of a hub, including those that are still starting a browser. */
interface Sessions {
  readonly drivers: Set<Driver>
  readonly byId: Map<string, Driver>
  /** How often all were ended: a driver that was being started meanwhile is not wanted any more. */
  endings: number
}

interface Answer {
  readonly status: number
  readonly body: Buffer
}

/** Starts a hub on loopback that answers at `/wd/hub` and at `/`. Each session has a driver and a browser of its own. */
export async function startHub(ports: HubPorts) {
  const sessions: Sessions = { drivers: new Set(), byId: new Map(), endings: 0 }
  const server = createServer((asked, response) => {
    answer(asked, sessions, ports)
      .catch((thrown: unknown) => {
        const isNew = asked.method === 'POST' && asked.url?.endsWith('/session') === true
        return failed(500, isNew ? 'session not created' : 'unknown error', messageOf(thrown))
      })
      .then(async (reply) => {
        if (isGone(reply)) await sleep(DOUBT_MS)
        // The script gets no answer any more, or it would report a false failure.
        if (!ports.isEnding()) send(response, reply)
      })
      .catch(() => response.destroy())
  })
  // A page may take minutes to load.
  server.requestTimeout = 0
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    /** Ends the browsers that a script has left open. */
    endSessions: () => endLeftSessions(sessions, ports),
    close: async () => {
      stopAll(sessions)
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  }
}

async function answer(asked: IncomingMessage, sessions: Sessions, ports: HubPorts): Promise<Answer> {
  const refusal = refuse(asked)
  if (refusal !== undefined) return failed(403, 'unknown error', refusal)
  const url = (asked.url ?? '/').replace(/^\/wd\/hub(?=\/|$)/, '') || '/'
  const body = await buffer(asked)
  if (url === '/status') return json(200, { value: { ready: true, message: 'ready' } })
  if (url === '/loadgate/sessions' && asked.method === 'DELETE') {
    endLeftSessions(sessions, ports)
    ports.onPassEnd()
    return json(200, { value: null })
  }
  if (url === '/session' && asked.method === 'POST') return startSession(body, sessions, ports)
  const id = /^\/session\/([^/?]+)/.exec(url)?.[1] ?? ''
  const driver = sessions.byId.get(id)
  if (driver === undefined) return failed(404, 'invalid session id', 'no such session')
  if (asked.method === 'DELETE' && url === `/session/${id}`) return endSession(id, driver, sessions)
  return forward(driver, { method: asked.method ?? 'GET', url, body })
}

/** A page in a browser must not be able to use the hub, whatever name its host has: clients of WebDriver are not browsers. */
function refuse({ headers, socket }: IncomingMessage): string | undefined {
  const own = [`127.0.0.1:${socket.localPort}`, `localhost:${socket.localPort}`]
  if (!own.includes(headers.host ?? ''))
    return `the hub is at ${own[0] ?? ''}, not at ${headers.host ?? 'an unnamed host'}`
  const fromPage = headers.origin ?? headers['sec-fetch-site']
  return fromPage === undefined ? undefined : 'the hub does not take requests from pages'
}

async function startSession(body: Buffer, sessions: Sessions, ports: HubPorts): Promise<Answer> {
  const wanted = parse(body)
  const other = wantsOther(wanted, ports.choice.browser)
  if (other !== undefined)
    ports.log(`the script asks for ${other}; the run's tool is ${ports.choice.browser}, which it gets`)
  const { endings } = sessions
  const driver = await ports.startDriver()
  try {
    if (sessions.endings !== endings) throw new Error('the user has ended')
    sessions.drivers.add(driver)
    const order = Buffer.from(JSON.stringify(adaptNewSession(wanted, ports.choice)))
    const reply = await forward(driver, { method: 'POST', url: '/session', body: order })
    driver.noteBrowser()
    const { sessionId } = (parse(reply.body) as { value?: { sessionId?: unknown } }).value ?? {}
    if (typeof sessionId === 'string') {
      sessions.byId.set(sessionId, driver)
      ports.onSession()
    } else stop(driver, sessions)
    return reply
  } catch (thrown) {
    stop(driver, sessions)
    throw thrown
  }
}

async function endSession(id: string, driver: Driver, sessions: Sessions): Promise<Answer> {
  driver.noteBrowser()
  try {
    return await forward(driver, { method: 'DELETE', url: `/session/${id}`, body: Buffer.alloc(0) })
  } finally {
    sessions.byId.delete(id)
    stop(driver, sessions)
  }
}

function stop(driver: Driver, { drivers }: Sessions): void {
  drivers.delete(driver)
  driver.stop()
}

function stopAll(sessions: Sessions): void {
  const { drivers, byId } = sessions
  sessions.endings += 1
  byId.clear()
  for (const driver of drivers) driver.stop()
  drivers.clear()
}

function endLeftSessions(sessions: Sessions, { log }: HubPorts): void {
  const count = sessions.drivers.size
  if (count > 0)
    log(`the script ended without driver.quit(); closing ${count} browser${count > 1 ? 's' : ''}`)
  stopAll(sessions)
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
        buffer(reply).then((body) => resolve({ status: reply.statusCode ?? 500, body }), fail)
      }
    )
    call.on('error', fail)
    call.end(asked.body)
  })
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8')) as unknown
  } catch {
    return {}
  }
}

export function failed(status: number, error: string, message: string): Answer {
  return json(status, { value: { error, message, stacktrace: '' } })
}

export function json(status: number, value: object): Answer {
  return { status, body: Buffer.from(JSON.stringify(value)) }
}

function isGone({ status, body }: Answer): boolean {
  if (status < 400) return false
  const { error, message } = (parse(body) as { value?: { error?: unknown; message?: unknown } }).value ?? {}
  return GONE.includes(String(error)) && !ABOUT_PAGE.test(String(message))
}

export function send(response: ServerResponse, { status, body }: Answer): void {
  const type = 'application/json; charset=utf-8'
  response.writeHead(status, { 'content-type': type, 'content-length': body.length })
  response.end(body)
}

type Json = Readonly<Record<string, unknown>>

/** The names that the standard knows, besides those with a vendor's prefix. Old clients send more, and drivers refuse them. */
const STANDARD = new Set([
  ...['acceptInsecureCerts', 'pageLoadStrategy', 'proxy', 'setWindowRect', 'timeouts'],
  ...['strictFileInteractability', 'unhandledPromptBehavior', 'webSocketUrl']
])

const CHROME_ARGUMENTS = [
  // The sandbox needs rights that root and containers do not have.
  ...['--headless=new', '--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
  ...['--no-first-run', '--no-default-browser-check'],
  // Requests of the browser itself are not part of the test.
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-breakpad']
]
/** A script's own headless mode or debugging port would contradict the driver's. */
const NOT_OURS = /^--(?:headless|remote-debugging-|host-resolver-rules)/
/** Arguments that name a program to start in place of a part of the browser. */
const STARTS_PROGRAM = /^--(?:[\w-]*-cmd-prefix|[\w-]*-launcher|browser-subprocess-path|nacl-[\w-]+)(?:=|$)/

const FIREFOX_PREFERENCES = {
  'app.update.enabled': false,
  'browser.newtabpage.enabled': false,
  'browser.safebrowsing.update.enabled': false,
  'browser.startup.homepage_override.mstone': 'ignore',
  'datareporting.policy.dataSubmissionEnabled': false,
  'extensions.getAddons.cache.enabled': false,
  'media.gmp-manager.updateEnabled': false,
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false,
  // Nobody listens there.
  'services.settings.server': 'http://127.0.0.1:9/',
  'toolkit.telemetry.reportingpolicy.firstRun': false
}

/** What a new session needs to know about the node. */
export type BrowserChoice = Pick<SeleniumOrder, 'browser' | 'browserFile' | 'hosts'>

/** The body for the driver, from the body that a client of any age sent. */
export function adaptNewSession(body: unknown, choice: BrowserChoice): Json {
  const wanted = Object.entries(readWanted(body))
  const kept = wanted.filter(
    ([name]) => STANDARD.has(name) || (name.includes(':') && !name.startsWith('se:'))
  )
  const adapt = { chrome: adaptChrome, firefox: adaptFirefox }[choice.browser]
  const own = adapt(Object.fromEntries(wanted), choice)
  return { capabilities: { alwaysMatch: { ...Object.fromEntries(kept), ...own } } }
}

/** Scripts say which browser they want; the tool decides. Returns what to tell people if the two differ. */
export function wantsOther(body: unknown, browser: BrowserKind): string | undefined {
  const { browserName } = readWanted(body)
  if (typeof browserName !== 'string' || browserName === '') return undefined
  const isSame = browser === 'firefox' ? browserName === 'firefox' : /chrom/i.test(browserName)
  return isSame ? undefined : browserName
}

function readWanted(body: unknown): Json {
  const { capabilities, desiredCapabilities } = asObject(body)
  const { alwaysMatch, firstMatch } = asObject(capabilities)
  const first = Array.isArray(firstMatch) ? asObject(firstMatch[0]) : {}
  // Clients of Selenium 3 send both, older ones only the second.
  return capabilities === undefined ? asObject(desiredCapabilities) : { ...asObject(alwaysMatch), ...first }
}

function adaptChrome(wanted: Json, { browserFile, hosts }: BrowserChoice): Json {
  const options = asObject(wanted['goog:chromeOptions'] ?? wanted.chromeOptions)
  const given = asStrings(options.args).map((arg) => arg.replace(/^-*/, '--'))
  const args = new Set([
    ...given.filter((arg) => !NOT_OURS.test(arg) && !STARTS_PROGRAM.test(arg)),
    ...CHROME_ARGUMENTS,
    ...hostRules(hosts, [])
  ])
  const adapted = { ...options, binary: browserFile, args: [...args] }
  // A browser that outlives its driver, or that is not started by it, cannot be ended with it.
  return { browserName: 'chrome', 'goog:chromeOptions': without(adapted, ['detach', 'debuggerAddress']) }
}

function adaptFirefox(wanted: Json, { browserFile }: BrowserChoice): Json {
  const options = asObject(wanted['moz:firefoxOptions'])
  const given = asStrings(options.args).filter((arg) => !/^--?headless$/.test(arg))
  const prefs = { ...FIREFOX_PREFERENCES, ...asObject(options.prefs) }
  const adapted = { ...options, binary: browserFile, args: [...given, '-headless'], prefs }
  return { browserName: 'firefox', 'moz:firefoxOptions': without(adapted, ['androidPackage']) }
}

function without(value: Json, names: readonly string[]): Json {
  return Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)))
}

function asObject(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {}
}

function asStrings(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
}
