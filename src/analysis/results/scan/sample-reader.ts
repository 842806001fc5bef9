/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index into a typed array is in range by construction */
import { ErrorTable, OF_ASIDE, readError, type ErrorFields } from '../counts/error-table.js'
import { LabelTable } from '../counts/label-table.js'
import { TimeLine } from '../counts/time-line.js'
import { lacksZone, readDigits, readTimestamp } from '../csv/timestamp.js'
import { explainRow, quoteBytes, type RowProblems } from './row-problems.js'
import {
  hashThread,
  readControllerKind,
  readControllerMessage,
  ThreadTable
} from '../transactions/transaction-row.js'
import type { ControllerMessage, Transaction } from '../transactions/transaction-row.js'
import { DetailReader } from '../details/detail-reader.js'
import { type PartDescription, SampleTally } from './sample-tally.js'
import { CELLS_A_LABEL, type SamplePart, type ScannerOptions } from '../counts/scan-result.js'
import { AsideThreads } from './aside-threads.js'
import { FollowedLabels } from '../stalls/followed-labels.js'
import { TransactionTally, type OtherRows } from './transaction-tally.js'
import type { DetailOptions } from '../details/detail-scan.js'
import type { Row, RowFields } from '../csv/row-splitter.js'
import type { Notes, RowKernel } from '../kernel/row-kernel.js'
import * as layout from '../kernel/assembly/layout.js'
import type { SampleColumns, SampleLayout } from '../csv/header.js'

const QUOTE = 34
const SPACE = 32
/** Neither success nor failure. */
const NO_OUTCOME = 2
/** A fraction of a second, in a date. */
const FRACTION = /:\d+[.,]\d{3}/
const latin1 = new TextDecoder('latin1')
const TRUE = new TextEncoder().encode('true')
const FALSE = new TextEncoder().encode('false')
const MAX_ELAPSED_MS = 0x7fffffff
/** More than a label table has numbers. */
const MAX_GROUPS = 1 << 18

interface AsideRows {
  readonly threads: AsideThreads
  readonly tally: SampleTally
  /** Those that start before it are not counted. */
  readonly fromMs: number
}

