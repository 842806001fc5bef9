import { LabelTable } from '../counts/label-table.js'
import { FAILING_MESSAGE, TRANSACTION_MESSAGE, type SampleColumns } from '../csv/header.js'
import { readDigits } from '../csv/timestamp.js'
import type { Row } from '../csv/row-splitter.js'
import type { KeptDetails } from '../details/detail-tally.js'
import { HASH_FACTOR, HASH_START } from '../kernel/assembly/layout.js'

/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index into a typed array is in range by construction */

const NULL = new TextEncoder().encode('null')
const ZERO = 48

export interface ControllerMessage {
  readonly samples: number
  readonly failing: number
}

/** What JMeter writes in the row of a transaction controller. Any server may say the same, so there must be neither data type nor URL. */
export function readControllerMessage(row: Row, at: SampleColumns): ControllerMessage | undefined {
  const column = at.responseMessage
  if (column < 0 || !holds(row, column, 0, TRANSACTION_MESSAGE)) return undefined
  if (at.dataType >= 0 && lengthOf(row, at.dataType) > 0) return undefined
  if (at.url >= 0 && !isNull(row, at.url)) return undefined
  const digits = countDigits(row, column, TRANSACTION_MESSAGE.length)
  if (digits === 0) return undefined
  const samples = readNumber(row, column, TRANSACTION_MESSAGE.length)
  const rest = TRANSACTION_MESSAGE.length + digits
  const hasFailing = holds(row, column, rest, FAILING_MESSAGE)
  return { samples, failing: hasFailing ? readNumber(row, column, rest + FAILING_MESSAGE.length) : 0 }
}

type ControllerKind = 'plain' | 'parent'

/** JMeter gives a parent sample no latency, and the code of a failed request; other controllers add up latencies and have no code. */
export function readControllerKind(
  row: Row,
  at: SampleColumns,
  isFailure: boolean
): ControllerKind | undefined {
  if (at.latency >= 0 && readNumber(row, at.latency, 0) > 0) return 'plain'
  return isFailure && at.responseCode >= 0 && lengthOf(row, at.responseCode) > 0 ? 'parent' : undefined
}

function isNull(row: Row, column: number): boolean {
  const length = lengthOf(row, column)
  return length === 0 || (length === NULL.length && holds(row, column, 0, NULL))
}

function lengthOf({ starts, ends }: Row, column: number): number {
  return ends[column]! - starts[column]!
}

/** Whether the text is `from` bytes after the field's start. */
function holds(row: Row, column: number, from: number, words: Uint8Array): boolean {
  const start = row.starts[column]! + from
  if (row.buffer[start] !== words[0] || lengthOf(row, column) < from + words.length) return false
  for (let i = 1; i < words.length; i++) if (row.buffer[start + i] !== words[i]) return false
  return true
}

function countDigits({ buffer, starts, ends }: Row, column: number, from: number): number {
  const start = starts[column]! + from
  let at = start
  while (at < ends[column]! && buffer[at]! >= ZERO && buffer[at]! < ZERO + 10) at++
  return at - start
}

function readNumber(row: Row, column: number, from: number): number {
  const start = row.starts[column]! + from
  const number = readDigits(row.buffer, start, start + countDigits(row, column, from))
  return number < 0 ? 0 : number
}

export interface Transaction {
  readonly label: number
  /** A hash of the name of its thread; 0 if it is unknown. */
  readonly thread: number
  /** The same number for all with the same label and thread group, which probably come from one controller. */
  readonly controller: number
  /** 0 is a success, 1 a failure. */
  readonly outcome: number
  readonly startMs: number
  readonly elapsedMs: number
  /** When it began and ended, by the clock of those that sort it. */
  readonly fromMs: number
  /** With idle times; the earliest possible end if the row does not say how long these were. */
  readonly toMs: number
  readonly isEndKnown: boolean
  readonly kind: ControllerKind | undefined
  /** How many samples it represents, and how many of them failed. */
  readonly samples: number
  readonly failing: number
  readonly threads: number
  readonly error: { readonly code: string; readonly message: string } | undefined
  /** Only of a second reading. */
  readonly details?: KeptDetails | undefined
}

export interface SortedTransaction {
  readonly transaction: Transaction
  /** Whether it counts in the overall figures. */
  readonly counts: boolean
}

const HYPHEN = 45

/** What is known of a thread from its names. */
export interface Thread {
  /** Tells it apart, as the kernel does; 0 if the CSV has no names. */
  readonly hash: number
  /** The number of its thread group. */
  readonly group: number
  /** Whether its name is empty. */
  readonly isNameless: boolean
}

/** Numbers the threads of a CSV by name, and by host if known. */
export class ThreadTable {
  readonly #at: SampleColumns
  readonly #names = new LabelTable()
  readonly #hosts = new LabelTable()
  readonly #numbers = new Map<number, number>()
  readonly #groups = new LabelTable()
  readonly #threads: Thread[] = []
  /** Whether any row named its thread. */
  hasNames = false

  constructor(at: SampleColumns) {
    this.#at = at
  }

  /** Undefined if the CSV has no thread names, or too many of them. */
  numberOf(row: Row): number | undefined {
    if (this.#at.threadName < 0) return undefined
    const name = numberIn(this.#names, row, this.#at.threadName)
    if (name < 0) {
      this.hasNames = true
      return undefined
    }
    const number = this.#at.hostname < 0 ? name : this.#numberOnHost(name, row)
    if (number === this.#threads.length) this.#threads.push(this.#read(row))
    return number
  }

  /** The thread that has this number. */
  of(number: number): Thread {
    return this.#threads[number]!
  }

  #numberOnHost(name: number, row: Row): number {
    const key = numberIn(this.#hosts, row, this.#at.hostname) * 2 ** 17 + name
    const known = this.#numbers.get(key) ?? this.#numbers.size
    if (known === this.#numbers.size) this.#numbers.set(key, known)
    return known
  }

  #read(row: Row): Thread {
    const isNameless = this.isNameless(row)
    this.hasNames ||= !isNameless
    return { hash: hashThread(row, this.#at), group: this.#groupOf(row), isNameless }
  }

  /** JMeter's thread names are the group's name, a hyphen and a number. */
  #groupOf({ buffer, starts, ends }: Row): number {
    const { threadName } = this.#at
    const [start, end] = [starts[threadName] ?? 0, ends[threadName] ?? 0]
    let hyphen = end
    while (hyphen > start && buffer[hyphen] !== HYPHEN) hyphen--
    return Math.max(0, this.#groups.numberOf(buffer, start, hyphen > start ? hyphen : end))
  }

  /** Whether the row has an empty name although the CSV has names. */
  isNameless(row: Row): boolean {
    const { threadName } = this.#at
    return threadName >= 0 && row.starts[threadName] === row.ends[threadName]
  }
}

function numberIn(table: LabelTable, { buffer, starts, ends }: Row, column: number): number {
  return table.numberOf(buffer, starts[column] ?? 0, ends[column] ?? 0)
}

/** Tells threads apart, as the kernel does: by their names, and their hosts if known. 0 if the CSV has no names. */
export function hashThread(row: Row, { threadName, hostname }: SampleColumns): number {
  if (threadName < 0) return 0
  const hash = hashField(row, threadName, HASH_START)
  return (hostname < 0 ? hash : hashField(row, hostname, hash)) >>> 0
}

function hashField({ buffer, starts, ends }: Row, column: number, from: number): number {
  let hash = from
  for (let i = starts[column]!; i < ends[column]!; i++) hash = Math.imul(hash ^ buffer[i]!, HASH_FACTOR)
  return hash
}
