import { describe, expect, test } from '@jest/globals'
import { slice } from '../../support/slice.js'
import { decisiveLines, findBreach, findOutOfReach } from '../../../src/gate/live/breaches.js'
import { gatherEvidence, type LiveEvidence, type LiveTimes } from '../../../src/gate/live/live-evidence.js'
import { ByteScanner } from '../../../src/analysis/results/scan/byte-scanner.js'
import { mergeScans } from '../../../src/analysis/results/figures/merge.js'
import type { Measurements } from '../../../src/analysis/results/figures/measurements.js'
import type { AbsoluteThreshold } from '../../../src/analysis/thresholds/grammar/threshold.js'
import { parseThresholds } from '../../../src/analysis/thresholds/grammar/grammar.js'
import { judgeThresholds } from '../../../src/analysis/thresholds/judge/judge.js'
import { makeRandom } from '../../support/data/seeded-random.js'
import { parseAbsolute } from '../../support/data/parse-absolute.js'
import {
  Feed,
  csvAt,
  endOf,
  readUntil,
  rowOf,
  steady,
  type TimedSample
} from '../../support/gate/live-samples.js'

const MINUTE = 60_000
/** Three minutes, settled after 20 % of it. */
const TIMES: LiveTimes = { durationMs: 3 * MINUTE, settledAfterMs: 36_000 }

function breachAt(
  lines: string,
  nowMs: number,
  runs: readonly (readonly TimedSample[])[],
  times = TIMES
): string | undefined {
  const grids = runs.map((samples, index) => readUntil(samples, nowMs, `grid${index + 1}`))
  const evidence = gatherEvidence(grids, times)
  return evidence && findBreach(decisiveLines(parseThresholds(lines).thresholds), evidence)?.words
}

/** After how many seconds the run is stopped, if it is looked at every ten; undefined if never. */
function stopOf(
  lines: string,
  samples: readonly TimedSample[],
  times: LiveTimes = TIMES
): number | undefined {
  const thresholds = decisiveLines(parseThresholds(lines).thresholds)
  return looksAt(samples, times).find(({ evidence }) => findBreach(thresholds, evidence))?.second
}

interface Look {
  readonly second: number
  readonly evidence: LiveEvidence
}

const known = new Map<readonly TimedSample[], Look[]>()

/** Every ten seconds. */
function looksAt(samples: readonly TimedSample[], times: LiveTimes): Look[] {
  const before = times === TIMES ? known.get(samples) : undefined
  if (before !== undefined) return before
  const feed = new Feed(samples)
  const looks: Look[] = []
  for (let second = 25; second * 1000 <= times.durationMs; second += 10) {
    feed.readUntil(second * 1000)
    looks.push({ second, evidence: gatherEvidence([feed.grid], times)! })
  }
  if (times === TIMES) known.set(samples, looks)
  return looks
}

/** A tenth of the samples: too many for p95, and few enough for the rest of a run to make up for. */
const someSlow = (atMs: number) => ({ elapsedMs: atMs % 1000 === 0 ? 1240 : 100 })
const RUN = steady(3 * MINUTE, 10, someSlow)