/** Reads the rows of a JMeter sample CSV and keeps counts of them, never the rows. */
export class SampleReader {
  rows = 0
  readonly #at: SampleColumns
  readonly #columns: number
  readonly #problems: RowProblems
  readonly #countFromMs: number
  readonly #countToMs: number
  readonly #countEndsFromMs: number
  readonly #labels = new LabelTable()
  readonly #followed: FollowedLabels
  readonly #requests: SampleTally
  readonly #transactions: TransactionTally
  /** Rows that are part of another one. */
  readonly #parts: SampleTally
  /** Rows of thread groups that are not the load. */
  readonly #aside: AsideRows | undefined
  readonly #threads: ThreadTable
  /** Only of a second reading. */
  readonly #details: DetailReader | undefined
  /** A row as plain numbers; reused for every row. -1 means that it is missing. */
  readonly #values = { elapsedMs: -1, startMs: -1, outcome: 0, threads: -1 }
  readonly #error: ErrorFields = {
    ...{ bytes: new Uint8Array(0), codeStart: 0, codeEnd: 0, messageStart: 0, messageEnd: 0 },
    escapes: 0
  }
  #scratch = new Uint8Array(256)
  #kernel: RowKernel | undefined
  /** Whether rows are followed, to sort transactions: they arrive here in order, or the kernel has notes of the others. */
  readonly isFollowing: boolean
  /** The number of the thread of the last row, if it was followed. */
  thread: number | undefined
  /** When the first row began that was followed; -1 before it. */
  #firstMs = -1
  /** How many transactions were among the kernel's notes. */
  #notedTransactions = 0
  #earlyRows = 0
  #hasEarlyRequests = false
  /** Whether times are dates that do not say in which zone; undefined before the first one. */
  isZoneless: boolean | undefined

  constructor(
    { at, columns }: SampleLayout,
    problems: RowProblems,
    options: ScannerOptions & { readonly stopsAtTransaction?: boolean }
  ) {
    this.#at = at
    this.#columns = columns
    this.#problems = problems
    this.#countFromMs = options.countFromMs ?? -Infinity
    this.#countToMs = options.countToMs ?? Infinity
    this.#countEndsFromMs = options.countEndsFromMs ?? -Infinity
    this.#threads = new ThreadTable(at)
    this.#followed = new FollowedLabels(options.stallLabels ?? [], (label) => this.#labels.textOf(label))
    this.isFollowing = options.details?.hasTransactions ?? options.stopsAtTransaction !== true
    this.#details =
      options.details && new DetailReader(at, options.details, (label) => this.#labels.textOf(label))
    const scopeOf = (label: number) => this.scopeOf(label)
    const createTally = (errors?: ErrorTable) =>
      new SampleTally(scopeOf, this.#details?.createTally(), errors)
    this.#requests = createTally()
    this.#parts = createTally()
    const { asideGroups = [], asideFromMs = this.#countFromMs } = options
    if (asideGroups.length > 0) {
      const tally = createTally(new ErrorTable(OF_ASIDE))
      this.#aside = { threads: new AsideThreads(asideGroups), tally, fromMs: asideFromMs }
    }
    this.#transactions = new TransactionTally(
      () => createTally(),
      (startMs, elapsedMs) => this.#isEarly(startMs, elapsedMs, this.#countFromMs)
    )
  }

  get hasTransactions(): boolean {
    return this.#transactions.isSeen
  }

  get earlyRows(): number {
    return this.#earlyRows + (this.#kernel?.early ?? 0)
  }

  /** Returns the number of the row's label if the row was counted. */
  take(row: Row): number | undefined {
    this.rows++
    this.thread = undefined
    if (row.fault !== undefined || row.columns !== this.#columns) {
      this.#problems.add(this.rows, explainRow(row, this.#columns))
      return undefined
    }
    if (!this.#read(row)) {
      this.#explain(row)
      return undefined
    }
    const said = readControllerMessage(row, this.#at)
    // A controller without samples did nothing and is not a sample. It cannot fail either: a server may say the same.
    const message = said?.samples === 0 && this.#values.outcome === 1 ? undefined : said
    if (message?.samples === 0) return undefined
    if (this.#aside?.threads.has(row, this.#at)) return this.#takeAside(row, this.#aside)
    const isEarly = this.#isLeftOut(this.#countFromMs)
    if (isEarly && (message === undefined || this.#isPart(row))) {
      this.#leaveOut(row)
      return undefined
    }
    const label = this.#labelOf(row)
    if (this.#isPart(row)) this.#count(this.#parts, row, Math.max(0, label))
    else if (message === undefined) {
      this.#count(this.#requests, row, Math.max(0, label))
      if (this.isFollowing) this.#follow(row)
    } else this.#takeTransaction(row, Math.max(0, label), message)
    return label < 0 || isEarly ? undefined : label
  }

  /** So many rows were counted by the kernel, which does not understand dates. */
  skip(rows: number): void {
    this.rows += rows
    if (rows > 0) this.isZoneless ??= false
  }

  /** Takes a failed row that the kernel has counted under this label number. */
  takeFailure(label: number, failed: RowFields, isPart: boolean): void {
    const tally = isPart ? this.#parts : this.#requests
    const reason = tally.errors.add(label, findError(failed, this.#at, this.#error))
    const reader = this.#details
    if (reader === undefined) return
    const [startMs, elapsedMs] = [
      readNumber(failed, this.#at.timeStamp),
      readNumber(failed, this.#at.elapsed)
    ]
    tally.details?.addFailure(label, reason, startMs, () => reader.readFailed(failed, startMs, elapsedMs))
  }

  /** The number of the label's ends among those of labels that are followed, from 1; 0 if it is not. In a second reading, that of its line. */
  scopeOf(label: number): number {
    if (this.#details !== undefined) return this.#details.labelIndex(label) + 1
    return this.#at.label < 0 ? 0 : this.#followed.scopeOf(label)
  }

  /** In a second reading, the number of the response code of the row that was read last. */
  codeOf(): number {
    return this.#details?.row.code ?? 0
  }

  /** From now on the kernel counts most rows, and their figures are fetched from it. */
  useKernel(kernel: RowKernel, details?: DetailOptions): void {
    this.#kernel = kernel
    if (details !== undefined) kernel.countDetails(this.#at, details)
    this.#requests.useKernel(kernel.requests)
    this.#parts.useKernel(kernel.parts)
    const [fromMs, toMs] = [this.#countFromMs, this.#countToMs]
    if (fromMs > -Infinity || toMs < Infinity) kernel.countBetween(fromMs, toMs)
    if (this.#aside !== undefined) kernel.leaveGroups(this.#aside.threads.names)
    this.followTimes()
  }

  /** Takes notes of rows that the kernel has counted, and of transactions that passed, which it has not. */
  follow({ ints, doubles, from, to }: Notes): void {
    const { sorter } = this.#transactions
    const hasTimes = this.#at.timeStamp >= 0 && this.#at.elapsed >= 0
    for (let at = from; at < to; at += layout.NOTE_INTS) {
      if (ints[at + layout.NOTE_SAMPLES] !== 0) this.#takeNoted(ints, doubles, at)
      else if (hasTimes) {
        const startMs = this.#sinceFirst(doubles[at / 2]!)
        const endMs = startMs + ints[at + layout.NOTE_ELAPSED]!
        sorter.addRequest(ints[at + layout.NOTE_THREAD]!, startMs, endMs, ints[at + layout.NOTE_FAILURES]!)
      }
    }
  }

  /** Called now and then, so that the kernel's window follows the time line. */
  followTimes(): void {
    this.#kernel?.line.follow(this.#requests.line)
  }

  /** Called between blocks of rows. */
  countWaiting(): void {
    this.#kernel?.requests.countWaiting()
    this.#kernel?.parts.countWaiting()
  }

  toParts(): SamplePart[] {
    const at = this.#at
    const hasLabels = at.label >= 0
    const description = {
      labels: hasLabels ? this.#labels.toStrings() : [''],
      hasLabels,
      hasElapsed: at.elapsed >= 0,
      hasTimes: at.timeStamp >= 0
    }
    const requests = this.#requests.toPart({ ...description, counts: true }, this.#kernel)
    const transactions = this.#transactions.toParts(description, this.#otherRows)
    return [requests, ...transactions, ...this.#partsOfSteps(description), ...this.#partAside(description)]
  }

  get doubts(): string[] {
    return this.#transactions.problems(this.#otherRows)
  }

  get #otherRows(): OtherRows {
    const hasEarly = this.#hasEarlyRequests || (this.#kernel?.early ?? 0) > 0
    const counted = (this.#kernel?.counted ?? 0) - this.#notedTransactions
    const hasRequests = hasEarly || !this.#requests.isEmpty || counted > 0
    return { hasRequests, hasNames: this.#threads.hasNames }
  }

  /** Reads what every row must have; false if something is missing. */
  #read(row: Row): boolean {
    const at = this.#at
    const values = this.#values
    values.elapsedMs = at.elapsed < 0 ? -1 : readNumber(row, at.elapsed)
    values.startMs = at.timeStamp < 0 ? -1 : this.#readTime(row)
    values.outcome = at.success < 0 ? 0 : readOutcome(row, at.success)
    values.threads = at.allThreads < 0 ? -1 : readNumber(row, at.allThreads)
    const isBad =
      (values.elapsedMs < 0 && at.elapsed >= 0) ||
      values.elapsedMs > MAX_ELAPSED_MS ||
      (values.startMs < 0 && at.timeStamp >= 0) ||
      values.outcome === NO_OUTCOME ||
      (values.threads < 0 && at.allThreads >= 0 && row.starts[at.allThreads] !== row.ends[at.allThreads]) ||
      (at.sampleCount >= 0 && readNumber(row, at.sampleCount) !== 1)
    return !isBad
  }

  #isEarly(startMs: number, elapsedMs: number, fromMs: number): boolean {
    return startMs < fromMs || startMs > this.#countToMs || startMs + elapsedMs < this.#countEndsFromMs
  }

  #isLeftOut(fromMs: number): boolean {
    const { startMs, elapsedMs } = this.#values
    const isOut = this.#at.timeStamp >= 0 && this.#isEarly(startMs, Math.max(0, elapsedMs), fromMs)
    if (isOut) this.#earlyRows++
    return isOut
  }

  /** A request that is not counted still shows what the transactions around it stand for. */
  #leaveOut(row: Row): void {
    if (this.#isPart(row)) return
    this.#hasEarlyRequests = true
    if (this.isFollowing) this.#follow(row)
  }

  /** The run lasts as long as its steps, and what happened when is what happened to them. */
  #partsOfSteps(description: Omit<PartDescription, 'counts'>): SamplePart[] {
    if (this.#at.partOf < 0) return []
    const part = this.#parts.toPart({ ...description, counts: false })
    if (part.times.length === 0 && (this.#parts.isEmpty || this.#details === undefined)) return []
    const line = new TimeLine().toScan()
    const stalls = { ...part.stalls, overall: [] }
    return [{ ...part, startMs: Infinity, endMs: -Infinity, line, stalls }]
  }

  /** A transaction counts like any other row of the group: none of them counts overall. */
  #takeAside(row: Row, { tally, fromMs }: AsideRows): number | undefined {
    if (this.#isLeftOut(fromMs)) return undefined
    const label = this.#labelOf(row)
    this.#count(tally, row, Math.max(0, label))
    return label < 0 ? undefined : label
  }

  #partAside(description: Omit<PartDescription, 'counts'>): SamplePart[] {
    if (this.#aside === undefined || this.#aside.tally.isEmpty) return []
    const part = this.#aside.tally.toPart({ ...description, counts: false })
    return [{ ...part, isAside: true, line: new TimeLine().toScan() }]
  }

  #isPart({ starts, ends }: Row): boolean {
    const { partOf } = this.#at
    return partOf >= 0 && starts[partOf] !== ends[partOf]
  }

  #count(tally: SampleTally, row: Row, label: number): void {
    const { elapsedMs, startMs, outcome, threads } = this.#values
    if (this.#details !== undefined) {
      this.#countDetails(this.#details, tally, row, label)
      return
    }
    tally.add(label * CELLS_A_LABEL + outcome, elapsedMs, startMs, threads)
    const isFollowed = tally !== this.#parts || this.scopeOf(label) > 0
    if (startMs >= 0 && elapsedMs >= 0 && isFollowed)
      tally.follow(startMs, startMs + elapsedMs, label, hashThread(row, this.#at))
    if (outcome === 1) tally.errors.add(label, findError(row, this.#at, this.#error))
  }

  /** The figures are those of the first reading. */
  #countDetails(reader: DetailReader, tally: SampleTally, row: Row, label: number): void {
    const { elapsedMs, startMs, outcome } = this.#values
    reader.read(row, elapsedMs)
    tally.addDetails(label, startMs, elapsedMs, outcome, reader.row)
    if (outcome === 0) return
    const reason = tally.errors.add(label, findError(row, this.#at, this.#error))
    tally.details?.addFailure(label, reason, startMs, () => reader.readFailed(row, startMs, elapsedMs))
  }

  #takeTransaction(row: Row, label: number, message: ControllerMessage): void {
    const { elapsedMs, startMs, outcome, threads } = this.#values
    const at = this.#at
    const idleMs = at.idleTime < 0 ? -1 : readNumber(row, at.idleTime)
    const [code, text] = outcome === 1 ? readError(findError(row, at, this.#error)) : ['', '']
    const isNameless = this.#threads.isNameless(row)
    const fromMs = this.#sinceFirst(startMs)
    this.thread = !isNameless && this.#canFollow(row) ? this.#threads.numberOf(row) : undefined
    // Without spreading: properties that follow a spread one are slow, and there may be hundreds of thousands.
    const transaction: Transaction = {
      label,
      outcome,
      elapsedMs,
      startMs,
      threads,
      samples: message.samples,
      failing: message.failing,
      thread: hashThread(row, at),
      controller: this.#controllerOf(label, this.thread),
      fromMs,
      toMs: fromMs + Math.max(0, elapsedMs) + Math.max(0, idleMs),
      isEndKnown: idleMs >= 0,
      kind: readControllerKind(row, at, outcome === 1),
      error: outcome === 1 ? { code, message: text } : undefined,
      details: this.#details?.keep(row, startMs, elapsedMs, outcome === 1)
    }
    if (isNameless) this.#transactions.addNameless(transaction)
    else this.#transactions.add(this.thread, transaction)
  }

  /** The same of one that passed, from the kernel's note. */
  #takeNoted(ints: Int32Array, doubles: Float64Array, at: number): void {
    this.#notedTransactions++
    const number = ints[at + layout.NOTE_THREAD]!
    const label = ints[at + layout.NOTE_LABEL]!
    const elapsedMs = this.#at.elapsed < 0 ? -1 : ints[at + layout.NOTE_ELAPSED]!
    const startMs = this.#at.timeStamp < 0 ? -1 : doubles[at / 2]!
    const idleMs = ints[at + layout.NOTE_IDLE]!
    const thread = this.#threads.of(number)
    const fromMs = this.#sinceFirst(startMs)
    const transaction: Transaction = {
      label,
      outcome: 0,
      elapsedMs,
      startMs,
      threads: ints[at + layout.NOTE_THREADS]!,
      samples: ints[at + layout.NOTE_SAMPLES]!,
      failing: ints[at + layout.NOTE_FAILING]!,
      thread: thread.hash,
      controller: this.#controllerOf(label, number),
      fromMs,
      toMs: fromMs + Math.max(0, elapsedMs) + Math.max(0, idleMs),
      isEndKnown: idleMs >= 0,
      kind: ints[at + layout.NOTE_LATENCY]! > 0 ? 'plain' : undefined,
      error: undefined,
      details: undefined
    }
    if (thread.isNameless) this.#transactions.addNameless(transaction)
    else this.#transactions.add(startMs < 0 || elapsedMs < 0 ? undefined : number, transaction)
  }

  /** Transactions with the same label and thread group probably come from one controller. */
  #controllerOf(label: number, thread: number | undefined): number {
    return thread === undefined ? 0 : label * MAX_GROUPS + this.#threads.of(thread).group
  }

  #follow(row: Row): void {
    const thread = this.#threads.numberOf(row)
    this.thread = thread
    const { elapsedMs, startMs, outcome } = this.#values
    if (thread === undefined || startMs < 0 || elapsedMs < 0) return
    const fromMs = this.#sinceFirst(startMs)
    this.#transactions.sorter.addRequest(thread, fromMs, fromMs + elapsedMs, outcome)
  }

  /** The clock of those that sort transactions begins with the first row: small integers cost no memory. */
  #sinceFirst(startMs: number): number {
    if (this.#firstMs < 0) this.#firstMs = startMs
    const sinceMs = startMs - this.#firstMs
    return sinceMs === (sinceMs | 0) ? sinceMs | 0 : sinceMs
  }

  /** Times in whole seconds are too coarse to show the order. */
  #canFollow({ buffer, starts, ends }: Row): boolean {
    const { timeStamp, elapsed } = this.#at
    if (timeStamp < 0 || elapsed < 0) return false
    const [start, end] = [starts[timeStamp]!, ends[timeStamp]!]
    return readDigits(buffer, start, end) >= 0 || FRACTION.test(latin1.decode(buffer.subarray(start, end)))
  }

  /** -1 if there are too many labels before it. */
  #labelOf(row: Row): number {
    const column = this.#at.label
    if (column < 0) return 0
    const start = row.starts[column]!
    const end = row.ends[column]!
    const label =
      row.hasEscapes && row.escapes[column] === 1
        ? this.#escapedLabel(row.buffer, start, end)
        : this.#labels.numberOf(row.buffer, start, end)
    if (label < 0)
      this.#problems.add(this.rows, 'there are too many different labels before it, or too long ones')
    return label
  }

  #escapedLabel(buffer: Uint8Array, start: number, end: number): number {
    if (end - start > this.#scratch.length) this.#scratch = new Uint8Array(end - start)
    const length = unescape({ buffer, start, end }, this.#scratch)
    return this.#labels.numberOf(this.#scratch, 0, length)
  }

  #explain(row: Row): void {
    const at = this.#at
    const { elapsedMs, outcome, startMs } = this.#values
    const say = (name: string, column: number, wanted: string) => {
      const found = quoteBytes(row.buffer, row.starts[column]!, row.ends[column]!)
      this.#problems.add(this.rows, `${name} is ${found}, not ${wanted}`)
    }
    if (at.timeStamp >= 0 && startMs < 0) say('timeStamp', at.timeStamp, 'epoch ms or a date, year first')
    else if (at.elapsed >= 0 && elapsedMs < 0) say('elapsed', at.elapsed, 'a whole number of ms')
    else if (elapsedMs > MAX_ELAPSED_MS) say('elapsed', at.elapsed, 'a plausible duration')
    else if (outcome === NO_OUTCOME) say('success', at.success, 'true or false')
    else if (at.sampleCount >= 0 && readNumber(row, at.sampleCount) !== 1)
      say('SampleCount', at.sampleCount, '1: each row must be one sample')
    else say('allThreads', at.allThreads, 'a whole number')
  }

  #readTime(row: Row): number {
    const { timeStamp } = this.#at
    const start = row.starts[timeStamp]!
    const end = row.ends[timeStamp]!
    this.isZoneless ??= lacksZone(row.buffer, start, end)
    return readTimestamp(row.buffer, start, end)
  }
}

function readNumber(row: RowFields, column: number): number {
  return readDigits(row.buffer, row.starts[column]!, row.ends[column]!)
}

function readOutcome(row: Row, column: number): number {
  const start = row.starts[column]!
  const length = row.ends[column]! - start
  if (length === TRUE.length && isWord(row.buffer, start, TRUE)) return 0
  if (length === FALSE.length && isWord(row.buffer, start, FALSE)) return 1
  return NO_OUTCOME
}

function isWord(buffer: Uint8Array, start: number, word: Uint8Array): boolean {
  for (let i = 0; i < word.length; i++) if ((buffer[start + i]! | 0x20) !== word[i]) return false
  return true
}

/** Records where a failed row says why: in its failure message if that has text, or else in its response message. */
function findError(row: RowFields, at: SampleColumns, fields: ErrorFields): ErrorFields {
  const { buffer, starts, ends } = row
  const column =
    at.failureMessage >= 0 && hasWords(buffer, starts[at.failureMessage]!, ends[at.failureMessage]!)
      ? at.failureMessage
      : at.responseMessage
  fields.bytes = buffer
  fields.codeStart = at.responseCode < 0 ? 0 : starts[at.responseCode]!
  fields.codeEnd = at.responseCode < 0 ? 0 : ends[at.responseCode]!
  fields.messageStart = column < 0 ? 0 : starts[column]!
  fields.messageEnd = column < 0 ? 0 : ends[column]!
  fields.escapes = row.hasEscapes ? (row.escapes[at.responseCode] ?? 0) + (row.escapes[column] ?? 0) * 2 : 0
  return fields
}

/** Quotes are not text: neither those around an empty field nor a message of nothing else. */
function hasWords(bytes: Uint8Array, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if (bytes[i]! > SPACE && bytes[i] !== QUOTE) return true
  return false
}

/** Writes the field to `target` with doubled quotes unescaped; returns its length there. */
function unescape(field: { buffer: Uint8Array; start: number; end: number }, target: Uint8Array): number {
  let length = 0
  for (let i = field.start; i < field.end; i++) {
    target[length++] = field.buffer[i]!
    if (field.buffer[i] === QUOTE) i++
  }
  return length
}
