import { describe, expect, test } from '@jest/globals'
import { judgeBaselineLines } from '../../../src/analysis/baseline/judge-lines.js'
import { makeLine, selectLabel } from '../../support/baseline/make-run.js'
import { POWER_TOLERANCE, PUBLISHED_TABLE } from '../../support/baseline/published-table.js'
import { Random } from '../../support/baseline/random.js'
import {
  manyLabels,
  p95Of,
  rareFailures,
  recordedRuns,
  shareBroken,
  shareOverLastRun,
  steppedBranch
} from '../../support/baseline/simulate.js'

/** `npm run bench -- regression` has 2,000 in every cell. */
const PAIRS = 400
/** Each has 60 comparisons. */
const PAIRS_OF_LABELS = 80

/** What chance adds to a share in so many pairs, at most; one seed in 40 has more. */
function chance(share: number, pairs: number): number {
  return 2 * Math.sqrt((share * (1 - share)) / pairs)
}

test.each(PUBLISHED_TABLE)('$scenario.name: there are few false alarms', ({ scenario, mostFalseAlarms }) => {
  const pairs = Object.keys(scenario.line.selector).length > 0 ? PAIRS_OF_LABELS : PAIRS
  const share = shareBroken(scenario, { random: new Random(11), change: 0, pairs })
  expect(share).toBeLessThanOrEqual(mostFalseAlarms + chance(mostFalseAlarms, pairs))
})

test.each(PUBLISHED_TABLE.flatMap(({ scenario, powers }) => powers.map((power) => ({ scenario, ...power }))))(
  '$scenario.name: a change of $change is found as often as promised',
  ({ scenario, ...promised }) => {
    const { change, power, isAtLeast = false } = promised
    const share = shareBroken(scenario, { random: new Random(12), change, pairs: PAIRS })
    const tolerance = POWER_TOLERANCE + chance(power, PAIRS)
    expect(share).toBeGreaterThanOrEqual(isAtLeast ? power : power - tolerance)
    expect(share).toBeLessThanOrEqual(isAtLeast ? 1 : power + tolerance)
  }
)

describe('rare failures', () => {
  test.each([
    { labels: 1, runs: 10, samples: 100 },
    { labels: 1, runs: 1, samples: 150 },
    { labels: 20, runs: 10, samples: 100 },
    { labels: 20, runs: 5, samples: 150 },
    { labels: 20, runs: 10, samples: 400 }
  ])('do not break a line: $labels labels, N = $runs, n = $samples', ({ labels, runs, samples }) => {
    const scenario = rareFailures(labels, { runs, samples })
    const share = shareBroken(scenario, { random: new Random(16), change: 0, pairs: 120 })
    expect(share).toBeLessThanOrEqual(0.01 + chance(0.01, 120))
  })

  test.each([1, 10])('requests that all fail do, with %d base runs', (runs) => {
    const scenario = rareFailures(20, { runs, samples: 100 })
    expect(shareBroken(scenario, { random: new Random(17), change: 0.999, pairs: 20 })).toBe(1)
  })
})

describe('other rules', () => {
  test.each([
    [0.04, 0.045],
    [0.08, 0.2]
  ])('the ratio to the last run cries wolf with a noise of %d', (spread, expected) => {
    const random = new Random(13)
    const ratio = shareOverLastRun(recordedRuns('1', { runs: 1, spread }), { random, change: 0, pairs: 2000 })
    const ours = shareBroken(recordedRuns('10', { runs: 10, spread }), { random, change: 0, pairs: PAIRS })
    expect(Math.abs(ratio - expected)).toBeLessThan(0.01 + chance(expected, 2000))
    expect(ours).toBeLessThan(ratio / 3)
  })

  test('a plain mean of five runs alarms one run after a step', () => {
    const scenario = recordedRuns('step', { runs: 10, spread: 0.03, shift: steppedBranch(10) })
    const random = new Random(14)
    let alarms = 0
    for (let pair = 0; pair < PAIRS; pair++) {
      const evidence = scenario.draw(random, 0)
      const [base, head] =
        evidence.kind === 'recorded'
          ? [evidence.base.slice(-5).map(p95Of), p95Of(evidence.head[0])]
          : [[], NaN]
      const centre = Math.exp(base.reduce((sum, p95) => sum + Math.log(p95), 0) / 5)
      if (head > centre * 1.1) alarms++
    }
    expect(alarms / PAIRS).toBeGreaterThan(0.4)
    expect(shareBroken(scenario, { random: new Random(14), change: 0, pairs: PAIRS })).toBeLessThan(0.04)
  })

  test('each of 20 labels by itself alarms in many runs, all of them together in few', () => {
    const scenario = manyLabels(20, { runs: 10, spread: 0.05 })
    const random = new Random(15)
    const rules = { noise: 0.05, onMissing: 'warn', onUnsure: 'warn' } as const
    const pairs = 150
    let apart = 0
    let together = 0
    for (let pair = 0; pair < pairs; pair++) {
      const lines = Array.from({ length: 20 }, (_, i) => makeLine({ selector: selectLabel(`label ${i}`) }))
      const found = judgeBaselineLines(lines, scenario.draw(random, 0), rules).map(
        ({ comparison }) => comparison!
      )
      if (found.some(({ p, changePct }) => p! <= 0.01 && changePct! > 10)) apart++
      if (found.some(({ outcome }) => outcome === 'broken')) together++
    }
    expect(apart / pairs).toBeGreaterThan(0.04)
    expect(together / pairs).toBeLessThan(0.015)
  })
})
