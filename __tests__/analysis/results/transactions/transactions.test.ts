import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, test } from '@jest/globals'
import { naiveFigures, parseCsv, readSamples } from '../../../support/data/naive-results.js'
import { makePlanCsv, type PlanCsv, type PlanOptions } from '../../../support/data/plan-csv.js'
import {
  JMETER_COLUMNS,
  measure,
  quoteField,
  scanText,
  type CsvStyle
} from '../../../support/data/sample-csv.js'
import { makeRandom } from '../../../support/data/seeded-random.js'
import { slice } from '../../../support/slice.js'
import { mergeScans } from '../../../../src/analysis/results/figures/merge.js'
import { planStretches, scanFiles } from '../../../../src/analysis/results/parallel/scan-files.js'
import { ByteScanner } from '../../../../src/analysis/results/scan/byte-scanner.js'
import type { Measurements } from '../../../../src/analysis/results/figures/measurements.js'

function expectTruth(measured: Measurements, rows: PlanCsv['rows']): void {
  expect(measured.sources.flatMap(({ problems }) => problems)).toEqual([])
  const counted = rows
    .filter(({ counts }) => counts)
    .map((row) => ({ ...row, isTransaction: false, threads: 1 }))
  const naive = naiveFigures(counted)
  expect(measured.figures({})).toMatchObject({
    ...{ samples: naive.samples, failures: naive.failures, minMs: naive.minMs, maxMs: naive.maxMs },
    meanMs: expect.closeTo(naive.meanMs, 9)
  })
  const percents = [10, 50, 95, 99, 100]
  expect(percents.map((percent) => measured.figures({})?.percentileMs(percent))).toEqual(
    percents.map((percent) => naive.percentileMs(percent))
  )
  const series = measured.series!
  expect(series.throughput.reduce((sum, rate) => sum + (rate * series.bucketMs) / 1000, 0)).toBeCloseTo(
    naive.samples,
    6
  )
  expect(series.failures.reduce((sum, failures) => sum + failures, 0)).toBe(naive.failures)
  for (const label of new Set(rows.map((row) => row.label))) {
    const own = rows.filter((row) => row.label === label)
    expect(measured.figures({ label })).toMatchObject({
      samples: own.length,
      failures: own.filter(({ isFailure }) => isFailure).length
    })
  }
  expect(errorsOf(measured)).toEqual(countErrors(rows))
}

function errorsOf(measured: Measurements): Record<string, number> {
  return Object.fromEntries(
    measured
      .errors({})
      .map(({ label, code, message, count }) => [JSON.stringify([label, code, message]), count])
  )
}

function countErrors(rows: PlanCsv['rows']): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { label, code, message } of rows.filter(({ counts, isFailure }) => counts && isFailure)) {
    const key = JSON.stringify([label, code, message])
    counts[key] = (counts[key] ?? 0) + 1
  }
  return counts
}

describe('each sample counts once, whatever was saved', () => {
  const dialects: Partial<CsvStyle>[] = [
    {},
    { lineBreak: '\r\n', bom: true },
    { delimiter: ';', finalLineBreak: false },
    { columns: JMETER_COLUMNS.toReversed() },
    { columns: [...JMETER_COLUMNS, 'Hostname'] }
  ]
  const variants: [string, Omit<PlanOptions, 'style'>][] = [
    ['with sub-results', { hasSubResults: true, nodes: 1 }],
    ['without sub-results', { hasSubResults: false, nodes: 1 }],
    ['with sub-results, of two machines', { hasSubResults: true, nodes: 2 }],
    ['without sub-results, of two machines', { hasSubResults: false, nodes: 2 }]
  ]

  test.each(variants)('random plans %s', (_, variant) => {
    for (let seed = 1; seed <= slice(30, 100); seed++) {
      const style = dialects[seed % dialects.length]!
      const { text, rows } = makePlanCsv(seed, { ...variant, style })
      const step = 1 + ((seed * 97) % 5000)
      expectTruth(mergeScans([scanText(text, step)]), rows)
    }
  })
})

