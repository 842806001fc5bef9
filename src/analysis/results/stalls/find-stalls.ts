/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index into a typed array is in range by construction */
import { eachGap, EndTimes, findFirst } from './end-times.js'
import { firstAbove } from '../typed-arrays.js'
import type { StallScan } from './stall-tracker.js'

/** A time in which users waited and nothing was answered. */
export interface Stall {
  /** Epoch ms. */
  readonly startMs: number
  readonly ms: number
  /** How many threads waited, in all. */
  readonly waiting: number
  /** The label whose requests waited, where others may have been answered. */
  readonly label?: string
}

/** A time in which nothing was answered because nothing was asked. */
export interface Silence {
  readonly startMs: number
  readonly ms: number
}

/** The rows of a scope in one CSV, or in one stretch of it. */
export interface ScopeRows {
  readonly scan: StallScan
  readonly labels: readonly string[]
  /** The CSV that it belongs to: threads of two CSVs are different ones. */
  readonly source: number
}

interface StallOptions {
  readonly threads: number | undefined
  readonly medianMsOf: (label: string) => number | undefined
  readonly fromMs: number
  readonly label?: string | undefined
  /** Stalls of everything, in order of time: in them, one thread of the scope is enough. */
  readonly around?: readonly Stall[]
}

/** A request waits by nature as long as its label usually does. */
const LEAST_MEDIANS = 2
/** Whoever waited for the same thing is answered within so much of the stall after its end, or within so many ms. */
const TOGETHER_SHARE = 0.1
const TOGETHER_MS = 100
/** Half of them, or this many: a server that comes back may take its time. */
const MOST_TOGETHER = 5
/** The time before the first answer counts from this share of the run on: most tools and servers are slow at first. */
const LEAST_FIRST_SHARE = 0.1
/** How many of the requests in flight are considered, the earliest first; with more of them a stall can only appear shorter. */
const MOST_CONSIDERED = 512
/** Threads are 32 bits. */
const MOST_THREADS = 2 ** 32
/** Among which the two longest silences are. */
const LONGEST_GAPS = 32

interface Waiting {
  readonly startMs: number
  readonly endMs: number
  readonly thread: number
  /** It does so in a stall that is at least as long. */
  readonly fromStallMs: number
}

/** Two consecutive ends. */
interface Gap {
  readonly fromMs: number
  readonly toMs: number
}

/**
 * A stall is a span between two consecutive ends, as far as samples of at least two threads were in flight all along, which are then
 * answered together; after the last start, of at least half of all threads: otherwise every ramp-down would look like one.
 */
export function findStalls(rows: readonly ScopeRows[], options: StallOptions) {
  const leastMs = Math.max(0, ...rows.map(({ scan }) => scan.leastMs))
  const lastStartMs = Math.max(-Infinity, ...rows.map(({ scan }) => scan.lastStartMs))
  const { threads = Infinity } = options
  const gaps = listGaps(rows, leastMs)
  if (gaps.length === 0) return { stalls: [], silences: [] }
  const around = options.around ?? []
  const endsMs = [...gaps.map(({ toMs }) => toMs), ...around.map(({ startMs, ms }) => startMs + ms)]
  const waiting = listWaiting(rows, options.medianMsOf, leastMs, Float64Array.from(endsMs).sort())
  const inFlight = followFlight(waiting, leastMs)
  const own = gaps.flatMap((gap) => {
    const stall = measureStall(gap, inFlight(gap.toMs), lastStartMs, threads)
    return stall !== undefined && stall.ms >= leastMs
      ? clip({ ...stall, ...(options.label !== undefined && { label: options.label }) }, options.fromMs)
      : []
  })
  const shared = shareStalls(around, followFlight(waiting, leastMs), leastMs)
  return {
    stalls: joinStalls([...own, ...shared]),
    silences: findSilences(gaps, rows, options.fromMs, leastMs)
  }
}

function listGaps(rows: readonly ScopeRows[], leastMs: number): Gap[] {
  const gaps: Gap[] = []
  const ends = joinEnds(rows)
  const firstStartMs = Math.min(Infinity, ...rows.map(({ scan }) => scan.firstStartMs))
  const lastEndMs = Math.max(-Infinity, ...rows.map(({ scan }) => scan.lastEndMs))
  const firstEndMs = findFirst(ends)
  if (firstEndMs - firstStartMs >= Math.max(leastMs, LEAST_FIRST_SHARE * (lastEndMs - firstStartMs)))
    gaps.push({ fromMs: firstStartMs, toMs: firstEndMs })
  eachGap(ends, leastMs, (fromMs, toMs) => gaps.push({ fromMs, toMs }))
  return gaps
}

function joinEnds(rows: readonly ScopeRows[]): StallScan['ends'] {
  const [first, ...others] = rows
  if (first !== undefined && others.length === 0) return first.scan.ends
  const ends = new EndTimes()
  for (const { scan } of rows) ends.absorb(scan.ends)
  return ends.toScan()
}

