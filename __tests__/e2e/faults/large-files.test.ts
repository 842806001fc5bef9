import { createWriteStream, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { mergeScans } from '../../../src/analysis/results/figures/merge.js'
import { scanFiles } from '../../../src/analysis/results/parallel/scan-files.js'
import { ByteScanner } from '../../../src/analysis/results/scan/byte-scanner.js'
import type { Measurements } from '../../../src/analysis/results/figures/measurements.js'
import { compileWorker } from '../../support/data/compile-worker.js'
import { quoteField } from '../../support/data/sample-csv.js'
import { makeRandom } from '../../support/data/seeded-random.js'
import { slice } from '../../support/slice.js'
import { asZonelessDate } from '../../support/evidence/made-run.js'

const COLUMNS = ['timeStamp', 'elapsed', 'label', 'responseCode', 'responseMessage', 'threadName', 'success']
/** Several threads read a file from 64 MB on. */
const SIZE = 68 * 1024 * 1024
const START_MS = 1_700_000_000_000
const inTransaction = (failing: number) =>
  `Number of samples in transaction : 1, number of failing samples : ${failing}`

let folder: string
let workerUrl: URL

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'loadgate-large-'))
  workerUrl = compileWorker(folder)
})

afterAll(() => rmSync(folder, { recursive: true }))

test.each(Array.from({ length: slice(2, 4) }, (_, i) => i + 1))(
  'a large file gives the same figures without the kernel and in 1, 2 and 4 threads: seed %i',
  async (seed) => {
    const path = join(folder, 'large.csv')
    await writeLarge(path, seed)
    expect(statSync(path).size).toBeGreaterThan(SIZE)
    const file = { path, grid: 'g', region: 'r' }
    const plain = new ByteScanner({ ...file, kernelFrom: Infinity })
    plain.push(readFileSync(path))
    const expected = show(mergeScans([plain.end()]))
    for (const threads of [1, 2, 4]) {
      const found = show(await scanFiles([file], { threads, workerUrl }))
      // Jest compares large objects slowly.
      const wrong = Object.keys(expected).filter((key) => found[key] !== expected[key])
      expect({ threads, wrong }).toEqual({ threads, wrong: [] })
    }
  }
)

/** Every few thousand rows, what is in them changes. */
async function writeLarge(path: string, seed: number): Promise<void> {
  const random = makeRandom(seed)
  const upTo = (most: number) => Math.floor(random() * most)
  const file = createWriteStream(path)
  const hasTransactions = seed % 4 === 0
  const freeMs = Array.from({ length: 20 }, () => START_MS)
  file.write(`${COLUMNS.join(',')}\n`)
  let [atMs, size] = [START_MS, 0]
  while (size <= SIZE) {
    const labels = [1, 40, 3000, 20_000][upTo(4)]!
    const slowest = [50, 2000, 60_000, 300_000][upTo(4)]!
    const isDated = random() < 0.2
    const failing = random() < 0.3 ? random() : 0.01
    const odd = random() < 0.3 ? 'in "quotes", 1\nand 2 ' : 'plain '
    const rows = Array.from({ length: 1 + upTo(20_000) }, () => {
      const thread = upTo(freeMs.length)
      const startMs = Math.max((atMs += upTo(3)), freeMs[thread]!)
      const elapsedMs = upTo(slowest)
      freeMs[thread] = startMs + elapsedMs
      const [isFailed, user] = [random() < failing, `users 1-${thread}`]
      const write = (label: string, message: string) => {
        const time = isDated ? asZonelessDate(startMs) : String(startMs)
        const row = [
          time,
          String(elapsedMs),
          label,
          isFailed ? '500' : '200',
          message,
          user,
          String(!isFailed)
        ]
        return `${row.map((field) => quoteField(field, ',')).join(',')}\n`
      }
      const request = write(`${odd}${upTo(labels)}`, `${odd}${upTo(9)}`)
      const isInTransaction = hasTransactions && size > SIZE / 2 && random() < 0.1
      return isInTransaction ? request + write('checkout', inTransaction(Number(isFailed))) : request
    })
    const text = rows.join('')
    size += text.length
    if (!file.write(text)) await once(file, 'drain')
  }
  file.end()
  await once(file, 'finish')
}

function show(measured: Measurements): Record<string, string> {
  const { sources, labels, series, startMs, endMs } = measured
  const some = labels.filter((_, i) => i % Math.ceil(labels.length / 50) === 0)
  const figures = [undefined, ...some].map((label) => {
    const scope = { ...(label !== undefined && { label }) }
    const found = measured.figures(scope)
    const percentiles = [0.1, 50, 95, 99, 100].map((percent) => found?.percentileMs(percent))
    return [label, found, percentiles]
  })
  const all = { sources, labels, series, span: [startMs, endMs], figures }
  return Object.fromEntries(Object.entries(all).map(([key, value]) => [key, JSON.stringify(value)]))
}
