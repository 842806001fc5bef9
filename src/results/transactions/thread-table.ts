import { LabelTable } from '../counts/label-table.js'
import type { Row } from '../csv/row-splitter.js'
import type { SampleColumns } from '../csv/header.js'

const HYPHEN = 45

/** Where a field's text is in a row's bytes. */
export interface Field {
  readonly start: number
  readonly end: number
}

/** Numbers the threads of a CSV by name, and by host if known. */
export class ThreadTable {
  readonly #at: SampleColumns
  readonly #names = new LabelTable()
  readonly #hosts = new LabelTable()
  readonly #threads = new Map<number, number>()
  readonly #groups = new LabelTable()
  #hasNames = false

  constructor(at: SampleColumns) {
    this.#at = at
  }

  numberOf(row: Row): number | undefined {
    const { threadName, hostname } = this.#at
    this.#hasNames ||= threadName >= 0 && row.starts[threadName] !== row.ends[threadName]
    return this.numberAt(row.buffer, fieldOf(row, threadName), fieldOf(row, hostname))
  }

  /** Undefined if the CSV has no thread names, or too many of them. */
  numberAt(
    bytes: Uint8Array,
    threadName: Field | undefined,
    hostname: Field | undefined
  ): number | undefined {
    if (threadName === undefined) return undefined
    const name = this.#names.numberOf(bytes, threadName.start, threadName.end)
    if (name < 0 || hostname === undefined) return name < 0 ? undefined : name
    const key = this.#hosts.numberOf(bytes, hostname.start, hostname.end) * 2 ** 17 + name
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

  /** Whether any row named its thread. */
  get hasNames(): boolean {
    return this.#hasNames
  }

  /** Whether the row has an empty name although the CSV has names. */
  isNameless(row: Row): boolean {
    const { threadName } = this.#at
    return threadName >= 0 && row.starts[threadName] === row.ends[threadName]
  }
}

function fieldOf({ starts, ends }: Row, column: number): Field | undefined {
  return column < 0 ? undefined : { start: starts[column] ?? 0, end: ends[column] ?? 0 }
}
