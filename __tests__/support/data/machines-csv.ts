import { JMETER_COLUMNS, quoteField } from './sample-csv.js'
import { Choice } from './seeded-choice.js'

/** A CSV of one or several machines that run the same plan, with what only whoever made it up knows. */
export interface MachinesCsv {
  readonly text: string
  readonly machines: number
  readonly hasHosts: boolean
  readonly merge: Merge
  /** What went into it, for whoever looks for the reason of a failure. */
  readonly about: string
  /** The rows that count in the overall figures, in any order. */
  readonly counted: readonly { readonly elapsedMs: number; readonly isFailure: boolean }[]
}

type Merge = (typeof MERGES)[number]

interface Element {
  readonly label: string
  readonly kind: 'request' | 'plain' | 'parent'
  readonly children: readonly Element[]
  readonly loops: number
  /** How long a request takes, or at least. */
  readonly leastUs: number
  /** How long a timer waits before it, at most. */
  readonly timerUs: number
  readonly includesTimers: boolean
  readonly failureRate: number
}

interface Row {
  readonly label: string
  readonly thread: string
  readonly startMs: number
  readonly elapsedMs: number
  readonly idleMs: number
  readonly isFailure: boolean
  readonly code: string
  readonly latencyMs: number
  /** What the message of a controller says; undefined for a request. */
  readonly transaction: { readonly samples: number; readonly failing: number } | undefined
  readonly counts: boolean
  readonly host: string
}

interface Pace {
  readonly name: string
  readonly mostUs: number
  /** What passes between two samples. */
  readonly overheadUs: number
  readonly isSteady: boolean
}

interface Options {
  readonly pace: Pace
  readonly hasSubResults: boolean
  readonly hasLatency: boolean
}

const MERGES = ['sorted by start', 'sorted by end', 'merged by start', 'merged by end', 'in blocks'] as const
const PACES: readonly Pace[] = [
  { name: '0 to 1 ms', mostUs: 900, overheadUs: 100, isSteady: false },
  { name: '0 to 3 ms', mostUs: 2_800, overheadUs: 200, isSteady: false },
  { name: '3 ms, steady', mostUs: 3_000, overheadUs: 50, isSteady: true },
  { name: 'up to 30 ms', mostUs: 30_000, overheadUs: 300, isSteady: false },
  { name: 'up to 400 ms', mostUs: 400_000, overheadUs: 1_500, isSteady: false },
  { name: 'up to 9 s', mostUs: 9_000_000, overheadUs: 300, isSteady: false },
  { name: '50 ms, steady', mostUs: 50_000, overheadUs: 300, isSteady: true }
]
const CLOCK_US = 5_000_000
const EPOCH_US = 1_700_000_000_000_000

/** The same for the same seed. Given machines or hosts take the place of those the seed would bring. */
export function makeMachinesCsv(
  seed: number,
  given: { machines?: number; hasHosts?: boolean; loops?: number } = {}
): MachinesCsv {
  const choice = new Choice(seed)
  const pace = choice.of(PACES)
  const options = { pace, hasSubResults: choice.chance(0.4), hasLatency: choice.chance(0.5) }
  const groups = Array.from({ length: choice.between(1, 2) }, (_, group) => makeGroup(choice, pace, group))
  const threads = choice.between(1, 3)
  const chosen = { machines: choice.between(1, 4), hasHosts: choice.chance(0.15) }
  const { machines, hasHosts, loops } = { ...chosen, loops: choice.of([3, 10, 40, 100]), ...given }
  const offsetsUs = choice.of([0, 3_000, 40_000, 5_000_000])
  const merge = choice.of(MERGES)
  const written = Array.from({ length: machines }, (_, machine) => {
    const offsetUs = choice.between(0, offsetsUs) + choice.between(0, 20_000)
    const rows = groups.flatMap((elements, group) =>
      Array.from({ length: threads }, (_, thread) => {
        const name = `group ${group + 1}-${thread + 1}`
        const run = new ThreadRun(choice, options, { name, host: `node-${machine}`, offsetUs })
        for (let loop = 0; loop < loops; loop++) run.play(elements)
        return run.written
      })
    )
    return rows
      .flat()
      .sort((a, b) => a.atUs - b.atUs)
      .map(({ row }) => row)
  })
  const rows = machines === 1 ? written.flat() : mergeRows(choice, written, merge)
  const columns = [...JMETER_COLUMNS, ...(hasHosts ? ['Hostname'] : [])]
  const lines = rows
    .map(valuesOf)
    .map((values) => columns.map((name) => quoteField(values[name] ?? '0', ',')).join(','))
  const about = JSON.stringify({
    ...{ seed, machines, hasHosts, merge, loops, threads, offsetsUs, ...options, pace: pace.name },
    plan: groups.map((elements) => elements.map(describe).join(' '))
  })
  return {
    ...{ machines, hasHosts, merge, about, text: [columns.join(','), ...lines, ''].join('\n') },
    counted: rows.filter(({ counts }) => counts)
  }
}

