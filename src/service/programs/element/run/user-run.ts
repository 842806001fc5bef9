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
import { type StepPorts, unanswered, within, attempt, type Attempt, stackOf } from './attempt.js'
import type { Library } from './launch.js'
import type { Script } from './script.js'
import { oneLine } from './rows.js'

export interface UserPorts extends StepPorts {
  readonly library: Library
  readonly browser: PageBrowser
  readonly folder: string
  readonly warn: (words: string) => void
}

const OPEN_MS = 30_000
const CLOSE_MS = 5000
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
  given: { context: BrowserContext; data: unknown; isFirst: boolean },
  ports: UserPorts
): Promise<void> {
  const { context, data, isFirst } = given
  const { folder, library, schedule, warn } = ports
  const page = await within(context.newPage(), OPEN_MS, unanswered('opening a page'))
  const browser = new Browser(
    { context, settings, folder, devices: library.devices, rest: schedule.rest, warn },
    page
  )
  if (settings.disableCache) await browser.setCacheDisabled(true)
  await new LoopRun(plan, { browser, data, isFirst }, ports).run()
  browser.dispose()
  // Those of a stopped run are closed with the browser.
  if (schedule.isStopped) return
  for (const open of context.pages())
    await within(open.close(), CLOSE_MS, unanswered('closing a page')).catch(() => undefined)
}

function openContext(settings: Settings, { browser, library }: UserPorts): Promise<BrowserContext> {
  return within(
    browser.newContext(describeContext(settings, library)),
    OPEN_MS,
    unanswered('opening a context')
  )
}

function describeContext(settings: Settings, { devices }: Library): BrowserContextOptions {
  const { device, viewport, userAgent, extraHTTPHeaders, ignoreHTTPSErrors } = settings
  const emulated =
    device === undefined || DESKTOP.test(device) ? { viewport: VIEWPORT } : findDevice(devices, device)
  return {
    ...emulated,
    ...(viewport === undefined ? {} : { viewport }),
    ignoreHTTPSErrors,
    ...(userAgent === undefined ? {} : { userAgent }),
    ...(extraHTTPHeaders === undefined ? {} : { extraHTTPHeaders: { ...extraHTTPHeaders } })
  }
}

async function close(context: BrowserContext): Promise<void> {
  await within(context.close(), CLOSE_MS, unanswered('closing a context')).catch(() => undefined)
}

/** What comes after a step: the next one, the same again, the first one, or nothing in this loop. */
type Next = 'next' | 'again' | 'first' | 'end'

/** One pass of a user through the steps of the script. */
class LoopRun {
  /** How often each step was recovered from since it last passed. */
  readonly #recovered = new Map<Step, number>()

  /** The browser as the script gets it. */
  readonly #scripted: Browser

  constructor(
    private readonly plan: Plan,
    private readonly given: { readonly browser: Browser; readonly data: Row; readonly isFirst: boolean },
    private readonly ports: StepPorts
  ) {
    this.#scripted = forScript(given.browser)
  }

