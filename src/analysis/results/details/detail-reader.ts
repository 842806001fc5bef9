/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index into a typed array is in range by construction */
import { shorten } from '../../../contract/text.js'
import { LabelTable, shortenLabel } from '../counts/label-table.js'
import type { SampleColumns } from '../csv/header.js'
import type { RowFields } from '../csv/row-splitter.js'
import { readDigits } from '../csv/timestamp.js'
import { plainAddress } from '../formats/translation.js'
import { grow } from '../typed-arrays.js'
import type { DetailOptions, FailedSample } from './detail-scan.js'
import { DetailTally, type DetailNames, type KeptDetails, type RowDetails } from './detail-tally.js'

/** More than a report shows, so that the most frequent ones of all CSVs are among them. */
const MOST_CODES = 100
const MAX_LENGTH = 200
/** Enough for this many characters, whatever they are. */
const MAX_BYTES = MAX_LENGTH * 4
/** A shorter time may well have its first byte within the same millisecond. */
const LONGEST_WITHOUT_LATENCY_MS = 1
const UNKNOWN = -2
const decoder = new TextDecoder()

/** Reads what the figures do not need from the rows of a CSV. What a row does not have, or not as a plain number, is left out. */
export class DetailReader implements DetailNames {
  readonly #at: SampleColumns
  readonly #options: DetailOptions
  readonly #textOf: (label: number) => string
  readonly #codes = new LabelTable()
  readonly #indexes = new Map<string, number>()
  readonly #errors = new Map<string, Map<string, number>>()
  /** By the numbers of labels. */
  #labelIndexes = new Int16Array(64).fill(UNKNOWN)
  /** Of the row that was read last; reused for every row. */
  readonly row: RowDetails = { code: 0, connectMs: -1, latencyMs: -1, received: 0, sent: 0 }

  constructor(at: SampleColumns, options: DetailOptions, textOf: (label: number) => string) {
    this.#at = at
    this.#options = options
    this.#textOf = textOf
    options.labels.forEach((label, i) => this.#indexes.set(label, i))
    options.errors.forEach(({ label, code, message }, i) => {
      const known = this.#errors.get(label) ?? new Map<string, number>()
      this.#errors.set(label, known.set(`${code}\n${message}`, i))
    })
  }

  createTally(): DetailTally {
    return new DetailTally(this.#options, this)
  }

  read(fields: RowFields, elapsedMs: number): void {
    const { row } = this
    const { responseCode, connect, latency, bytes, sentBytes } = this.#at
    row.code = responseCode < 0 ? MOST_CODES : this.#codeIn(fields, responseCode)
    row.received = bytes < 0 ? 0 : Math.max(0, numberIn(fields, bytes))
    row.sent = sentBytes < 0 ? 0 : Math.max(0, numberIn(fields, sentBytes))
    row.connectMs = connect < 0 ? -1 : numberIn(fields, connect)
    row.latencyMs = latency < 0 ? -1 : numberIn(fields, latency)
    const isMeasured = row.latencyMs > 0 || elapsedMs <= LONGEST_WITHOUT_LATENCY_MS
    const isPlausible = row.connectMs <= row.latencyMs && row.latencyMs <= elapsedMs
    if (!isMeasured || !isPlausible || row.connectMs < 0) row.connectMs = -1
  }

  /** The same for a row that is counted later. */
  keep(fields: RowFields, startMs: number, elapsedMs: number, isFailure: boolean): KeptDetails {
    this.read(fields, elapsedMs)
    const failed = isFailure ? this.readFailed(fields, startMs, elapsedMs) : undefined
    return { row: { ...this.row }, failed }
  }

  readFailed(fields: RowFields, startMs: number, elapsedMs: number): FailedSample {
    const { threadName, url } = this.#at
    // Cut when nothing is in it any more that must not be shown.
    const address = plainAddress(textIn(fields, url, Infinity))
    return {
      ...{ atMs: startMs, elapsedMs: Math.max(0, elapsedMs) },
      thread: shorten(textIn(fields, threadName), MAX_LENGTH),
      // What JMeter writes for a row without an address.
      ...(address !== '' && address !== 'null' && { url: shorten(address, MAX_LENGTH) })
    }
  }

  labelIndex(label: number): number {
    const { length } = this.#labelIndexes
    if (label >= length)
      this.#labelIndexes = grow(
        this.#labelIndexes,
        new Int16Array(Math.max(label + 1, length * 2)).fill(UNKNOWN)
      )
    const known = this.#labelIndexes[label]!
    if (known !== UNKNOWN) return known
    return (this.#labelIndexes[label] = this.#indexes.get(this.#nameOf(label)) ?? -1)
  }

  errorIndex(label: number, reason: string): number {
    return this.#errors.get(this.#nameOf(label))?.get(reason) ?? -1
  }

  readonly codeOf = (code: number): string | undefined => {
    if (this.#at.responseCode < 0) return ''
    return code < MOST_CODES ? shorten(this.#codes.textOf(code), MAX_LENGTH) : undefined
  }

  #codeIn(fields: RowFields, column: number): number {
    const isEscaped = fields.hasEscapes && fields.escapes[column] === 1
    const plain = isEscaped ? new TextEncoder().encode(textIn(fields, column)) : undefined
    const [buffer, start, end] = plain
      ? [plain, 0, plain.length]
      : [fields.buffer, fields.starts[column]!, fields.ends[column]!]
    const code = this.#codes.numberOf(buffer, start, Math.min(end, start + MAX_BYTES))
    return code < 0 ? MOST_CODES : Math.min(code, MOST_CODES)
  }

  #nameOf(label: number): string {
    return shortenLabel(this.#textOf(label))
  }
}

function numberIn({ buffer, starts, ends }: RowFields, column: number): number {
  return readDigits(buffer, starts[column]!, ends[column]!)
}

function textIn(fields: RowFields, column: number, mostBytes = MAX_BYTES): string {
  if (column < 0) return ''
  const { buffer, starts, ends, escapes, hasEscapes } = fields
  const start = starts[column]!
  const text = decoder.decode(buffer.subarray(start, Math.min(ends[column]!, start + mostBytes)))
  return hasEscapes && escapes[column] === 1 ? text.replaceAll('""', '"') : text
}
