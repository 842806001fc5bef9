import { describe, expect, test } from '@jest/globals'
import { makeKills } from '../../support/faults/fault-kills.js'
import { makeMatrix } from '../../support/faults/fault-matrix.js'
import { runAll, scenarioOf } from '../../support/faults/fault-run.js'
import type { Scenario } from '../../support/faults/fault-run.js'

/** What `npm run faults` does in full, in a selection that takes seconds: each promise once, where it is hardest to keep. */
const SELECTION = [
  'create run, dropped after, first call (gate)',
  'create run, 502 after, later call (gate)',
  'create run, page after, first call (gate)',
  'create run, 429 with a date, first call (gate)',
  'create run, stalled after, first call (gate)',
  'create grid, 429 with seconds, later call (grids)',
  'create grid, reset after, later call (grids)',
  'show grid, 503 before, every call for 3 s (grids)',
  'show run, reset before, every call for 3 s (watch)',
  'list, truncated, first call (adoption)',
  'report, JSON error before, first call (gate)',
  'report, page before, every call (gate)',
  'result, truncated, first call (gate)',
  'result, truncated without a length, every call for 3 s (gate)',
  'result, JSON error before, every call (gate)',
  'stop, 502 before, every call for 3 s (timeout)',
  'stop, dropped before, first call (cancel)',
  'repeat, dropped after, first call (repeat)',
  'terminate grid, reset after, first call (grids)',
  'SIGKILL at create run 1 between the effect and the reply (watch)',
  'SIGKILL at create run 1 before it is done, late (watch)',
  'SIGKILL at show run 2 after the reply (watch)',
  'SIGKILL at create grid 2 after the reply (grids)',
  'SIGKILL at repeat 1 between the effect and the reply (long repeat)',
  'SIGKILL while publishing, when the artifact is begun'
]

const scenarios = [...makeMatrix(1).map(scenarioOf), ...makeKills(1)]

function select(names: readonly string[]): Scenario[] {
  return names.map((name) => {
    const scenario = scenarios.find((each) => each.name === name)
    if (scenario === undefined) throw new Error(`there is no case "${name}"`)
    return scenario
  })
}

describe('the matrix', () => {
  test('has its 200 cases and more, each of them once', () => {
    const names = scenarios.map(({ name }) => name)
    expect(makeMatrix(1).length).toBeGreaterThanOrEqual(200)
    expect(new Set(names).size).toBe(names.length)
  })

  test('is the same for the same seed, and in another order for another one', () => {
    const order = (seed: number): string[] => makeMatrix(seed).map((each) => scenarioOf(each).name)
    expect(order(7)).toEqual(order(7))
    expect(order(8)).not.toEqual(order(7))
    expect(order(8).sort()).toEqual(order(7).sort())
  })
})

test('every case of the selection holds', async () => {
  const results = await runAll(select(SELECTION), { parallel: 5 })
  const broken = results.filter(({ problems }) => problems.length > 0)
  expect(broken.map(({ name, problems, log }) => ({ name, problems, log }))).toEqual([])
  expect(results).toHaveLength(SELECTION.length)
}, 180_000)
