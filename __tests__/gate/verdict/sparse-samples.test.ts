import { describe, expect, test } from '@jest/globals'
import { pausesOf } from '../../../src/analysis/evidence/grid-times.js'
import { conclude } from '../../../src/gate/verdict/conclude.js'
import type { Findings } from '../../../src/gate/findings.js'
import type { Outcome } from '../../../src/analysis/outcome.js'
import { ByteScanner } from '../../../src/analysis/results/scan/byte-scanner.js'
import { mergeScans } from '../../../src/analysis/results/figures/merge.js'
import { makeRandom } from '../../support/data/seeded-random.js'
import { makeRun, makeSettings } from '../../support/gate/gate-ports.js'
import { slice } from '../../support/slice.js'

interface Sample {
  readonly atMs: number
  readonly elapsedMs: number
}

const HEADER = 'timeStamp,elapsed,label,success,allThreads'

function scan(grid: string, samples: readonly Sample[]) {
  const scanner = new ByteScanner({ grid, region: 'us-east-1' })
  const rows = samples.map(({ atMs, elapsedMs }) => `${1_760_000_000_137 + atMs},${elapsedMs},x,true,1`)
  scanner.push(Buffer.from(`${[HEADER, ...rows].join('\n')}\n`))
  return scanner.end()
}

function spanMs(samples: readonly Sample[]): number {
  const ends = samples.map(({ atMs, elapsedMs }) => atMs + elapsedMs)
  return Math.max(...ends) - Math.min(...samples.map(({ atMs }) => atMs))
}

/** The outcome of a run with these samples in each of its grids. */
function judge(
  durationSeconds: number,
  grids: readonly (readonly Sample[])[],
  findings: Partial<Findings> = {},
  settings: Parameters<typeof makeSettings>[0] = {}
): Outcome {
  const scans = grids.map((samples, index) => scan(`g${index + 1}`, samples))
  const collection = {
    run: makeRun(),
    report: { summary: 'well', means: {}, rehearsal: false, warnings: [] },
    reportProblem: undefined,
    resultsDir: '/r',
    grids: scans.map(({ grid, region }) => {
      return { gridId: grid, region, nodeCount: 1, path: `/r/${grid}.csv`, bytes: 1, problem: undefined }
    }),
    missingGrids: [],
    spansMs: new Map(grids.map((samples, index) => [`g${index + 1}`, spanMs(samples)])),
    pausesMs: pausesOf(scans),
    measurements: mergeScans(scans)
  }
  return conclude(makeSettings({ durationSeconds, ...settings }), { run: makeRun(), collection, ...findings })
}

/** Each thread makes a request, waits for its next turn, and does not begin another one after the end. */
function paced(seconds: number, paceMs: number, elapsedMs: () => number, threads = 1): Sample[] {
  const turns = Math.ceil((seconds * 1000) / paceMs)
  return Array.from({ length: turns * threads }, (_, index) => ({
    atMs: Math.floor(index / threads) * paceMs,
    elapsedMs: elapsedMs()
  }))
}

/** One request after the other. */
function dense(fromMs: number, toMs: number, nextMs: () => number): Sample[] {
  const samples: Sample[] = []
  for (let atMs = fromMs; atMs < toMs; atMs += nextMs()) samples.push({ atMs, elapsedMs: 20 })
  return samples
}

const SEEDS = Array.from({ length: slice(25, 150) }, (_, seed) => seed + 1)
const quick = () => 100
const CUT_OFF = /^The samples of grid g1 span .* the run was stopped early/

test('a request every 10 s for 25 s is a healthy run: a warning with both numbers', () => {
  expect(judge(25, [paced(25, 10_000, quick)])).toMatchObject({
    verdict: 'passed',
    warnings: [
      'The samples of grid g1 span 20 s of the 25 s requested. They are far apart, so the run may well have ended between two of them.'
    ]
  })
})

test('a healthy plan is never inconclusive for its pace', () => {
  let explained = 0
  for (const seed of SEEDS) {
    const random = makeRandom(seed)
    const between = (from: number, to: number): number => Math.round(from + random() * (to - from))
    const [paceMs, threads] = [between(1_000, 30_000), between(1, 5)]
    // Two turns at least: a single one has no other to be apart from.
    const seconds = between(paceMs / 1000 + 1, (paceMs / 1000) * 4 + 3)
    const samples = paced(seconds, paceMs, () => between(5, Math.min(600, paceMs / 10)), threads)
    const { verdict, warnings } = judge(seconds, [samples])
    explained += warnings.length
    expect([seed, seconds, paceMs, verdict]).toEqual([seed, seconds, paceMs, 'passed'])
  }
  expect(explained).toBeGreaterThan(SEEDS.length / 4)
})