test('of machines whose rows are interleaved under the same thread names, the figures are right or the CSV is a problem', () => {
  const answers = Array.from({ length: slice(20, 60) }, (_, seed) => {
    const options = { hasSubResults: seed % 2 === 0, nodes: 2 + (seed % 2), isMixed: true, loops: 40 }
    const { text, rows } = makePlanCsv(seed, options)
    const measured = measure(text)
    const counted = rows.filter(({ counts }) => counts).length
    const isProblem = measured.sources[0]!.problems.length > 0
    return isProblem ? 'problem' : measured.figures({})?.samples === counted ? 'right' : `wrong: ${seed}`
  })
  expect(new Set(answers)).toEqual(new Set(['right', 'problem']))
  expect(answers.filter((answer) => answer === 'right').length).toBeGreaterThan((answers.length * 2) / 3)
})

describe('CSVs that JMeter wrote, with every way of nesting transactions', () => {
  const read = (name: string) =>
    readFileSync(new URL(`../../../fixtures/jmeter/${name}`, import.meta.url), 'utf8')
  // By the plan: parent samples that are in no other parent sample.
  const PARENTS = ['P', 'PO', 'NPi', 'PNo', 'PPo', 'XI', 'YO', 'ZO', 'HP', 'D2']

  test.each([
    ['transactions-with-subresults.csv', []],
    ['transactions-without-subresults.csv', PARENTS]
  ])('%s', (name, counting) => {
    const text = read(name)
    const samples = readSamples(text).filter(
      ({ isTransaction, label }) => !isTransaction || counting.includes(label)
    )
    const measured = measure(text)
    expect(measured.sources[0]?.problems).toEqual([])
    expect(measured.figures({})?.samples).toBe(samples.length)
    const failures = samples.filter(({ isFailure }) => isFailure)
    const errors = measured.errors({})
    expect(errors.reduce((sum, { count }) => sum + count, 0)).toBe(failures.length)
    expect([...new Set(errors.map(({ label }) => label))].sort()).toEqual(
      [...new Set(failures.map(({ label }) => label))].sort()
    )
  })
})

const HEADER = JMETER_COLUMNS.join(',')

interface RowChanges {
  readonly thread?: string
  readonly success?: boolean
  readonly idleMs?: number
  readonly dataType?: string
  readonly url?: string
  readonly samples?: number
}

const request = (startMs: number | string, elapsedMs: number, label: string, changes: RowChanges = {}) => {
  const { thread = 'T 1-1', success = true, dataType = 'text', url = 'http://127.0.0.1/' } = changes
  return `${startMs},${elapsedMs},${label},200,OK,${thread},${dataType},${success},,1,1,1,1,${url},0,0,0`
}

const transaction = (
  startMs: number | string,
  elapsedMs: number,
  label: string,
  changes: RowChanges = {}
) => {
  const { thread = 'T 1-1', success = true, idleMs = 0, dataType = '', url = 'null', samples = 1 } = changes
  const message = `"Number of samples in transaction : ${samples}, number of failing samples : ${success ? 0 : 1}"`
  return `${startMs},${elapsedMs},${label},200,${message},${thread},${dataType},${success},,1,1,1,1,${url},0,${idleMs},0`
}

const measureRows = (...rows: string[]) => measure([HEADER, ...rows, ''].join('\n'))