describe('broken in each of the last six windows', () => {
  test('stops once six complete windows after the settling time are broken', () => {
    // The windows from 40 to 100 seconds, two seconds to settle, and the next look.
    expect(stopOf('p95 < 800ms', RUN)).toBe(105)
    expect(breachAt('p95 < 800ms', 105_000, [RUN])).toBe(
      'p95 is 1,240 ms so far, and was above 800 ms in each of the last six 10-second windows (latest 1,240 ms)'
    )
  })

  test('by the ramp-up where it is shorter', () => {
    expect(stopOf('p95 < 800ms', RUN, { ...TIMES, settledAfterMs: 10_000 })).toBe(75)
  })

  test.each([
    'p91 <= 800ms',
    'median <= 99ms',
    'mean < 210ms',
    'p95{label="home", grid="*"} < 800ms',
    'throughput >= 11/s',
    'throughput >= 660/min',
    'throughput < 9.5/s'
  ])('%s', (line) => {
    expect(stopOf(line, RUN)).toBe(105)
  })

  test('error_rate, long before its failures are too many for the whole run', () => {
    const samples = steady(3 * MINUTE, 10, (atMs) => ({ isFailure: atMs % 2000 === 0 }))
    expect(stopOf('error_rate < 4%', samples)).toBe(105)
    expect(breachAt('error_rate < 4%', 105_000, [samples])).toContain('(latest 5 %)')
  })

  test('five broken ones and one that holds do not', () => {
    // One good window in each minute.
    const samples = steady(3 * MINUTE, 10, (atMs) => (atMs % MINUTE < 12_000 ? {} : someSlow(atMs)))
    expect(stopOf('p92 < 800ms', samples)).toBeUndefined()
    expect(judgeWhole('p92 < 800ms', samples)).toBe('passed')
  })

  test('the same scope must be broken in all of them', () => {
    const isEven = (atMs: number) => Math.floor(atMs / 10_000) % 2 === 0
    const half = (label: string, isSlow: (atMs: number) => boolean) =>
      steady(3 * MINUTE, 5, (atMs) => ({ label, elapsedMs: isSlow(atMs) ? 120 : 10 }))
    const samples = [...half('one', isEven), ...half('two', (atMs) => !isEven(atMs))]
    expect(stopOf('p60{label="*"} < 100ms', samples)).toBeUndefined()
    expect(
      stopOf(
        'p60{label="*"} < 100ms',
        half('one', () => true)
      )
    ).toBeDefined()
  })

  test('a window without samples breaks throughput only', () => {
    const samples = RUN.filter(({ atMs }) => atMs < 55_000 || atMs > 75_000)
    expect(breachAt('p95 < 800ms', 105_000, [samples])).toBeUndefined()
    expect(breachAt('p95 < 800ms', 105_000, [RUN])).toBeDefined()
    expect(breachAt('throughput >= 11/s', 105_000, [samples])).toMatch(
      /^throughput is .+ so far, and was below 11\/s/
    )
  })

  test('throughput of a label that has its time is not broken before or after it', () => {
    const login = steady(6000, 20, () => ({ label: 'login' }))
    const line = 'throughput{label="login"} >= 0.6/s'
    expect(judgeWhole(line, [...login, ...RUN])).toBe('passed')
    expect(stopOf(line, [...login, ...RUN])).toBeUndefined()
    expect(breachAt('throughput{label="login"} >= 2/s', 105_000, [[...login, ...RUN]])).toBeUndefined()
    expect(breachAt('throughput{region="us-*"} >= 11/s', 105_000, [RUN])).toContain('was below 11/s')
  })

  test.each([
    ['throughput >= 12/s', [...steady(20_000, 50), ...RUN]],
    ['mean < 230ms', steady(3 * MINUTE, 10, (atMs) => ({ elapsedMs: atMs < 30_000 ? 10 : 240 }))],
    // A tenth of the samples from the first minute on: 8 % so far are reached after more than three minutes.
    ['p92 < 800ms', RUN.map((sample) => (sample.atMs < 40_000 ? { ...sample, elapsedMs: 10 } : sample))]
  ])('a line that holds by what was measured so far ends nothing: %s', (line, samples) => {
    const [last] = looksAt(samples, TIMES).slice(-2)
    const { thresholds } = parseAbsolute(line)
    expect(stopOf(line, samples)).toBeUndefined()
    expect(last!.evidence.windows.map((window) => judgeMeasured(thresholds, window))).toEqual(
      Array(6).fill(['failed'])
    )
  })

  test('what is stopped was broken by then, and may have recovered: that is said', () => {
    // 120 s with a mean of 167 ms in all; the server is slow for the first 75 s.
    const samples = users(1, 2 * MINUTE, (atMs) => ({ elapsedMs: atMs < 75_000 ? 275 : 103 }))
    const line = 'mean < 200ms'
    const times = { durationMs: 2 * MINUTE, settledAfterMs: 10_000 }
    expect(judgeWhole(line, samples)).toBe('passed')
    const feed = new Feed(samples)
    feed.readUntil(75_000)
    const breach = findBreach(parseAbsolute(line).thresholds, gatherEvidence([feed.grid], times)!)
    expect(breach).toMatchObject({ isFinal: false, actual: 275 })
    expect(breach!.words).toContain('mean is 275 ms so far, and was above 200 ms in each of the last six')
  })

  test('a window is open until rows have passed its end', () => {
    const until = (endMs: number) =>
      RUN.filter((sample) => endOf(sample) < endMs).concat({ atMs: endMs - 90, elapsedMs: 90 })
    expect(breachAt('p95 < 800ms', 3 * MINUTE, [until(101_990)])).toBeUndefined()
    expect(breachAt('p95 < 800ms', 3 * MINUTE, [until(103_000)])).toContain('p95 is')
  })

  test('a slow sample counts in the window in which it ended', () => {
    const slow = { atMs: 30_000, elapsedMs: 25_000, label: 'slow' }
    const grid = readUntil([...RUN, slow], 70_000)
    const inWindow = (second: number) => grid.scanWindow((Date.UTC(2026, 0, 5, 12) + second * 1000) / 10_000)
    const labelsIn = (second: number) => mergeScans([inWindow(second)!]).labels
    expect([labelsIn(30), labelsIn(50), labelsIn(60)]).toEqual([['home'], ['home', 'slow'], ['home']])
  })

  test('a grid that lags holds the others back, and one without rows all of them', () => {
    const behind = RUN.filter(({ atMs }) => atMs < 99_000)
    expect(breachAt('p95 < 800ms', 150_000, [RUN, RUN])).toContain('p95 is')
    expect(breachAt('p95 < 800ms', 150_000, [RUN, behind])).toBeUndefined()
    expect(breachAt('max < 1s', 150_000, [RUN, []])).toBeUndefined()
    expect(breachAt('max < 1s', 150_000, [RUN, behind])).toContain('is already')
  })

  test('rows that come late make it wait longer', () => {
    const feed = new Feed(RUN)
    feed.readUntil(100_000)
    const before = feed.grid.settledMs
    feed.grid.take(Buffer.from(rowOf({ atMs: 80_000, elapsedMs: 10 })))
    expect(before - feed.grid.settledMs).toBe(2 * (100_000 - 80_010))
  })

  test.each([
    ['warn: p95 < 800ms', 'a warning'],
    ['apdex >= 0.9', "the service's apdex"],
    ['apdex{label="home"} >= 0.9', 'apdex of a label'],
    ['concurrency <= 1', 'concurrency'],
    ['min < 50ms', 'the minimum, which may still fall'],
    ['max > 5s', 'the maximum, which may still rise'],
    ['failures >= 1', 'failures, which may still come'],
    ['samples >= 1800', 'samples, which may still come'],
    ['p99{label="other"} < 1ms', 'a label that has no samples yet'],
    ['p95 < 1300ms', 'what holds']
  ])('never for %s: %s', (line) => {
    expect(parseThresholds(line).problems).toEqual([])
    expect(stopOf(line, RUN)).toBeUndefined()
  })

  test('never for throughput below one sample per window', () => {
    const samples = steady(3 * MINUTE, 10).filter(({ atMs }) => atMs % 40_000 === 0 || atMs < 3000)
    expect(stopOf('throughput >= 0.05/s', samples)).toBeUndefined()
  })

  test('never for a line that names a baseline', () => {
    const [line] = parseThresholds('p95 < 800ms').thresholds
    const { text, level, metric, name, selector } = line!
    const comparing = { text, level, metric, name, selector, line: 1, allowance: { ratio: 0.1 } }
    expect(decisiveLines([{ ...comparing, operator: '<=' }])).toEqual([])
    expect(decisiveLines([line!])).toHaveLength(1)
  })
})

