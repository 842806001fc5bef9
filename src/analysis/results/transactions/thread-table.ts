import { LabelTable } from '../counts/label-table.js'
import type { Row } from '../csv/row-splitter.js'
import type { SampleColumns } from '../csv/header.js'
import { HASH_FACTOR, HASH_START } from '../kernel/assembly/layout.js'

const HYPHEN = 45

/** Numbers the threads of a CSV by name, and by host if known. */
export class ThreadTable {
  readonly #at: SampleColumns
  readonly #names = new LabelTable()
  readonly #hosts = new LabelTable()
  readonly #threads = new Map<number, number>()
  readonly #groups = new LabelTable()
  /** Whether any row named its thread. */
  hasNames = false

  constructor(at: SampleColumns) {
    this.#at = at
  }

  /** Undefined if the CSV has no thread names, or too many of them. */
  numberOf(row: Row): number | undefined {
    if (this.#at.threadName < 0) return undefined
    const name = numberIn(this.#names, row, this.#at.threadName)
    this.hasNames ||= row.starts[this.#at.threadName] !== row.ends[this.#at.threadName]
    if (name < 0 || this.#at.hostname < 0) return name < 0 ? undefined : name
    const key = numberIn(this.#hosts, row, this.#at.hostname) * 2 ** 17 + name
    const known = this.#threads.get(key) ?? this.#threads.size
    if (known === this.#threads.size) this.#threads.set(key, known)
    return known
  }

  /** The number of the thread group: JMeter's thread names are the group's name, a hyphen and a number. */
  groupOf({ buffer, starts, ends }: Row): number {
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

/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index into a typed array is in range by construction */

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
