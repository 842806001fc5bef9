import { explainRow, quoteBytes, type RowProblems } from './row-problems.js'
import { lacksZone, readDate } from '../csv/timestamp.js'
import { bucketWidthMs } from '../counts/time-line.js'
import type { Row } from '../csv/row-splitter.js'
import type { ScannerOptions, TidyBucket } from '../counts/scan-result.js'
import type { TidyColumns, TidyLayout } from '../csv/header.js'

type Figure = 'passed' | 'failed' | 'responseMs' | 'concurrency' | 'concurrentUsers'
type Draft = { -readonly [Key in keyof Omit<TidyBucket, 'users'>]: TidyBucket[Key] } & Record<Figure, number>

/** Measurements used for figures. The others are skipped: their units are unknown. */
const FIGURES: ReadonlyMap<string, Figure> = new Map<string, Figure>([
  ['passed', 'passed'],
  ['failed', 'failed'],
  ['response_time', 'responseMs'],
  ['concurrency', 'concurrency'],
  ['concurrent_users', 'concurrentUsers']
])
/** Of all buckets together, in characters: a row may be 16 MiB long, and each of them may have a bucket and a label of its own. */
const MAX_TEXT = 128 * 1024 * 1024
/** What a bucket takes besides its text, in characters. */
const BUCKET_TEXT = 100
const NUMBER = /^\d+(\.\d+)?([eE][+-]?\d{1,2})?$/
const EPOCH_MS = /^\d{1,15}$/

/** Reads the rows of a tidy CSV, one per bucket, measurement and label, and joins them to one entry per bucket and label. */
export class TidyReader {
  rows = 0
  readonly #at: TidyColumns
  readonly #columns: number
  readonly #problems: RowProblems
  readonly #options: ScannerOptions
  readonly #drafts = new Map<string, Draft>()
  #textLeft = MAX_TEXT
  /** Whether times are dates that do not say in which zone; undefined before the first one. */
  isZoneless: boolean | undefined
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true })

  constructor({ at, columns }: TidyLayout, problems: RowProblems, options: ScannerOptions) {
    this.#at = at
    this.#columns = columns
    this.#problems = problems
    this.#options = options
  }

  take(row: Row): void {
    this.rows++
    if (row.fault !== undefined || row.columns !== this.#columns) {
      this.#problems.add(this.rows, explainRow(row, this.#columns))
      return
    }
    const time = this.#text(row, this.#at.time)
    this.isZoneless ??= lacksZone(row.buffer, row.starts[this.#at.time] ?? 0, row.ends[this.#at.time] ?? 0)
    const atMs = EPOCH_MS.test(time) ? Number(time) : readDate(time)
    const figure = FIGURES.get(this.#text(row, this.#at.measurement))
    if (atMs === undefined) this.#complain(row, this.#at.time, 'Time', 'epoch ms or a date, year first')
    else if (figure !== undefined) this.#put(row, figure, atMs)
  }

  /** The width of the buckets, from all of them, left out or not: one alone does not show it. */
  get bucketMs(): number {
    return bucketWidthMs(Array.from(this.#drafts.values(), ({ atMs }) => atMs))
  }

  /** Those that start too early or too late are left out as a whole. */
  toBuckets(): TidyBucket[] {
    const drafts = [...this.#drafts.values()]
    for (const figure of ['passed', 'failed'] as const) {
      const isThere = drafts.some((draft) => !Number.isNaN(draft[figure]))
      if (this.rows > 0 && !isThere) this.#problems.add(0, `it has no rows of the measurement ${figure}`)
    }
    const { countFromMs = -Infinity, countToMs = Infinity } = this.#options
    const counted = drafts.filter(({ atMs }) => atMs >= countFromMs && atMs <= countToMs)
    return counted.map(({ concurrency, concurrentUsers, ...bucket }) => ({
      ...bucket,
      users: Number.isNaN(concurrency) ? concurrentUsers : concurrency
    }))
  }

  #put(row: Row, figure: Figure, atMs: number): void {
    const text = this.#text(row, this.#at.value)
    const value = NUMBER.test(text) ? Number(text) : NaN
    const draft = this.#draftOf(row, atMs)
    if (draft === undefined)
      this.#problems.add(
        this.rows,
        'there are too many different times and labels before it, or too long ones'
      )
    else if (Number.isNaN(value)) this.#complain(row, this.#at.value, 'Value', 'a number of 0 or more')
    else if (!Number.isNaN(draft[figure])) {
      this.#problems.add(this.rows, 'it repeats another row with the same time and label')
    } else if ((figure === 'passed' || figure === 'failed') && !Number.isInteger(value)) {
      this.#complain(row, this.#at.value, 'Value', 'a whole number of samples')
    } else draft[figure] = value
  }

  /** Undefined if there are too many before it. */
  #draftOf(row: Row, atMs: number): Draft | undefined {
    const label = this.#text(row, this.#at.label)
    const key = [atMs, this.#text(row, this.#at.region), this.#text(row, this.#at.grid), label].join('\n')
    let draft = this.#drafts.get(key)
    if (draft === undefined) {
      this.#textLeft -= key.length + BUCKET_TEXT
      if (this.#textLeft < 0) return undefined
      const nothing = { passed: NaN, failed: NaN, responseMs: NaN, concurrency: NaN, concurrentUsers: NaN }
      draft = { atMs, label, ...nothing }
      this.#drafts.set(key, draft)
    }
    return draft
  }

  #text(row: Row, column: number): string {
    if (column < 0) return ''
    const text = this.#decoder.decode(row.buffer.subarray(row.starts[column], row.ends[column]))
    return row.escapes[column] === 1 ? text.replaceAll('""', '"') : text
  }

  #complain(row: Row, column: number, name: string, wanted: string): void {
    const found = quoteBytes(row.buffer, row.starts[column] ?? 0, row.ends[column] ?? 0)
    this.#problems.add(this.rows, `${name} is ${found}, not ${wanted}`)
  }
}
