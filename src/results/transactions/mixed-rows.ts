/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index into a typed array is in range by construction */
import type { Transaction } from './transaction-sorter.js'

// Where several machines have written their rows in between each other under the same names of threads, rows lie within a transaction by
// chance. But one of its own requests begins with it and one ends with it, nearly always; by chance few do. How few shows at other times:
// the same question is asked of spans of the same length that begin a little earlier.

/** What is known of the transactions of one controller. */
interface Finds {
  asked: number
  /** How many have a row that ends with them, and one that begins with them unless they waited. */
  framed: number
  framedByChance: number
  /** How many have a row that ends with them, or that begins with them. */
  touched: number
  touchedByChance: number
  /** How many have no row within them at all. */
  empty: number
  areEndsKnown: boolean
  plain: number
  parent: number
}

interface Span {
  readonly startMs: number
  readonly endMs: number
  begins: boolean
  ends: boolean
  /** How many samples the rows within it stand for. */
  inside: number
}

interface Question {
  readonly transaction: Transaction
  readonly hasWaited: boolean
  /** The transaction's, and those that are asked for comparison. */
  readonly spans: readonly Span[]
  rowsLeft: number
}

const ROW_FIELDS = 3
const ROWS_BEFORE = 64
const ROWS_AFTER = 32
const EARLIER_MS = [0, 17, 37]
const JITTER_MS = 1
const MIN_SPAN_MS = 10
/** Between the ends of the transaction and those of its requests. */
const EDGE_MS = 2
/** Fewer show nothing. */
const MIN_ASKED = 8
const MIN_FRAMED = 24
const MAX_CHANCE = 0.5
/** One in so many may have no row that begins and ends with it though its requests have rows. */
const MISSES = 20
const MIN_EMPTY_SHARE = 0.1
/** Of the transactions that count, more than by chance may be touched by so many, and by so many standard deviations. */
const SPARE_SHARE = 0.02
const DEVIATIONS = 3

/** Tells for each controller whether the requests of its transactions have rows, among rows of several machines. */
export class MixedRows {
  /** Of each thread: its last rows, and how many there were. */
  readonly #rows: { readonly last: Float64Array; count: number }[] = []
  readonly #questions = new Map<number, Question[]>()
  readonly #finds = new Map<number, Finds>()

