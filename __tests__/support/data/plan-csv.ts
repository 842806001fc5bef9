import { JMETER_COLUMNS, quoteField, type CsvStyle } from './sample-csv.js'
import { makeRandom } from './seeded-random.js'

/** A row of a CSV, with what only whoever made it up knows. */
interface PlanRow {
  readonly label: string
  readonly startMs: number
  readonly elapsedMs: number
  readonly isFailure: boolean
  /** Whether it stands for samples that no other row of the CSV stands for. */
  readonly counts: boolean
  readonly code: string
  /** What says why it failed. */
  readonly message: string
}

interface WrittenRow extends PlanRow {
  readonly threadName: string
  readonly values: Readonly<Record<string, string>>
}

interface TimedRow {
  /** When it was written. */
  readonly atMs: number
  readonly row: WrittenRow
}

interface Request {
  readonly kind: 'request'
  readonly label: string
}

interface Controller {
  readonly kind: 'parent' | 'plain'
  readonly label: string
  readonly children: readonly Element[]
}

type Element = Request | Controller

export interface PlanOptions {
  /** JMeter's `subresults`: whether the requests of a parent sample get rows. */
  readonly hasSubResults: boolean
  readonly nodes: number
  /** Whether the rows of all nodes are in the order of time, not node after node. */
  readonly isMixed?: boolean
  readonly loops?: number
  readonly style?: Partial<CsvStyle>
}

export interface PlanCsv {
  readonly text: string
  readonly rows: readonly PlanRow[]
}

const LABELS = ['home', 'login, first', 'pay "now"', 'Käse', 'two\nlines', 'checkout']
const REASONS = [
  { code: '500', responseMessage: 'Server Error', failureMessage: '' },
  { code: '200', responseMessage: 'OK', failureMessage: 'expected a, "b"\nor c' },
  { code: '', responseMessage: 'Connection refused', failureMessage: ' ' }
]

/** What JMeter writes for a random plan: threads in groups, requests and transactions of both kinds within each other. */
export function makePlanCsv(seed: number, options: PlanOptions): PlanCsv {
  const random = makeRandom(seed)
  // Where controllers of both kinds share a label, and requests take no time, nobody could tell which was which.
  const hasZeros = random() < 0.5
  const groups = Array.from({ length: 1 + Math.floor(random() * 3) }, () => makeElements(random, hasZeros, 0))
  const { style = {} } = options
  const { loops = 6, hasSubResults } = options
  const nodes = Array.from({ length: options.nodes }, () =>
    runNode(random, groups, { hasSubResults, hasZeros, loops })
  )
  const inOrder = nodes.map((node) => node.toSorted((a, b) => a.atMs - b.atMs))
  const written = options.isMixed === true ? inOrder.flat().sort((a, b) => a.atMs - b.atMs) : inOrder.flat()
  const rows = written.map(({ row }) => row)
  const { delimiter = ',', lineBreak = '\n', columns = JMETER_COLUMNS } = style
  const lines = rows.map(({ values }) =>
    columns.map((name) => quoteField(values[name] ?? '0', delimiter)).join(delimiter)
  )
  const text = [columns.join(delimiter), ...lines].join(lineBreak)
  return {
    text: `${style.bom === true ? '\uFEFF' : ''}${text}${style.finalLineBreak === false ? '' : lineBreak}`,
    rows
  }
}

function makeElements(random: () => number, hasZeros: boolean, depth: number): Element[] {
  return Array.from({ length: 1 + Math.floor(random() * 3) }, () => {
    const label = LABELS[Math.floor(random() * LABELS.length)]!
    if (depth > 2 || random() < 0.5) return { kind: 'request', label }
    const kind = random() < 0.5 ? 'parent' : 'plain'
    const children = makeElements(random, hasZeros, depth + 1)
    return { kind, label: hasZeros ? `${kind} ${label}` : random() < 0.7 ? `tx ${label}` : label, children }
  })
}

/** The rows of one machine. */
function runNode(
  random: () => number,
  groups: readonly Element[][],
  how: Pick<RunOptions, 'hasSubResults' | 'hasZeros'> & { readonly loops: number }
): TimedRow[] {
  const written: TimedRow[] = []
  groups.forEach((elements, group) => {
    const threads = 1 + Math.floor(random() * 3)
    for (let thread = 1; thread <= threads; thread++) {
      const name = `group ${group % 2} ${group + 1}-${thread}`
      const run = new ThreadRun({ ...how, random, name })
      for (let loop = 0; loop < how.loops; loop++) for (const element of elements) run.play(element)
      written.push(...run.written)
    }
  })
  return written
}

interface Played {
  readonly row: WrittenRow
  /** Rows of sub-results, to be written after it. */
  readonly subs: readonly WrittenRow[]
}

interface RunOptions {
  readonly random: () => number
  readonly name: string
  readonly hasSubResults: boolean
  /** Whether some requests take no time. */
  readonly hasZeros: boolean
}

/** One thread, which does one thing after the other. */
class ThreadRun {
  readonly written: TimedRow[] = []
  readonly #random: () => number
  readonly #name: string
  readonly #hasSubResults: boolean
  readonly #hasZeros: boolean
  #nowMs: number
  #idleMs = 0

  constructor(options: RunOptions) {
    this.#random = options.random
    this.#name = options.name
    this.#hasSubResults = options.hasSubResults
    this.#hasZeros = options.hasZeros
    this.#nowMs = 1_700_000_000_000 + Math.floor(options.random() * 500)
  }

