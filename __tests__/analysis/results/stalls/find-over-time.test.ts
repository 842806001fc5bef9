import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { LEAST_STALL_MS } from '../../../../src/analysis/results/kernel/assembly/layout.js'
import { leaveOutWarmUp } from '../../../../src/analysis/evidence/warm-up.js'
import { mergeScans } from '../../../../src/analysis/results/figures/merge.js'
import type { Measurements, Scope } from '../../../../src/analysis/results/figures/measurements.js'
import type { ScanResult } from '../../../../src/analysis/results/counts/scan-result.js'
import { scanEach } from '../../../../src/analysis/results/parallel/scan-files.js'
import { joinScans, scanStretch } from '../../../../src/analysis/results/parallel/scan-stretch.js'
import type { OverTime } from '../../../../src/analysis/results/stalls/over-time.js'
import { ByteScanner } from '../../../../src/analysis/results/scan/byte-scanner.js'
import { compileWorker } from '../../../support/data/compile-worker.js'
import { Choice } from '../../../support/data/seeded-choice.js'
import { makeRun, type MadeCsv, type MadeRow, type MadeRun } from '../../../support/stalls/made-run.js'
import {
  naiveOverTime,
  naivePercentileMs,
  type NaiveOverTime,
  type NaiveRow
} from '../../../support/stalls/naive-over-time.js'
import { slice } from '../../../support/slice.js'

const FOLLOWED = ['page, first', 'poll', 'checkout']
/** As thresholds name them: in full, and by a pattern. */
const STALL_LABELS = [['page, first'], ['po', ''], ['', 'check', '']]
const PERCENTS = [50, 90, 95, 99, 99.9]

let folder: string
let workerUrl: URL
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'loadgate-stalls-'))
  workerUrl = compileWorker(folder)
})
afterAll(() => rmSync(folder, { recursive: true }))

function scanPieces(csv: MadeCsv, step: number): ScanResult {
  const bytes = Buffer.from(csv.text)
  const scanner = new ByteScanner({ grid: csv.grid, region: csv.region, stallLabels: STALL_LABELS })
  for (let at = 0; at < bytes.length; at += step) scanner.push(bytes.subarray(at, at + step))
  return scanner.end()
}

function put(csv: MadeCsv) {
  const path = join(folder, `${csv.grid}.csv`)
  writeFileSync(path, csv.text)
  return { path, grid: csv.grid, region: csv.region, stallLabels: STALL_LABELS }
}

/** As two threads would read it, divided near a place. */
async function scanDivided(csv: MadeCsv, place: number): Promise<ScanResult> {
  const file = put(csv)
  const first = await scanStretch({ ...file, from: 0, to: Math.max(1, Math.floor(csv.text.length * place)) })
  const header = Buffer.from(csv.text.slice(0, csv.text.indexOf('\n')))
  const second = await scanStretch({ ...file, from: first.next, to: Infinity, header })
  return joinScans([first.result, second.result])
}

/** Those that have samples after the warm-up. */
function scopesOf({ csvs }: MadeRun, warmUpMs: number): Scope[] {
  const regions = [undefined, ...new Set(csvs.map(({ region }) => region))]
  const fromMs = firstMsOf(csvs) + warmUpMs
  return [undefined, ...FOLLOWED]
    .flatMap((label) => regions.map((region) => ({ ...(label && { label }), ...(region && { region }) })))
    .filter(({ label, region }) =>
      csvs.some(
        (csv) =>
          (region === undefined || csv.region === region) &&
          csv.rows.some((row) => counts(row, label) && row.startMs >= fromMs)
      )
    )
}

function firstMsOf(csvs: readonly MadeCsv[]): number {
  return Math.min(...csvs.flatMap(({ rows }) => rows.map(({ startMs }) => startMs)))
}

interface Expected extends NaiveOverTime {
  readonly percentilesMs: readonly number[]
}

/** What the definition says about a scope. */
function expectedIn(run: MadeRun, { label, region }: Scope, warmUpMs = 0): Expected {
  const { csvs } = run
  const around: Expected['stalls'] = label ? expectedIn(run, region ? { region } : {}, warmUpMs).stalls : []
  const chosen = csvs.filter((csv) => region === undefined || csv.region === region)
  const rows = chosen.flatMap((csv) =>
    csv.rows.filter((row) => counts(row, label)).map((row, i) => named(csv, row, i))
  )
  const threads = chosen.every(({ hasAllThreads }) => hasAllThreads)
    ? chosen.reduce((sum, { allThreads }) => sum + allThreads, 0)
    : undefined
  const found = naiveOverTime({
    ...{ rows, threads, mediansMs: mediansOf(chosen), around, ...(label && { label }) },
    ...(warmUpMs > 0 && { fromMs: firstMsOf(csvs) + warmUpMs })
  })
  return {
    ...found,
    silences: longOf(found),
    percentilesMs: PERCENTS.map((percent) => naivePercentileMs(found, percent))
  }
}

/** Only pauses of a tenth of a run are told; shorter ones may be missed where there are many long gaps. */
function longOf({ silences, spanMs }: Pick<OverTime, 'silences' | 'spanMs'>) {
  return silences.filter(({ ms }) => ms >= Math.max(LEAST_STALL_MS, spanMs / 10))
}

