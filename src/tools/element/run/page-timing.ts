import type { Page } from 'playwright-core'
import { type PageTiming, readTiming } from '../api/page-scripts.js'
import { unanswered, within } from './within.js'

const PATIENCE_MS = 2000
/** The clocks of the page and of this process may differ a little. */
const CLOCK_MS = 20

/** The timing of the page that was loaded since then, if one was. */
export async function readPageTiming(page: Page, sinceMs: number): Promise<PageTiming | undefined> {
  // A page that is gone or busy has no timing to tell.
  const timing = await within(page.evaluate(readTiming), PATIENCE_MS, unanswered('page timing')).catch(
    () => null
  )
  return timing !== null && timing.startMs >= sinceMs - CLOCK_MS ? timing : undefined
}

/** The times that the page has. */
export function* listTimings(timing: PageTiming): Generator<{ name: string; elapsedMs: number }> {
  const times = {
    ttfb: timing.ttfbMs,
    'dom ready': timing.domReadyMs,
    load: timing.loadMs,
    lcp: timing.lcpMs
  }
  for (const [name, elapsedMs] of Object.entries(times)) if (elapsedMs > 0) yield { name, elapsedMs }
}
