import type {
  BrowserContext,
  CDPSession,
  devices,
  ElementHandle as PageElement,
  Frame,
  Page
} from 'playwright-core'
import { type Evaluated, toLocator } from './by.js'
import { currentCalls } from './calls.js'
import { findDevice, isKey } from './constants.js'
import { ElementHandle, Mouse } from './element-handle.js'
import { Navigations } from './navigations.js'
import * as inPage from './page-scripts.js'
import { MAX_MS, type Settings, type StepSettings, toMs } from './settings.js'
import { Until, WaitCondition } from './until.js'

interface BrowserPorts {
  readonly context: BrowserContext
  readonly settings: Settings
  readonly folder: string
  readonly devices: typeof devices
  /** Waits; returns early when the run is over. */
  readonly rest: (ms: number) => Promise<void>
  readonly warn: (words: string) => void
}

const POLL_MS = 50
const EDGES = ['top', 'bottom', 'left', 'right']
/** The page changed during the request; the next one may succeed. */
const IN_TRANSITION = /context was destroyed|navigat|detached|not attached|cannot find context/i
const SCREENSHOTS = 'takeScreenshot has no effect: no screenshots are taken in a load test'

export class Browser {
  hasShownAlert = false
  stepSettings: StepSettings
  readonly navigations: Navigations
  #page: Page
  #frame: Frame | undefined
  readonly #watchNew = (page: Page): void => this.#watch(page)

