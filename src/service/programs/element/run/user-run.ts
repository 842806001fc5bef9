import type { Browser as PageBrowser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { Browser } from '../api/browser.js'
import { findDevice, explainMissing } from '../api/constants.js'
import { type Settings, readStepSettings } from '../api/settings.js'
import { forScript } from '../api/for-script.js'
import { findRecovery, RecoverWith } from '../api/declare.js'
import type { Condition, Hook, Plan, Row, Step } from '../api/plan.js'
import { Calls } from '../api/calls.js'
import type { BadPage } from '../api/navigations.js'
import { type PageTiming, readTiming } from '../api/page-scripts.js'
import { answered, close, stackOf, toError } from './failures.js'
import type { Library } from './launch.js'
import type { RunPorts } from './run-order.js'
import type { Script } from './script.js'
import { oneLine, type Rows } from './rows.js'

export interface UserPorts extends Pick<RunPorts, 'log' | 'schedule'> {
  readonly user: number
  readonly rows: Rows
  readonly library: Library
  readonly browser: PageBrowser
  readonly folder: string
  /** Ends with the run: what has not ended by then is cut. */
  readonly cut: Promise<'cut'>
  readonly onCut: (label: string, ms: number) => void
  readonly warn: (words: string) => void
}

const OPEN_MS = 30_000
const VIEWPORT = { width: 1440, height: 900 }
/** Element's own names for windows of a desktop. */
const DESKTOP = /^chrome desktop/i

/** A user's loops, in a context of its own: its own cookies and cache. */
export async function runUser(script: Script, ports: UserPorts): Promise<void> {
  const { settings } = script
  let context = await openContext(settings, ports)
  ports.rows.active++
  try {
    for (let loop = 0; loop < settings.loopCount && !ports.schedule.isOver; loop++) {
      const data = script.plan.nextData()
      if (data === 'end') {
        ports.warn(
          'the test data is used up, so users end; without circular(false) it starts again from the beginning'
        )
        break
      }
      if (loop > 0 && settings.isFresh) {
        await close(context)
        context = await openContext(settings, ports)
      } else if (loop > 0 && settings.clearCookies) await context.clearCookies()
      await runLoop(script, { context, data: data.row, isFirst: loop === 0 }, ports)
    }
  } finally {
    ports.rows.active--
    await close(context)
  }
}

async function runLoop(
  { plan, settings }: Script,
  { context, data, isFirst }: { context: BrowserContext; data: Row; isFirst: boolean },
  ports: UserPorts
): Promise<void> {
  const { folder, library, schedule, warn } = ports
  const page = await answered('opening a page', OPEN_MS, context.newPage())
  const browserPorts = { context, settings, folder, devices: library.devices, rest: schedule.rest, warn }
  const browser = new Browser(browserPorts, page)
  if (settings.disableCache) await browser.setCacheDisabled(true)
  await new LoopRun(plan, { browser, data, isFirst }, ports).run()
  browser.dispose()
  // The pages of a stopped run are closed with the browser.
  if (!schedule.isStopped) for (const open of context.pages()) await close(open)
}

function openContext(settings: Settings, { browser, library }: UserPorts): Promise<BrowserContext> {
  const { device, viewport, userAgent, extraHTTPHeaders, ignoreHTTPSErrors } = settings
  const isDesktop = device === undefined || DESKTOP.test(device)
  const options: BrowserContextOptions = {
    ...(isDesktop ? { viewport: VIEWPORT } : findDevice(library.devices, device)),
    ...(viewport === undefined ? {} : { viewport }),
    ignoreHTTPSErrors,
    ...(userAgent === undefined ? {} : { userAgent }),
    ...(extraHTTPHeaders === undefined ? {} : { extraHTTPHeaders })
  }
  return answered('opening a context', OPEN_MS, browser.newContext(options))
}

/** What comes after a step: the next one, the same again, the first one, or nothing in this loop. */
type Next = 'next' | 'again' | 'first' | 'end'

/** How a part of the script ended: a step, a hook, a condition. */
interface Part {
  readonly startMs: number
  readonly wallMs: number
  readonly idleMs: number
  readonly value?: unknown
  readonly error?: Error | undefined
  readonly badPage: BadPage | undefined
}

const PENDING = 'a call is still going on; is an await missing?'

/** One pass of a user through the steps of the script. */
class LoopRun {
  /** How often each step was recovered since it last passed. */
  readonly #recovered = new Map<Step, number>()
  /** The browser as the script gets it. */
  readonly #scripted: Browser

  constructor(
    private readonly plan: Plan,
    private readonly given: { readonly browser: Browser; readonly data: Row; readonly isFirst: boolean },
    private readonly ports: UserPorts
  ) {
    this.#scripted = forScript(given.browser)
  }

  async run(): Promise<void> {
    const { schedule } = this.ports
    if (!(await this.#runHooks('beforeAll'))) return
    await this.#runSteps()
    if (!schedule.isStopped) await this.#runHooks('afterAll')
    // An error page that came after the last step would otherwise never be seen.
    if (!schedule.isStopped && this.given.browser.navigations.hasBadPage)
      await this.#runAside('after the last step', () => undefined)
  }

  async #runSteps(): Promise<void> {
    const { steps } = this.plan
    let at = 0
    for (let step = steps[at]; step !== undefined && !this.ports.schedule.isOver; step = steps[at]) {
      const next = await this.#runRepeatedly(step)
      if (next === 'end') return
      at = next === 'first' ? 0 : at + 1
    }
  }

  /** Runs a step as often as it is declared to. */
  async #runRepeatedly(step: Step): Promise<Next> {
    if (step.isSkipped === true || (step.isOnce === true && !this.given.isFirst)) return 'next'
    const isWanted = await this.#ask(step, step.predicate)
    if (isWanted !== true) return isWanted === false ? 'next' : 'end'
    const times = step.repeat ?? (step.loop === undefined ? 1 : Infinity)
    for (let done = 0; done < times && !this.ports.schedule.isOver;) {
      const isWantedAgain = await this.#ask(step, step.loop)
      if (isWantedAgain !== true) return isWantedAgain === false ? 'next' : 'end'
      const next = await this.#runOnce(step)
      if (next === 'first' || next === 'end') return next
      if (next === 'next') done++
    }
    return 'next'
  }

  async #runOnce(step: Step): Promise<Next> {
    if (!(await this.#runHooks('beforeEach'))) return 'end'
    const isPassed = await this.#runStep(step)
    if (isPassed === 'cut' || !(await this.#runHooks('afterEach'))) return 'end'
    const next = await this.#decide(step, isPassed)
    const { stepDelayMs } = readStepSettings(step.options, this.given.browser.settings)
    await this.ports.schedule.rest(stepDelayMs)
    return next
  }

  async #decide(step: Step, isPassed: boolean): Promise<Next> {
    if (isPassed) {
      this.#recovered.delete(step)
      return 'next'
    }
    const recovery = findRecovery(this.plan, step)
    const times = this.#recovered.get(step) ?? 0
    if (recovery === undefined || times >= recovery.tries || this.ports.schedule.isOver) return 'end'
    this.#recovered.set(step, times + 1)
    const recover = (): unknown => recovery.run(this.#scripted, this.given.data)
    const how = await this.#runAside(`${step.name} (recovery)`, recover)
    if (how === undefined) return 'end'
    if (how.value === RecoverWith.CONTINUE) return 'next'
    return how.value === RecoverWith.RESTART ? 'first' : 'again'
  }

  /** The answer of a condition, true if there is none; undefined if it failed. */
  async #ask(step: Step, condition: Condition | undefined): Promise<boolean | undefined> {
    if (condition === undefined) return true
    const answer = await this.#runAside(step.name, () => condition(this.#scripted))
    return answer && Boolean(answer.value)
  }

  /** Whether all of them worked. */
  async #runHooks(hook: Hook): Promise<boolean> {
    const { browser, data } = this.given
    for (const { run, waitTimeout } of this.plan.hooks[hook]) {
      browser.stepSettings = readStepSettings({ waitTimeout }, browser.settings)
      const done = await this.#runAside(hook, () => run(this.#scripted, data))
      browser.stepSettings = browser.settings
      if (done === undefined) return false
    }
    return true
  }

  /** Runs a step once and records it; returns whether it passed. */
  async #runStep(step: Step): Promise<boolean | 'cut'> {
    const { browser, data } = this.given
    const { rows, user } = this.ports
    const { settings } = browser
    browser.stepSettings = readStepSettings(step.options, settings)
    const part = await this.#runPart(step.name, () => step.run(this.#scripted, data))
    browser.stepSettings = settings
    if (part === 'cut') return 'cut'
    const timing = await readPageTiming(browser.page, part.startMs)
    const badPage = part.badPage ?? describeStatus(timing?.status ?? 0, browser.getUrl())
    this.#record(step.name, { ...part, idleMs: settings.countsThinkTime ? 0 : part.idleMs, badPage }, timing)
    if (timing !== undefined)
      for (const [name, elapsedMs] of listTimings(timing))
        rows.addTiming({ name, elapsedMs, startMs: timing.startMs, step: step.name, user })
    return part.error === undefined
  }

  /** Runs what is not a step, such as a hook: it has a row only if it fails, so that the failure is seen. */
  async #runAside(label: string, act: () => unknown): Promise<Part | undefined> {
    const part = await this.#runPart(label, act)
    if (part === 'cut') return undefined
    const { error, badPage } = part
    if (error === undefined && badPage === undefined) return part
    this.#record(label, { ...part, idleMs: 0 })
    if (error === undefined) this.ports.log(`user ${this.ports.user}: ${label}: ${badPage?.failure}`)
    return undefined
  }

  #record(label: string, part: Part, timing?: PageTiming): void {
    const { startMs, wallMs, idleMs, error, badPage } = part
    const { rows, user, log } = this.ports
    rows.addStep({
      ...{ startMs, elapsedMs: Math.max(0, wallMs - idleMs), idleMs, label, user },
      ...{ ...judge(error, badPage, timing?.status), bytes: timing?.bytes ?? 0 },
      ...{ latencyMs: timing?.ttfbMs ?? 0, connectMs: timing?.connectMs ?? 0 },
      url: badPage?.url ?? this.given.browser.getUrl()
    })
    if (error !== undefined) log(`user ${user}: ${label}: ${stackOf(error)}`)
  }

  /** Runs a part of the script to its end, or to that of the run, with its calls to the browser and the pages that it loads. */
  async #runPart(label: string, act: () => unknown): Promise<Part | 'cut'> {
    const { schedule, browser, cut, onCut } = this.ports
    const calls = new Calls()
    const startMs = Date.now()
    const from = performance.now()
    const ended = await Promise.race([settle(() => calls.run(act)), cut])
    const wallMs = performance.now() - from
    // What fails once the browser is gone is not the target's fault.
    const isCut = ended === 'cut' || (ended.error && (schedule.isStopped || !browser.isConnected()))
    if (isCut) onCut(label, wallMs)
    calls.close()
    const isPending = await calls.abandon()
    const badPage = this.given.browser.navigations.takeBadPage()
    if (isCut) return 'cut'
    const unsupported = ended.error && explainMissing(ended.error)
    if (unsupported !== undefined) throw unsupported
    const error = ended.error ?? (isPending ? new Error(PENDING) : undefined)
    return { startMs, wallMs, idleMs: calls.idleMs, badPage, value: ended.value, error }
  }
}

