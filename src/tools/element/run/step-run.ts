import type { Browser } from '../api/browser.js'
import { Calls } from '../api/calls.js'
import type { BadPage } from '../api/navigations.js'
import type { Row, Step } from '../api/plan.js'
import { readStepSettings } from '../api/settings.js'
import { explainMissing } from '../api/unsupported.js'
import { attempt, type Attempt, stackOf, type StepPorts } from './attempt.js'
import { listTimings, readPageTiming } from './page-timing.js'
import { oneLine } from './rows.js'

export type StepOutcome = 'passed' | 'failed' | 'cut'

const PENDING = 'a call is still going on; is an await missing?'

/** Runs a step once and records it. */
export async function runStep(
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
export async function runAside(
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
