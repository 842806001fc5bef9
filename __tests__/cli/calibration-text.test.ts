import { expect, test } from '@jest/globals'
import type { Calibration, LineCalibration } from '../../src/analysis/baseline/calibration.js'
import {
  calibrationDocument,
  describeCalibration,
  type CalibrationReport
} from '../../src/cli/commands/calibrate-command.js'
import { makeCompared, makeOutcome } from '../support/data/make-outcome.js'
import { makeSettings } from '../support/gate/gate-ports.js'

const THRESHOLD = makeCompared('holds').threshold as LineCalibration['threshold']

function makeLine(changes: Partial<LineCalibration> = {}): LineCalibration {
  return {
    threshold: THRESHOLD,
    scope: {},
    noise: 0.03,
    recorded: [{ runs: 10, changePct: 14 }],
    sideBySide: [{ rounds: 10, changePct: 11 }],
    isTooNoisy: false,
    neverJudged: false,
    ...changes
  }
}

function makeReport(changes: Partial<Calibration> = {}, rehearsal = false): CalibrationReport {
  const calibration = {
    runs: 3,
    figures: [{ name: 'p95', typical: 250, noise: 0.77, isDrifting: true, runs: 3 }],
    lines: [makeLine()],
    unmatched: [],
    falseAlarms: [{ recordedRuns: 10, share: 0 }],
    suggestedNoise: 0.77,
    isTooNoisy: false,
    ...changes
  }
  const runs = [1, 2, 3].map(() => makeOutcome({ rehearsal }))
  return { calibration, runs, settings: makeSettings(), folder: '/out' }
}

const adviceIn = (text: string): string[] => text.split('\n').filter((line) => line.startsWith('- '))

test('after a rehearsal there is no advice', () => {
  const report = makeReport({}, true)
  expect(adviceIn(describeCalibration(report))).toEqual([
    '- Nothing was measured: run it without --rehearse.'
  ])
  expect(calibrationDocument(report)).toMatchObject({ rehearsal: true, suggestedNoise: null })
})

test('runs with a problem are no calibration, and say so to people and scripts', () => {
  const report = makeReport({ problem: 'most samples failed (100 %).' })
  const text = describeCalibration(report)
  expect(text).toContain('Nothing can be concluded from these runs: most samples failed (100 %).\n')
  expect(adviceIn(text)).toEqual([])
  expect(text).not.toContain('baseline +')
  expect(calibrationDocument(report)).toMatchObject({
    problem: 'most samples failed (100 %).',
    suggestedNoise: null
  })
})

test('a line that can never be judged is marked, and nothing is called quiet enough because of it', () => {
  const text = describeCalibration(makeReport({ lines: [makeLine({ samples: 208, needsSamples: 400 })] }))
  expect(text).toMatch(/^p95 <= baseline \+ 10% +3 % +– +–$/m)
  expect(text).toContain(
    'Never judged: p95 <= baseline + 10%: 208 samples, needs 400: raise duration or threads\n'
  )
  expect(text).toContain('- Too few samples for `p95 <= baseline + 10%`: raise `duration` or `threads`.\n')
  expect(text).not.toContain('Quiet enough')
})

test('no number of samples is enough for p100', () => {
  const lines = [makeLine({ samples: 208, needsSamples: Infinity })]
  expect(describeCalibration(makeReport({ lines }))).toContain(
    'Never judged: p95 <= baseline + 10%: no samples are beyond it: use a lower percentile\n'
  )
})

test('lines that match nothing are listed', () => {
  const text = describeCalibration(makeReport({ unmatched: ['p95{label="nix"} <= baseline + 5%'] }))
  expect(text).toContain('Matches nothing in these runs: p95{label="nix"} <= baseline + 5%\n')
  expect(text).toContain('- Quiet enough')
})

test('the noisiest place of a line is named', () => {
  const scope = { label: 'checkout', region: 'us-east-1' }
  expect(describeCalibration(makeReport({ lines: [makeLine({ scope })] }))).toContain(
    'p95 <= baseline + 10% (noisiest: checkout in us-east-1)'
  )
})