  async run(): Promise<void> {
    if (!(await this.#runHooks('beforeAll'))) return
    await this.#runSteps()
    if (!this.ports.schedule.isStopped) await this.#runHooks('afterAll')
    // An error page that came after the last step would otherwise never be seen.
    if (!this.ports.schedule.isStopped && this.given.browser.navigations.hasBadPage)
      await this.#aside('after the last step', () => undefined)
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
    if (step.predicate !== undefined) {
      const isWanted = await this.#ask(step, step.predicate)
      if (isWanted !== true) return isWanted === false ? 'next' : 'end'
    }
    const times = step.repeat ?? (step.loop === undefined ? 1 : Infinity)
    for (let done = 0; done < times && !this.ports.schedule.isOver;) {
      const isWanted = step.loop === undefined ? true : await this.#ask(step, step.loop)
      if (isWanted !== true) return isWanted === false ? 'next' : 'end'
      const next = await this.#runOnce(step)
      if (next === 'first' || next === 'end') return next
      if (next === 'next') done++
    }
    return 'next'
  }

  async #runOnce(step: Step): Promise<Next> {
    if (!(await this.#runHooks('beforeEach'))) return 'end'
    const outcome = await runStep(step, { ...this.given, scripted: this.#scripted }, this.ports)
    if (outcome === 'cut' || !(await this.#runHooks('afterEach'))) return 'end'
    const next = await this.#decide(step, outcome)
    const { stepDelayMs } = readStepSettings(step.options, this.given.browser.settings)
    await this.ports.schedule.rest(stepDelayMs)
    return next
  }

  async #decide(step: Step, outcome: StepOutcome): Promise<Next> {
    if (outcome === 'passed') {
      this.#recovered.delete(step)
      return 'next'
    }
    const recovery = findRecovery(this.plan, step)
    const times = this.#recovered.get(step) ?? 0
    if (recovery === undefined || times >= recovery.tries || this.ports.schedule.isOver) return 'end'
    this.#recovered.set(step, times + 1)
    const { data } = this.given
    const how = await this.#aside(`${step.name} (recovery)`, () => recovery.run(this.#scripted, data))
    if (how === undefined) return 'end'
    if (how.value === RecoverWith.CONTINUE) return 'next'
    return how.value === RecoverWith.RESTART ? 'first' : 'again'
  }

  /** The answer of a condition; undefined if it failed. */
  async #ask(step: Step, condition: Condition): Promise<boolean | undefined> {
    const answer = await this.#aside(step.name, () => condition(this.#scripted))
    return answer && Boolean(answer.value)
  }

  /** Whether all of them worked. */
  async #runHooks(hook: Hook): Promise<boolean> {
    const { browser, data } = this.given
    for (const { run, waitTimeout } of this.plan.hooks[hook]) {
      browser.stepSettings = readStepSettings({ waitTimeout }, browser.settings)
      const done = await this.#aside(hook, () => run(this.#scripted, data))
      browser.stepSettings = browser.settings
      if (done === undefined) return false
    }
    return true
  }

  #aside(label: string, act: () => unknown): Promise<{ value: unknown } | undefined> {
    return runAside(label, act, { browser: this.given.browser, ports: this.ports })
  }
}

export type StepOutcome = 'passed' | 'failed' | 'cut'

const PENDING = 'a call is still going on; is an await missing?'

/** Runs a step once and records it. */
async function runStep(
  step: Step,
  { browser, scripted, data }: { browser: Browser; scripted: Browser; data: Row },
  ports: StepPorts
): Promise<StepOutcome> {
  const { settings } = browser
  browser.stepSettings = readStepSettings(step.options, settings)
  const tried = await runPart(step.name, () => step.run(scripted, data), { browser, ports })
  const idleMs = settings.countsThinkTime ? 0 : tried.idleMs
  browser.stepSettings = settings
  if (tried.kind === 'cut') return 'cut'
  const error = tried.kind === 'failed' ? tried.error : undefined
  const timing = await readPageTiming(browser.page, tried.startMs)
  const badPage = tried.badPage ?? describeStatus(timing?.status ?? 0, browser.getUrl())
  ports.rows.addStep({
    ...{ startMs: tried.startMs, elapsedMs: Math.max(0, tried.wallMs - idleMs), idleMs, label: step.name },
    ...{ user: ports.user, ...judge(error, badPage, timing?.status), bytes: timing?.bytes ?? 0 },
    ...{ latencyMs: timing?.ttfbMs ?? 0, connectMs: timing?.connectMs ?? 0 },
    url: badPage?.url ?? browser.getUrl()
  })
  if (timing !== undefined)
    for (const time of listTimings(timing))
      ports.rows.addTiming({ ...time, startMs: timing.startMs, step: step.name, user: ports.user })
  if (error === undefined) return 'passed'
  ports.log(`user ${ports.user}: ${step.name}: ${stackOf(error)}`)
  return 'failed'
}

/** Runs what is not a step, such as a hook: it has a row only if it fails, so that the failure is seen. */
async function runAside(
  label: string,
  act: () => unknown,
  { browser, ports }: { browser: Browser; ports: StepPorts }
): Promise<{ value: unknown } | undefined> {
  const tried = await runPart(label, act, { browser, ports })
  if (tried.kind === 'cut') return undefined
  const { badPage } = tried
  if (tried.kind === 'done' && badPage === undefined) return { value: tried.value }
  const error = tried.kind === 'failed' ? tried.error : undefined
  ports.rows.addStep({
    ...{ startMs: tried.startMs, elapsedMs: tried.wallMs, idleMs: 0, label, user: ports.user },
    ...{ ...judge(error, badPage), bytes: 0, latencyMs: 0, connectMs: 0 },
    url: badPage?.url ?? browser.getUrl()
  })
  ports.log(`user ${ports.user}: ${label}: ${error === undefined ? badPage?.failure : stackOf(error)}`)
  return undefined
}

type Part = Attempt & { readonly idleMs: number; readonly badPage: BadPage | undefined }

/** Runs a part of the script, with its calls to the browser and the pages that it loads. */
async function runPart(
  label: string,
  act: () => unknown,
  { browser, ports }: { browser: Browser; ports: StepPorts }
): Promise<Part> {
  const calls = new Calls()
  const tried = await attempt(label, () => calls.run(act), ports)
  calls.close()
  const isPending = await calls.abandon()
  const seen = { idleMs: calls.idleMs, badPage: browser.navigations.takeBadPage() }
  const unsupported = tried.kind === 'failed' ? explainMissing(tried.error) : undefined
  if (unsupported !== undefined) throw unsupported
  if (tried.kind !== 'done' || !isPending) return { ...tried, ...seen }
  const { startMs, wallMs } = tried
  return { startMs, wallMs, kind: 'failed', error: new Error(PENDING), ...seen }
}

function describeStatus(status: number, url: string): BadPage | undefined {
  return status >= 400 ? { status, url, failure: `the page responded with ${status}` } : undefined
}

/** A page that responds with an error is a failure, even if the script does not look at it. */
function judge(
  error: Error | undefined,
  badPage: BadPage | undefined,
  status = 0
): { code: string; failure: string | null } {
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
  // A page that is gone or busy has no timing to tell.
  const timing = await within(page.evaluate(readTiming), PATIENCE_MS, unanswered('page timing')).catch(
    () => null
  )
  return timing !== null && timing.startMs >= sinceMs - CLOCK_MS ? timing : undefined
}

/** The times that the page has. */
function* listTimings(timing: PageTiming): Generator<{ name: string; elapsedMs: number }> {
  const times = {
    ttfb: timing.ttfbMs,
    'dom ready': timing.domReadyMs,
    load: timing.loadMs,
    lcp: timing.lcpMs
  }
  for (const [name, elapsedMs] of Object.entries(times)) if (elapsedMs > 0) yield { name, elapsedMs }
}