  /** Takes the row of a request, which stands for no samples but itself, or of a transaction. */
  addRow(thread: number, startMs: number, endMs: number, samples: number): void {
    this.#ask(thread, startMs, endMs, samples)
    const rows = (this.#rows[thread] ??= { last: new Float64Array(ROWS_BEFORE * ROW_FIELDS), count: 0 })
    const at = (rows.count++ % ROWS_BEFORE) * ROW_FIELDS
    rows.last[at] = startMs
    rows.last[at + 1] = endMs
    rows.last[at + 2] = samples
  }

  addTransaction(thread: number, transaction: Transaction): void {
    const { startMs, endMs, elapsedMs, samples } = transaction
    // A short one begins and ends with any row next to it.
    if (endMs - startMs >= MIN_SPAN_MS) {
      const spans = EARLIER_MS.map((ms) => ({
        ...{ startMs: startMs - ms, endMs: endMs - ms, begins: false, ends: false, inside: 0 }
      }))
      const question = {
        ...{ transaction, spans, rowsLeft: ROWS_AFTER, hasWaited: endMs - startMs > elapsedMs }
      }
      this.#askBefore(thread, question)
      this.addRow(thread, startMs, endMs, samples)
      const open = this.#questions.get(thread) ?? []
      open.push(question)
      this.#questions.set(thread, open)
    } else this.addRow(thread, startMs, endMs, samples)
  }

  /** Whether one of the thread's last rows lies within the transaction. */
  hasRowWithin(thread: number, transaction: Transaction): boolean {
    const rows = this.#rows[thread]
    if (rows === undefined) return false
    const { last, count } = rows
    const end = Math.min(count, ROWS_BEFORE) * ROW_FIELDS
    for (let at = 0; at < end; at += ROW_FIELDS)
      if (isInside(transaction, last[at]!, last[at + 1]!)) return true
    return false
  }

  /** Whether one of the thread's last rows began before the transaction and ended in it, or ended after it and began in it. */
  hasRowAcross(thread: number, { startMs, endMs }: Transaction): boolean {
    const rows = this.#rows[thread]
    if (rows === undefined) return false
    const { last, count } = rows
    const end = Math.min(count, ROWS_BEFORE) * ROW_FIELDS
    for (let at = 0; at < end; at += ROW_FIELDS) {
      const [rowStartMs, rowEndMs] = [last[at]!, last[at + 1]!]
      const isBefore = rowStartMs < startMs - JITTER_MS && rowEndMs < endMs - JITTER_MS
      const isAfter = rowStartMs > startMs + JITTER_MS && rowEndMs > endMs + JITTER_MS
      if (isBefore && rowEndMs > startMs + JITTER_MS) return true
      if (isAfter && rowStartMs < endMs - JITTER_MS) return true
    }
    return false
  }

  forgetRows(): void {
    this.#rows.length = 0
  }

  /** For each controller whether its transactions count; undefined where that does not show. */
  judge(): (controller: number) => boolean | undefined {
    const finds = new Map([...this.#finds].map(([controller, one]) => [controller, { ...one }]))
    for (const questions of this.#questions.values()) for (const one of questions) enter(finds, one)
    return (controller) => {
      const found = finds.get(controller)
      return found === undefined ? undefined : judge(found)
    }
  }

  #askBefore(thread: number, question: Question): void {
    const rows = this.#rows[thread]
    if (rows === undefined) return
    const { last, count } = rows
    const end = Math.min(count, ROWS_BEFORE) * ROW_FIELDS
    for (let at = 0; at < end; at += ROW_FIELDS) look(question, last[at]!, last[at + 1]!, last[at + 2]!)
  }

  #ask(thread: number, startMs: number, endMs: number, samples: number): void {
    const open = this.#questions.get(thread)
    if (open === undefined) return
    const left = open.filter((question) => {
      look(question, startMs, endMs, samples)
      // What ends later was written later, and so were all rows after it.
      const isOpen = --question.rowsLeft > 0 && endMs <= question.transaction.endMs + EDGE_MS
      if (!isOpen) enter(this.#finds, question)
      return isOpen
    })
    if (left.length > 0) this.#questions.set(thread, left)
    else this.#questions.delete(thread)
  }
}

function look({ transaction, spans }: Question, startMs: number, endMs: number, samples: number): void {
  // A transaction around this one stands for more samples.
  if (samples >= transaction.samples && samples > 0) return
  for (const span of spans) {
    if (!isInside(span, startMs, endMs)) continue
    span.inside += 1 + samples
    span.begins ||= startMs <= span.startMs + EDGE_MS
    span.ends ||= endMs >= span.endMs - EDGE_MS
  }
}

/** What comes right before or right after a transaction may touch it, but not begin before its end and end after its start. */
function isInside(span: Pick<Span, 'startMs' | 'endMs'>, startMs: number, endMs: number): boolean {
  const isTouching = startMs >= span.startMs && startMs < span.endMs && endMs > span.startMs
  return isTouching && endMs <= span.endMs + JITTER_MS
}

function enter(all: Map<number, Finds>, { transaction, spans, hasWaited }: Question): void {
  const finds = all.get(transaction.controller) ?? {
    ...{ asked: 0, framed: 0, framedByChance: 0, touched: 0, touchedByChance: 0, empty: 0 },
    ...{ areEndsKnown: true, plain: 0, parent: 0 }
  }
  all.set(transaction.controller, finds)
  const framed = spans.map(({ begins, ends, inside }) =>
    Number(ends && (begins || hasWaited) && inside >= transaction.samples)
  )
  const touched = spans.map(({ begins, ends }) => Number(begins || ends))
  finds.asked++
  finds.framed += framed[0]!
  finds.framedByChance += meanOf(framed.slice(1))
  finds.touched += touched[0]!
  finds.touchedByChance += meanOf(touched.slice(1))
  finds.empty += Number(spans[0]!.inside === 0)
  if (transaction.kind === 'plain') finds.plain++
  if (transaction.kind === 'parent') finds.parent++
  finds.areEndsKnown &&= transaction.isEndKnown
}

function judge(finds: Finds): boolean | undefined {
  const { asked } = finds
  // The rows of a controller that generates no parent samples are those of its requests.
  if (finds.plain > 0 && finds.parent === 0) return false
  if (asked < MIN_ASKED) return undefined
  if (finds.framed >= MIN_FRAMED && finds.framedByChance <= asked * MAX_CHANCE && (asked - finds.framed) * MISSES <= asked) return false
  const chance = finds.touchedByChance / asked
  const spare = Math.max(asked * SPARE_SHARE, DEVIATIONS * Math.sqrt(asked * chance * (1 - chance)))
  const isByChance = chance <= MAX_CHANCE && finds.touched <= finds.touchedByChance + spare
  return finds.areEndsKnown && isByChance && finds.empty >= asked * MIN_EMPTY_SHARE ? true : undefined
}

function meanOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0) / numbers.length
}
