import { REHEARSAL } from './outcome.js'
import type { Verdict } from './outcome.js'

/** The sign of each verdict; it never appears without the word. */
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

/** Appended to the heading of everything that shows numbers. */
export function rehearsalMark(rehearsal: boolean): string {
  return rehearsal ? ` (${REHEARSAL})` : ''
}
