import {
  errorRates,
  manyLabels,
  oneRunIn15IsOff,
  recordedRuns,
  sideBySide,
  steppedBranch,
  type Scenario
} from './simulate.js'

/** How often a change is found, and by how much a simulation may miss it. */
export const POWER_TOLERANCE = 0.05

export interface Row {
  readonly scenario: Scenario
  /** The largest share of pairs without a change that may break. */
  readonly mostFalseAlarms: number
  readonly powers: readonly { readonly change: number; readonly power: number; readonly isAtLeast?: true }[]
}

/** What the method promises: the figures that its description publishes. */
export const PUBLISHED_TABLE: readonly Row[] = [
  rowOf(recordedRuns('N = 1, noise 3 %', { runs: 1, spread: 0.03 }), 0, [0, 0.03, 0.48]),
  rowOf(recordedRuns('N = 5, 3 %', { runs: 5, spread: 0.03 }), 0, [0.6, 0.91, 0.99]),
  rowOf(recordedRuns('N = 10, 3 %', { runs: 10, spread: 0.03 }), 0.005, [0.78, 0.96, 1]),
  rowOf(recordedRuns('N = 10, 5 %', { runs: 10, spread: 0.05 }), 0.015, [0.44, 0.69, 0.93]),
  rowOf(
    recordedRuns('N = 10, 3 %, one run in 15 off by +15 %', {
      runs: 10,
      spread: 0.03,
      shift: oneRunIn15IsOff
    }),
    0.045,
    [0.57, 0.77, 0.92]
  ),
  rowOf(
    recordedRuns('N = 10, 3 %, branch stepped +15 % one run ago', {
      runs: 10,
      spread: 0.03,
      shift: steppedBranch(10)
    }),
    0.025,
    [0.36, 0.66, 0.97]
  ),
  rowOf(sideBySide(10, 0.065), 0.015, [0.94]),
  {
    scenario: errorRates(10),
    mostFalseAlarms: 0.01,
    powers: [{ change: 0.019, power: 0.99, isAtLeast: true }]
  },
  { scenario: manyLabels(60, { runs: 10, spread: 0.05 }), mostFalseAlarms: 0.01, powers: [] }
]

function rowOf(scenario: Scenario, mostFalseAlarms: number, powers: readonly number[]): Row {
  const changes = [0.15, 0.2, 0.3]
  return {
    scenario,
    mostFalseAlarms,
    powers: powers.map((power, i) => ({ change: changes[i]!, power }))
  }
}
