import { describe, expect, test } from '@jest/globals'
import { calibrate as calibrateFully } from '../../../src/analysis/baseline/calibration.js'
import { makeComparedRun, makeLine, makePlainLine, selectLabel } from '../../support/baseline/make-run.js'
import { Random } from '../../support/baseline/random.js'

const LINE = makeLine()

/** With fewer simulations, to be quick. */
const calibrate: typeof calibrateFully = (runs, options) =>
  calibrateFully(runs, { comparisons: 1000, ...options })

/** Runs of the same thing with this spread of all relative figures. */
function makeRuns(count: number, spread: number, shift: (index: number) => number = () => 0) {
  const random = new Random(5)
  const vary = (figure: number, index: number) => figure * Math.exp(spread * random.normal() + shift(index))
  return Array.from({ length: count }, (_, index) =>
    makeComparedRun({
      overall: {
        percentileMs: vary(400, index),
        meanMs: vary(200, index),
        throughput: vary(100, 0),
        failures: 50 + Math.round(10 * random.normal())
      },
      labels: {
        home: { percentileMs: vary(100, 0) },
        pay: { percentileMs: 300 * Math.exp(0.2 * random.normal()) }
      }
    })
  )
}

describe('calibrate', () => {
  test('measures the noise from run to run', () => {
    const { figures, runs } = calibrate(makeRuns(40, 0.04), { thresholds: [LINE], noise: 0.05 })
    expect(runs).toBe(40)
    expect(figures.map(({ name }) => name)).toEqual(['p95', 'throughput', 'error_rate', 'mean'])
    const [p95, throughput, errorRate, mean] = figures
    for (const figure of [p95, throughput, mean]) {
      expect(figure!.noise).toBeGreaterThan(0.03)
      expect(figure!.noise).toBeLessThan(0.05)
      expect(figure!.isDrifting).toBe(false)
    }
    expect(p95!.typical).toBeCloseTo(400, -1.5)
    expect(errorRate!.typical).toBeCloseTo(0.001, 3)
    expect(errorRate!.noise).toBeLessThan(0.0004)
  })

  test('sees drift', () => {
    const drifting = makeRuns(10, 0.01, (index) => index * 0.02)
    const { figures } = calibrate(drifting, { thresholds: [LINE], noise: 0.05 })
    expect(figures.map(({ isDrifting }) => isDrifting)).toEqual([true, false, false, true])
  })

  test('suggests a noise setting, rounded up', () => {
    const suggest = (spread: number) =>
      calibrate(makeRuns(20, spread), { thresholds: [LINE], noise: 0.05 }).suggestedNoise
    expect(suggest(0.001)).toBe(0.01)
    expect([0.05, 0.06]).toContain(suggest(0.04))
    expect(suggest(0.2)).toBeGreaterThan(0.15)
  })

  test('knows what a line can find, the more runs the smaller', () => {
    const options = { thresholds: [LINE], noise: 0.05, comparisons: 6000 }
    const { lines } = calibrate(makeRuns(40, 0.03), options)
    const [line] = lines
    const found = line!.recorded.map(({ changePct }) => changePct)
    expect(line!.recorded.map(({ runs }) => runs)).toEqual([1, 5, 10])
    // The published powers with a noise of 3 %: 0.48 of +30 % with one run, 0.91 of +20 % with five, 0.78 of +15 % with ten.
    expect(found[0]).toBeGreaterThan(30)
    expect(found[0]).toBeLessThan(45)
    expect(found[1]).toBeGreaterThan(16)
    expect(found[1]).toBeLessThan(22)
    expect(found[2]).toBeGreaterThan(14)
    expect(found[2]).toBeLessThan(20)
    const rounds = line!.sideBySide.map(({ changePct }) => changePct)
    expect(line!.sideBySide.map((each) => each.rounds)).toEqual([5, 10, 20])
    expect(rounds[2]).toBeLessThan(rounds[0]!)
    expect(rounds[2]).toBeGreaterThan(10)
  })

  test('has the sign of the figure for what is found', () => {
    const line = makePlainLine('throughput', 'baseline - 5%', { ratio: 0.05 })
    const [calibrated] = calibrate(makeRuns(20, 0.03), { thresholds: [line], noise: 0.05 }).lines
    expect(calibrated!.recorded[2]!.changePct).toBeLessThan(-10)
    expect(calibrated!.recorded[2]!.changePct).toBeGreaterThan(-25)
  })

  test('expects few false alarms where the noise setting fits, and more where it is too low', () => {
    const share = (noise: number, spread: number) =>
      calibrate(makeRuns(20, spread), { thresholds: [LINE], noise }).falseAlarms
    expect(share(0.05, 0.03).map(({ recordedRuns }) => recordedRuns)).toEqual([1, 5, 10])
    expect(share(0.05, 0.03).every(({ share: alarms }) => alarms <= 0.005)).toBe(true)
    expect(share(0.01, 0.12)[0]!.share).toBeGreaterThan(0.1)
  })

  test('tells where it is too noisy to gate', () => {
    const isTooNoisy = (spread: number, level: 'fail' | 'warn' = 'fail') =>
      calibrate(makeRuns(20, spread), { thresholds: [{ ...LINE, level }], noise: 0.05 }).isTooNoisy
    expect(isTooNoisy(0.03)).toBe(false)
    expect(isTooNoisy(0.25)).toBe(true)
    expect(isTooNoisy(0.25, 'warn')).toBe(true)
  })

  test('names the noisiest scope of a line', () => {
    const line = makeLine({ selector: selectLabel('*') })
    const [calibrated] = calibrate(makeRuns(12, 0.02), { thresholds: [line], noise: 0.05 }).lines
    expect(calibrated).toMatchObject({ scope: { label: 'pay' }, isTooNoisy: true })
  })

  test('judges the shown lines where there are none', () => {
    const { lines } = calibrate(makeRuns(5, 0.02), { thresholds: [], noise: 0.05 })
    expect(lines.map(({ threshold }) => threshold.name)).toEqual(['p95', 'throughput', 'error_rate'])
  })

  test('says the same for the same seed', () => {
    const runs = makeRuns(8, 0.05)
    const options = { thresholds: [LINE], noise: 0.05 }
    expect(calibrate(runs, { ...options, seed: 3 })).toEqual(calibrate(runs, { ...options, seed: 3 }))
    expect(calibrate(runs, { ...options, seed: 3 })).not.toEqual(calibrate(runs, { ...options, seed: 4 }))
  })

  test('leaves out what the runs do not have', () => {
    const runs = [1, 2, 3].map(() =>
      makeComparedRun({ overall: { percentileMs: undefined, meanMs: undefined, throughput: undefined } })
    )
    const calibration = calibrate(runs, { thresholds: [LINE], noise: 0.05 })
    expect(calibration).toMatchObject({ lines: [], suggestedNoise: undefined, isTooNoisy: false })
    expect(calibration.figures.map(({ name }) => name)).toEqual(['error_rate'])
  })

  test('suggests more than it measured where runs are few', () => {
    const { figures, suggestedNoise } = calibrate(makeRuns(5, 0.08), { thresholds: [LINE], noise: 0.05 })
    const most = Math.max(...figures.map(({ noise }) => noise))
    expect(suggestedNoise).toBeGreaterThan(1.5 * most)
    expect(suggestedNoise).toBeLessThan(2 * most + 0.01)
  })

  test('draws no conclusion from runs in which most samples failed', () => {
    const failing = makeComparedRun({ overall: { failures: 40_000 } })
    const runs = [makeComparedRun(), failing, failing]
    const calibration = calibrate(runs, { thresholds: [LINE], noise: 0.05 })
    expect(calibration).toMatchObject({
      problem: 'most samples failed in 2 of 3 runs: find out why, and calibrate again',
      lines: [],
      suggestedNoise: undefined
    })
    expect(
      calibrate(
        [1, 2, 3].map(() => makeComparedRun()),
        { thresholds: [LINE], noise: 0.05 }
      ).problem
    ).toBe(undefined)
  })

  test('marks lines that are never judged for lack of samples', () => {
    const runs = [1, 2, 3].map(() => makeComparedRun({ labels: { home: {}, pay: { samples: 399 } } }))
    const every = makeLine({ selector: selectLabel('*') })
    const { lines } = calibrate(runs, { thresholds: [LINE, every], noise: 0.05 })
    expect(lines[0]).toMatchObject({ neverJudged: false })
    expect(lines[0]).not.toHaveProperty('needsSamples')
    expect(lines[1]).toMatchObject({
      scope: { label: 'pay' },
      ...{ neverJudged: true, needsSamples: 400, samples: 399, isTooNoisy: false }
    })
  })

  test('lists lines that match nothing', () => {
    const lost = makeLine({ text: 'p95{label="hone"} <= baseline + 10%', selector: selectLabel('hone') })
    const calibration = calibrate(makeRuns(5, 0.02), { thresholds: [LINE, lost], noise: 0.05 })
    expect(calibration.unmatched).toEqual(['p95{label="hone"} <= baseline + 10%'])
    expect(calibration.lines).toHaveLength(1)
  })

  test('needs three runs', () => {
    expect(() => calibrate(makeRuns(2, 0.05), { thresholds: [LINE], noise: 0.05 })).toThrow(
      'Calibration needs at least 3 runs'
    )
  })
})