describe('a transaction', () => {
  test('whose requests have no rows counts beside requests that have: failing checkouts are seen', () => {
    const loops = Array.from({ length: 20 }, (_, i) => [
      request(1000 + i * 100, 40, 'home'),
      transaction(1040 + i * 100, 50, 'checkout', { success: false, samples: 2 })
    ])
    const measured = measureRows(...loops.flat())
    expect(measured.figures({})).toMatchObject({ samples: 40, failures: 20, maxMs: 50 })
    expect(measured.series?.failures.reduce((sum, count) => sum + count)).toBe(20)
    expect(measured.errors({})).toMatchObject([{ label: 'checkout', count: 20 }])
  })

  test('without samples is no sample, but a failure that says the same is one: a server may answer so', () => {
    const empty = transaction(1000, 50, 'checkout', { samples: 0 })
    const failed = transaction(1000, 50, 'checkout', { samples: 0, success: false })
    const measured = measureRows(request(1000, 40, 'home'), empty, failed)
    expect(measured.figures({})).toMatchObject({ samples: 2, failures: 1 })
  })

  test('that begins when a request of no time ended does not contain it', () => {
    const measured = measureRows(request(1000, 0, 'script'), transaction(1000, 50, 'checkout'))
    expect(measured.figures({})).toMatchObject({ samples: 2, maxMs: 50 })
  })

  test('contains its requests of no time', () => {
    const rows = [request(1000, 0, 'a'), request(1000, 0, 'b'), transaction(1000, 0, 'tx', { samples: 2 })]
    expect(measureRows(...rows).figures({})?.samples).toBe(2)
    expect(measureRows(request(1000, 0, 'a'), transaction(1000, 0, 'tx')).figures({})?.samples).toBe(1)
  })

  test('does not contain what succeeded when it failed, nor fewer requests than it says', () => {
    const failing = transaction(1000, 0, 'tx', { success: false })
    expect(measureRows(request(1000, 0, 'a'), failing).figures({})).toMatchObject({ samples: 2, failures: 1 })
    const many = transaction(1000, 0, 'tx', { samples: 3 })
    expect(measureRows(request(1000, 0, 'a'), many).figures({})?.samples).toBe(2)
  })

  test('is not covered by requests of other threads', () => {
    const rows = [request(1010, 20, 'a', { thread: 'T 1-2' }), transaction(1000, 50, 'tx')]
    expect(measureRows(...rows).figures({})?.samples).toBe(2)
  })

  test('is covered by requests that waited for timers within it', () => {
    const rows = [
      transaction(1000, 20, 'parent', { idleMs: 3000 }),
      request(4000, 20, 'inside'),
      request(4500, 20, 'outside')
    ]
    expect(measureRows(...rows).figures({})?.samples).toBe(2)
  })

  test('of the same label as others is judged by itself where they are of both kinds', () => {
    const rows = [
      ...[request(1000, 40, 'a'), transaction(1000, 40, 'tx')],
      ...[transaction(2000, 40, 'tx'), request(3000, 40, 'a')]
    ]
    expect(measureRows(...rows).figures({})?.samples).toBe(3)
  })

  test('that its own rows leave no doubt about is not overruled by a dozen others of its label', () => {
    const covered = Array.from({ length: 12 }, (_, i) => [
      request(1000 + i * 100, 40, 'a'),
      transaction(1000 + i * 100, 40, 'tx')
    ])
    const rows = [...covered.flat(), transaction(5000, 40, 'tx', { success: false }), request(6000, 40, 'a')]
    expect(measureRows(...rows).figures({})).toMatchObject({ samples: 14, failures: 1 })
  })

  test.each([2, 4, 8, 20])('that fails is not lost among the mixed rows of %d machines', (nodes) => {
    const random = makeRandom(nodes)
    const written = Array.from({ length: nodes }, () => {
      let nowMs = Math.floor(1000 + random() * 500)
      return Array.from({ length: 400 }, (_, i) => {
        const [startMs, elapsedMs] = [nowMs, 5 + Math.floor(random() * 200)]
        nowMs += elapsedMs
        const row =
          i % 10 === 0
            ? transaction(startMs, elapsedMs, 'tx', { success: false, samples: 2 })
            : request(startMs, elapsedMs, 'a')
        return { nowMs, row }
      })
    })
    const inOrder = written.flat().sort((a, b) => a.nowMs - b.nowMs)
    const measured = measureRows(...inOrder.map(({ row }) => row))
    const isProblem = measured.sources[0]!.problems.length > 0
    expect(isProblem || measured.figures({})?.failures === nodes * 40).toBe(true)
  })

  test('is judged by the many others of its controller where the clock was adjusted', () => {
    const loops = Array.from({ length: 200 }, (_, i) => [
      request(1000 + i * 100 - (i % 50 === 7 ? 22 : 0), 40, 'a'),
      transaction(1000 + i * 100, 40, 'tx')
    ])
    expect(measureRows(...loops.flat()).figures({})?.samples).toBe(200)
  })

  test('of a second machine, whose rows follow those of the first, is judged by its own', () => {
    const machine = [request(1000, 40, 'a'), transaction(1040, 50, 'tx'), request(9000, 40, 'a')]
    expect(measureRows(...machine, ...machine).figures({})?.samples).toBe(6)
    const first = [transaction(1000, 50, 'tx'), request(9000, 40, 'a')]
    expect(measureRows(...first, ...first).figures({})?.samples).toBe(4)
  })

  test('costs as much as any other row, however many begin at once', () => {
    const count = slice(5000, 40_000)
    const rows = Array.from({ length: count }, (_, i) => transaction(1000, i, 'tx', { samples: count - i }))
    expect(measureRows(...rows).figures({ label: 'tx' })?.samples).toBe(count)
  })

  test.each([
    ['a data type', { dataType: 'text' }],
    ['a URL', { url: 'http://127.0.0.1/tx' }]
  ])('is a request when its row has %s: any server can answer like that', (_, mark) => {
    const rows = [request(1000, 40, 'a'), transaction(1000, 40, 'x', mark), transaction(1040, 0, 'y', mark)]
    const measured = measureRows(...rows)
    expect(measured.figures({})?.samples).toBe(3)
    // As such it counts even when it says that it has no samples.
    expect(measureRows(transaction(1000, 40, 'x', { ...mark, samples: 0 })).figures({})?.samples).toBe(1)
  })

  test('is a request when no number follows', () => {
    const text = [HEADER, transaction(1000, 40, 'x').replace(' : 1,', ' : many,')].join('\n')
    expect(measure(text, [HEADER, request(1, 2, 'a')].join('\n')).figures({})?.samples).toBe(2)
  })

  test('with its time as a date is judged where the date has milliseconds', () => {
    const rows = [
      request('2026-01-02 03:04:05.100', 40, 'a'),
      transaction('2026-01-02 03:04:05.100', 41, 'tx')
    ]
    const alone = transaction('2026-01-02 03:04:05.150', 41, 'ty')
    expect(measureRows(...rows, alone).figures({})?.samples).toBe(2)
    expect(measureRows(...rows, alone).sources[0]?.problems).toEqual([])
  })
})

