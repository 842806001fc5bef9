import { describe, expect, test } from '@jest/globals'
import {
  benjaminiHochberg,
  differenceVariance,
  compareSideBySide,
  isDrifting,
  Random,
  upperBoundOfSpread
} from '../../../../src/analysis/baseline/statistics/evidence-of-change.js'
import {
  classify,
  mostResolutionFor,
  samplesNeeded,
  assumeSpread
} from '../../../../src/analysis/baseline/statistics/classify.js'
import {
  asChangePct,
  fromScale,
  limitFor,
  limitOnScale,
  SCALES,
  toScale
} from '../../../../src/analysis/baseline/statistics/scale.js'

describe('benjaminiHochberg', () => {
  // Benjamini and Hochberg (1995), section 3.2: four are found at 5 %, where Bonferroni's method finds three.
  const WORKED = [
    0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.324, 0.4262, 0.5719, 0.6528,
    0.759, 1
  ]

  test('finds four of the fifteen of the paper', () => {
    expect(benjaminiHochberg(WORKED, 0.05)).toEqual(WORKED.map((_, i) => i < 4))
  })

  test('keeps the order given', () => {
    const found = benjaminiHochberg([...WORKED].reverse(), 0.05)
    expect(found).toEqual(WORKED.map((_, i) => i >= 11))
  })

  test('finds what only its neighbours make significant', () => {
    // 0.009 is above 0.01 / 2, but 0.0095 is below 0.01.
    expect(benjaminiHochberg([0.009, 0.0095], 0.01)).toEqual([true, true])
    expect(benjaminiHochberg([0.009, 0.5], 0.01)).toEqual([false, false])
  })

  test('is a plain level for one', () => {
    expect(benjaminiHochberg([0.01], 0.01)).toEqual([true])
    expect(benjaminiHochberg([0.0101], 0.01)).toEqual([false])
    expect(benjaminiHochberg([], 0.01)).toEqual([])
  })
})

describe('compareSideBySide', () => {
  test('takes the variance of the rounds and the floor', () => {
    // Mean 0.02, variance 0.0001.
    const change = compareSideBySide([0.01, 0.02, 0.03], 0.01)
    const se = Math.sqrt(0.0001 / 3 + 2 * 0.0001)
    expect(change.delta).toBeCloseTo(0.02, 12)
    expect(change.se).toBeCloseTo(se, 12)
    expect(change.dof).toBe(2)
    expect(change.interval[1]).toBeCloseTo(0.02 + 6.964557 * se, 6)
    expect(change.resolution).toBeCloseTo((6.964557 + 1.28) * se, 6)
  })

  test('does not believe in differences that are too regular', () => {
    expect(compareSideBySide([0.01, 0.01, 0.01, 0.01], 0.01).p).toBeGreaterThan(0.2)
    expect(compareSideBySide([0.01, 0.01, 0.01, 0.01], 0).p).toBe(0)
  })
})