test('a plan that waits before each request is a healthy run: neither the first pause nor the last one has a sample', () => {
  // JMeter ends a thread at once where its next pause would outlast the run.
  const samples = [12, 24, 36, 48].map((second) => ({ atMs: second * 1000, elapsedMs: 100 }))
  expect(judge(60, [samples])).toMatchObject({
    verdict: 'passed',
    warnings: [
      'The samples of grid g1 span 36 s of the 60 s requested. They are far apart, so the run may well have ended between two of them.'
    ]
  })
  for (const seed of SEEDS) {
    const random = makeRandom(seed)
    const waitMs = Math.round(4_000 + random() * 20_000)
    const elapsedMs = Math.round(random() * 300)
    const seconds = Math.ceil(((3 + random() * 6) * waitMs) / 1000)
    const turns = Math.floor((seconds * 1000) / (waitMs + elapsedMs))
    const waited = Array.from({ length: turns }, (_, turn) => ({
      atMs: waitMs + turn * (waitMs + elapsedMs),
      elapsedMs
    }))
    expect([seed, judge(seconds, [waited]).verdict]).toEqual([seed, 'passed'])
  }
})

describe('a run of the embedded service, which tells of every stop', () => {
  const waited = [12, 24, 36, 48].map((second) => ({ atMs: second * 1000, elapsedMs: 100 }))
  const judgeLocal = (samples: readonly Sample[], stoppedMs: number): string =>
    judge(60, [samples], { run: makeRun({ startedMs: 0, stoppedMs }) }, { target: { kind: 'local' } }).verdict

  test('may end by itself as much as a pause before its time', () => {
    expect(judgeLocal(waited, 49_000)).toBe('passed')
    expect(judgeLocal(waited, 53_000)).toBe('passed')
  })

  test('does not end by itself earlier than that, nor where its requests are dense', () => {
    const sooner = waited.map((sample) => ({ ...sample, atMs: sample.atMs - 10_000 }))
    expect(judgeLocal(sooner, 46_000)).toBe('inconclusive')
    expect(judgeLocal(waited.slice(0, 3), 37_000)).toBe('inconclusive')
    expect(judgeLocal(dense(0, 50_000, quick), 50_000)).toBe('inconclusive')
  })
})

test('a run of dense requests that was cut off is never green, whatever pauses it had', () => {
  for (const seed of SEEDS) {
    const random = makeRandom(seed)
    const seconds = Math.round(10 + random() * 600)
    const cutMs = Math.round((seconds * 900 - 2_100) * (0.8 + 0.2 * random()))
    // The target, or the tool, may have done nothing for up to half of the time.
    const pauseMs = Math.round((cutMs / 2) * random())
    const pauseAtMs = Math.round((cutMs - pauseMs) * random())
    const next = () => 20 + Math.round(random() * 900)
    const samples = [...dense(0, pauseAtMs, next), ...dense(pauseAtMs + pauseMs, cutMs - 20, next)]
    const { verdict, reason } = judge(seconds, [samples])
    expect([seed, verdict, reason]).toEqual([seed, 'inconclusive', expect.stringMatching(CUT_OFF)])
  }
})

test('a paced run that lost two of its turns at the end, or more, is never green', () => {
  for (const seed of SEEDS) {
    const random = makeRandom(seed)
    const paceMs = Math.round(3_000 + random() * 20_000)
    const turns = Math.round(3 + random() * 5)
    // Just before the next turn.
    const seconds = Math.floor((turns * paceMs) / 1000)
    const lost = paced(seconds, paceMs, quick).filter(({ atMs }) => atMs < (turns - 2) * paceMs)
    const { verdict, reason } = judge(seconds, [lost])
    expect([seed, verdict, reason]).toEqual([seed, 'inconclusive', expect.stringMatching(CUT_OFF)])
  }
})

describe('the pause explains nothing', () => {
  test('where the service itself says that the run ended early', () => {
    const run = makeRun({ startedMs: 0, stoppedMs: 21_000 })
    expect(judge(25, [paced(25, 10_000, quick)], { run })).toMatchObject({
      verdict: 'inconclusive',
      reason: 'The run ended after 21 s of the 25 s requested: it was stopped early.'
    })
  })

  test('in the grid beside it, which is dense and longer', () => {
    const outcome = judge(30, [paced(25, 10_000, quick), dense(0, 22_000, quick)])
    expect(outcome.verdict).toBe('inconclusive')
    expect(outcome.reason).toMatch(/^The samples of grid g2 span 22 s of the 30 s/)
  })

  test('where requests were under way in it', () => {
    const slow = [0, 10_000, 20_000].map((atMs) => ({ atMs, elapsedMs: 9_900 }))
    expect(judge(40, [slow]).verdict).toBe('inconclusive')
  })

  test('where the service says that something went wrong', () => {
    const run = makeRun({ remoteErrors: 'node 2 was away' })
    expect(judge(25, [paced(25, 10_000, quick)], { run }).verdict).toBe('inconclusive')
  })
})
