import type { Page } from 'playwright-core'
import { READ_TIMING } from '../api/page-scripts.js'
import { unanswered, within } from './within.js'

/** What a document says about its own loading, in ms since its navigation started; 0 is unknown. */
export interface PageTiming {
  readonly startMs: number
  readonly status: number
  readonly bytes: number
  readonly connectMs: number
  readonly ttfbMs: number
  readonly domReadyMs: number
  readonly loadMs: number
  readonly lcpMs: number
}

const PATIENCE_MS = 2000
/** The clocks of the page and of this process may differ a little. */
const CLOCK_MS = 20

/** The timing of the page that was loaded since then, if one was. */
export async function readPageTiming(page: Page, sinceMs: number): Promise<PageTiming | undefined> {
  // A page that is gone or busy has no timing to tell.
  const timing = await within(
    page.evaluate<PageTiming | null>(READ_TIMING),
    PATIENCE_MS,
    unanswered('page timing')
  ).catch(() => null)
  return timing !== null && timing.startMs >= sinceMs - CLOCK_MS ? timing : undefined
}

/** The page's times as labels of their own. */
export function* listTimings(
  step: string,
  timing: PageTiming
): Generator<{ label: string; elapsedMs: number }> {
  const times = {
    ttfb: timing.ttfbMs,
    'dom ready': timing.domReadyMs,
    load: timing.loadMs,
    lcp: timing.lcpMs
  }
  for (const [name, elapsedMs] of Object.entries(times))
    if (elapsedMs > 0) yield { label: `${step} [${name}]`, elapsedMs }
}
