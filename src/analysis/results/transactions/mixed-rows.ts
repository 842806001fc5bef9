import { isWithin, JITTER_MS, type ThreadRows } from './transaction-row.js'
import type { Transaction } from './transaction-row.js'

// If several machines with the same thread names have written interleaved rows, rows lie within a transaction by chance.
// What remains:
// - what the row of a controller says about its kind;
// - a transaction with no row within it has no rows for its requests either;
// - one of its own requests nearly always begins with it and one ends with it, and there are as many as it says; by chance this is rare.
//   How rare shows at other times: the same is checked for spans of the same length that begin a little earlier.

/** What is known about the transactions of one controller. */
interface Finds {
  /** How many rows say that it does not generate parent samples, and that it does. */
  plain: number
  parents: number
  /** How many transactions were checked for rows within them. */
  asked: number
  /** How many have a row that ends with them, one that begins with them unless they waited, and as many as they say. */
  framed: number
  framedByChance: number
  /** How many have a row that ends with them, or that begins with them. */
  touched: number
  touchedByChance: number
  /** How many have no row within them at all. */
  empty: number
  areEndsKnown: boolean
}

interface AskedSpan {
  readonly startMs: number
  readonly endMs: number
  begins: boolean
  ends: boolean
  isEmpty: boolean
  /** How many samples the rows within it represent, including those of zero duration at its start or end. */
  samples: number
}

interface Question {
  readonly transaction: Transaction
  /** The transaction's, and those for comparison. */
  readonly spans: readonly AskedSpan[]
  rowsLeft: number
}

const ROWS_AFTER = 64
const EARLIER_MS = [0, 17, 37]
/** A shorter one begins and ends with any adjacent row. */
const MIN_SPAN_MS = 10
/** Between the ends of the transaction and those of its requests. */
const EDGE_MS = 2
/** Fewer show nothing: machines that started together may do the same for a while. */
const MIN_ASKED = 8
const MIN_FRAMED = 24
const MAX_CHANCE = 0.5
/** One in this many may have no row that begins and ends with it although its requests have rows. */
const MISSES = 20
const MIN_EMPTY_SHARE = 0.1
/** Of the transactions that count, this many more than by chance may be touched, and this many standard deviations. */
const SPARE_SHARE = 0.02
const DEVIATIONS = 3

/** Decides for each controller whether the requests of its transactions have rows, among rows of several machines. */
export class MixedRows {
  readonly #open = new Map<ThreadRows, Question[]>()
  readonly #finds = new Map<number, Finds>()

  /** Takes the next row of its thread. */
  addRow(thread: ThreadRows, startMs: number, endMs: number, samples: number): void {
    const open = this.#open.get(thread)
    if (open === undefined) return
    const left = open.filter((question) => {
      look(question, startMs, endMs, samples)
      // What begins later was written later, and so were all rows after it.
      const isOver = startMs > question.transaction.endMs + EDGE_MS
      if (isOver) enter(this.#finds, question)
      return !isOver && --question.rowsLeft > 0
    })
    if (left.length > 0) this.#open.set(thread, left)
    else this.#open.delete(thread)
  }

  /** Takes a transaction's row that comes next in its thread. */
  addTransaction(thread: ThreadRows, transaction: Transaction): void {
    const { startMs, endMs, samples, kind } = transaction
    this.addRow(thread, startMs, endMs, samples)
    const finds = findsOf(this.#finds, transaction)
    if (kind === 'plain') finds.plain++
    if (kind === 'parent') finds.parents++
    if (endMs - startMs < MIN_SPAN_MS) return
    const spans = EARLIER_MS.map((ms) => ({
      ...{ startMs: startMs - ms, endMs: endMs - ms, begins: false, ends: false, isEmpty: true, samples: 0 }
    }))
    const question = { transaction, spans, rowsLeft: ROWS_AFTER }
    thread.some((...row) => {
      look(question, ...row)
      return false
    })
    this.#open.set(thread, [...(this.#open.get(thread) ?? []), question])
  }

  /** For each controller whether its transactions count; undefined if that cannot be determined. */
  judge(): (controller: number) => boolean | undefined {
    const all = new Map([...this.#finds].map(([controller, one]) => [controller, { ...one }]))
    for (const questions of this.#open.values()) for (const one of questions) enter(all, one)
    return (controller) => {
      const finds = all.get(controller)
      return finds === undefined ? undefined : judge(finds)
    }
  }
}

function look({ transaction, spans }: Question, startMs: number, endMs: number, samples: number): void {
  // A transaction around this one represents more samples.
  if (samples >= transaction.samples && samples > 0) return
  for (const span of spans) {
    if (startMs < span.startMs || endMs > span.endMs + JITTER_MS) continue
    span.samples += 1 + samples
    if (!isWithin(span, startMs, endMs)) continue
    span.isEmpty = false
    span.begins ||= startMs <= span.startMs + EDGE_MS
    span.ends ||= endMs >= span.endMs - EDGE_MS
  }
}

function findsOf(all: Map<number, Finds>, { controller }: Transaction): Finds {
  const finds = all.get(controller) ?? {
    ...{ plain: 0, parents: 0, asked: 0, framed: 0, framedByChance: 0, touched: 0, touchedByChance: 0 },
    ...{ empty: 0, areEndsKnown: true }
  }
  all.set(controller, finds)
  return finds
}

function enter(all: Map<number, Finds>, { transaction, spans }: Question): void {
  const { startMs, endMs, elapsedMs, isEndKnown } = transaction
  const hasWaited = endMs - startMs > elapsedMs
  const finds = findsOf(all, transaction)
  const [framed = 0, ...framedByChance] = spans.map(({ begins, ends, samples }) =>
    Number(ends && (begins || hasWaited) && samples >= transaction.samples)
  )
  const [touched = 0, ...touchedByChance] = spans.map(({ begins, ends }) => Number(begins || ends))
  finds.asked++
  finds.framed += framed
  finds.framedByChance += meanOf(framedByChance)
  finds.touched += touched
  finds.touchedByChance += meanOf(touchedByChance)
  finds.empty += Number(spans[0]?.isEmpty)
  finds.areEndsKnown &&= isEndKnown
}

function judge(finds: Finds): boolean | undefined {
  const { asked, framed } = finds
  // Without parent samples the requests have rows, or what they are part of has.
  if (finds.plain > 0 && finds.parents === 0) return false
  const isFramed = framed >= MIN_FRAMED && (asked - framed) * MISSES <= asked
  if (isFramed && finds.framedByChance <= asked * MAX_CHANCE) return false
  const chance = finds.touchedByChance / asked
  const spare = Math.max(asked * SPARE_SHARE, DEVIATIONS * Math.sqrt(asked * chance * (1 - chance)))
  const isByChance = chance <= MAX_CHANCE && finds.touched <= finds.touchedByChance + spare
  const isEmpty = asked >= MIN_ASKED && finds.empty >= asked * MIN_EMPTY_SHARE
  return finds.areEndsKnown && isByChance && isEmpty ? true : undefined
}

function meanOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0) / numbers.length
}
