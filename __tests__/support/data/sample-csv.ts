import { ByteScanner } from '../../../src/analysis/results/scan/byte-scanner.js'
import { mergeScans } from '../../../src/analysis/results/figures/merge.js'
import { makeRandom } from './seeded-random.js'
import type { Measurements } from '../../../src/analysis/results/figures/measurements.js'

export const JMETER_COLUMNS = [
  ...[
    'timeStamp',
    'elapsed',
    'label',
    'responseCode',
    'responseMessage',
    'threadName',
    'dataType',
    'success'
  ],
  ...[
    'failureMessage',
    'bytes',
    'sentBytes',
    'grpThreads',
    'allThreads',
    'URL',
    'Latency',
    'IdleTime',
    'Connect'
  ]
]

export interface CsvStyle {
  readonly delimiter: string
  readonly lineBreak: string
  readonly bom: boolean
  readonly finalLineBreak: boolean
  readonly columns: readonly string[]
  readonly success: (isSuccess: boolean) => string
}

const LABELS = [
  'home',
  'login, first',
  'say "hi"',
  'Käse',
  'two\nlines',
  'semi;colon',
  'tab\there',
  '',
  'home '
]
const MESSAGES = ['', 'Test failed', 'expected a,\n"b"', 'many\r\nlines\r\n', '""', "it's", 'ends with "']

/**
 * A JMeter CSV with every oddity that quotes can make, the same for the same seed. A transaction stands for the request before it in its thread,
 * or for none.
 */
export function makeSampleCsv(seed: number, rows: number, style: Partial<CsvStyle> = {}): string {
  const { delimiter = ',', lineBreak = '\n', columns = JMETER_COLUMNS } = style
  const random = makeRandom(seed)
  const threads = Array.from({ length: 9 }, () => ({ startMs: 0, elapsedMs: 0, requests: 0 }))
  const pick = <Item>(list: readonly Item[]) => list[Math.floor(random() * list.length)]!
  const lines = Array.from({ length: rows }, (_, row) => {
    const isBad = random() < 0.2
    const isTransaction = random() < 0.15 && row > 0
    const number = Math.floor(random() * threads.length)
    const thread = threads[number]!
    const freeMs = thread.startMs + thread.elapsedMs
    const startMs = Math.max(freeMs, 1_700_000_000_000 + row * 37) + Math.floor(random() * 900)
    const elapsedMs =
      random() < 0.02 ? 60_000 + Math.floor(random() * 5000) : Math.floor(random() ** 3 * 3000)
    if (!isTransaction) Object.assign(thread, { startMs, elapsedMs, requests: 1 })
    const inside = Math.min(thread.requests, Math.floor(random() * 3))
    // A controller without samples does not fail.
    const isFailure = isBad && !(isTransaction && inside === 0)
    const values: Record<string, string> = {
      timeStamp: String(thread.requests === 0 ? startMs : thread.startMs),
      elapsed: String(thread.elapsedMs),
      label: isTransaction ? 'checkout' : pick(LABELS),
      responseCode: isFailure ? '500' : '200',
      responseMessage: isTransaction
        ? `Number of samples in transaction : ${inside}, number of failing samples : 0`
        : pick(['OK', 'Not "found"', 'No', '']),
      threadName: `group, one 1-${number}`,
      dataType: isTransaction ? '' : 'text',
      success: (style.success ?? String)(!isFailure),
      failureMessage: isFailure ? pick(MESSAGES) : '',
      allThreads: String(1 + Math.floor(random() * 9)),
      URL: isTransaction ? 'null' : pick(['null', 'http://127.0.0.1/a?b=c,d', ''])
    }
    return columns.map((name) => quoteField(values[name] ?? '0', delimiter)).join(delimiter)
  })
  const text = [columns.join(delimiter), ...lines].join(lineBreak)
  return `${style.bom === true ? '\uFEFF' : ''}${text}${style.finalLineBreak === false ? '' : lineBreak}`
}

/** As JMeter quotes: only where it must. */
export function quoteField(text: string, delimiter: string): string {
  const needsQuotes = [delimiter, '"', '\n', '\r'].some((special) => text.includes(special))
  return needsQuotes ? `"${text.replaceAll('"', '""')}"` : text
}

/** Scans text in pieces of `step` bytes. */
export function scanText(text: string | Uint8Array, step = Infinity, grid = 'g', region = 'r') {
  const bytes = typeof text === 'string' ? new TextEncoder().encode(text) : text
  const scanner = new ByteScanner({ grid, region })
  for (let at = 0; at < bytes.length; at += step)
    scanner.push(bytes.subarray(at, Math.min(bytes.length, at + step)))
  return scanner.end()
}

export function measure(...texts: (string | Uint8Array)[]): Measurements {
  return mergeScans(texts.map((text, i) => scanText(text, Infinity, `grid-${i + 1}`, `region-${i + 1}`)))
}

/** All that can be asked, as plain data to compare. */
export function snapshot(measured: Measurements) {
  const { sources, labels, regions, grids, series, startMs, endMs } = measured
  const scopes = [{}, ...labels.map((label) => ({ label })), ...grids.map((grid) => ({ grid }))]
  const figures = scopes.map((scope) => {
    const found = measured.figures(scope)
    const percentiles = [1, 50, 90, 95, 99, 99.9, 100].map((percent) => found?.percentileMs(percent))
    return {
      ...scope,
      errors: measured.errors(scope),
      ...found,
      percentileMs: percentiles,
      apdex: [10, 200, 999].map((t) => found?.apdex(t)),
      countTimes: found?.countTimes(),
      overTime: found?.overTime()
    }
  })
  return { sources, labels, regions, grids, series, startMs, endMs, figures }
}