/** Most rows are left out: they were not in flight at any of the ends, or take as long as their label usually does. */
function listWaiting(
  rows: readonly ScopeRows[],
  medianMsOf: StallOptions['medianMsOf'],
  leastMs: number,
  endsMs: Float64Array
): Waiting[] {
  const known = new Map<string, number>()
  const leastStallMs = (label: string): number => {
    const ms = known.get(label) ?? LEAST_MEDIANS * (medianMsOf(label) ?? 0)
    known.set(label, ms)
    return ms
  }
  const waiting: Waiting[] = []
  for (const { scan, labels, source } of rows) {
    const { startMs, endMs, thread, label } = scan.long
    for (let i = 0; i < startMs.length; i++) {
      if (!hasWithin(endsMs, startMs[i]! + leastMs, endMs[i]!)) continue
      const fromStallMs = leastStallMs(labels[label[i]!] ?? '')
      if (endMs[i]! - startMs[i]! < fromStallMs) continue
      waiting.push({
        startMs: startMs[i]!,
        endMs: endMs[i]!,
        // Where the thread is unknown, each row is another one's.
        thread: thread[i] === 0 ? -1 - waiting.length : source * MOST_THREADS + thread[i]!,
        fromStallMs
      })
    }
  }
  return waiting.sort((one, other) => one.startMs - other.startMs)
}

/** Whether an ascending list has a number from one to another. */
function hasWithin(list: Float64Array, from: number, to: number): boolean {
  const last = firstAbove(list, 0, list.length, to) - 1
  return last >= 0 && list[last]! >= from
}

type InFlight = (toMs: number) => readonly Waiting[]

/**
 * What is in flight at one time after the other; `rows` and the result by their starts. Of rows that start shortly before only some
 * were kept, so none of them counts.
 */
function followFlight(rows: readonly Waiting[], leastMs: number): InFlight {
  let next = 0
  let open: Waiting[] = []
  return (toMs) => {
    while (next < rows.length && rows[next]!.startMs <= toMs - leastMs) open.push(rows[next++]!)
    open = open.filter(({ endMs }) => endMs >= toMs)
    return open
  }
}

/** Nothing ends within a gap, so what is in flight only becomes more: the stall begins with the second thread. */
function measureStall(
  { fromMs, toMs }: Gap,
  waiting: readonly Waiting[],
  lastStartMs: number,
  threads: number
): Stall | undefined {
  for (const { startMs } of waiting.slice(0, MOST_CONSIDERED)) {
    const beginMs = Math.max(fromMs, startMs)
    const ms = toMs - beginMs
    const isWaiting = (row: Waiting): boolean => row.startMs <= beginMs && ms >= row.fromStallMs
    const first = waiting.find(isWaiting)
    if (!waiting.some((row) => isWaiting(row) && row.thread !== first?.thread)) continue
    const all = waiting.filter((row) => ms >= row.fromStallMs)
    const inAll = countThreads(all)
    const togetherMs = toMs + Math.max(TOGETHER_MS, TOGETHER_SHARE * ms)
    const together = countThreads(all.filter(({ endMs }) => endMs <= togetherMs))
    if (together < Math.max(2, Math.min(inAll / 2, MOST_TOGETHER))) return undefined
    if (lastStartMs >= toMs || inAll * 2 >= threads) return { startMs: beginMs, ms, waiting: inAll }
    // After that, whoever is left waits for the last answers.
    const untilMs = Math.min(toMs, lastStartMs)
    return untilMs > beginMs ? { startMs: beginMs, ms: untilMs - beginMs, waiting: inAll } : undefined
  }
  return undefined
}

/** Nothing at all was answered while a request of the scope was in flight: whoever came then with such a request waited, too. */
function shareStalls(around: readonly Stall[], inFlight: InFlight, leastMs: number): Stall[] {
  return around.flatMap((stall) => {
    const toMs = stall.startMs + stall.ms
    const first = inFlight(toMs).find((row) => toMs - Math.max(stall.startMs, row.startMs) >= row.fromStallMs)
    if (first === undefined) return []
    const startMs = Math.max(stall.startMs, first.startMs)
    return toMs - startMs >= leastMs ? [{ ...stall, startMs, ms: toMs - startMs }] : []
  })
}

function joinStalls(stalls: Stall[]): Stall[] {
  const joined: Stall[] = []
  for (const stall of stalls.sort((one, other) => one.startMs - other.startMs)) {
    const last = joined.at(-1)
    if (last === undefined || stall.startMs >= last.startMs + last.ms) joined.push(stall)
    else if (stall.ms > last.ms) joined[joined.length - 1] = stall
  }
  return joined
}

function countThreads(rows: readonly Waiting[]): number {
  return new Set(rows.map(({ thread }) => thread)).size
}

/** A gap until the first request that is in flight at its end. */
function findSilences(
  gaps: readonly Gap[],
  rows: readonly ScopeRows[],
  fromMs: number,
  leastMs: number
): Silence[] {
  return gaps
    .flatMap((gap) => clip({ startMs: gap.fromMs, ms: gap.toMs - gap.fromMs }, fromMs))
    .sort((one, other) => other.ms - one.ms)
    .slice(0, LONGEST_GAPS)
    .flatMap((gap) => {
      const toMs = gap.startMs + gap.ms
      let firstMs = toMs
      for (const { startMs, endMs } of rows.map(({ scan }) => scan.long))
        for (let i = 0; i < startMs.length; i++)
          if (startMs[i]! <= toMs - leastMs && startMs[i]! < firstMs && endMs[i]! >= toMs)
            firstMs = startMs[i]!
      return firstMs > gap.startMs ? [{ startMs: gap.startMs, ms: firstMs - gap.startMs }] : []
    })
    .sort((one, other) => other.ms - one.ms)
    .slice(0, 2)
}

function clip<Span extends Silence>(span: Span, fromMs: number): Span[] {
  const lateMs = Math.max(0, fromMs - span.startMs)
  return lateMs >= span.ms ? [] : [{ ...span, startMs: span.startMs + lateMs, ms: span.ms - lateMs }]
}