function describe({ kind, label, children, loops }: Element): string {
  const times = loops > 1 ? `${loops}x ` : ''
  return kind === 'request'
    ? times + label
    : `${times}${kind} ${label} { ${children.map(describe).join(' ')} }`
}

/** Labels are those of one element, as in most plans; those of other groups may be the same. */
function makeGroup(choice: Choice, pace: Pace, group: number): Element[] {
  const prefix = choice.chance(0.5) ? '' : `g${group} `
  let count = 0
  const make = (depth: number, most: number): Element[] =>
    Array.from({ length: choice.between(1, most) }, (): Element => {
      const isRequest = depth > 2 || choice.chance(depth === 0 ? 0.4 : 0.7)
      return {
        label: `${prefix}${isRequest ? 'r' : 'T'}${count++}`,
        kind: isRequest ? 'request' : choice.of(['plain', 'parent']),
        children: isRequest ? [] : make(depth + 1, 3),
        loops: choice.chance(0.15) ? 2 : 1,
        leastUs: pace.isSteady ? pace.mostUs : choice.of([0, 0, pace.mostUs / 2]),
        timerUs: choice.chance(0.2) ? pace.mostUs * 2 : 0,
        includesTimers: choice.chance(0.3),
        failureRate: choice.of([0, 0, 0.1, 1])
      }
    })
  return make(0, 4)
}

interface Clock {
  readonly startMs: number
  readonly nowMs: () => number
}

interface Played {
  readonly row: Row
  /** Rows of its parts, written after it. */
  readonly parts: readonly Row[]
}

/** One thread of JMeter, which does one thing after the other. Its times are cut to whole milliseconds. */
class ThreadRun {
  readonly written: { readonly atUs: number; readonly row: Row }[] = []
  readonly #choice: Choice
  readonly #options: Options
  readonly #thread: { readonly name: string; readonly host: string }
  #nowUs: number

  constructor(choice: Choice, options: Options, thread: { name: string; host: string; offsetUs: number }) {
    this.#choice = choice
    this.#options = options
    this.#thread = thread
    this.#nowUs = EPOCH_US + thread.offsetUs + choice.between(0, 2 * options.pace.mostUs)
  }

  /** Plays elements that are in no parent sample; returns their samples and how many calls JMeter counts for them. */
  play(elements: readonly Element[]): { rows: Row[]; calls: number } {
    const rows: Row[] = []
    let calls = 0
    elements.forEach((element, at) => {
      for (let loop = 0; loop < element.loops; loop++) {
        if (element.kind === 'plain') {
          const inside = this.#playPlain(element)
          rows.push(...inside.rows)
          calls += inside.calls + (at === elements.length - 1 ? 0 : 1)
        } else {
          const played = this.#playSample(element, true, [])
          for (const row of [played.row, ...played.parts]) this.#write(row)
          rows.push(played.row)
          calls += 1 + (played.row.transaction?.samples ?? 0)
        }
      }
    })
    return { rows, calls }
  }