  /** Plays an element that is in no parent sample; returns how many samples JMeter would count for it. */
  play(element: Element): number {
    this.#rest()
    if (element.kind === 'plain') return this.#playPlain(element)
    if (element.kind === 'request') {
      this.#write(this.#request(element.label, true))
      return 1
    }
    const before: WrittenRow[] = []
    const { row, subs, samples } = this.#parent(element, before, true)
    for (const one of [...before, row, ...subs]) this.#write(one)
    return samples + 1
  }

  #playPlain({ label, children }: Controller): number {
    const [startMs, idleBefore] = [this.#nowMs, this.#idleMs]
    const first = this.written.length
    const samples = children.reduce((sum, child) => sum + this.play(child), 0)
    const inside = this.written.slice(first).map(({ row }) => row)
    const failing = inside.filter(({ isFailure }) => isFailure).length
    const idleMs = this.#idleMs - idleBefore
    this.#write(this.#transaction({ label, startMs, idleMs, samples, failing, counts: false }))
    return samples
  }

  #parent(
    { label, children }: Controller,
    before: WrittenRow[],
    isOutermost: boolean
  ): Played & { samples: number } {
    const [startMs, idleBefore] = [this.#nowMs, this.#idleMs]
    const played = children.flatMap((child) => this.#playWithin(child, before))
    const subs = this.#hasSubResults ? played.flatMap((one) => [one.row, ...one.subs]) : []
    const failing = played.filter(({ row }) => row.isFailure).length
    const idleMs = this.#idleMs - idleBefore
    const counts = isOutermost && !this.#hasSubResults
    const samples = played.length
    return { row: this.#transaction({ label, startMs, idleMs, samples, failing, counts }), subs, samples }
  }

  #playWithin(element: Element, before: WrittenRow[]): Played[] {
    this.#rest()
    if (element.kind === 'request')
      return [{ row: this.#request(element.label, this.#hasSubResults), subs: [] }]
    if (element.kind === 'parent') return [this.#parent(element, before, false)]
    // JMeter writes a row without a thread for such a transaction, and puts what it did into the parent's.
    const startMs = this.#nowMs
    const played = element.children.flatMap((child) => this.#playWithin(child, before))
    const row = makeRow({
      ...{ label: element.label, startMs, elapsedMs: 0, idleMs: 0, threadName: '', counts: false },
      ...{ samples: played.length, failing: 0 }
    })
    before.push(row)
    return played
  }

  #request(label: string, counts: boolean): WrittenRow {
    const elapsedMs = this.#hasZeros && this.#random() < 0.1 ? 0 : 1 + Math.floor(this.#random() ** 3 * 400)
    const startMs = this.#nowMs
    this.#nowMs += elapsedMs
    const reason = this.#random() < 0.2 ? REASONS[Math.floor(this.#random() * REASONS.length)] : undefined
    return makeRow({ label, startMs, elapsedMs, idleMs: 0, threadName: this.#name, counts, reason })
  }

  #transaction(
    options: { startMs: number; idleMs: number } & Pick<
      RowOptions,
      'label' | 'samples' | 'failing' | 'counts'
    >
  ): WrittenRow {
    const elapsedMs = this.#nowMs - options.startMs - options.idleMs
    return makeRow({ ...options, elapsedMs, threadName: this.#name })
  }

  /** Timers, or nothing at all: then the next row begins in the millisecond in which the last one ended. */
  #rest(): void {
    const idleMs = this.#random() < 0.3 ? Math.floor(this.#random() * 300) : 0
    this.#nowMs += idleMs
    this.#idleMs += idleMs
  }

  #write(row: WrittenRow): void {
    this.written.push({ atMs: this.#nowMs, row })
  }
}

interface RowOptions {
  readonly label: string
  readonly startMs: number
  readonly elapsedMs: number
  readonly idleMs: number
  readonly threadName: string
  readonly counts: boolean
  readonly reason?: (typeof REASONS)[number] | undefined
  /** Given for transactions. */
  readonly samples?: number
  readonly failing?: number
}

function makeRow(options: RowOptions): WrittenRow {
  const { label, startMs, elapsedMs, threadName, counts, reason, samples, failing = 0 } = options
  const transactionMessage = `Number of samples in transaction : ${samples}, number of failing samples : ${failing}`
  const isFailure = reason !== undefined || failing > 0
  const responseMessage = samples === undefined ? (reason?.responseMessage ?? 'OK') : transactionMessage
  const code = reason?.code ?? (failing > 0 ? '' : '200')
  const failureMessage = reason?.failureMessage ?? ''
  const message = (failureMessage.trim() === '' ? responseMessage : failureMessage).replace(/\s+/g, ' ')
  const values = {
    ...{ timeStamp: String(startMs), elapsed: String(elapsedMs), label, responseCode: code, responseMessage },
    ...{
      threadName,
      dataType: samples === undefined ? 'text' : '',
      success: String(!isFailure),
      failureMessage
    },
    ...{ allThreads: threadName === '' ? '0' : '3', IdleTime: String(options.idleMs) },
    URL: samples === undefined ? 'http://127.0.0.1/' : 'null'
  }
  return { label, startMs, elapsedMs, isFailure, counts, code, message, threadName, values }
}
