import { describe, expect, test } from '@jest/globals'
import { OF_ASIDE } from '../../../../src/analysis/results/counts/error-table.js'
import { readHeader } from '../../../../src/analysis/results/csv/header.js'
import { RowSplitter } from '../../../../src/analysis/results/csv/row-splitter.js'
import { mergeScans } from '../../../../src/analysis/results/figures/merge.js'
import type { Measurements } from '../../../../src/analysis/results/figures/measurements.js'
import { AsideThreads } from '../../../../src/analysis/results/scan/aside-threads.js'
import { ByteScanner, type ByteScannerOptions } from '../../../../src/analysis/results/scan/byte-scanner.js'
import { makeRandom } from '../../../support/data/seeded-random.js'

const HEADER =
  'timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,allThreads,IdleTime'
const GROUPS = ['setUp', 'log "in"', 'tearDown, last']
const START_MS = 1_760_000_000_000

const quoted = (text: string): string => (/[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
const TRANSACTION = 'Number of samples in transaction : 1, number of failing samples : 0'

interface Line {
  readonly isAside: boolean
  readonly text: string
}

/** Users with transactions or without, and setUp and tearDown threads among them; JMeter puts a host before the name, or nothing. */
function makeRows(seed: number, transactionsOf: 'nobody' | 'setUp' | 'all'): Line[] {
  const random = makeRandom(seed)
  const whole = (most: number): number => Math.floor(random() * most)
  const host = ['', 'node1-', '10.0.0.5:1099-'][whole(3)]!
  const lines: Line[] = []
  let atMs = START_MS
  for (let i = 0; i < 4_000; i++) {
    const isAside = random() < 0.1
    const group = isAside ? GROUPS[whole(GROUPS.length)]! : ['users', 'setUp users', 'my setUp'][whole(3)]!
    const thread = quoted(`${host}${group} 1-${1 + whole(5)}`)
    const elapsedMs = whole(random() < 0.02 ? 9_000 : 300)
    // Both have this one.
    const label = quoted(whole(5) === 0 ? 'shared, label' : `${isAside ? 'aside' : 'load'} ${whole(4)}`)
    const isFailed = random() < 0.2
    const cells = isFailed
      ? ['500', `broken ${whole(3)}`, thread, 'text', 'false']
      : ['200', 'OK', thread, 'text', 'true']
    lines.push({ isAside, text: `${[atMs, elapsedMs, label, ...cells, 5, 0].join(',')}\n` })
    // After its request, in the same thread.
    const mayHave = transactionsOf === 'all' || (isAside && transactionsOf === 'setUp')
    if (mayHave && random() < 0.3) {
      const own = [atMs, elapsedMs, 'visit', '200', quoted(TRANSACTION), thread, '', 'true', 5, 0]
      lines.push({ isAside, text: `${own.join(',')}\n` })
    }
    atMs += whole(40)
  }
  return lines
}

function scan(lines: readonly Line[], options: Partial<ByteScannerOptions> = {}): Measurements {
  const scanner = new ByteScanner({
    ...{ grid: 'g', region: 'r', stallLabels: [['shared, label'], ['load 1'], ['aside 1']] },
    ...options
  })
  scanner.push(Buffer.from(`${HEADER}\n${lines.map(({ text }) => text).join('')}`))
  const result = scanner.end()
  expect(result.problems).toEqual([])
  return mergeScans([result])
}

function overallOf(found: Measurements) {
  const figures = found.figures({})
  const { samples, failures, throughput, meanMs, minMs, maxMs } = figures!
  return {
    ...{ samples, failures, throughput, meanMs, minMs, maxMs, startMs: found.startMs, endMs: found.endMs },
    percentiles: [1, 50, 95, 99.9].map((percent) => figures!.percentileMs(percent)),
    apdex: figures!.apdex(100),
    overTime: figures!.overTime(),
    errors: found.errors({}).filter(({ message }) => !message.endsWith(OF_ASIDE)),
    series: found.series
  }
}

function labelOf(found: Measurements, label: string) {
  const figures = found.figures({ label })
  const { samples, failures, meanMs, minMs, maxMs } = figures!
  const errors = new Map<string, number>()
  for (const { message, count } of found.errors({ label })) {
    const plain = message.replace(OF_ASIDE, '')
    errors.set(plain, count + (errors.get(plain) ?? 0))
  }
  return { samples, failures, meanMs, minMs, maxMs, p90: figures!.percentileMs(90), errors }
}

describe.each([
  { by: 'the kernel', kernelFrom: 0 },
  { by: 'the plain reader', kernelFrom: Infinity }
])('rows of setUp and tearDown groups, read by $by', ({ kernelFrom }) => {
  test.each([
    [1, 'nobody'],
    [2, 'nobody'],
    [3, 'setUp'],
    [4, 'setUp'],
    [5, 'all'],
    [6, 'all']
  ] as const)('overall, it is as if they were not there (%i, transactions of %s)', (seed, transactionsOf) => {
    const all = makeRows(seed, transactionsOf)
    const load = all.filter(({ isAside }) => !isAside)
    const found = scan(all, { kernelFrom, asideGroups: GROUPS })
    expect(overallOf(found)).toEqual(overallOf(scan(load)))
    // They are there, and make a difference where nobody knows of the groups.
    expect(scan(all).figures({})!.samples).toBeGreaterThan(found.figures({})!.samples)
  })

  test.each([
    [7, 'nobody'],
    [8, 'setUp']
  ] as const)(
    'for their labels, they count like any other row (%i, transactions of %s)',
    (seed, transactionsOf) => {
      const all = makeRows(seed, transactionsOf)
      const found = scan(all, { kernelFrom, asideGroups: GROUPS })
      const plain = scan(all, { asideGroups: [] })
      for (const label of ['aside 0', 'aside 3', 'shared, label', 'load 2', ...(seed === 8 ? ['visit'] : [])])
        expect([label, labelOf(found, label)]).toEqual([label, labelOf(plain, label)])
      expect(found.labels).toEqual(plain.labels)
    }
  )

  test('a time before which nothing counts leaves them out, a warm-up does not', () => {
    const all = makeRows(9, 'nobody')
    const fromMs = START_MS + 20_000
    const late = all.filter(({ text }) => Number(text.split(',')[0]) >= fromMs)
    const options = { kernelFrom, asideGroups: GROUPS, countFromMs: fromMs }
    expect(labelOf(scan(all, options), 'aside 1')).toEqual(
      labelOf(scan(late, { asideGroups: GROUPS }), 'aside 1')
    )
    const warm = scan(all, { ...options, asideFromMs: -Infinity })
    expect(labelOf(warm, 'aside 1')).toEqual(labelOf(scan(all), 'aside 1'))
    expect(overallOf(warm)).toEqual(overallOf(scan(late.filter(({ isAside }) => !isAside))))
  })
})

test.each([
  ['setUp 1-1', true],
  ['setUp 12-345', true],
  ['node2-setUp 1-1', true],
  ['10.0.0.5:1099-setUp 1-1', true],
  ['"setUp 1-1"', true],
  ['"log ""in"" 1-1"', true],
  ['my setUp 1-1', false],
  ['my node-setUp 1-1', false],
  ['mysetUp 1-1', false],
  ['setUp 1-', false],
  ['setUp -1', false],
  ['setUp 1', false],
  ['setUp', false],
  ['setUp 1-1x', false],
  [' 1-1', false],
  ['', false]
])('the thread %s is of a setUp group: %s', (thread, isAside) => {
  const layout = readHeader(Buffer.from('timeStamp,elapsed,threadName'))
  const buffer = Buffer.from(`1,2,${thread}\n `)
  const threads = new AsideThreads(['setUp', 'log "in"'])
  const found: boolean[] = []
  new RowSplitter(44, 3).split({ buffer, length: buffer.length - 1, limit: 1, isLast: true }, (row) =>
    found.push(layout.shape === 'samples' && threads.has(row, layout.at))
  )
  expect(found).toEqual([isAside])
})
