import type { BrowserKind, SeleniumOrder } from './order.js'

type Json = Readonly<Record<string, unknown>>

/** The names that the standard knows, besides those with a vendor's prefix. Old clients send more, and drivers refuse them. */
const STANDARD = new Set([
  ...['acceptInsecureCerts', 'pageLoadStrategy', 'proxy', 'setWindowRect', 'timeouts'],
  ...['strictFileInteractability', 'unhandledPromptBehavior', 'webSocketUrl']
])

const CHROME_ARGUMENTS = [
  '--headless=new',
  // The sandbox needs rights that root and containers do not have.
  '--no-sandbox',
  '--disable-dev-shm-usage',
  '--disable-gpu',
  '--no-first-run',
  '--no-default-browser-check',
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
  const rules = hosts.map(({ host, address }) => `MAP ${host} ${bracket(address)}`).join(', ')
  const args = new Set([
    ...given.filter((arg) => !NOT_OURS.test(arg) && !STARTS_PROGRAM.test(arg)),
    ...CHROME_ARGUMENTS,
    ...(rules === '' ? [] : [`--host-resolver-rules=${rules}`])
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

function bracket(address: string): string {
  return address.includes(':') ? `[${address}]` : address
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
