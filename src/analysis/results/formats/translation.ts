/** The content of a result file of any tool as rows in JMeter's columns, which alone the figures are made from. */
export interface Translation {
  /** The header of the rows that follow. */
  readonly header: string
  /** Takes the next bytes, split anywhere, and returns the rows that they complete. */
  push(chunk: Uint8Array): string | Buffer
  /** The rows that the end completes. */
  end(): string | Buffer
  readonly facts: TranslationFacts
}

/** What a file says besides its samples. */
export interface TranslationFacts {
  /** Why the file is not complete evidence, in clauses: a row that cannot be read, or that has no end. */
  readonly problems: readonly string[]
  /** Load that the tool says was not generated, one sentence each. */
  readonly losses: readonly string[]
  /** What people should know of the figures, one sentence each. */
  readonly notes: readonly string[]
}

const PROBLEMS_SHOWN = 5

/** Rows that could not be read: the first few, and how many there are. */
export class BadRows {
  #count = 0
  readonly #shown: string[] = []

  add(row: number, words: string): void {
    this.#count++
    if (this.#shown.length < PROBLEMS_SHOWN) this.#shown.push(`row ${row}: ${words}`)
  }

  get problems(): string[] {
    const more = this.#count - this.#shown.length
    return more > 0 ? [...this.#shown, `${more} more rows cannot be read`] : [...this.#shown]
  }
}

/** A row of samples; times in ms. */
export interface SampleRow {
  readonly startMs: number
  readonly elapsedMs: number
  readonly label: string
  readonly code: string
  readonly thread: string
  readonly isFailed: boolean
  /** The message of a failure. */
  readonly message: string
  /** How many users there were; undefined if unknown. */
  readonly users?: number | undefined
  readonly bytes?: number
  /** Not empty for a row that counts for its own label only. */
  readonly partOf?: string
}

/** In the columns of `STEPS_HEADER`. */
export function formatRow(row: SampleRow): string {
  const { startMs, elapsedMs, code, thread, isFailed, users = '', bytes = 0, partOf = '' } = row
  const message = quoteField(row.message)
  return (
    `${Math.round(startMs)},${Math.round(elapsedMs)},${quoteField(row.label)},${quoteField(code)},${isFailed ? message : 'OK'},` +
    `${quoteField(thread)},text,${!isFailed},${isFailed ? message : ''},${bytes},0,${users},${users},,0,0,0,${quoteField(partOf)}\n`
  )
}

/** An address without its query, its parameters of the path and its password, in which anything may be. */
export function plainAddress(address: string): string {
  const [path = ''] = address.split(/[?#]/, 1)
  return path.replace(/(:\/\/)[^/]*@/, '$1').replace(/;[^/]*/g, '')
}

const SPECIAL = /[",\r\n\t\0]/

/** Whole, however long: whoever shows it cuts it, when secrets have been redacted. Half of one would not be found. */
export function quoteField(field: string): string {
  if (!SPECIAL.test(field)) return field
  const plain = field.replace(/[\r\n\t\0]+/g, ' ')
  return /[",]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain
}
