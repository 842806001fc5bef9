import { describe, expect, test } from '@jest/globals'
import { decisiveLines, findBreach } from '../../../src/gate/live/judge-live.js'
import { findOutOfReach } from '../../../src/gate/live/out-of-reach.js'
import { gatherEvidence } from '../../../src/gate/live/live-evidence.js'
import { LiveWarmUp } from '../../../src/gate/live/live-warm-up.js'
import type { LiveEvidence, LiveTimes } from '../../../src/gate/live/live-evidence.js'
import { createScanner, mergeScans } from '../../../src/results/scan/scanner.js'
import { parseThresholds } from '../../../src/thresholds/grammar/grammar.js'
import { judgeThresholds } from '../../../src/thresholds/judge/judge.js'
import { makeRandom } from '../../support/data/seeded-random.js'
import { parseAbsolute } from '../../support/data/parse-absolute.js'
import { Feed, csvAt, endOf, readUntil, rowOf, steady } from '../../support/gate/live-samples.js'
import type { TimedSample } from '../../support/gate/live-samples.js'

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
      'p95 was above 800 ms in each of the last six 10-second windows (latest 1,240 ms)'
    )
  })

  test('by the ramp-up where it is shorter', () => {
    expect(stopOf('p95 < 800ms', RUN, { ...TIMES, settledAfterMs: 10_000 })).toBe(75)
  })

  test.each([
    'p91 <= 800ms',
    'median <= 99ms',
    'mean < 214ms',
    'p95{label="home", grid="*"} < 800ms',
    'throughput >= 11/s',
    'throughput >= 660/min',
    'throughput < 10/s'
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
    expect(breachAt('throughput >= 11/s', 105_000, [samples])).toContain('throughput was below 11/s')
  })

  test('throughput of a label that has its time is not broken before or after it', () => {
    const login = steady(6000, 20, () => ({ label: 'login' }))
    const line = 'throughput{label="login"} >= 0.6/s'
    expect(judgeWhole(line, [...login, ...RUN])).toBe('passed')
    expect(stopOf(line, [...login, ...RUN])).toBeUndefined()
    expect(breachAt('throughput{label="login"} >= 2/s', 105_000, [[...login, ...RUN]])).toBeUndefined()
    expect(breachAt('throughput{region="us-*"} >= 11/s', 105_000, [RUN])).toContain('was below 11/s')
  })

  test('throughput for which the samples so far are enough is never broken by windows', () => {
    const burst = steady(20_000, 50)
    expect(judgeWhole('throughput >= 12/s', [...burst, ...RUN])).toBe('passed')
    expect(stopOf('throughput >= 12/s', steady(20_000, 110).concat(RUN))).toBeUndefined()
    // Those so far are not enough yet, and the windows are broken: that is the rule.
    expect(stopOf('throughput >= 12/s', [...burst, ...RUN])).toBe(105)
  })

  test('a window is open until rows have passed its end', () => {
    const until = (endMs: number) =>
      RUN.filter((sample) => endOf(sample) < endMs).concat({ atMs: endMs - 90, elapsedMs: 90 })
    expect(breachAt('p95 < 800ms', 3 * MINUTE, [until(101_990)])).toBeUndefined()
    expect(breachAt('p95 < 800ms', 3 * MINUTE, [until(103_000)])).toContain('p95 was')
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
    expect(breachAt('p95 < 800ms', 150_000, [RUN, RUN])).toContain('p95 was')
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
  expect(gatherEvidence([grid], TIMES)).toMatchObject({ mostMore: Infinity })
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

  test.each([
    ['error_rate < 1%', { isFailure: true }],
    ['p95 < 800ms', { elapsedMs: 900 }],
    ['mean < 50ms', { elapsedMs: 900 }]
  ])('%s: a bad minute that the rest cannot make up for', (line, change) => {
    // Every other window, so that there are never six in a row.
    const samples = steady(3 * MINUTE, 10, (atMs) =>
      Math.floor(atMs / 10_000) % 2 === 0 ? change : { elapsedMs: line.startsWith('error') ? 100 : 10 }
    )
    expect(stopOf(line, samples)).toBeLessThan(170)
    expect(judgeWhole(line, samples)).toBe('failed')
  })

  /** Five users without pauses; each sample takes a second, and one in ten succeeds. */
  const FAILING = steady(3 * MINUTE, 5, (atMs) => ({ elapsedMs: 1000, isFailure: atMs % 2000 !== 0 }))

  test('what the rest can have is not known before the load has settled', () => {
    expect(breachAt('error_rate < 1%', 45_000, [FAILING])).toBeUndefined()
    expect(breachAt('error_rate < 1%', 55_000, [FAILING])).toContain('cannot get there any more')
  })

  test.each([
    ['the rows do not say how many users there are', { threads: 0 }],
    ['nothing has succeeded yet, so that nobody knows how fast that is', { isFailure: true }]
  ])('not known either: %s', (_why, change) => {
    const samples = FAILING.map((sample) => ({ ...sample, ...change }))
    expect(breachAt('error_rate < 1%', 55_000, [samples])).toBeUndefined()
    expect(breachAt('failures <= 3', 55_000, [samples])).toContain('is already')
  })

  test('by the users that were requested, if they are more than those seen so far', () => {
    expect(breachAt('error_rate < 1%', 55_000, [FAILING], { ...TIMES, threads: 10 })).toContain('cannot get')
    expect(breachAt('error_rate < 1%', 55_000, [FAILING], { ...TIMES, threads: 500 })).toBeUndefined()
    expect(breachAt('error_rate < 1%', 55_000, [FAILING], { ...TIMES, nodes: 100 })).toBeUndefined()
  })

  test('throughput and samples that cannot be reached any more', () => {
    const samples = steady(3 * MINUTE, 2)
    expect(breachAt('samples >= 100000', MINUTE, [samples])).toContain(
      'samples must be >= 100,000 and cannot'
    )
    expect(breachAt('samples >= 500', MINUTE, [samples])).toBeUndefined()
    expect(breachAt('throughput{label="home"} >= 1000/s', MINUTE, [samples])).toContain('cannot get there')
  })

  test('says what it assumes about the rest', () => {
    expect(breachAt('error_rate < 1%', 55_000, [FAILING])).toMatch(
      /^error_rate must be < 1 % and cannot get there any more: it is 8\d(\.\d+)? % so far and would be \d(\.\d+)? % even after [67],\d{3} perfect samples \(more than the rest of the run can have\)$/
    )
  })

  test('a server that hangs at first, with a fixed number of users, and recovers', () => {
    const samples = users(10, 2 * MINUTE, (atMs) =>
      atMs < 25_000 ? { elapsedMs: 5000, isFailure: true } : { elapsedMs: 100 }
    )
    expect(judgeAll('error_rate < 5%\np95 < 500ms', samples)).toEqual(['passed', 'passed'])
    const times = { durationMs: 2 * MINUTE, settledAfterMs: 5000 }
    expect(stopOf('error_rate < 5%\np95 < 500ms', samples, times)).toBeUndefined()
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
  const scanner = createScanner({ grid: 'grid1', region: 'us-east-1' })
  scanner.push(Buffer.from(csvAt(samples, Infinity)))
  const evidence = { apdex: undefined, measurements: mergeScans([scanner.end()]) }
  return judgeThresholds(parseAbsolute(lines).thresholds, evidence).map(({ verdict }) => verdict)
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
          // Within the factor of two that the rest of a run may be faster.
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

  test('a run that would pass is never out of reach, and many that fail are', () => {
    const found = { stops: 0, passed: 0 }
    const { thresholds } = parseAbsolute(LINES.join('\n'))
    for (let seed = 1; seed <= 8; seed++) {
      const samples = makeRun(makeRandom(seed))
      const verdicts = judgeAll(LINES.join('\n'), samples)
      const stopped = new Set<number>()
      const feed = new Feed(samples)
      for (let nowMs = 25_000; nowMs < 120_000; nowMs += 15_000) {
        feed.readUntil(nowMs)
        const evidence = gatherEvidence([feed.grid], times)!
        thresholds.forEach((threshold, index) => {
          if (findOutOfReach(threshold, evidence)) stopped.add(index)
        })
      }
      const wrong = [...stopped]
        .filter((index) => verdicts[index] === 'passed')
        .map((index) => `${seed}: ${LINES[index]!}`)
      expect(wrong).toEqual([])
      found.stops += stopped.size
      found.passed += verdicts.filter((verdict) => verdict === 'passed').length
    }
    expect(found.stops).toBeGreaterThan(20)
    expect(found.passed).toBeGreaterThan(20)
  })

  /** The server's time changes by a factor of ten at most, and requests may run into a timeout; most servers recover. */
  function makeUsers(random: () => number): TimedSample[] {
    const leastMs = 40 + random() * 200
    const recoversMs = random() * times.durationMs
    const phases = Array.from({ length: 12 }, (_, index) => {
      const isBad = index * 10_000 < recoversMs
      return {
        elapsedMs: leastMs * 10 ** (isBad ? 1 - random() ** 3 : random() ** 3),
        failing: isBad && random() < 0.3 ? random() : 0
      }
    })
    return users(1 + Math.floor(random() * 4), times.durationMs, (atMs) => {
      const { elapsedMs, failing } = phases[Math.floor(atMs / 10_000)]!
      const isFailure = random() < failing
      return { elapsedMs: Math.ceil(isFailure ? leastMs * 40 : elapsedMs), isFailure }
    })
  }

  test('nor is one with a fixed number of users and a server whose times change', () => {
    const lines = [
      'error_rate < 0.1%',
      'error_rate < 1%',
      'error_rate < 10%',
      'p90 < 500ms',
      'median < 300ms',
      'mean < 400ms'
    ]
    const more = ['throughput >= 4/s', 'samples >= 1500', 'p99 < 1500ms', 'failures < 60', 'p75 <= 800ms']
    const { thresholds } = parseAbsolute([...lines, ...more].join('\n'))
    const found = { stops: 0, passed: 0 }
    for (let seed = 1; seed <= 10; seed++) {
      const samples = makeUsers(makeRandom(seed))
      const verdicts = judgeAll([...lines, ...more].join('\n'), samples)
      const feed = new Feed(samples)
      const stopped = new Set<number>()
      for (let nowMs = 40_000; nowMs < 108_000; nowMs += 15_000) {
        feed.readUntil(nowMs)
        const evidence = gatherEvidence([feed.grid], times)
        thresholds.forEach((threshold, index) => {
          if (evidence && findOutOfReach(threshold, evidence)) stopped.add(index)
        })
      }
      const wrong = [...stopped].filter((index) => verdicts[index] === 'passed')
      expect({ seed, wrong: wrong.map((index) => thresholds[index]!.text) }).toEqual({ seed, wrong: [] })
      found.stops += stopped.size
      found.passed += verdicts.filter((verdict) => verdict === 'passed').length
    }
    expect(found.stops).toBeGreaterThan(5)
    expect(found.passed).toBeGreaterThan(50)
  })

  test('nor is one with a warm-up whose start shows late: its samples are judged by nothing', () => {
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
      const warmUp = new LiveWarmUp(warmUpMs)
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
    const warmUp = new LiveWarmUp(warmUpMs)
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