describe('transactions that cannot be told apart from their requests are a problem', () => {
  const rows = [request(1000, 40, 'a'), transaction(1000, 40, 'tx'), request(1040, 40, 'b')]
  const without = (column: string, lines: readonly string[]) => {
    const at = JMETER_COLUMNS.indexOf(column)
    return measure(
      [HEADER, ...lines]
        .map((line) => parseCsv(line)[0]!)
        .map((row) =>
          row
            .filter((_, i) => i !== at)
            .map((field) => quoteField(field, ','))
            .join(',')
        )
        .join('\n')
    )
  }

  test.each(['threadName', 'timeStamp', 'elapsed'])('without %s', (column) => {
    const measured = without(column, rows)
    expect(measured.sources[0]?.problems).toEqual([
      expect.stringMatching(/does not show which requests belong to them/)
    ])
    expect(measured.figures({})?.samples).toBe(2)
  })

  test.each(['threadName', 'timeStamp', 'elapsed'])(
    'but not without %s where there are no requests',
    (column) => {
      const measured = without(column, [transaction(1000, 40, 'tx'), transaction(1040, 40, 'ty')])
      expect(measured.sources[0]?.problems).toEqual([])
      expect(measured.figures({})?.samples).toBe(2)
    }
  )

  test('with threads that have no names', () => {
    const nameless = (row: string) => row.replace('T 1-1', '')
    expect(measureRows(...rows.map(nameless)).sources[0]?.problems).toEqual([
      expect.stringMatching(/does not show which requests belong to them/)
    ])
    const alone = measureRows(nameless(transaction(1000, 40, 'tx')), nameless(transaction(1040, 40, 'tx')))
    expect(alone.sources[0]?.problems).toEqual([])
    expect(alone.figures({})?.samples).toBe(2)
  })

  test('with dates by the second', () => {
    const dated = rows.map((row) => row.replace(/^\d+/, '2026-01-02 03:04:05'))
    expect(measureRows(...dated).sources[0]?.problems).toEqual([
      expect.stringMatching(/does not show which requests belong to them/)
    ])
  })

  test('without IdleTime, where a timer may have been within the transaction or after it', () => {
    const late = [transaction(1000, 20, 'parent'), request(4000, 20, 'a')]
    expect(without('IdleTime', late).sources[0]?.problems).toEqual([
      expect.stringMatching(/^1 of its transactions may or may not include requests that have their own rows/)
    ])
    expect(without('IdleTime', rows).sources[0]?.problems).toEqual([])
  })

  test('but not where the rows of two machines are mixed, and show it all the same', () => {
    const mixed = Array.from({ length: 50 }, (_, i) => [
      `${request(1000 + i * 100, 60, 'a')},one`,
      `${transaction(1000 + i * 100, 60, 'tx')},one`,
      `${request(1050 + i * 100, 60, 'a')},two`,
      `${transaction(1050 + i * 100, 60, 'tx')},two`
    ]).flat()
    const named = measure([`${HEADER},Hostname`, ...mixed].join('\n'))
    expect(named.sources[0]?.problems).toEqual([])
    expect(named.figures({})?.samples).toBe(100)
    const nameless = measure([`${HEADER},host`, ...mixed].join('\n'))
    expect(nameless.sources[0]?.problems).toEqual([])
    expect(nameless.figures({})?.samples).toBe(100)
  })

  test('but not where requests of one machine fall into transactions of another, and their hosts are known', () => {
    const mixed = Array.from({ length: 50 }, (_, i) => [
      `${request(1010 + i * 100, 30, 'a')},one`,
      `${transaction(1000 + i * 100, 70, 'tx')},two`
    ])
    const named = measure([`${HEADER},Hostname`, ...mixed.flat()].join('\n'))
    expect(named.sources[0]?.problems).toEqual([])
    expect(named.figures({})?.samples).toBe(100)
  })
})