  constructor(
    private readonly ports: BrowserPorts,
    page: Page
  ) {
    this.#page = page
    this.stepSettings = ports.settings
    this.navigations = new Navigations(ports.context)
    this.#watch(page)
    ports.context.on('page', this.#watchNew)
  }

  /** The next loop uses the context without it. */
  dispose(): void {
    this.ports.context.off('page', this.#watchNew)
    this.navigations.dispose()
  }

  get page(): Page {
    return this.#page
  }

  get frame(): Frame {
    return this.#frame ?? this.#page.mainFrame()
  }

  get pages(): Page[] {
    return this.ports.context.pages()
  }

  get frames(): Frame[] {
    return this.#page.frames()
  }

  get mouse(): Mouse {
    this.navigations.beginAction(this.#page)
    return new Mouse(this.#page)
  }

  get folder(): string {
    return this.ports.folder
  }

  get timeoutMs(): number {
    return this.stepSettings.waitTimeoutMs
  }

  get url(): string {
    return this.#page.url()
  }

  get settings(): Settings {
    return this.ports.settings
  }

  readonly getUrl = (): string => this.#page.url()
  readonly title = (): Promise<string> => this.#page.title()
  readonly switchTo = (): TargetLocator => new TargetLocator(this)
  readonly close = (): Promise<void> => this.#page.close()
  readonly highlightElement = (): Promise<void> => Promise.resolve()
  readonly clearBrowserCookies = (): Promise<void> => this.ports.context.clearCookies()
  readonly setExtraHTTPHeaders = (headers: Record<string, string>): Promise<void> =>
    this.#page.setExtraHTTPHeaders(headers)
  readonly setViewport = ({ width, height }: { width: number; height: number }): Promise<void> =>
    this.#page.setViewportSize({ width, height })

  /** Does something and then rests, as a user does. */
  async act<T>(action: () => Promise<T>): Promise<T> {
    this.navigations.beginAction(this.#page)
    const result = await action()
    await this.think(this.stepSettings.actionDelayMs)
    return result
  }

  /** Rests; the time does not count as the target's. */
  async think(ms: number): Promise<void> {
    if (ms <= 0) return
    const rest = (): Promise<void> => this.ports.rest(ms)
    await (currentCalls()?.think(rest) ?? rest())
  }

  visit(url: string, options: { timeout?: number; waitUntil?: unknown } = {}): Promise<void> {
    const timeout = Math.min(options.timeout ?? this.timeoutMs, MAX_MS)
    return this.act(async () => {
      this.#frame = undefined
      await this.#page.goto(url, { timeout, waitUntil: toLoadEvent(options.waitUntil) })
    })
  }

  async maybeFindElement(target: unknown): Promise<ElementHandle | null> {
    if (target instanceof ElementHandle) return target
    const { selector, evaluated, text } = toLocator(target)
    const element =
      selector !== undefined ? await this.frame.$(selector) : await this.#findByScript(evaluated)
    return element && new ElementHandle(this, element, text)
  }

  async findElement(target: unknown): Promise<ElementHandle> {
    const { waitUntil } = this.stepSettings
    if (waitUntil !== false && !(target instanceof ElementHandle))
      await this.wait(waitUntil === 'present' ? Until.elementLocated(target) : Until.elementIsVisible(target))
    const found = await this.maybeFindElement(target)
    if (found === null) throw new Error(`no element was found by ${toLocator(target).text}`)
    return found
  }

  async findElements(target: unknown): Promise<ElementHandle[]> {
    const { selector, text } = toLocator(target)
    if (selector === undefined) {
      const found = await this.maybeFindElement(target)
      return found === null ? [] : [found]
    }
    return (await this.frame.$$(selector)).map((element) => new ElementHandle(this, element, text))
  }

  /** Waits for a time, which is think time, or until a condition is true. */
  async wait(what: unknown): Promise<boolean> {
    if (!(what instanceof WaitCondition)) {
      await this.think(toMs(what))
      return true
    }
    const { timeoutMs } = this
    const endMs = performance.now() + timeoutMs
    for (;;) {
      if (await isTrueNow(what, this)) return true
      if (performance.now() > endMs)
        throw new Error(`waited ${timeoutMs / 1000} s for ${what.text}, without success`)
      await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    }
  }

  readonly click = this.#onElement('click')
  readonly doubleClick = this.#onElement('doubleClick')
  readonly type = this.#onElement('type')
  readonly clear = this.#onElement('clear')
  readonly focus = this.#onElement('focus')
  readonly blur = this.#onElement('blur')

  selectByValue(target: unknown, ...values: unknown[]): Promise<string[]> {
    const options = values.flat().map((value) => ({ value: String(value) }))
    return this.#select(target, options)
  }

  readonly selectByIndex = (target: unknown, index: unknown): Promise<string[]> =>
    this.#select(target, [{ index: Number(index) }])
  readonly selectByText = (target: unknown, text: unknown): Promise<string[]> =>
    this.#select(target, [{ label: String(text) }])
  readonly press = (key: string, options?: { delay?: number }): Promise<void> =>
    this.act(() => this.#page.keyboard.press(key, options))
  readonly sendKeys = (...keys: unknown[]): Promise<void> => this.act(() => this.pressOrType(keys))
  readonly sendKeyCombinations = (...keys: string[]): Promise<void> =>
    this.act(() => this.#page.keyboard.press(keys.flat().join('+')))

  /** Keys are pressed, other texts are typed. */
  async pressOrType(keys: readonly unknown[]): Promise<void> {
    for (const key of keys.flat().map(String))
      if (isKey(key)) await this.#page.keyboard.press(key)
      else await this.#page.keyboard.type(key)
  }

  evaluate(script: unknown, ...args: unknown[]): Promise<unknown> {
    if (typeof script === 'string') return this.frame.evaluate<unknown>(script)
    return this.frame.evaluate(inPage.call, [String(script), args] as const)
  }

  takeScreenshot(): Promise<void> {
    this.ports.warn(SCREENSHOTS)
    return Promise.resolve()
  }

  /** Waits for the page to which the last action leads. */
  async waitForNavigation(): Promise<void> {
    const { timeoutMs } = this
    const page = this.#page
    // Scripts start to wait before the action that leads to the page, or after it.
    await currentCalls()?.untilAlone(timeoutMs)
    await this.navigations.untilNavigated(page, timeoutMs)
    await page.waitForLoadState('load', { timeout: timeoutMs })
  }

  async waitForNewPage(): Promise<Page> {
    const { context } = this.ports
    const newest = this.pages.length > 1 ? this.pages.at(-1) : undefined
    const page = newest ?? (await context.waitForEvent('page', { timeout: this.timeoutMs }))
    await this.enterPage(page)
    await page.waitForLoadState('load', { timeout: this.timeoutMs })
    return page
  }

  enterFrame(frame: Frame | undefined): void {
    this.#frame = frame
  }

  async enterPage(page: Page): Promise<void> {
    this.#page = page
    this.#frame = undefined
    await page.bringToFront()
  }

  /** For pages that ask for credentials. Without arguments, none are sent any more. */
  authenticate(username?: string, password = ''): Promise<void> {
    return this.ports.context.setHTTPCredentials(username === undefined ? null : { username, password })
  }

  /** Ends with the page: a detached session would take it back. */
  async setUserAgent(userAgent: string): Promise<void> {
    const session = await this.#devTools()
    await session.send('Emulation.setUserAgentOverride', { userAgent })
  }

  async emulateDevice(name: string): Promise<void> {
    const device = findDevice(this.ports.devices, name)
    const { userAgent, viewport, deviceScaleFactor, isMobile: mobile, hasTouch: enabled } = device
    const session = await this.#devTools()
    await session.send('Emulation.setUserAgentOverride', { userAgent })
    await session.send('Emulation.setDeviceMetricsOverride', { ...viewport, deviceScaleFactor, mobile })
    await session.send('Emulation.setTouchEmulationEnabled', { enabled })
  }

  async setCacheDisabled(cacheDisabled = true): Promise<void> {
    const session = await this.#devTools()
    await session.send('Network.enable')
    await session.send('Network.setCacheDisabled', { cacheDisabled })
  }

  async clearBrowserCache(): Promise<void> {
    const session = await this.#devTools()
    await session.send('Network.clearBrowserCache')
    await session.detach()
  }

  async getCookies(filter?: { names?: unknown; urls?: unknown }): Promise<unknown[]> {
    const list = (value: unknown): string[] => [value ?? []].flat().map(String)
    const names = list(filter?.names)
    const cookies = await this.ports.context.cookies(list(filter?.urls))
    return names.length === 0 ? cookies : cookies.filter(({ name }) => names.includes(name))
  }

  async scrollBy(x: number | string, y: number | string): Promise<void> {
    await this.#page.evaluate(inPage.scrollBy, [x, y])
  }

  async scrollTo(target: unknown): Promise<void> {
    if (Array.isArray(target)) await this.#page.evaluate(inPage.scrollToPoint, target as number[])
    else if (typeof target === 'string' && EDGES.includes(target))
      await this.#page.evaluate(inPage.scrollToEdge, target)
    else await (await this.findElement(target)).element.scrollIntoViewIfNeeded({ timeout: this.timeoutMs })
  }

  async drag(from: ElementHandle, to: ElementHandle): Promise<void> {
    const [start, end] = [await from.centerPoint(), await to.centerPoint()]
    await this.act(() => this.mouse.drag(start, end))
  }

  #watch(page: Page): void {
    this.navigations.watch(page)
    // An open dialog blocks everything else on the page.
    page.on('dialog', (dialog) => {
      this.hasShownAlert = true
      dialog.accept().catch(() => undefined)
    })
  }

  #onElement<K extends 'click' | 'doubleClick' | 'type' | 'clear' | 'focus' | 'blur'>(method: K) {
    return async (target: unknown, ...args: Parameters<ElementHandle[K]>): Promise<void> => {
      const element = await this.findElement(target)
      await (element[method] as (...all: typeof args) => Promise<void>)(...args)
    }
  }

  async #select(target: unknown, options: ({ value: string } | { index: number } | { label: string })[]) {
    const { element } = await this.findElement(target)
    return this.act(() => element.selectOption(options, { timeout: this.timeoutMs }))
  }

  async #findByScript({ script, args }: Evaluated): Promise<PageElement | null> {
    const handle =
      typeof script === 'string'
        ? await this.frame.evaluateHandle<unknown>(script)
        : await this.frame.evaluateHandle(inPage.call, [String(script), args] as const)
    return handle.asElement() as PageElement | null
  }

  #devTools(): Promise<CDPSession> {
    return this.ports.context.newCDPSession(this.#page)
  }
}

export class TargetLocator {
  constructor(private readonly browser: Browser) {}

  async activeElement(): Promise<ElementHandle | null> {
    const handle = await this.browser.frame.evaluateHandle(inPage.readActive)
    const element = handle.asElement() as PageElement | null
    return element && new ElementHandle(this.browser, element, 'the active element')
  }

  defaultContent(): Promise<void> {
    this.browser.enterFrame(undefined)
    return Promise.resolve()
  }

  async frame(which: unknown): Promise<void> {
    const found = await this.#findFrame(which)
    if (found === null || found === undefined)
      throw new Error(`no frame was found by ${typeof which === 'string' ? `'${which}'` : String(which)}`)
    this.browser.enterFrame(found)
  }

  async page(which: number | Page): Promise<void> {
    const page = typeof which === 'number' ? this.browser.pages[which] : which
    if (page === undefined)
      throw new Error(`there is no such page: ${this.browser.pages.length} are open, counted from 0`)
    await this.browser.enterPage(page)
  }

  async #findFrame(which: unknown): Promise<Frame | null | undefined> {
    const { page, frame } = this.browser
    if (typeof which === 'number') return frame.childFrames()[which]
    const named = typeof which === 'string' ? page.frame({ name: which }) : null
    if (named !== null) return named
    // A word may be the id of the frame's element.
    const target = typeof which === 'string' && /^[\w-]+$/.test(which) ? `[id="${which}"]` : which
    return (await this.browser.maybeFindElement(target))?.element.contentFrame()
  }
}

async function isTrueNow(condition: WaitCondition, browser: Browser): Promise<boolean> {
  try {
    return await condition.isTrue(browser)
  } catch (thrown) {
    if (thrown instanceof Error && IN_TRANSITION.test(thrown.message)) return false
    throw thrown
  }
}

const LOAD_EVENTS = ['networkidle', 'load', 'domcontentloaded', 'commit'] as const

/** Scripts use the names of another library, and may give several: the latest event decides. */
function toLoadEvent(given: unknown): (typeof LOAD_EVENTS)[number] {
  const names = [given ?? 'load'].flat().map(String)
  // There is `networkidle0` and `networkidle2`.
  const last = LOAD_EVENTS.find((event) => names.some((name) => name.replace(/(?<=idle).*/, '') === event))
  if (last !== undefined) return last
  throw new Error(`waitUntil is ${JSON.stringify(given)}, not load, domcontentloaded or networkidle`)
}