async function settle(act: () => unknown): Promise<{ value?: unknown; error?: Error }> {
  try {
    return { value: await act() }
  } catch (thrown) {
    return { error: toError(thrown) }
  }
}

function describeStatus(status: number, url: string): BadPage | undefined {
  return status >= 400 ? { status, url, failure: `the page responded with ${status}` } : undefined
}

/** A page that responds with an error is a failure, even if the script does not look at it. */
function judge(error: Error | undefined, badPage: BadPage | undefined, status = 0) {
  const badCode = badPage === undefined || badPage.status === 0 ? undefined : String(badPage.status)
  if (error !== undefined)
    return { code: badCode ?? error.name, failure: oneLine(error.message) || error.name }
  if (badPage !== undefined) return { code: badCode ?? 'Error', failure: badPage.failure }
  return { code: String(status || 200), failure: null }
}

const PATIENCE_MS = 2000
/** The clocks of the page and of this process may differ a little. */
const CLOCK_MS = 20

/** The timing of the page that was loaded since then, if one was. */
async function readPageTiming(page: Page, sinceMs: number): Promise<PageTiming | undefined> {
  // A page that is gone or busy has no timing.
  const timing = await answered('page timing', PATIENCE_MS, page.evaluate(readTiming)).catch(() => null)
  return timing !== null && timing.startMs >= sinceMs - CLOCK_MS ? timing : undefined
}

/** The times that the page has. */
function listTimings({ ttfbMs, domReadyMs, loadMs, lcpMs }: PageTiming): [name: string, ms: number][] {
  const times = { ttfb: ttfbMs, 'dom ready': domReadyMs, load: loadMs, lcp: lcpMs }
  return Object.entries(times).filter(([, ms]) => ms > 0)
}
