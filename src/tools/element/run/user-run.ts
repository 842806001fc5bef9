import type { Browser as PageBrowser, BrowserContext, BrowserContextOptions } from 'playwright-core'
import { Browser } from '../api/browser.js'
import { findDevice } from '../api/constants.js'
import type { Settings } from '../api/settings.js'
import type { StepPorts } from './attempt.js'
import type { Library } from './launch.js'
import { LoopRun } from './loop-run.js'
import type { Script } from './script.js'
import { unanswered, within } from './within.js'

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
  const { viewport: screen = VIEWPORT, ...emulated } =
    device === undefined || DESKTOP.test(device) ? {} : findDevice(devices, device)
  return {
    ...pickContextOptions(emulated),
    viewport: viewport === undefined ? screen : viewport,
    ignoreHTTPSErrors,
    ...(userAgent === undefined ? {} : { userAgent }),
    ...(extraHTTPHeaders === undefined ? {} : { extraHTTPHeaders: { ...extraHTTPHeaders } })
  }
}

/** A device's description also names a kind of browser, which is not an option of a context. */
function pickContextOptions(device: BrowserContextOptions): BrowserContextOptions {
  const { userAgent, deviceScaleFactor, isMobile, hasTouch } = device
  return Object.fromEntries(
    Object.entries({ userAgent, deviceScaleFactor, isMobile, hasTouch }).filter(
      ([, value]) => value !== undefined
    )
  )
}

async function close(context: BrowserContext): Promise<void> {
  await within(context.close(), CLOSE_MS, unanswered('closing a context')).catch(() => undefined)
}
