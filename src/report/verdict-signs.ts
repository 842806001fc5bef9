import { REHEARSAL } from './outcome.js'
import type { Verdict } from './outcome.js'

/** How each verdict is shown; the sign never stands without the word. */
export const VERDICT_SIGNS: Readonly<Record<Verdict, string>> = {
  passed: '✅',
  failed: '❌',
  inconclusive: '⚠️',
  'timed-out': '⏱️',
  error: '💥',
  cancelled: '🚫',
  skipped: '⏭️',
  detached: '📤'
}

/** Behind the heading of everything that shows numbers. */
export function rehearsalMark(rehearsal: boolean): string {
  return rehearsal ? ` (${REHEARSAL})` : ''
}