test.each([-50, 50])('a row whose time is %i years off does not take all memory', (years) => {
  const samples = steady(2 * MINUTE, 5)
  const grid = readUntil(samples, 2 * MINUTE)
  grid.take(Buffer.from(rowOf({ atMs: years * 365 * 24 * 60 * MINUTE, elapsedMs: 100 })))
  expect(gatherEvidence([grid], TIMES)).toBeDefined()
})

describe('out of reach', () => {
  test.each([
    ['max < 5s', { elapsedMs: 5000 }, 'max must be < 5,000 ms and is already 5,000 ms'],
    ['min >= 50ms', { elapsedMs: 40 }, 'min must be >= 50 ms and is already 40 ms'],
    ['failures <= 0', { isFailure: true }, 'failures must be <= 0 and is already 1'],
    ['failures == 0', { isFailure: true }, 'failures must be == 0 and is already 1'],
    ['samples < 200', {}, 'samples must be < 200 and is already 291']
  ])('%s: at once, before the load has settled', (line, change, words) => {
    const samples = steady(3 * MINUTE, 10, (atMs) => (atMs === 20_000 ? change : {}))
    expect(breachAt(line, 15_000, [samples])).toBeUndefined()
    expect(breachAt(line, 29_100, [samples])).toBe(words)
  })

  test('not by fewer than 20 samples', () => {
    const samples = steady(3 * MINUTE, 1, () => ({ isFailure: true }))
    expect(breachAt('failures <= 3', 19_000, [samples])).toBeUndefined()
    expect(breachAt('failures <= 3', 21_000, [samples])).toContain('is already')
  })

  test.each(['error_rate < 1%', 'p95 < 800ms', 'mean < 50ms', 'throughput >= 1000/s', 'samples >= 100000'])(
    'nothing is assumed about how fast the rest may be: %s',
    (line) => {
      // A bad window after each good one, so that there are never six in a row.
      const samples = steady(3 * MINUTE, 10, (atMs) =>
        Math.floor(atMs / 10_000) % 2 === 0 ? { elapsedMs: 900, isFailure: true } : { elapsedMs: 10 }
      )
      for (const { evidence } of looksAt(samples, TIMES))
        expect(findOutOfReach(parseAbsolute(line).thresholds[0]!, evidence)).toBeUndefined()
    }
  )

  test('a server that fails at first, and is two hundred times faster once it works', () => {
    const samples = users(5, 3 * MINUTE, (atMs) =>
      atMs < 56_000 ? { elapsedMs: 1000, isFailure: atMs % 10_000 > 1000 } : { elapsedMs: 5 }
    )
    const lines = 'error_rate < 1%\nmean < 50ms\np95 < 100ms'
    expect(judgeAll(lines, samples)).toEqual(['passed', 'passed', 'passed'])
    expect(stopOf(lines, samples)).toBeUndefined()
  })

  test.each([
    ['failures == 300', 'it may still be met'],
    ['samples == 5000', 'it may still be met'],
    ['max == 2s', 'it may still be met'],
    ['min == 5ms', 'it may still be met'],
    ['samples >= 5000', 'they may still come'],
    ['min <= 5ms', 'it may still fall']
  ])('%s: %s', (line) => {
    expect(breachAt(line, 60_000, [RUN])).toBeUndefined()
  })
})

