import { describe, expect, test } from '@jest/globals'
import { ByteScanner } from '../../../../src/analysis/results/scan/byte-scanner.js'
import { mergeScans } from '../../../../src/analysis/results/figures/merge.js'
import { OverTime } from '../../../../src/analysis/results/stalls/over-time.js'
import { Random } from '../../../support/baseline/random.js'
import { writeRows, type SentSample } from '../../../support/stalls/write-rows.js'

const START_MS = 1_700_000_000_000

/** Users who ask without a pause, and a server that answers in 100 ms but stands still from 8 s on. */
function closedLoop({ users, stallMs, lastMs }: { users: number; stallMs: number; lastMs: number }) {
  const stallFrom = START_MS + 8000
  const samples: SentSample[] = []
  for (let thread = 1; thread <= users; thread++) {
    let startMs = START_MS + thread * 7
    while (startMs < START_MS + lastMs) {
      const due = startMs + 100
      const isHeld = due > stallFrom && startMs < stallFrom + stallMs
      const elapsedMs = isHeld ? stallFrom + stallMs - startMs + thread : 100
      samples.push({ startMs, elapsedMs, thread })
      startMs += elapsedMs + 1
    }
  }
  return samples
}

function overTimeOf(csv: string): OverTime {
  const found = askFor(csv)
  if (typeof found !== 'object') throw new Error(found)
  return found
}

function askFor(csv: string, label?: string): OverTime | string | undefined {
  const scanner = new ByteScanner({ grid: 'g', region: 'r' })
  scanner.push(Buffer.from(csv))
  return mergeScans([scanner.end()])
    .figures(label === undefined ? {} : { label })
    ?.overTime()
}

const STALLED = writeRows(closedLoop({ users: 12, stallMs: 5000, lastMs: 25_000 }), 12)

function withoutColumn(csv: string, name: string): string {
  const lines = csv.split('\n')
  const at = lines[0]!.split(',').indexOf(name)
  return lines.map((line) => line.split(',').toSpliced(at, 1).join(',')).join('\n')
}

