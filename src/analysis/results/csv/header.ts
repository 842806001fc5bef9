import { RowSplitter } from './row-splitter.js'

const LF = 10
const CR = 13
const UTF8_BOM = [0xef, 0xbb, 0xbf]
const DELIMITERS = [',', ';', '\t', '|'] as const
const MAX_COLUMNS = 4096

/** The index of a column; -1 if the CSV does not have it. */
export interface SampleColumns {
  readonly timeStamp: number
  readonly elapsed: number
  readonly label: number
  readonly responseCode: number
  readonly responseMessage: number
  readonly threadName: number
  readonly dataType: number
  readonly success: number
  readonly failureMessage: number
  readonly allThreads: number
  readonly url: number
  readonly idleTime: number
  readonly sampleCount: number
  readonly hostname: number
  readonly latency: number
  /** The step whose time a row is part of, as the load time of its page is; such a row counts for its own label only. */
  readonly partOf: number
}

export interface TidyColumns {
  readonly time: number
  readonly measurement: number
  readonly label: number
  readonly region: number
  readonly grid: number
  readonly value: number
}

interface Dialect {
  readonly delimiter: number
  readonly columns: number
}

/** How to read the rows below a header. */
export type Layout =
  | (Dialect & { readonly shape: 'samples'; readonly at: SampleColumns })
  | (Dialect & { readonly shape: 'tidy'; readonly at: TidyColumns })
  | { readonly shape: 'unknown' }

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
    const find = (name: string) => names.indexOf(name)
    const tidy = {
      time: find('time'),
      measurement: find('measurement'),
      label: find('label'),
      region: find('region'),
      grid: find('grid'),
      value: find('value')
    }
    if (tidy.time >= 0 && tidy.measurement >= 0 && tidy.value >= 0)
      return { ...dialect, shape: 'tidy', at: tidy }
    const samples = {
      timeStamp: find('timestamp'),
      elapsed: find('elapsed'),
      label: find('label'),
      responseCode: find('responsecode'),
      responseMessage: find('responsemessage'),
      threadName: find('threadname'),
      dataType: find('datatype'),
      success: find('success'),
      failureMessage: find('failuremessage'),
      allThreads: find('allthreads'),
      url: find('url'),
      idleTime: find('idletime'),
      sampleCount: find('samplecount'),
      hostname: find('hostname'),
      latency: find('latency'),
      partOf: find('partof')
    }
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
      for (let i = 0; i < columns; i++) {
        names.push(new TextDecoder().decode(buffer.subarray(starts[i], ends[i])).trim().toLowerCase())
      }
    }
  )
  return names
}

/** JMeter's response message for a transaction controller's own row; the number of its samples follows. */
export const TRANSACTION_MESSAGE = new TextEncoder().encode('Number of samples in transaction : ')