/** Users that send one request after the other. */
function users(
  count: number,
  durationMs: number,
  at: (atMs: number) => Omit<TimedSample, 'atMs'>
): TimedSample[] {
  const samples: TimedSample[] = []
  for (let user = 0; user < count; user++)
    for (let atMs = user; atMs < durationMs; atMs += samples.at(-1)!.elapsedMs)
      samples.push({ atMs, threads: count, ...at(atMs) })
  return samples
}

function judgeWhole(lines: string, samples: readonly TimedSample[]): string | undefined {
  return judgeAll(lines, samples)[0]
}

function judgeAll(lines: string, samples: readonly TimedSample[]): string[] {
  const scanner = new ByteScanner({ grid: 'grid1', region: 'us-east-1' })
  scanner.push(Buffer.from(csvAt(samples, Infinity)))
  return judgeMeasured(parseAbsolute(lines).thresholds, mergeScans([scanner.end()]))
}

function judgeMeasured(thresholds: readonly AbsoluteThreshold[], measurements: Measurements): string[] {
  return judgeThresholds(thresholds, { apdex: undefined, measurements }).map(({ verdict }) => verdict)
}

describe('whatever the run is like', () => {
  const LINES = [
    ...[
      'error_rate <= 2%',
      'error_rate < 10%',
      'failures <= 40',
      'p90 < 500ms',
      'p99 <= 2s',
      'median < 150ms'
    ],
    ...['mean < 250ms', 'max < 5s', 'min > 5ms', 'samples <= 1500', 'samples >= 900', 'throughput >= 8/s'],
    ...['throughput <= 11/s', 'p95{label="*"} < 600ms', 'error_rate{label="b"} <= 3%', 'p100 < 5s']
  ]
  const times = { durationMs: 2 * MINUTE, settledAfterMs: 24_000 }

  /** Phases of a few seconds, each with its own rate, times and failures. */
  function makeRun(random: () => number): TimedSample[] {
    const samples: TimedSample[] = []
    const mood = random()
    let phase = { untilMs: 0, slow: 0, failing: 0, gapMs: 100 }
    for (let atMs = 0; atMs < times.durationMs; atMs += phase.gapMs) {
      if (atMs >= phase.untilMs) {
        const isBad = random() < mood
        phase = {
          untilMs: atMs + 2000 + random() * 30_000,
          slow: isBad ? random() : 0.02,
          failing: isBad ? random() * 0.3 : 0,
          gapMs: 75 + random() * 70
        }
      }
      const elapsedMs = Math.round(random() < phase.slow ? 300 + random() ** 3 * 6000 : 4 + random() * 200)
      if (atMs + elapsedMs > times.durationMs + 5000) continue
      samples.push({
        ...{ atMs: Math.round(atMs), elapsedMs, label: random() < 0.5 ? 'a' : 'b' },
        isFailure: random() < phase.failing
      })
    }
    return samples
  }

  /** What may follow. Nothing is too good or too bad. */
  const RESTS: readonly (readonly [string, (random: () => number) => Omit<TimedSample, 'atMs'>])[] = [
    ['perfect', () => ({ elapsedMs: 0 })],
    ['as fast as can be', () => ({ elapsedMs: 1, label: 'b' })],
    ['like nothing before', (random) => ({ elapsedMs: Math.round(random() ** 8 * 60_000), label: 'c' })],
    ['failing', (random) => ({ elapsedMs: 30_000, isFailure: random() < 0.9, label: 'a' })]
  ]

  test.each(RESTS)('no rest of a run makes a line hold that is out of reach: %s', (_name, next) => {
    const found = { stops: 0, passed: 0 }
    const { thresholds } = parseAbsolute(LINES.join('\n'))
    for (let seed = 1; seed <= slice(2, 6); seed++) {
      const random = makeRandom(seed)
      const samples = makeRun(random)
      const nowMs = 25_000 + Math.round(random() * 80_000)
      const feed = new Feed(samples)
      feed.readUntil(nowMs)
      const evidence = gatherEvidence([feed.grid], times)!
      const stopped = thresholds.filter((threshold) => findOutOfReach(threshold, evidence))
      const rest = Array.from({ length: 20_000 }, (_, at) => ({ atMs: nowMs + (at % 1000), ...next(random) }))
      const whole = samples.filter((sample) => endOf(sample) < nowMs).concat(rest)
      const verdicts = judgeAll(LINES.join('\n'), whole)
      const wrong = stopped.filter((threshold) => verdicts[thresholds.indexOf(threshold)] === 'passed')
      expect({ seed, wrong: wrong.map(({ text }) => text) }).toEqual({ seed, wrong: [] })
      found.stops += stopped.length
      found.passed += verdicts.filter((verdict) => verdict === 'passed').length
    }
    expect(found.stops).toBeGreaterThan(3)
    expect(found.passed).toBeGreaterThan(3)
  })

  test('a line that ends a run is broken by what was measured until then', () => {
    const found = { stops: 0, holding: 0 }
    const { thresholds } = parseAbsolute(LINES.join('\n'))
    for (let seed = 1; seed <= slice(3, 8); seed++) {
      const feed = new Feed(makeRun(makeRandom(seed)))
      for (let nowMs = 25_000; nowMs < 120_000; nowMs += 15_000) {
        feed.readUntil(nowMs)
        const evidence = gatherEvidence([feed.grid], times)!
        const verdicts = judgeMeasured(thresholds, evidence.total)
        const stopped = thresholds.filter((threshold) => findBreach([threshold], evidence))
        const wrong = stopped.filter((threshold) => verdicts[thresholds.indexOf(threshold)] !== 'failed')
        expect({ seed, nowMs, wrong: wrong.map(({ text }) => text) }).toEqual({ seed, nowMs, wrong: [] })
        found.stops += stopped.length
        found.holding += verdicts.filter((verdict) => verdict === 'passed').length
      }
    }
    expect(found.stops).toBeGreaterThan(20)
    expect(found.holding).toBeGreaterThan(50)
  })

  test('nothing is out of reach by a warm-up whose start shows late: its samples are judged by nothing', () => {
    const warmUpMs = 30_000
    const found = { stops: 0, passed: 0 }
    const { thresholds } = parseAbsolute(LINES.join('\n'))
    for (let seed = 1; seed <= 6; seed++) {
      const random = makeRandom(seed)
      // The first request of all takes longest, and until it ends the others seem to have begun the run.
      const slow = { atMs: 0, elapsedMs: 20_000 + Math.round(random() * 60_000), label: 'a' }
      const isBad = random() < 0.5
      const late = makeRun(random).map((sample) => ({
        ...sample,
        atMs: sample.atMs + 2000,
        // Mostly bad before the warm-up ends.
        ...(sample.atMs < warmUpMs - 5000 && isBad && { isFailure: true, elapsedMs: 3000 })
      }))
      const counted = late.filter(({ atMs }) => atMs >= warmUpMs)
      const verdicts = judgeAll(LINES.join('\n'), counted)
      const warmUp = { ms: warmUpMs, firstMs: Infinity }
      const feed = new Feed([slow, ...late], 'grid1', warmUp)
      const stopped = new Set<number>()
      for (let nowMs = 25_000; nowMs < 120_000; nowMs += 15_000) {
        feed.readUntil(nowMs)
        const evidence = gatherEvidence([feed.grid], {
          ...times,
          settledAfterMs: warmUpMs,
          warmUpMs
        })!
        expect(evidence.total.figures({})?.samples ?? 0).toBeLessThanOrEqual(counted.length)
        thresholds.forEach((threshold, index) => {
          if (findOutOfReach(threshold, evidence)) stopped.add(index)
        })
      }
      const wrong = [...stopped].filter((index) => verdicts[index] === 'passed')
      expect({ seed, wrong: wrong.map((index) => LINES[index]) }).toEqual({ seed, wrong: [] })
      found.stops += stopped.size
      found.passed += verdicts.filter((verdict) => verdict === 'passed').length
    }
    expect(found.stops).toBeGreaterThan(10)
    expect(found.passed).toBeGreaterThan(20)
  })
})