describe('figures over time', () => {
  test('a server that stands still for 5 of 25 s is one stall', () => {
    const found = overTimeOf(STALLED)
    expect(found.stalls).toHaveLength(1)
    expect(found.stalls[0]?.waiting).toBe(12)
    expect(found.stalls[0]?.ms).toBeGreaterThan(4800)
    expect(found.percentileMs(99)).toBeGreaterThan(4500)
    expect(found.percentileMs(75)).toBe(0)
  })

  test('without one there is none', () => {
    const found = overTimeOf(writeRows(closedLoop({ users: 12, stallMs: 0, lastMs: 25_000 }), 12))
    expect(found.stalls).toEqual([])
    expect(found.percentileMs(99.9)).toBe(0)
    expect(found.apdex(500)).toBe(1)
  })

  test('a user alone waits in no stall', () => {
    expect(overTimeOf(writeRows(closedLoop({ users: 1, stallMs: 5000, lastMs: 25_000 }), 1)).stalls).toEqual(
      []
    )
  })

  test.each([
    [2, true],
    [3, false]
  ])('with %i threads in all, few waited: %s', (users, isFew) => {
    const found = overTimeOf(writeRows(closedLoop({ users, stallMs: 5000, lastMs: 25_000 }), users))
    expect(found).toMatchObject({ isFew, stalls: [{ waiting: users }] })
  })

  test('where rows do not name their threads, each is another one', () => {
    expect(overTimeOf(withoutColumn(STALLED, 'threadName')).stalls).toEqual(overTimeOf(STALLED).stalls)
  })

  test('where rows do not say how many threads there are, nobody knows', () => {
    const found = overTimeOf(withoutColumn(STALLED, 'allThreads'))
    expect(found).toMatchObject({ threads: undefined, isFew: false })
    expect(found.stalls).toEqual(overTimeOf(STALLED).stalls)
  })

  test.each([
    ['of all of them', 2, 1],
    ['of half of them', 4, 1],
    ['of fewer', 5, 0]
  ])('after the last start, the last answers are waited for: %s', (_, allThreads, stalls) => {
    const quick = Array.from({ length: 20 }, (__, i) => ({
      ...{ startMs: START_MS + i * 10 + 1, elapsedMs: 50, thread: (i % 2) + 1 }
    }))
    const last = [1, 2].map((thread) => ({ startMs: START_MS + 240 + thread, elapsedMs: 3000, thread }))
    expect(overTimeOf(writeRows([...quick, ...last], allThreads)).stalls).toHaveLength(stalls)
  })

  test.each([
    ['times in whole seconds', STALLED.replaceAll(/^(\d+)\d{3},/gm, '$1000,'), 'whole seconds'],
    ['no start', withoutColumn(STALLED, 'timeStamp'), 'the start and the duration'],
    ['no duration', withoutColumn(STALLED, 'elapsed'), 'the start and the duration'],
    [
      'a tidy CSV',
      'time,measurement,label,value\n2024-01-01T00:00:00Z,passed,home,5\n2024-01-01T00:00:01Z,passed,home,5\n',
      'a row for each sample'
    ]
  ])('are unknown with %s', (_, csv, reason) => {
    expect(askFor(csv)).toContain(reason)
  })

  test('are unknown where one grid has times in whole seconds', () => {
    const scans = [STALLED, STALLED.replaceAll(/^(\d+)\d{3},/gm, '$1000,')].map((csv, index) => {
      const scanner = new ByteScanner({ grid: `g${index}`, region: 'r' })
      scanner.push(Buffer.from(csv))
      return scanner.end()
    })
    expect(mergeScans(scans).figures({})?.overTime()).toContain('whole seconds')
    expect(mergeScans(scans).figures({ grid: 'g0' })?.overTime()).toBeInstanceOf(OverTime)
  })

  test('are known where another grid has a row that starts at a whole second by chance', () => {
    const one = STALLED.split('\n')
      .slice(0, 2)
      .join('\n')
      .replace(/^(\d+)\d{3},/m, '$1000,')
    const scans = [STALLED, one].map((csv, index) => {
      const scanner = new ByteScanner({ grid: `g${index}`, region: 'r' })
      scanner.push(Buffer.from(csv))
      return scanner.end()
    })
    expect(mergeScans(scans).figures({})?.overTime()).toMatchObject({ stalls: [{ waiting: 12 }] })
  })

  test('are unknown for a label that no line names', () => {
    expect(askFor(STALLED, 'home')).toContain('no threshold names the label')
  })

  test('there are none without rows', () => {
    expect(askFor(STALLED.slice(0, STALLED.indexOf('\n') + 1))).toBeUndefined()
  })
})

