import { SAMPLE_COLUMNS } from '../../../contract/sample-row.js'
import { RowSplitter } from './row-splitter.js'

const LF = 10
const CR = 13
const UTF8_BOM = [0xef, 0xbb, 0xbf]
const DELIMITERS = [',', ';', '\t', '|'] as const
const MAX_COLUMNS = 4096

/** The index of a column; -1 if the CSV does not have it. */
export type SampleColumns = Readonly<Record<keyof typeof SAMPLE_COLUMNS, number>>

const TIDY_COLUMNS = ['time', 'measurement', 'label', 'region', 'grid', 'value'] as const

export type TidyColumns = Readonly<Record<(typeof TIDY_COLUMNS)[number], number>>

interface Dialect {
  readonly delimiter: number
  readonly columns: number
}

export type SampleLayout = Dialect & { readonly shape: 'samples'; readonly at: SampleColumns }
export type TidyLayout = Dialect & { readonly shape: 'tidy'; readonly at: TidyColumns }
export type Layout = SampleLayout | TidyLayout | { readonly shape: 'unknown' }

/** The first line without byte-order mark and line break, and where the rows begin; undefined while the line is incomplete. */
export function cutHeader(
  bytes: Uint8Array,
  isAll: boolean
): { line: Uint8Array; length: number } | undefined {
  const lineEnd = bytes.indexOf(LF)
  if (lineEnd < 0 && !isAll) return undefined
  const start = UTF8_BOM.every((byte, i) => bytes[i] === byte) ? UTF8_BOM.length : 0
  let end = lineEnd < 0 ? bytes.length : lineEnd
  if (bytes[end - 1] === CR) end--
  return { line: bytes.slice(start, Math.max(start, end)), length: lineEnd < 0 ? bytes.length : lineEnd + 1 }
}

/** Recognizes the format by the names in the header line, whatever their order and delimiter. */
export function readHeader(line: Uint8Array): Layout {
  for (const delimiter of DELIMITERS) {
    const names = namesOf(line, delimiter.charCodeAt(0))
    const dialect = { delimiter: delimiter.charCodeAt(0), columns: names.length }
    const find = (columns: readonly (readonly [string, string])[]) =>
      Object.fromEntries(columns.map(([key, name]) => [key, names.indexOf(name.toLowerCase())]))
    const tidy = find(TIDY_COLUMNS.map((name) => [name, name])) as TidyColumns
    if (tidy.time >= 0 && tidy.measurement >= 0 && tidy.value >= 0)
      return { ...dialect, shape: 'tidy', at: tidy }
    const samples = find(Object.entries(SAMPLE_COLUMNS)) as SampleColumns
    if (isSamples(samples)) return { ...dialect, shape: 'samples', at: samples }
  }
  return { shape: 'unknown' }
}

function isSamples(at: SampleColumns): boolean {
  const telling = [at.timeStamp, at.elapsed, at.label, at.success].filter((column) => column >= 0)
  return telling.length >= 2 && (at.elapsed >= 0 || at.timeStamp >= 0)
}

function namesOf(line: Uint8Array, delimiter: number): string[] {
  const buffer = new Uint8Array(line.length + 1)
  buffer.set(line)
  const names: string[] = []
  new RowSplitter(delimiter, MAX_COLUMNS).split(
    { buffer, length: line.length, limit: 1, isLast: true },
    ({ columns, starts, ends, fault }) => {
      if (fault !== undefined || columns > MAX_COLUMNS) return
      for (let i = 0; i < columns; i++)
        names.push(new TextDecoder().decode(buffer.subarray(starts[i], ends[i])).trim().toLowerCase())
    }
  )
  return names
}

/** JMeter's response message for a transaction controller's own row; the number of its samples follows. */
export const TRANSACTION_MESSAGE = new TextEncoder().encode('Number of samples in transaction : ')
/** What follows that number, if it is not alone: the number of those that failed is behind it. */
export const FAILING_MESSAGE = new TextEncoder().encode(', number of failing samples : ')
