import { afterAll, describe, expect, test } from '@jest/globals'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ByteScanner } from '../../../src/analysis/results/scan/byte-scanner.js'
import { mergeScans } from '../../../src/analysis/results/figures/merge.js'
import { describeResults, mergeResults } from '../../../src/service/runs/run-report.js'
import type { GridRecord, RunRecord } from '../../../src/contract/records.js'
import type { Store } from '../../../src/service/store/store.js'
import { createFolders } from '../support.js'

const START_MS = 1_760_000_000_137

/** The summary of a run with a sample of 10 ms at each of these times. */
function summaryOf(
  timesMs: readonly number[],
  remoteErrors: string | null = null,
  hasProblem = false
): string {
  const scanner = new ByteScanner({ grid: 'g', region: 'local' })
  const rows = timesMs.map((atMs) => `${START_MS + atMs},10,x,true,1`)
  scanner.push(Buffer.from(`${['timeStamp,elapsed,label,success,allThreads', ...rows].join('\n')}\n`))
  const results = {
    grids: [{ spec: { region: 'local' } } as GridRecord],
    nodes: [],
    measurements: mergeScans([scanner.end()]),
    users: { peak: 2, mean: 2 },
    notes: []
  }
  const run = { remoteErrors, request: { properties: [], threads: 2 } } as unknown as RunRecord
  return describeResults(run, results, { isSynthetic: false, hasProblem }).report.summary
}

const every = (stepMs: number, untilMs: number): number[] =>
  Array.from({ length: Math.ceil(untilMs / stepMs) }, (_, index) => index * stepMs)

describe('the figures of a summary', () => {
  test.each([[[0, 200, 400]], [every(100, 500)], [every(900, 3_000)], [every(500, 90_000)]])(
    'the maximum is never below the mean',
    (timesMs) => {
      const [, maximum = '', mean = ''] =
        /Requests per minute: maximum ([\d,]+), mean ([\d,]+)\./.exec(summaryOf(timesMs)) ?? []
      const numberOf = (text: string): number => Number(text.replaceAll(',', ''))
      expect(numberOf(mean)).toBeGreaterThan(0)
      expect(numberOf(maximum)).toBeGreaterThanOrEqual(numberOf(mean))
    }
  )

  test.each([
    [[0, 400], 'less than a second'],
    [[0, 990], '1 second'],
    [every(1_000, 40_500), '40 seconds'],
    [[0, 59_990], '1 minute'],
    [[0, 90_000], '1.5 minutes']
  ])('the time is said in seconds below a minute', (timesMs, words) => {
    expect(summaryOf(timesMs)).toContain(`Up to 2 users across 1 grid in local for ${words}. `)
  })
})

describe('the findings of a summary', () => {
  test.each([
    [
      'no group is on\nload lost: node 1 recorded no samples',
      'No group is on; load lost: node 1 recorded no samples. Up'
    ],
    ['is it so?\nload lost: node 1', 'Is it so? Load lost: node 1. Up'],
    ['It failed.\nload lost: node 1', 'It failed. Load lost: node 1. Up'],
    ["on-demand grids ended!\nthe node's log says why", "On-demand grids ended! The node's log says why. Up"],
    ['shop.js failed.\njava.lang.Error: x', 'Shop.js failed. java.lang.Error: x. Up'],
    ['load lost: stopped by a caller after 13 s', 'Stopped after 13 s. Up'],
    ['load lost: stopped by a caller before the run started', 'Stopped before the run started. Up'],
    [
      'load lost: stopped by a caller after 13 s\nload lost: node 1',
      'Stopped after 13 s; load lost: node 1. Up'
    ]
  ])('are one sentence: %j', (remoteErrors, words) => {
    expect(summaryOf([0, 10], remoteErrors).slice(0, words.length)).toBe(words)
  })

  test('tell of a bad end', () => {
    expect(summaryOf([0, 10], 'no such class\nsecond line', true)).toMatch(
      /^The run failed: no such class; second line\. Up/
    )
  })
})

describe('the results of a run', () => {
  const folders = createFolders()
  afterAll(() => folders.remove())

  /** A CSV with these lines for each node of a grid. */
  const merge = async (nodes: readonly (readonly string[])[]) => {
    const folder = folders.create()
    const samplesFiles = nodes.map((rows, node) => {
      const file = join(folder, `node-${node}.csv`)
      writeFileSync(file, `${['timeStamp,elapsed,label,success,allThreads', ...rows].join('\n')}\n`)
      return file
    })
    const grid = { id: 'g', spec: { region: 'local', instanceQuantity: nodes.length } }
    const run = { id: 'r', files: [], nodes: [], request: { properties: [], threads: 2 } }
    const store = {
      gridsOf: () => [grid],
      folder: {
        samplesFiles: () => samplesFiles,
        resultFile: () => join(folder, 'result.csv'),
        uploadDir: () => folder
      }
    }
    return mergeResults(run as unknown as RunRecord, {
      store: store as unknown as Store,
      signal: new AbortController().signal
    })
  }
  const rowsOf = (count: number): string[] =>
    Array.from({ length: count }, (_, i) => `${START_MS + 10 * i},${10 + i},item ${i},${i % 4 > 0},3`)

  test.each([
    { name: 'one node', nodes: [rowsOf(8)], samples: 8, failures: 2, users: 3 },
    { name: 'two nodes', nodes: [rowsOf(8), rowsOf(8)], samples: 16, failures: 4, users: 6 }
  ])('have every sample, and no figures of labels: $name', async ({ nodes, samples, failures, users }) => {
    const { measurements, users: found } = await merge(nodes)
    const figures = measurements.figures({})
    expect(figures).toMatchObject({ samples, failures, minMs: 10, maxMs: 17 })
    expect(figures?.percentileMs(50)).toBe(13)
    expect(found?.peak).toBe(users)
    expect(measurements.series?.failures).toEqual([failures])
    // There may be a hundred thousand of them: nobody else has a turn while their names are sorted.
    expect(measurements.labels).toEqual([])
  })
})
