/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index into a typed array is in range by construction */
import { eachGap, EndTimes } from './end-times.js'
import type { StallScan } from './stall-tracker.js'

/** A time in which users waited and nothing was answered. */
export interface Stall {
  /** Epoch ms. */
  readonly startMs: number
  readonly ms: number
  /** How many threads waited, in all. */
  readonly waiting: number
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

export interface StallOptions {
  /** How many threads there were in all; undefined if nobody knows. */
  readonly threads: number | undefined
  readonly medianMsOf: (label: string) => number | undefined
}

export interface FoundStalls {
  readonly stalls: readonly Stall[]
  /** The two longest, the longest first. */
  readonly silences: readonly Silence[]
}

/** A request waits by nature as long as its label usually does. */
const LEAST_MEDIANS = 2
/** Of the requests in flight at a time, the earliest decide; with more of them a stall is at most found to be shorter. */
const MOST_CONSIDERED = 512

interface Waiting {
  readonly startMs: number
  readonly endMs: number
  readonly thread: string
  /** A span must be at least as long for the row to count as waiting. */
  readonly fromSpanMs: number
}

interface Gap {
  readonly fromMs: number
  readonly toMs: number
}

/**
 * A stall is a span between two consecutive ends, as far as samples of at least two threads were in flight all along; after the last
 * start, of at least half of all threads: otherwise every ramp-down would look like one.
 */
export function findStalls(rows: readonly ScopeRows[], options: StallOptions): FoundStalls {
  const leastMs = Math.max(0, ...rows.map(({ scan }) => scan.leastMs))
  const lastStartMs = Math.max(-Infinity, ...rows.map(({ scan }) => scan.lastStartMs))
  const threads = options.threads ?? Infinity
  const stalls: Stall[] = []
  let silences: Silence[] = []
  const inFlight = new InFlight(listLong(rows, options))
  eachGap(joinEnds(rows), leastMs, (fromMs, toMs) => {
    const gap = { fromMs, toMs }
    const waiting = inFlight.over(gap)
    const stall = measureStall(gap, waiting, { lastStartMs, threads })
    if (stall !== undefined && stall.ms >= leastMs) stalls.push(stall)
    const silentMs = Math.min(toMs, waiting[0]?.startMs ?? toMs) - fromMs
    if (silentMs >= leastMs)
      silences = [...silences, { startMs: fromMs, ms: silentMs }].sort((a, b) => b.ms - a.ms).slice(0, 2)
  })
  return { stalls, silences }
}

function joinEnds(rows: readonly ScopeRows[]): StallScan['ends'] {
  const [first, ...others] = rows
  if (first !== undefined && others.length === 0) return first.scan.ends
  const ends = new EndTimes()
  for (const { scan } of rows) ends.absorb(scan.ends)
  return ends.toScan()
}

function listLong(rows: readonly ScopeRows[], { medianMsOf }: StallOptions): Waiting[] {
  const medians = new Map<string, number>()
  const medianOf = (label: string): number => {
    const known = medians.get(label) ?? medianMsOf(label) ?? 0
    medians.set(label, known)
    return known
  }
  let unnamed = 0
  return rows.flatMap(({ scan: { long }, labels, source }) =>
    Array.from(long.startMs, (startMs, i): Waiting => {
      const thread = long.thread[i]!
      return {
        startMs,
        endMs: long.endMs[i]!,
        thread: thread < 0 ? `? ${unnamed++}` : `${source} ${thread}`,
        fromSpanMs: LEAST_MEDIANS * medianOf(labels[long.label[i]!] ?? '')
      }
    })
  )
}

/** Moves on in time from gap to gap. */
class InFlight {
  readonly #rows: readonly Waiting[]
  #next = 0
  #open: Waiting[] = []

  constructor(rows: readonly Waiting[]) {
    this.#rows = [...rows].sort((one, other) => one.startMs - other.startMs)
  }

  /** What is in flight at the end of the gap, earliest start first. Gaps must be asked for in their order. */
  over({ toMs }: Gap): readonly Waiting[] {
    while (this.#next < this.#rows.length && this.#rows[this.#next]!.startMs < toMs)
      this.#open.push(this.#rows[this.#next++]!)
    this.#open = this.#open.filter(({ endMs }) => endMs >= toMs)
    return this.#open
  }
}

/** Nothing ends within a gap, so what is in flight only becomes more: the stall begins with the second thread. */
function measureStall(
  { fromMs, toMs }: Gap,
  waiting: readonly Waiting[],
  { lastStartMs, threads }: { lastStartMs: number; threads: number }
): Stall | undefined {
  for (const { startMs } of waiting.slice(0, MOST_CONSIDERED)) {
    const beginMs = Math.max(fromMs, startMs)
    const ms = toMs - beginMs
    const isFit = (row: Waiting): boolean => row.startMs <= beginMs && ms >= row.fromSpanMs
    const first = waiting.find(isFit)
    if (!waiting.some((row) => isFit(row) && row.thread !== first?.thread)) continue
    const inAll = countThreads(waiting.filter(({ fromSpanMs }) => ms >= fromSpanMs))
    if (lastStartMs >= toMs || inAll * 2 >= threads) return { startMs: beginMs, ms, waiting: inAll }
    // Everybody who is left waits for the last answers.
    return lastStartMs > beginMs ? { startMs: beginMs, ms: lastStartMs - beginMs, waiting: inAll } : undefined
  }
  return undefined
}

function countThreads(rows: readonly Waiting[]): number {
  return new Set(rows.map(({ thread }) => thread)).size
}