describe('scales', () => {
  test('compare times and throughput by their logarithm, worse upwards', () => {
    expect(toScale(SCALES.time, 400)).toBeCloseTo(Math.log(400), 12)
    expect(toScale(SCALES.throughput, 50)).toBeCloseTo(-Math.log(50), 12)
    expect(toScale(SCALES.error_rate, 0.02)).toBe(0.02)
    expect(toScale(SCALES.apdex, 0.9)).toBe(-0.9)
  })

  test('have a place for times of 0 ms, and none for what is no figure', () => {
    expect(toScale(SCALES.time, 0)).toBeCloseTo(Math.log(0.5), 12)
    expect(toScale(SCALES.throughput, 0)).toBeUndefined()
    expect(toScale(SCALES.time, NaN)).toBeUndefined()
    expect(toScale(SCALES.time, Infinity)).toBeUndefined()
    expect(toScale(SCALES.error_rate, -0.1)).toBeUndefined()
    expect(toScale(SCALES.time, undefined)).toBeUndefined()
    expect(toScale(SCALES.error_rate, 0)).toBe(0)
  })

  test.each([
    ['time', 400],
    ['throughput', 12.5],
    ['error_rate', 0.03],
    ['apdex', 0.87]
  ] as const)('lead back to a %s', (kind, figure) => {
    expect(fromScale(SCALES[kind], toScale(SCALES[kind], figure)!)).toBeCloseTo(figure, 10)
  })

  test('have limits', () => {
    expect(limitOnScale(SCALES.time, 400, { ratio: 0.1 })).toBeCloseTo(Math.log(1.1), 12)
    expect(limitOnScale(SCALES.throughput, 80, { ratio: 0.05 })).toBeCloseTo(-Math.log(0.95), 12)
    expect(limitOnScale(SCALES.error_rate, 0.01, { amount: 0.005 })).toBeCloseTo(0.005, 12)
    expect(limitOnScale(SCALES.apdex, 0.9, { amount: 0.02 })).toBeCloseTo(0.02, 12)
    expect(limitOnScale(SCALES.throughput, 5, { amount: 6 })).toBe(Infinity)
    expect(limitOnScale(SCALES.time, 400, {})).toBe(0)
  })

  test('take the larger of two allowances', () => {
    expect(limitFor(SCALES.time, 400, { ratio: 0.1, amount: 20 })).toBeCloseTo(440, 10)
    expect(limitFor(SCALES.time, 100, { ratio: 0.1, amount: 20 })).toBeCloseTo(120, 10)
    expect(limitFor(SCALES.throughput, 100, { ratio: 0.1, amount: 20 })).toBeCloseTo(80, 10)
  })

  test('show changes with the sign of the figure', () => {
    expect(asChangePct(SCALES.time, Math.log(1.2))).toBeCloseTo(20, 10)
    expect(asChangePct(SCALES.throughput, -Math.log(0.8))).toBeCloseTo(-20, 10)
    expect(asChangePct(SCALES.error_rate, 0.005)).toBeCloseTo(0.5, 10)
    expect(asChangePct(SCALES.apdex, 0.02)).toBeCloseTo(-2, 10)
  })
})

describe('assumeSpread', () => {
  const base = [
    { samples: 4000, failures: 0 },
    { samples: 6000, failures: 100 }
  ]

  test('is the noise setting, or fixed', () => {
    expect(assumeSpread('time', { noise: 0.07, base })).toBe(0.07)
    expect(assumeSpread('throughput', { noise: 0.07, base })).toBe(0.07)
    expect(assumeSpread('apdex', { noise: 0.07, base })).toBe(0.01)
  })

  test('follows the number of requests for error rates', () => {
    const spread = Math.sqrt((0.01 * 0.99) / 5000 + 0.002 ** 2)
    expect(assumeSpread('error_rate', { noise: 0.07, base })).toBeCloseTo(spread, 12)
    expect(assumeSpread('error_rate', { noise: 0.07, base: [] })).toBe(0.002)
  })
})