describe('a label', () => {
  /** Three users, three labels, one request of each in flight when the server stands still. */
  const samples = closedLoop({ users: 3, stallMs: 5000, lastMs: 25_000 }).map((sample) => ({
    ...sample,
    label: `step ${sample.thread}`
  }))

  function overTimeIn(all: readonly SentSample[], label: string, stallLabels = [['', '']]) {
    const scanner = new ByteScanner({ grid: 'g', region: 'r', stallLabels })
    scanner.push(Buffer.from(writeRows([...all], 3)))
    return mergeScans([scanner.end()]).figures({ label })?.overTime()
  }

  test('waits in a stall of everything with one user alone', () => {
    expect(overTimeIn(samples, 'step 2')).toMatchObject({
      stalls: [{ ms: expect.closeTo(4900, -3), waiting: 3 }]
    })
  })

  test('with one user alone does not wait while others are answered', () => {
    const others = samples.flatMap(({ thread, ...sample }) =>
      thread === 2 ? [{ ...sample, thread }] : [{ ...sample, thread, elapsedMs: 100 }]
    )
    const polls = Array.from({ length: 240 }, (_, i) => ({
      ...{ startMs: START_MS + i * 100 + 3, elapsedMs: 50, thread: 1, label: 'poll' }
    }))
    expect(overTimeIn([...others, ...polls], 'step 2')).toMatchObject({ stalls: [] })
  })

  test('has a stall of its own, and says so', () => {
    const polls = Array.from({ length: 240 }, (_, i) => ({
      ...{ startMs: START_MS + i * 100 + 3, elapsedMs: 50, thread: 9, label: 'poll' }
    }))
    const same = samples.map((sample) => ({ ...sample, label: 'step' }))
    expect(overTimeIn([...same, ...polls], 'step')).toMatchObject({ stalls: [{ label: 'step', waiting: 3 }] })
  })

  test('has no figure if lines name a hundred or more, whichever came first', () => {
    const many = Array.from({ length: 120 }, (_, i) => ({
      ...{ startMs: START_MS + i * 10 + 1, elapsedMs: 50, thread: 1, label: `other ${i}` }
    }))
    for (const label of ['step 2', 'other 1', 'other 119'])
      expect(overTimeIn([...many, ...samples], label)).toContain('thresholds name 100 labels or more')
    expect(overTimeIn([...many, ...samples], 'step 2', [['step 2']])).toBeInstanceOf(OverTime)
  })
})

describe('whoever waited for the same thing', () => {
  const quick = (fromMs: number, count: number) =>
    Array.from({ length: count }, (_, i) => ({
      ...{ startMs: START_MS + fromMs + i * 20 + 1, elapsedMs: 50, thread: 5 + (i % 4) }
    }))
  const slow = (endsMs: readonly number[]) =>
    endsMs.map((endMs, i) => ({ startMs: START_MS + 1000 + i, elapsedMs: endMs - i, thread: i + 1 }))

  test.each([
    ['at once', [3000, 3010, 3020], 1],
    ['within a tenth of the time', [3000, 3250], 1],
    ['one by one', [3000, 4500], 0],
    [
      'five of many, and the others as the server gets to them',
      [3000, 3000, 3000, 3000, 3000, 4000, 4100, 4200, 4300, 4400, 4500],
      1
    ],
    ['two of many', [3000, 3000, 4000, 4100, 4200, 4300, 4400, 4500], 0]
  ])('is answered together: %s', (_, endsMs, stalls) => {
    const all = [...quick(0, 50), ...slow(endsMs), ...quick(3990, 200)]
    expect(overTimeOf(writeRows(all, 20)).stalls).toHaveLength(stalls)
  })
})

test.each([
  ['a tenth of the run', 2500, 1],
  ['less', 2300, 0]
])('before the first answer, a stall is one from a tenth of the run on: %s', (_, firstMs, stalls) => {
  const first = [1, 2, 3].map((thread) => ({ startMs: START_MS + thread, elapsedMs: firstMs, thread }))
  const others = Array.from({ length: 1000 }, (__, i) => ({
    ...{ startMs: START_MS + firstMs + 10 + i * 21, elapsedMs: 50, thread: 1 + (i % 3) }
  }))
  expect(overTimeOf(writeRows([...first, ...others], 3)).stalls).toHaveLength(stalls)
})

test('the median of a label with few samples is that of all', () => {
  const withIds = closedLoop({ users: 6, stallMs: 5000, lastMs: 25_000 }).map((sample, i) => ({
    ...sample,
    label: `/item/${i}`
  }))
  expect(overTimeOf(writeRows(withIds, 6)).stalls).toMatchObject([{ waiting: 6 }])
})

