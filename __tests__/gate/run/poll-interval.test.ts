import { describe, expect, test } from '@jest/globals'
import { nextPollMs } from '../../../src/gate/run/watch-run.js'
import { makeRandom } from '../../support/data/seeded-random.js'

const SECOND = 1000
const SEEDS = Array.from({ length: 300 }, (_, seed) => seed)

interface Course {
  readonly random: () => number
  readonly longestMs?: number
  /** From the first look to the first that can see it running. */
  readonly queuedMs: number
  readonly runMs: number
  /** What is expected; undefined when nobody knows. */
  readonly durationMs: number | undefined
}

/** Looks as the watch does, until the end has been seen. */
function simulate({ random, longestMs = 15_000, queuedMs, runMs, durationMs }: Course): {
  looks: number[]
  lateMs: number
} {
  const looks: number[] = []
  const endMs = queuedMs + runMs
  let nowMs = 0
  // The last look before it was seen running, as the watch takes it.
  let runningSinceMs: number | undefined
  for (;;) {
    looks.push(nowMs)
    if (nowMs >= endMs) return { looks, lateMs: nowMs - endMs }
    if (nowMs >= queuedMs) runningSinceMs ??= looks.at(-2) ?? nowMs
    const untilEndMs =
      durationMs === undefined || runningSinceMs === undefined
        ? undefined
        : runningSinceMs + durationMs - nowMs
    nowMs += nextPollMs({ elapsedMs: nowMs, untilEndMs, longestMs }, random)
  }
}

describe('a run of ten minutes whose duration is known', () => {
  const durationMs = 600 * SECOND
  const courses = SEEDS.map((seed) => {
    const random = makeRandom(seed)
    const queuedMs = Math.floor(random() * 120 * SECOND)
    // A run takes a little longer than its duration: ramp-down, last samples.
    const runMs = durationMs + Math.floor(random() * 20 * SECOND)
    return { queuedMs, runMs, ...simulate({ random, queuedMs, runMs, durationMs }) }
  })

  test('the end is seen within 3 s', () => {
    expect(Math.max(...courses.map(({ lateMs }) => lateMs))).toBeLessThanOrEqual(3 * SECOND)
  })

  test('with at most a third of the calls of a loop of 3 seconds', () => {
    const shares = courses.map(
      ({ looks, queuedMs, runMs }) => looks.length / ((queuedMs + runMs) / (3 * SECOND))
    )
    expect(Math.max(...shares)).toBeLessThanOrEqual(1 / 3)
  })
})

describe('the bounds of a wait', () => {
  const draws = SEEDS.map((seed) => makeRandom(seed)())

  test.each([
    ['at first', { elapsedMs: 0, untilEndMs: undefined, longestMs: 15_000 }, 850, 1000],
    ['after half a minute', { elapsedMs: 30_000, untilEndMs: undefined, longestMs: 15_000 }, 6_375, 7_500],
    ['after an hour', { elapsedMs: 3_600_000, untilEndMs: undefined, longestMs: 15_000 }, 12_750, 15_000],
    [
      'with a poll-interval of 1 s',
      { elapsedMs: 3_600_000, untilEndMs: undefined, longestMs: 1000 },
      850,
      1000
    ],
    ['long before the end', { elapsedMs: 300_000, untilEndMs: 300_000, longestMs: 15_000 }, 12_750, 15_000],
    [
      'before the end, exactly up to it',
      { elapsedMs: 595_000, untilEndMs: 5_000, longestMs: 15_000 },
      5_000,
      5_000
    ],
    ['at the end', { elapsedMs: 600_000, untilEndMs: 0, longestMs: 15_000 }, 2_380, 2_800],
    ['a little overdue', { elapsedMs: 630_000, untilEndMs: -30_000, longestMs: 15_000 }, 2_380, 2_800],
    ['overdue by 5 minutes', { elapsedMs: 900_000, untilEndMs: -300_000, longestMs: 15_000 }, 10_625, 12_500],
    [
      'overdue by an hour',
      { elapsedMs: 4_200_000, untilEndMs: -3_600_000, longestMs: 15_000 },
      12_750,
      15_000
    ],
    [
      'at the end, with a poll-interval of 1 s',
      { elapsedMs: 600_000, untilEndMs: 0, longestMs: 1000 },
      850,
      1000
    ],
    [
      'long before the end, with a poll-interval of 1 s',
      { elapsedMs: 300_000, untilEndMs: 300_000, longestMs: 1000 },
      850,
      1000
    ]
  ])('%s', (_, pace, leastMs, mostMs) => {
    const waits = draws.map((draw) => nextPollMs(pace, () => draw))
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(leastMs)
    expect(Math.max(...waits)).toBeLessThanOrEqual(mostMs)
  })

  test('no wait is ever longer than poll-interval, nor without length', () => {
    const waits = SEEDS.flatMap((seed) => {
      const random = makeRandom(seed)
      return Array.from({ length: 50 }, () => {
        const longestMs = 1000 + Math.floor(random() * 60_000)
        const untilEndMs = random() < 0.3 ? undefined : (random() - 0.5) * 1_000_000
        return nextPollMs({ elapsedMs: random() * 1_000_000, untilEndMs, longestMs }, random) / longestMs
      })
    })
    expect(Math.max(...waits)).toBeLessThanOrEqual(1)
    expect(Math.min(...waits)).toBeGreaterThan(0)
  })
})

test('an overdue run is looked at less and less often', () => {
  const course = { random: () => 0, queuedMs: 0, runMs: 3_600_000, durationMs: 60_000 }
  const { looks } = simulate(course)
  const steady = 3_600_000 / 15_000
  expect(looks.length).toBeLessThan(steady * 1.3)
})

test('a run whose duration nobody knows is looked at every poll-interval in the end', () => {
  const { looks } = simulate({ random: () => 0, queuedMs: 0, runMs: 600_000, durationMs: undefined })
  expect(looks.at(-1)! - looks.at(-2)!).toBe(15_000)
  expect(looks[1]).toBe(1000)
})

test('twenty jobs that start together do not look in step', () => {
  const jobs = SEEDS.slice(0, 20).map(
    (seed) => simulate({ random: makeRandom(seed), queuedMs: 0, runMs: 600_000, durationMs: 600_000 }).looks
  )
  const middle = jobs.map((looks) => looks.findLast((look) => look < 300_000)!)
  const spreadMs = Math.max(...middle) - Math.min(...middle)
  expect(spreadMs).toBeGreaterThan(5_000)
  // No single second holds more than a handful of them.
  const seconds = middle.map((look) => Math.floor(look / SECOND))
  const most = Math.max(...seconds.map((second) => seconds.filter((other) => other === second).length))
  expect(most).toBeLessThanOrEqual(6)
})