describe('transactions in a large CSV', () => {
  const plain = Array.from({ length: 9000 }, (_, i) =>
    request(1000 + i * 10, 9, 'home', { thread: `T 1-${i % 7}`, success: i % 10 > 0 })
  )
  const late = Array.from({ length: 50 }, (_, i) => [
    request(100_000 + i * 100, 40, 'a', { success: false }),
    transaction(100_000 + i * 100, 40, 'covered', { success: false }),
    transaction(100_050 + i * 100, 40, 'counting', { success: false })
  ]).flat()
  const text = [HEADER, ...plain, ...late, ...plain, ''].join('\n')

  function expectAll(measured: Measurements): void {
    expect(measured.sources).toMatchObject([{ problems: [] }])
    expect(measured.figures({})).toMatchObject({ samples: 18_100, failures: 1900 })
    const counts = measured.errors({}).map(({ label, count }) => [label, count])
    expect(counts).toEqual([
      ['home', 1800],
      ['a', 50],
      ['counting', 50]
    ])
  }

  test.each([Infinity, 100_000, 777])('that come late are seen, in pieces of %d bytes', (step) => {
    expectAll(mergeScans([scanText(text, step)]))
  })

  test('are seen while it grows', () => {
    const scanner = new ByteScanner({ grid: 'g', region: 'r' })
    const counts = text.split(/(?<=\n)/).flatMap((line, row) => {
      scanner.push(new TextEncoder().encode(line))
      return row > 9000 && row < 9010 ? [mergeScans([scanner.end()]).figures({})?.samples] : []
    })
    // A request, its transaction, and one that counts, as long as none of its own requests shows up.
    expect(counts).toEqual([9001, 9001, 9002, 9003, 9003, 9004, 9005, 9005, 9006])
    expectAll(mergeScans([scanner.end()]))
  })

  test('are seen in threads', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'loadgate-transactions-'))
    try {
      const path = join(folder, 'late.csv')
      writeFileSync(path, text)
      const file = { path, grid: 'g', region: 'r' }
      expect(planStretches(file, 3)).toHaveLength(3)
      const workerUrl = pathToFileURL(join(folder, 'none.js'))
      expectAll(await scanFiles([file], { threads: 3, workerUrl }))
      writeFileSync(path, [HEADER, ...late, ...plain, ''].join('\n'))
      expect(planStretches(file, 3)).toHaveLength(1)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})