describe('hours with many labels', () => {
  const HOUR_MS = 3_600_000
  const LABELS = 60
  const stallMs = START_MS + 2.5 * HOUR_MS

  /** Each user has a label, and asks every 20 s; the server stands still for 6 s in the third hour. */
  function makeHours(): string {
    const samples: SentSample[] = []
    for (let thread = 1; thread <= LABELS; thread++) {
      const label = `step ${thread}`
      for (let startMs = START_MS + thread * 333; startMs < START_MS + 3 * HOUR_MS; startMs += 20_000) {
        const isHeld = startMs >= stallMs && startMs < stallMs + 6000
        samples.push({ startMs, elapsedMs: isHeld ? stallMs + 6000 - startMs : 100, thread, label })
      }
    }
    return writeRows(samples, LABELS)
  }

  test.each([
    ['no label', [], 'no threshold names the label'],
    ['all of them', [['', '']], 'the run is too long']
  ])('find the one stall where lines name %s', (_, stallLabels, lack) => {
    const scanner = new ByteScanner({ grid: 'g', region: 'r', stallLabels })
    scanner.push(Buffer.from(makeHours()))
    const measured = mergeScans([scanner.end()])
    expect(measured.figures({})?.overTime()).toMatchObject({
      stalls: [{ waiting: 17, ms: expect.closeTo(5500, -3) }]
    })
    // Nobody would see that a label was followed for a while only.
    expect(measured.figures({ label: 'step 7' })?.overTime()).toContain(lack)
  })
})

function makeOverTime(lengthsMs: readonly number[], spanMs: number): OverTime {
  const stalls = lengthsMs.map((ms) => ({ startMs: 0, ms, waiting: 2 }))
  return new OverTime(stalls, [], spanMs, 9)
}

/** What requests wait that arrive at random moments, one in each millisecond, in ascending order. */
function waitAtRandom(lengthsMs: readonly number[], spanMs: number, random: Random): Float64Array {
  const waits = new Float64Array(spanMs)
  let at = 0
  for (const ms of lengthsMs) for (let left = ms; left > 0; left--) waits[at++] = left - random.uniform()
  return waits.sort()
}

describe('by moments', () => {
  const random = new Random(1)
  const cases = Array.from({ length: 30 }, () => {
    const lengthsMs = Array.from({ length: random.below(12) }, () => 128 + random.below(6000))
    const stalledMs = lengthsMs.reduce((sum, ms) => sum + ms, 0)
    return { lengthsMs, spanMs: stalledMs + 1 + random.below(60_000) }
  })

  test.each(cases)('percentiles are those of what random arrivals wait: $lengthsMs of $spanMs ms', (one) => {
    const found = makeOverTime(one.lengthsMs, one.spanMs)
    const waits = waitAtRandom(one.lengthsMs, one.spanMs, random)
    for (const percent of [50, 75, 90, 95, 99, 99.9]) {
      const expected = waits[Math.ceil((waits.length * percent) / 100 - 1e-9) - 1]!
      expect(Math.abs(found.percentileMs(percent) - expected)).toBeLessThan(2)
    }
  })

  test.each(cases)('Apdex is theirs: $lengthsMs of $spanMs ms', ({ lengthsMs, spanMs }) => {
    const found = makeOverTime(lengthsMs, spanMs)
    const waits = waitAtRandom(lengthsMs, spanMs, random)
    for (const targetMs of [100, 500, 1500]) {
      const satisfied = waits.filter((wait) => wait <= targetMs).length
      const tolerated = waits.filter((wait) => wait <= 4 * targetMs).length - satisfied
      expect(found.apdex(targetMs)).toBeCloseTo((satisfied + tolerated / 2) / waits.length, 2)
    }
  })

  test.each([
    ['nothing but a stall', [10_000], 10_000, [5000, 9000, 9900]],
    ['whole numbers stay whole', [1032], 16_020, [0, 0, 871]],
    ['equal stalls', [1000, 1000], 20_000, [0, 0, 900]],
    ['no time at all', [], 0, [0, 0, 0]]
  ])('%s', (_, lengthsMs, spanMs, expected) => {
    const found = makeOverTime(lengthsMs, spanMs)
    expect([50, 90, 99].map((percent) => found.percentileMs(percent))).toEqual(expected)
    expect(found.apdex(0)).toBeCloseTo(1 - found.shareAbove(0), 9)
  })
})