function counts(row: MadeRow, label: string | undefined): boolean {
  return label === undefined ? !row.isTransaction : row.label === label
}

function named(csv: MadeCsv, row: MadeRow, index: number): NaiveRow {
  const { startMs, elapsedMs, label, node, thread } = row
  const name = csv.hasThreadNames ? `${thread} of ${csv.hasHosts ? node : 'any node'}` : `unknown ${index}`
  return { startMs, endMs: startMs + elapsedMs, label, thread: `${name} in ${csv.grid}` }
}

function mediansOf(csvs: readonly MadeCsv[]): Map<string, number> {
  const times = new Map<string, number[]>()
  for (const { label, elapsedMs } of csvs.flatMap(({ rows }) => rows)) {
    const list = times.get(label) ?? []
    times.set(label, list)
    list.push(elapsedMs)
  }
  const medianOf = (list: readonly number[]) =>
    list.toSorted((a, b) => a - b)[Math.ceil(list.length / 2) - 1]!
  const all = medianOf(
    csvs.flatMap(({ rows }) =>
      rows.filter(({ isTransaction }) => !isTransaction).map(({ elapsedMs }) => elapsedMs)
    )
  )
  return new Map([...times].map(([label, list]) => [label, list.length < 5 ? all : medianOf(list)]))
}

function foundIn(measured: Measurements, scope: Scope) {
  const found = measured.figures(scope)?.overTime()
  if (typeof found !== 'object') return found
  const { stalls, spanMs } = found
  return {
    stalls,
    silences: longOf(found),
    spanMs,
    percentilesMs: PERCENTS.map((percent) => found.percentileMs(percent))
  }
}

/** Where something else was found than the definition says; the first few, in lines that can be read. */
class Differences {
  readonly list: string[] = []

  compare(measured: Measurements, run: MadeRun, warmUpMs = 0): void {
    for (const scope of scopesOf(run, warmUpMs)) {
      const found = foundIn(measured, scope)
      const expected = expectedIn(run, scope, warmUpMs)
      if (this.list.length < 5 && !isDeepStrictEqual(found, expected))
        this.list.push(JSON.stringify({ scope, ...firstDifference(found, expected), about: run.about }))
    }
  }
}

function firstDifference(found: ReturnType<typeof foundIn>, expected: ReturnType<typeof expectedIn>) {
  if (typeof found !== 'object') return { found }
  const key = (['spanMs', 'stalls', 'silences', 'percentilesMs'] as const).find(
    (each) => !isDeepStrictEqual(found[each], expected[each])
  )!
  const [these, those] = [[found[key]].flat(), [expected[key]].flat()]
  const at = these.findIndex((one, i) => !isDeepStrictEqual(one, those[i]))
  return { key, at, found: these[at], expected: those[at], counts: [these.length, those.length] }
}

/** A large CSV is counted by the kernel, but for its beginning. */
const SIZES = [
  { name: 'small CSVs', isLarge: false, seeds: slice(20, 900) },
  { name: 'large CSVs', isLarge: true, seeds: slice(2, 100) }
]

describe.each(SIZES)('figures over time, $name', ({ isLarge, seeds }) => {
  const runs = Array.from({ length: seeds }, (_, i) => makeRun(i + 1, isLarge))

  test('are what the definition says', () => {
    const differences = new Differences()
    for (const run of runs)
      differences.compare(mergeScans(run.csvs.map((csv) => scanPieces(csv, Infinity))), run)
    expect(differences.list).toEqual([])
  })

  test('are the same in pieces of any size', () => {
    const differences = new Differences()
    const choice = new Choice(1)
    for (const run of runs.slice(0, seeds / 3)) {
      const step = isLarge ? choice.of([997, 16_384, 131_072]) : choice.of([1, 7, 100, 4096])
      differences.compare(mergeScans(run.csvs.map((csv) => scanPieces(csv, step))), run)
    }
    expect(differences.list).toEqual([])
  })

  test('are the same in two stretches', async () => {
    const differences = new Differences()
    const choice = new Choice(2)
    for (const run of runs) {
      // A file with transactions is read in one go.
      const plain = run.csvs.filter(({ rows }) => rows.every(({ isTransaction }) => !isTransaction))
      if (plain.length < run.csvs.length) continue
      const scans: ScanResult[] = []
      for (const csv of plain) scans.push(await scanDivided(csv, choice.between(0, 1000) / 1000))
      differences.compare(mergeScans(scans), run)
    }
    expect(differences.list).toEqual([])
  })

  test('are the same with two threads', async () => {
    const differences = new Differences()
    for (const run of runs.slice(0, slice(2, 50)))
      differences.compare(mergeScans(await scanEach(run.csvs.map(put), { threads: 2, workerUrl })), run)
    expect(differences.list).toEqual([])
  })

  test('leave out the warm-up, in which a stall may begin', async () => {
    const differences = new Differences()
    const choice = new Choice(3)
    for (const run of runs) {
      const files = run.csvs.map(put)
      const scans = await scanEach(files)
      const ms = choice.of([500, 1700, 3000])
      const { measurements } = await leaveOutWarmUp(
        files.map(({ path }, i) => ({ path, scan: scans[i]! })),
        ms
      )
      differences.compare(measurements, run, ms)
    }
    expect(differences.list).toEqual([])
  })
})