describe('with a warm-up', () => {
  const warmUpMs = 40_000
  const warm: LiveTimes = { durationMs: 4 * MINUTE, settledAfterMs: warmUpMs, warmUpMs }

  function stopWith(lines: string, runs: readonly (readonly TimedSample[])[]): number | undefined {
    const warmUp = { ms: warmUpMs, firstMs: Infinity }
    const feeds = runs.map((samples, index) => new Feed(samples, `grid${index + 1}`, warmUp))
    const thresholds = decisiveLines(parseThresholds(lines).thresholds)
    for (let second = 25; second < 200; second += 10) {
      for (const feed of feeds) feed.readUntil(second * 1000)
      const evidence = gatherEvidence(
        feeds.map(({ grid }) => grid),
        warm
      )
      if (evidence && findBreach(thresholds, evidence)) return second
    }
    return undefined
  }

  const cold = (atMs: number): Partial<TimedSample> =>
    atMs < warmUpMs ? { elapsedMs: 900, isFailure: true, label: 'start' } : {}

  test.each([
    'failures < 1',
    'max < 500ms',
    'error_rate < 1%',
    'p95 < 500ms',
    'p95{label="start"} < 500ms',
    'samples <= 2000'
  ])('what happens within it stops nothing: %s', (line) => {
    expect(stopWith(line, [steady(4 * MINUTE, 10, cold)])).toBeUndefined()
  })

  test('what happens after it does, by six windows after it', () => {
    const samples = steady(4 * MINUTE, 10, (atMs) => (atMs < warmUpMs ? {} : { elapsedMs: 900 }))
    // The last request from within it ends after 40 seconds, so the windows are those from 50 to 110 seconds.
    expect(stopWith('p95 < 500ms', [samples])).toBe(115)
    expect(stopWith('max < 500ms', [samples])).toBe(45)
  })

  test('requests from within it that end long after it are in no window', () => {
    const stuck = steady(MINUTE / 2, 2, () => ({ elapsedMs: 90_000, isFailure: true }))
    const samples = [...steady(4 * MINUTE, 1), ...stuck]
    expect(stopWith('error_rate < 50%', [samples])).toBeUndefined()
    expect(stopWith('mean < 10s', [samples])).toBeUndefined()
  })

  test('throughput is over the time after it', () => {
    // 400 samples in 200 s; over all 240 s they would be too few.
    const samples = steady(4 * MINUTE, 2, () => ({})).filter(({ atMs }) => atMs === 0 || atMs >= warmUpMs)
    expect(stopWith('throughput >= 1.9/s', [samples])).toBeUndefined()
    expect(stopWith('throughput >= 2.5/s', [samples])).toBe(105)
  })

  test('a grid that began later is cut by the start of the other', () => {
    const later = steady(3 * MINUTE, 10, (atMs) => ({ atMs: atMs + 30_000, ...cold(atMs + 30_000) }))
    expect(stopWith('failures < 1', [steady(4 * MINUTE, 10), later])).toBeUndefined()
    const bad = later.map((sample) => ({
      ...sample,
      isFailure: sample.atMs >= 45_000 && sample.atMs < 46_000
    }))
    expect(stopWith('failures < 1', [steady(4 * MINUTE, 10), bad])).toBe(55)
  })
})
