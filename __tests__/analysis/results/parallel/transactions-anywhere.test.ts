import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { mergeScans } from '../../../../src/analysis/results/figures/merge.js'
import { ArrivingScan } from '../../../../src/analysis/results/parallel/arriving-scan.js'
import { scanFiles } from '../../../../src/analysis/results/parallel/scan-files.js'
import { ByteScanner } from '../../../../src/analysis/results/scan/byte-scanner.js'
import { compileWorker } from '../../../support/data/compile-worker.js'
import { JMETER_COLUMNS, snapshot } from '../../../support/data/sample-csv.js'

let folder: string
let workerUrl: URL

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'loadgate-transactions-'))
  workerUrl = compileWorker(folder)
})

afterAll(() => rmSync(folder, { recursive: true }))

interface Shape {
  readonly threads: number
  readonly iterations: number
  readonly requests: number
  readonly stepMs: number
  /** All threads start within this time. */
  readonly spreadMs: number
  readonly writeTime?: (ms: number) => string
  readonly isQuoted?: boolean
  readonly columns?: readonly string[]
  readonly lineBreak?: string
}

const asDate = (ms: number) =>
  new Date(ms).toISOString().replaceAll('-', '/').replace('T', ' ').replace('Z', '')
const USUAL: Shape = { threads: 20, iterations: 20, requests: 7, stepMs: 200, spreadMs: 2000 }
const MESSAGE_LAST = [...JMETER_COLUMNS.filter((name) => name !== 'responseMessage'), 'responseMessage']

/** Every request belongs to a transaction, so only requests count. */
function makeCsv(shape: Shape): string {
  const { threads, iterations, requests, stepMs, spreadMs, writeTime = String, isQuoted = false } = shape
  const { columns = JMETER_COLUMNS, lineBreak = '\n' } = shape
  const rows: { endMs: number; line: string }[] = []
  const put = (endMs: number, values: Record<string, string | number>) => {
    const fields = columns.map((name) => String(values[name] ?? ''))
    const line = fields.map((text) => (isQuoted || text.includes(',') ? `"${text}"` : text)).join(',')
    rows.push({ endMs, line: line + lineBreak })
  }
  for (let thread = 0; thread < threads; thread++)
    for (let i = 0; i < iterations; i++) {
      const startMs =
        1_700_000_000_000 + Math.floor((thread * spreadMs) / threads) + i * (requests * stepMs + 1000)
      const common = {
        success: 'true',
        threadName: `Users 1-${thread}`,
        responseCode: 200,
        allThreads: threads
      }
      for (let n = 0; n < requests; n++) {
        const atMs = startMs + n * stepMs
        const values = {
          ...common,
          timeStamp: writeTime(atMs),
          elapsed: 100,
          label: `request ${n}`,
          URL: 'http://shop'
        }
        put(atMs + 100, { ...values, responseMessage: 'OK', dataType: 'text', Latency: 40 })
      }
      put(startMs + requests * stepMs, {
        ...{ ...common, timeStamp: writeTime(startMs), elapsed: requests * stepMs, label: 'journey' },
        responseMessage: `Number of samples in transaction : ${requests}, number of failing samples : 0`,
        ...{ URL: 'null', Latency: 280 }
      })
    }
  rows.sort((one, other) => one.endMs - other.endMs)
  return columns.join(',') + lineBreak + rows.map(({ line }) => line).join('')
}

async function readEachWay(text: string) {
  const path = join(folder, 'transactions.csv')
  writeFileSync(path, text)
  const file = { path, grid: 'g', region: 'r' }
  const bytes = Buffer.from(text)
  const pushed = new ByteScanner({ grid: 'g', region: 'r', kernelFrom: 0 })
  const arriving = new ArrivingScan(file, { threadFromBytes: bytes.length / 2, workerUrl })
  for (let at = 0; at < bytes.length; at += 65_536)
    for (const reader of [pushed, arriving]) reader.push(bytes.subarray(at, at + 65_536))
  return {
    pushed: mergeScans([pushed.end()]),
    arriving: mergeScans([await arriving.end(path)]),
    'one thread': await scanFiles([file], { threads: 1 }),
    'two threads': await scanFiles([file], { threads: 2, workerUrl })
  }
}

// The kernel leaves such rows to the reader, or has counted the requests before a transaction long ago.
describe('transactions are sorted by all rows of their threads', () => {
  test.each<[string, Shape]>([
    ['ordinary rows', USUAL],
    ['dates', { ...USUAL, writeTime: asDate }],
    ['quotes around all fields', { ...USUAL, isQuoted: true }],
    ['the message in the last column, with CRLF', { ...USUAL, columns: MESSAGE_LAST, lineBreak: '\r\n' }],
    ['transactions that take longer than the kernel counts', { ...USUAL, stepMs: 10_000 }],
    [
      'a thousand users who start together',
      { threads: 1000, iterations: 2, requests: 3, stepMs: 200, spreadMs: 500 }
    ]
  ])('%s', async (_, shape) => {
    const text = makeCsv(shape)
    const plain = new ByteScanner({ grid: 'g', region: 'r', kernelFrom: Infinity })
    plain.push(Buffer.from(text))
    const expected = mergeScans([plain.end()])
    expect(expected.figures({})).toMatchObject({ samples: shape.threads * shape.iterations * shape.requests })
    expect(expected.sources[0]!.problems).toEqual([])
    for (const [way, found] of Object.entries(await readEachWay(text)))
      expect({ way, found: snapshot(found) }).toEqual({ way, found: snapshot(expected) })
  })
})

describe('a machine without a spare thread', () => {
  const url = new URL('no-such:worker')

  test('reads what another thread would', async () => {
    const text = makeCsv({ ...USUAL, requests: 1 }).replaceAll(/^.*Number of samples.*\n/gm, '')
    const path = join(folder, 'alone.csv')
    writeFileSync(path, text)
    const file = { path, grid: 'g', region: 'r' }
    const arriving = new ArrivingScan(file, { threadFromBytes: 1000, workerUrl: url })
    const bytes = Buffer.from(text)
    for (let at = 0; at < bytes.length; at += 500) arriving.push(bytes.subarray(at, at + 500))
    expect(arriving.hasThread).toBe(false)
    const found = [
      mergeScans([await arriving.end(path)]),
      await scanFiles([file], { threads: 2, workerUrl: url })
    ]
    for (const measured of found) expect(measured.figures({})).toMatchObject({ samples: 400, failures: 0 })
  })
})

test('a row whose partOf is empty, but in quotes, counts', () => {
  const rows = Array.from(
    { length: 500 },
    (_, i) => `${1000 + i},5,a,true,${i % 2 === 0 ? '""' : '"step"'}\n`
  )
  const bytes = Buffer.from(`timeStamp,elapsed,label,success,partOf\n${rows.join('')}`)
  for (const kernelFrom of [0, Infinity]) {
    const scanner = new ByteScanner({ grid: 'g', region: 'r', kernelFrom })
    scanner.push(bytes)
    expect(mergeScans([scanner.end()]).figures({})?.samples).toBe(250)
  }
})
