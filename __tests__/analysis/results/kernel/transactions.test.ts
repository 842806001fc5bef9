import { isDeepStrictEqual } from 'node:util'
import { expect, test } from '@jest/globals'
import type { ScanResult } from '../../../../src/analysis/results/counts/scan-result.js'
import type { ByteScannerOptions } from '../../../../src/analysis/results/scan/byte-scanner.js'
import { makeMachinesCsv } from '../../../support/data/machines-csv.js'
import { parseCsv } from '../../../support/data/naive-results.js'
import { makePlanCsv } from '../../../support/data/plan-csv.js'
import { quoteField } from '../../../support/data/sample-csv.js'
import { asFound, scanInSteps } from '../../../support/data/scan-in-steps.js'
import { Choice } from '../../../support/data/seeded-choice.js'
import { slice } from '../../../support/slice.js'

/** LOADGATE_SEED=17 takes one. */
const only = process.env.LOADGATE_SEED
const seeds = only === undefined ? Array.from({ length: slice(25, 600) }, (_, i) => i + 1) : [Number(only)]
const ASIDE = 'set "up"'
const KNOWN_ROWS = 40

type Cells = Record<string, string>

/** What a random plan writes, on one machine or several. */
function makeText(choice: Choice, seed: number): string {
  if (choice.chance(0.5)) return makeMachinesCsv(seed, { loops: choice.of([3, 10, 40]) }).text
  const options = { hasSubResults: choice.chance(0.5), nodes: choice.between(1, 2) }
  return makePlanCsv(seed, { ...options, isMixed: choice.chance(0.3), loops: choice.of([4, 12]) }).text
}

/** Rows of other threads and labels, before the first transaction. */
function makeKnown(choice: Choice, first: Cells): Cells[] {
  return Array.from({ length: choice.between(0, KNOWN_ROWS) }, (_, i) => ({
    ...first,
    ...{ elapsed: String(choice.between(5, 90)), label: `label ${i % 3}`, threadName: `known 1-${i % 2}` },
    ...{ responseMessage: 'OK', success: String(choice.chance(0.9)), dataType: 'text', URL: 'http://a' }
  }))
}

/** The same plan again, somewhat later: by other threads, or under other labels. */
function repeat(choice: Choice, rows: readonly Cells[]): Cells[] {
  const [thread, label] = choice.of([
    ['again ', ''],
    ['', ' again'],
    ['', '']
  ])
  return rows.map((row) => ({
    ...row,
    timeStamp: String(Number(row.timeStamp) + 1_000_000),
    threadName: row.threadName === '' ? '' : `${thread}${row.threadName}`,
    label: `${row.label}${label}`
  }))
}

/** What the kernel leaves to others, or might take for something else. */
function disturb(choice: Choice, row: Cells): Cells {
  const [date = '', time = ''] = new Date(Number(row.timeStamp)).toISOString().split(/[TZ]/)
  return {
    ...row,
    ...choice.of<Cells>([
      { timeStamp: `${date} ${time}` },
      { timeStamp: `${date} ${time.slice(0, 8)}` },
      { elapsed: 'x' },
      { elapsed: '70000' },
      { dataType: 'text' },
      { URL: 'http://a' },
      { URL: '' },
      { IdleTime: '' },
      { Latency: '5x' },
      { partOf: 'a step' },
      { threadName: '' },
      { responseMessage: 'Number of samples in transaction : 1' },
      { responseMessage: 'Number of samples in transaction : 0, number of failing samples : 0' },
      { responseMessage: 'Number of samples in transaction : 12, number of failing samples : 3' },
      { responseMessage: 'Number of samples in transaction : 123456789, number of failing samples : 0' },
      { responseMessage: 'Number of samples in transaction : 2, number of failing samples : 1x' },
      { responseMessage: 'Number of samples in transaction : 2; number of failing samples : 1' }
    ])
  }
}

interface Made {
  readonly bytes: Uint8Array
  readonly options: Partial<ByteScannerOptions>
}

function make(seed: number): Made {
  const choice = new Choice(seed)
  const [header = [], ...lines] = parseCsv(makeText(choice, seed))
  const own = lines.map((line): Cells => Object.fromEntries(header.map((name, i) => [name, line[i] ?? ''])))
  const nameThread = choice.of<(name: string, i: number) => string>([
    (name) => name,
    (name) => `the "great, long and quite unusual" group of ${name}`,
    (name, i) => (i % 9 === 0 ? `${ASIDE} 1-1` : name)
  ])
  const disturbed = choice.of([0, 0.01, 0.1])
  const rows = [...makeKnown(choice, own[0] ?? {}), ...own, ...repeat(choice, own)]
    .map((row, i): Cells => ({
      ...row,
      threadName: row.threadName === '' ? '' : nameThread(row.threadName ?? '', i),
      partOf: ''
    }))
    .map((row) => (choice.chance(disturbed) ? disturb(choice, row) : row))
  const left = choice.of([
    ['IdleTime'],
    ['Latency', 'partOf'],
    ['dataType', 'URL'],
    ['threadName'],
    [],
    [],
    []
  ])
  const kept = [...header, 'partOf'].filter((name) => !left.includes(name))
  const columns = choice.chance(0.3) ? kept.toReversed() : kept
  const lineBreak = choice.chance(0.2) ? '\r\n' : '\n'
  const written = rows.map((row) => columns.map((name) => quoteField(row[name] ?? '', ',')).join(','))
  const times = own.map(({ timeStamp }) => Number(timeStamp)).sort((a, b) => a - b)
  const options = choice.of<Partial<ByteScannerOptions>>([
    {},
    {},
    { countFromMs: times[Math.floor(times.length / 2)]! },
    { countToMs: times[Math.floor(times.length / 2)]! },
    { asideGroups: [ASIDE] }
  ])
  return { bytes: Buffer.from([columns.join(','), ...written, ''].join(lineBreak)), options }
}

test.each(seeds)('the kernel only differs in speed, with transactions of any kind (%i)', (seed) => {
  const { bytes, options } = make(seed)
  const choice = new Choice(seed)
  const most = choice.of([100, 5000, Infinity])
  const nextStep = () => (most === Infinity ? most : choice.between(1, most))
  const [counted, plain] = [0, Infinity].map((kernelFrom) =>
    scanInSteps(bytes, nextStep, { ...options, kernelFrom })
  ) as [ScanResult, ScanResult]
  const [one, other] = [asFound(counted), asFound(plain)]
  expect(isDeepStrictEqual(one, other) ? 'the same' : { one, other }).toBe('the same')
  expect(readAgain(bytes, options)).toEqual(sumSamples(counted))
})

function sumSamples({ parts }: ScanResult): number {
  return parts
    .filter(({ counts }) => counts)
    .reduce((sum, { samples }) => sum + samples.reduce((own, count) => own + count, 0), 0)
}

/** How many samples count in a second reading. */
function readAgain(bytes: Uint8Array, options: Partial<ByteScannerOptions>): number {
  const axis = { originMs: 0, bucketMs: 1e13, buckets: 1, bucketsALabelBucket: 1 }
  const details = { axis, hasTransactions: true, labels: [], errors: [] }
  const { parts } = scanInSteps(bytes, () => Infinity, { ...options, details })
  return parts
    .filter(({ counts }) => counts)
    .reduce((sum, part) => sum + (part.details?.overall.samples[0] ?? 0), 0)
}
