import { LEAST_STALL_MS } from '../../../src/results/kernel/assembly/layout.js'

/** A row of a scope, and whose it is. */
export interface NaiveRow {
  readonly startMs: number
  readonly endMs: number
  readonly label: string
  /** Different for threads of different CSVs and nodes. */
  readonly thread: string
}

export interface NaiveStall {
  readonly startMs: number
  readonly ms: number
  readonly waiting: number
}

export interface NaiveScope {
  readonly rows: readonly NaiveRow[]
  /** Undefined if nobody knows. */
  readonly threads: number | undefined
  /** The median of each label. */
  readonly mediansMs: ReadonlyMap<string, number>
  /** Only what comes after it counts. */
  readonly fromMs?: number
}

export interface NaiveOverTime {
  readonly stalls: readonly NaiveStall[]
  readonly silences: readonly { readonly startMs: number; readonly ms: number }[]
  readonly spanMs: number
}

/**
 * The definition, word by word: every span between two consecutive ends, and all samples that were in flight in it. Two limits are documented: spans
 * below LEAST_STALL_MS are not looked at, nor are samples that were in flight for less than that of a span.
 */
export function naiveOverTime({
  rows,
  threads = Infinity,
  mediansMs,
  fromMs = -Infinity
}: NaiveScope): NaiveOverTime {
  const ends = [...new Set(rows.map(({ endMs }) => endMs))].sort((one, other) => one - other)
  const lastStartMs = Math.max(...rows.map(({ startMs }) => startMs))
  const firstMs = Math.max(fromMs, Math.min(...rows.map(({ startMs }) => startMs)))
  const stalls: NaiveStall[] = []
  const silences: { startMs: number; ms: number }[] = []
  ends.slice(1).forEach((toMs, index) => {
    const lastMs = ends[index]!
    if (toMs - lastMs < LEAST_STALL_MS) return
    const inFlight = rows.filter(({ startMs, endMs }) => endMs >= toMs && startMs <= toMs - LEAST_STALL_MS)
    const silentToMs = Math.min(toMs, ...inFlight.map(({ startMs }) => startMs))
    if (silentToMs - lastMs >= LEAST_STALL_MS) silences.push({ startMs: lastMs, ms: silentToMs - lastMs })
    // A long poll waits by nature, and whoever is answered as soon as usual has not waited.
    const waitingFor = (ms: number) =>
      inFlight.filter(
        ({ label, startMs, endMs }) => Math.min(ms, endMs - startMs) >= 2 * (mediansMs.get(label) ?? NaN)
      )
    const threadsSince = (atMs: number) =>
      countThreads(waitingFor(toMs - atMs).filter(({ startMs }) => startMs <= atMs))
    // In between, no sample starts.
    const beginsMs = [lastMs, ...inFlight.map(({ startMs }) => startMs).filter((ms) => ms > lastMs)].sort()
    const beginMs = beginsMs.find((ms) => threadsSince(ms) >= 2) ?? toMs
    const waiting = countThreads(waitingFor(toMs - beginMs))
    const untilMs = waiting * 2 >= threads ? toMs : Math.min(toMs, lastStartMs)
    if (untilMs - beginMs >= LEAST_STALL_MS) stalls.push({ startMs: beginMs, ms: untilMs - beginMs, waiting })
  })
  return {
    stalls: stalls.flatMap((stall) => clip(stall, firstMs)),
    silences: silences
      .flatMap((silence) => clip(silence, firstMs))
      .sort((one, other) => other.ms - one.ms)
      .slice(0, 2),
    spanMs: Math.max(0, Math.max(...rows.map(({ endMs }) => endMs)) - firstMs)
  }
}

function countThreads(rows: readonly NaiveRow[]): number {
  return new Set(rows.map(({ thread }) => thread)).size
}

function clip<Span extends { startMs: number; ms: number }>(span: Span, fromMs: number): Span[] {
  const startMs = Math.max(fromMs, span.startMs)
  const ms = span.startMs + span.ms - startMs
  return ms > 0 ? [{ ...span, startMs, ms }] : []
}

/** The smallest wait that at most so many of all moments exceed, in whole ms and rounded down, by trying. */
export function naivePercentileMs({ stalls, spanMs }: NaiveOverTime, percent: number): number {
  // In thousandths, because those of a percentile are whole numbers.
  const allowed = spanMs * (1000 - Math.round(percent * 10))
  const above = (waitMs: number) => 1000 * stalls.reduce((sum, { ms }) => sum + Math.max(0, ms - waitMs), 0)
  if (above(0) <= allowed) return 0
  let [leastMs, mostMs] = [0, Math.max(...stalls.map(({ ms }) => ms))]
  while (leastMs < mostMs) {
    const middleMs = Math.ceil((leastMs + mostMs) / 2)
    if (above(middleMs) >= allowed) leastMs = middleMs
    else mostMs = middleMs - 1
  }
  return leastMs
}