  #playPlain(element: Element): { rows: Row[]; calls: number } {
    this.#pass()
    const clock = this.#startClock()
    const { rows, calls } = this.play(element.children)
    this.#pass()
    const failing = rows.filter(({ isFailure }) => isFailure).length
    const latencyMs = rows.reduce((sum, row) => sum + row.latencyMs, 0)
    const row = this.#transaction(element, clock, rows, { samples: calls, failing })
    this.#write({ ...row, latencyMs, counts: false, code: failing > 0 ? '' : '200' })
    return { rows, calls }
  }

  #playSample(element: Element, isOutermost: boolean, nameless: Row[]): Played {
    if (element.kind === 'request') {
      const row = this.#request(element)
      return { row: { ...row, counts: isOutermost || this.#options.hasSubResults }, parts: [] }
    }
    this.#pass()
    const clock = this.#startClock()
    const played = this.#playParts(element.children, nameless)
    this.#pass()
    const rows = played.map(({ row }) => row)
    const failing = rows.filter(({ isFailure }) => isFailure).length
    const row = this.#transaction(element, clock, rows, { samples: played.length, failing })
    const code = rows.find(({ isFailure }) => isFailure)?.code ?? '200'
    const hasParts = this.#options.hasSubResults
    const parts = hasParts ? played.flatMap((one) => [one.row, ...one.parts]) : []
    if (isOutermost) for (const one of nameless) this.#write(one)
    return { row: { ...row, code, counts: isOutermost && !hasParts }, parts }
  }

  #playParts(elements: readonly Element[], nameless: Row[]): Played[] {
    return elements.flatMap((element) =>
      Array.from({ length: element.loops }, () => {
        if (element.kind !== 'plain') return [this.#playSample(element, false, nameless)]
        const clock = this.#startClock()
        const played = this.#playParts(element.children, nameless)
        const row = this.#transaction(element, clock, [], { samples: played.length, failing: 0 })
        nameless.push({ ...row, thread: '', counts: false })
        return played
      }).flat()
    )
  }

  #request({ label, leastUs, timerUs, failureRate }: Element): Row {
    this.#pass()
    this.#nowUs += timerUs > 0 ? this.#choice.between(0, timerUs) : 0
    const { pace, hasLatency } = this.#options
    const { startMs, nowMs } = this.#startClock()
    const mostUs = Math.round(pace.isSteady ? pace.mostUs * 1.02 : pace.mostUs)
    this.#nowUs += this.#choice.between(Math.round(leastUs), mostUs)
    const elapsedMs = nowMs() - startMs
    const isFailure = this.#choice.chance(failureRate)
    return {
      ...{ label, startMs, elapsedMs, idleMs: 0, isFailure, code: isFailure ? '500' : '200' },
      ...{ latencyMs: hasLatency ? this.#choice.between(0, elapsedMs) : 0, transaction: undefined },
      ...{ thread: this.#thread.name, host: this.#thread.host, counts: true }
    }
  }

  #transaction(
    { label, includesTimers }: Element,
    { startMs, nowMs }: Clock,
    rows: readonly Row[],
    transaction: { samples: number; failing: number }
  ): Row {
    const spanMs = nowMs() - startMs
    const busyMs = rows.reduce((sum, { elapsedMs }) => sum + elapsedMs, 0)
    const elapsedMs = includesTimers ? spanMs : Math.min(busyMs, spanMs)
    return {
      ...{ label, startMs, elapsedMs, idleMs: spanMs - elapsedMs, isFailure: transaction.failing > 0 },
      ...{ code: '200', latencyMs: 0, transaction, counts: false },
      ...{ thread: this.#thread.name, host: this.#thread.host }
    }
  }

  /** JMeter keeps to one clock from the start of a sample to its end, and sets that clock anew every five seconds. */
  #startClock(): Clock {
    const offsetMs = (Math.floor(this.#nowUs / CLOCK_US) * 7919) % 13 < 4 ? 1 : 0
    const nowMs = () => Math.floor(this.#nowUs / 1000) + offsetMs
    return { startMs: nowMs(), nowMs }
  }

  /** JMeter needs a little time for everything. */
  #pass(): void {
    this.#nowUs += this.#choice.between(0, this.#options.pace.overheadUs)
  }

  #write(row: Row): void {
    this.written.push({ atUs: this.#nowUs, row })
  }
}

function mergeRows(choice: Choice, machines: readonly Row[][], merge: Merge): Row[] {
  const timeOf = ({ startMs, elapsedMs, idleMs }: Row) =>
    merge.endsWith('start') ? startMs : startMs + elapsedMs + idleMs
  if (merge.startsWith('sorted')) return machines.flat().sort((a, b) => timeOf(a) - timeOf(b))
  const left = machines.map((rows) => rows.toReversed())
  const merged: Row[] = []
  while (left.some((rows) => rows.length > 0)) {
    const open = left.filter((rows) => rows.length > 0)
    const first = open.reduce((a, b) => (timeOf(b.at(-1)!) < timeOf(a.at(-1)!) ? b : a))
    if (merge === 'in blocks') {
      const rows = choice.of(open)
      merged.push(...rows.splice(-choice.between(5, 80)).reverse())
    } else merged.push(first.pop()!)
  }
  return merged
}

function valuesOf(row: Row): Record<string, string> {
  const { samples, failing } = row.transaction ?? {}
  const isRequest = row.transaction === undefined
  return {
    ...{ timeStamp: String(row.startMs), elapsed: String(row.elapsedMs), label: row.label },
    ...{ responseCode: row.code, threadName: row.thread, dataType: isRequest ? 'text' : '' },
    responseMessage: isRequest
      ? 'OK'
      : `Number of samples in transaction : ${samples}, number of failing samples : ${failing}`,
    ...{ success: String(!row.isFailure), failureMessage: '', allThreads: row.thread === '' ? '0' : '3' },
    ...{ URL: isRequest ? 'http://127.0.0.1/' : 'null', IdleTime: String(row.idleMs) },
    ...{ Latency: String(row.latencyMs), Hostname: row.host }
  }
}