describe('classify', () => {
  const GOOD = { hasEnoughSamples: true, isOver: false, isSignificant: false, mostResolution: 0.3 }
  test.each([
    ['holds', { resolution: 0.2 }, {}, { outcome: 'holds' }],
    ['holds at the edge', { resolution: 0.3 }, {}, { outcome: 'holds' }],
    ['is unsure beyond it', { resolution: 0.301 }, {}, { outcome: 'unsure', because: 'low resolution' }],
    ['breaks', { resolution: 0.2 }, { isOver: true, isSignificant: true }, { outcome: 'broken' }],
    [
      'breaks whatever the resolution',
      { resolution: 9 },
      { isOver: true, isSignificant: true },
      { outcome: 'broken' }
    ],
    [
      'does not break by chance',
      { resolution: 0.2 },
      { isOver: true },
      { outcome: 'unsure', because: 'not significant' }
    ],
    ['does not break within the limit', { resolution: 0.2 }, { isSignificant: true }, { outcome: 'holds' }],
    [
      'is unsure with few samples before anything else',
      { resolution: 0.2 },
      { hasEnoughSamples: false, isOver: true, isSignificant: true },
      { outcome: 'unsure', because: 'few samples' }
    ]
  ])('%s', (_, change, facts, expected) => {
    expect(classify(change, { ...GOOD, ...facts })).toEqual(expected)
  })

  test('wants a resolution that fits the limit', () => {
    expect(mostResolutionFor(SCALES.time, Math.log(1.05))).toBeCloseTo(Math.log(1.3), 12)
    expect(mostResolutionFor(SCALES.time, Math.log(1.2))).toBeCloseTo(3 * Math.log(1.2), 12)
    expect(mostResolutionFor(SCALES.throughput, 0.05)).toBeCloseTo(Math.log(1.3), 12)
    expect(mostResolutionFor(SCALES.error_rate, 0.005)).toBeCloseTo(0.03, 12)
    expect(mostResolutionFor(SCALES.apdex, 0.02)).toBeCloseTo(0.12, 12)
    expect(mostResolutionFor(SCALES.error_rate, 0)).toBeCloseTo(0.006, 12)
    expect(mostResolutionFor(SCALES.apdex, 0)).toBeCloseTo(0.03, 12)
  })

  test.each([
    [99, 2000],
    [95, 400],
    [50, 40],
    [99.9, 20_000],
    [90, 200],
    [100, Infinity]
  ])('wants 20 samples beyond p%s: %d in all', (percentile, samples) => {
    expect(samplesNeeded({ metric: 'percentile', percentile })).toBe(samples)
  })

  test.each([
    ['mean', 100],
    ['median', 40],
    ['throughput', 40]
  ] as const)('wants some for %s: %d', (metric, samples) => {
    expect(samplesNeeded({ metric })).toBe(samples)
  })
})

describe('upperBoundOfSpread', () => {
  test.each([3, 5, 20])('is above the true spread four times out of five, with %d runs', (runs) => {
    const random = new Random(31)
    const pairs = 1000
    let above = 0
    for (let pair = 0; pair < pairs; pair++) {
      const ys = Array.from({ length: runs }, () => random.normal())
      if (upperBoundOfSpread(Math.sqrt(differenceVariance(ys)), runs) >= 1) above++
    }
    // Cutting what stands out makes it a little less from six runs on.
    expect(above / pairs).toBeGreaterThan(0.75)
    expect(above / pairs).toBeLessThan(0.85)
  })
})

describe('isDrifting', () => {
  const NOISE = [0.3, -1.2, 0.8, 0.1, -0.5, 1.4, -0.9, 0.2, -0.1, 0.7]

  test('sees a drift and a step', () => {
    expect(isDrifting([1, 2, 3, 4, 5])).toBe(true)
    expect(isDrifting([1, 2, 3, 4, 5, 6])).toBe(true)
    expect(isDrifting(NOISE.map((y, i) => y / 10 + (i < 5 ? 0 : 1)))).toBe(true)
  })

  test('sees none in noise, nor in a few runs', () => {
    expect(isDrifting(NOISE)).toBe(false)
    expect(isDrifting([1, 2, 3, 4])).toBe(false)
    expect(isDrifting([1, 1, 1, 1, 1])).toBe(false)
  })

  test.each([5, 10, 20])('calls %d runs of noise so once in fifty times', (runs) => {
    const random = new Random(runs)
    const noise = () => Array.from({ length: runs }, () => random.normal())
    const seen = Array.from({ length: 5000 }, noise).filter((ys) => isDrifting(ys)).length
    expect(seen / 5000).toBeGreaterThan(0.003)
    expect(seen / 5000).toBeLessThan(0.03)
  })
})
