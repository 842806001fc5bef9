import { LEAST_STALL_MS } from '../../../src/analysis/results/kernel/assembly/layout.js'

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
  readonly label?: string
}

export interface NaiveScope {
  readonly rows: readonly NaiveRow[]
  /** Undefined if nobody knows. */
  readonly threads: number | undefined
  /** The median of each label. */
  readonly mediansMs: ReadonlyMap<string, number>
  /** Only what comes after it counts. */
  readonly fromMs?: number
  /** Of the scope, if it has one; then those of everything are there, too. */
  readonly label?: string
  readonly around?: readonly NaiveStall[]
}

export interface NaiveOverTime {
  readonly stalls: readonly NaiveStall[]
  readonly silences: readonly { readonly startMs: number; readonly ms: number }[]
  readonly spanMs: number
}

/**
 * The definition, word by word: every span between two consecutive ends, and all samples that were in flight in it. The first start is
 * an end if nothing is answered for a tenth of the run. Two limits are documented: spans
 * below LEAST_STALL_MS are not looked at, nor are samples that were in flight for less than that of a span.
 */
export function naiveOverTime({
  rows,
  threads = Infinity,
  mediansMs,
  fromMs = -Infinity,
  label: own,
  around = []
}: NaiveScope): NaiveOverTime {
  const ends = [...new Set(rows.map(({ endMs }) => endMs))].sort((one, other) => one - other)
  const lastStartMs = Math.max(...rows.map(({ startMs }) => startMs))
  const firstStartMs = Math.min(...rows.map(({ startMs }) => startMs))
  const firstMs = Math.max(fromMs, firstStartMs)
  const spanMs = ends.at(-1)! - firstStartMs
  if (ends[0]! - firstStartMs >= spanMs / 10) ends.unshift(firstStartMs)
  const stalls: NaiveStall[] = []
  const silences: { startMs: number; ms: number }[] = []
  ends.slice(1).forEach((toMs, index) => {
    const lastMs = ends[index]!
    if (toMs - lastMs < LEAST_STALL_MS) return
    const inFlight = rows.filter(({ startMs, endMs }) => endMs >= toMs && startMs <= toMs - LEAST_STALL_MS)
    const silentToMs = Math.min(toMs, ...inFlight.map(({ startMs }) => startMs))
    if (silentToMs - lastMs >= LEAST_STALL_MS) silences.push({ startMs: lastMs, ms: silentToMs - lastMs })
    const waitingFor = (ms: number) => inFlight.filter((row) => isWaiting(row, ms, mediansMs))
    const threadsSince = (atMs: number) =>
      countThreads(waitingFor(toMs - atMs).filter(({ startMs }) => startMs <= atMs))
    // In between, no sample starts.
    const beginsMs = [lastMs, ...inFlight.map(({ startMs }) => startMs).filter((ms) => ms > lastMs)].sort()
    const beginMs = beginsMs.find((ms) => threadsSince(ms) >= 2) ?? toMs
    const waiting = countThreads(waitingFor(toMs - beginMs))
    const together = waitingFor(toMs - beginMs).filter(
      ({ endMs }) => endMs <= toMs + Math.max(100, (toMs - beginMs) / 10)
    )
    if (countThreads(together) < Math.max(2, Math.min(5, waiting / 2))) return
    const untilMs = waiting * 2 >= threads ? toMs : Math.min(toMs, lastStartMs)
    if (untilMs - beginMs >= LEAST_STALL_MS)
      stalls.push({ startMs: beginMs, ms: untilMs - beginMs, waiting, ...(own && { label: own }) })
  })
  const shared = around.flatMap((stall) => shareStall(stall, rows, mediansMs))
  return {
    stalls: longerOnes([...stalls.flatMap((stall) => clip(stall, firstMs)), ...shared]),
    silences: silences
      .flatMap((silence) => clip(silence, firstMs))
      .sort((one, other) => other.ms - one.ms)
      .slice(0, 2),
    spanMs: Math.max(0, Math.max(...rows.map(({ endMs }) => endMs)) - firstMs)
  }
}

/** A long poll waits by nature, and whoever is answered as soon as usual has not waited. */
function isWaiting({ label, startMs, endMs }: NaiveRow, ms: number, mediansMs: NaiveScope['mediansMs']) {
  return Math.min(ms, endMs - startMs) >= 2 * (mediansMs.get(label) ?? NaN)
}

/** One request of the label in flight is enough where nothing at all was answered. */
function shareStall(
  stall: NaiveStall,
  rows: readonly NaiveRow[],
  mediansMs: NaiveScope['mediansMs']
): NaiveStall[] {
  const toMs = stall.startMs + stall.ms
  const startsMs = rows
    .filter((row) => row.endMs >= toMs && row.startMs <= toMs - LEAST_STALL_MS)
    .filter((row) => isWaiting(row, toMs - Math.max(stall.startMs, row.startMs), mediansMs))
    .map(({ startMs }) => Math.max(stall.startMs, startMs))
  const startMs = Math.min(toMs, ...startsMs)
  return toMs - startMs >= LEAST_STALL_MS ? [{ ...stall, startMs, ms: toMs - startMs }] : []
}

function longerOnes(stalls: NaiveStall[]): NaiveStall[] {
  return stalls
    .filter((one) => !stalls.some((other) => overlaps(one, other) && isLonger(other, one, stalls)))
    .sort((one, other) => one.startMs - other.startMs)
}

function overlaps(one: NaiveStall, other: NaiveStall): boolean {
  return one !== other && one.startMs < other.startMs + other.ms && other.startMs < one.startMs + one.ms
}

function isLonger(one: NaiveStall, other: NaiveStall, stalls: readonly NaiveStall[]): boolean {
  return one.ms > other.ms || (one.ms === other.ms && stalls.indexOf(one) < stalls.indexOf(other))
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
