import { wholeOf } from '../../evidence/reached-load.js'
import type { Collection } from '../collect/collect.js'
import { mostThreads } from '../../evidence/reached-load.js'

/** The two segments of a pair cover the same time, up to this share of it. */
const LARGEST_DIFFERENCE = 0.2

/** Why the two segments of a pair do not cover the same time. Slow requests end after the duration, which is no difference. */
export function describeUnequalSpans(
  base: Collection,
  head: Collection,
  durationSeconds: number
): string | undefined {
  const thinkMs = Math.max(thinkTimeMs(base), thinkTimeMs(head))
  for (const [gridId, wholeMs] of base.spansMs) {
    const spans = [wholeMs, head.spansMs.get(gridId) ?? wholeMs]
    const [shorterMs = 0, longerMs = 0] = spans
      .map((ms) => Math.min(ms, durationSeconds * 1000))
      .sort((one, other) => one - other)
    const pausesMs = [base, head].map(({ pausesMs }) => pausesMs?.get(gridId) ?? 0)
    const allowedMs = Math.max(LARGEST_DIFFERENCE * longerMs, 2 * Math.max(thinkMs, ...pausesMs))
    if (longerMs - shorterMs > allowedMs) {
      const [baseSpan = '', headSpan = ''] = spans.map(seconds)
      return `the samples of grid ${gridId} span ${baseSpan} of the base and ${headSpan} of the head`
    }
  }
  return undefined
}

/** How long a user waits between two requests on average; a plan may wait that long before its first one, and at the end. */
function thinkTimeMs(collection: Collection): number {
  const { samples = 0, meanMs = 0 } = wholeOf(collection)?.figures({}) ?? {}
  const users = mostThreads(collection) ?? 0
  const spanMs = Math.max(0, ...collection.spansMs.values())
  if (samples === 0 || users === 0) return 0
  // Between the starts of a user's first and last request; with one request for each user, at least half of the time.
  const periods = Math.max(0.5, samples / users - 1)
  return Math.max(0, (spanMs - meanMs) / periods - meanMs)
}

function seconds(ms: number): string {
  return `${Number((ms / 1000).toFixed(1))} s`
}
