import type { Browser } from '../api/browser.js'
import type { PageTiming } from '../api/page-scripts.js'
import type { Row, Step } from '../api/plan.js'
import { readStepSettings } from '../api/settings.js'
import { attempt, stackOf, type StepPorts } from './attempt.js'
import { listTimings, readPageTiming } from './page-timing.js'
import { oneLine } from './rows.js'

export type StepOutcome = 'passed' | 'failed' | 'cut'

/** Runs a step once and records it. */
export async function runStep(
  step: Step,
  { browser, data }: { browser: Browser; data: Row },
  ports: StepPorts
): Promise<StepOutcome> {
  const { settings } = browser
  browser.thinkMs = 0
  browser.stepSettings = readStepSettings(step.options, settings)
  const tried = await attempt(step.name, () => step.run(browser, data), ports)
  const idleMs = settings.countsThinkTime ? 0 : browser.thinkMs
  browser.stepSettings = settings
  if (tried.kind === 'cut') return 'cut'
  const error = tried.kind === 'failed' ? tried.error : undefined
  const timing = await readPageTiming(browser.page, tried.startMs)
  ports.rows.addStep({
    ...{ startMs: tried.startMs, elapsedMs: Math.max(0, tried.wallMs - idleMs), idleMs, label: step.name },
    ...{ user: ports.user, ...judge(error, timing), bytes: timing?.bytes ?? 0, url: browser.getUrl() },
    ...{ latencyMs: timing?.ttfbMs ?? 0, connectMs: timing?.connectMs ?? 0 }
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
  const tried = await attempt(label, act, ports)
  if (tried.kind === 'done') return { value: tried.value }
  if (tried.kind === 'failed') {
    ports.rows.addStep({
      ...{ startMs: tried.startMs, elapsedMs: tried.wallMs, idleMs: 0, label, user: ports.user },
      ...{ ...judge(tried.error, undefined), bytes: 0, url: browser.getUrl(), latencyMs: 0, connectMs: 0 }
    })
    ports.log(`user ${ports.user}: ${label}: ${stackOf(tried.error)}`)
  }
  return undefined
}

/** A page that responds with an error is a failure, even if the script does not look at it. */
function judge(
  error: Error | undefined,
  timing: PageTiming | undefined
): { code: string; failure: string | null } {
  const status = timing?.status ?? 0
  if (error !== undefined)
    return {
      code: status >= 400 ? String(status) : error.name,
      failure: oneLine(error.message) || error.name
    }
  if (status >= 400) return { code: String(status), failure: `the page responded with ${status}` }
  return { code: String(status || 200), failure: null }
}
