import { ByteScanner } from '../../../src/analysis/results/scan/byte-scanner.js'
import { mergeScans } from '../../../src/analysis/results/figures/merge.js'
import { Random } from '../baseline/random.js'
import { drawScenario, percentileOf, runClosed, runOpen, type Scenario } from './simulate.js'
import { writeRows } from './write-rows.js'

/** Of the cells whose truth is broken, of those whose truth holds, and of those without a stall or requests that are slow by themselves. */
export const PROMISED = { missed: 0.35, falseAlarms: 0.005, aboveSamples: 0.001 }

const PERCENTS = [50, 90, 95, 99]
const LIMITS_MS = [300, 500, 1000]
/** Where the truth is so close to the limit, another open run of the same length might be at its other side. */
const UNSURE = 0.05
/** Above, a closed plan only finds out what the server can do: there is no open load of this rate that it could stand. */
const MOST_UTILIZATION = 0.85

/** One line of one run. */
export interface Cell {
  readonly scenario: Scenario
  readonly percent: number
  readonly limitMs: number
  readonly truthMs: number
  readonly bySamplesMs: number
  readonly overTimeMs: number
  /** There are only two threads: then a stall is a warning. */
  readonly isFew: boolean
  readonly utilization: number
}

export interface Tally {
  readonly cells: number
  readonly unsure: number
  /** Broken by samples while the truth holds. */
  readonly leftOut: number
  readonly broken: number
  readonly missedBySamples: number
  readonly missed: number
  readonly holding: number
  readonly falseAlarms: number
  /** Of runs without a stall. */
  readonly unstalled: number
  /** Those of them in which the figure over time is not below that by samples; and without requests that are slow by themselves. */
  readonly aboveSamples: number
  readonly aboveSamplesAlone: number
}

/** The lines of as many simulated runs, the same for the same seed. */
export function judgeRuns(seed: number, runs: number): Cell[] {
  const random = new Random(seed)
  return Array.from({ length: runs }, () => judgeRun(random)).flat()
}

function judgeRun(random: Random): Cell[] {
  for (;;) {
    const scenario = drawScenario(random)
    const closed = runClosed(scenario, random)
    if (closed.utilization > MOST_UTILIZATION) continue
    const limitMs = LIMITS_MS[random.below(LIMITS_MS.length)]!
    const truth = runOpen(scenario, closed, random)
    const scans = closed.grids
      .filter(({ samples }) => samples.length > 0)
      .map(({ samples, threads }, grid) => {
        const scanner = new ByteScanner({ grid: `grid-${grid}`, region: 'r' })
        scanner.push(Buffer.from(writeRows(samples, threads)))
        return scanner.end()
      })
    const figures = mergeScans(scans).figures({})
    const overTime = figures?.overTime()
    if (figures === undefined || typeof overTime !== 'object') throw new Error('A run has no figures')
    return PERCENTS.map((percent) => ({
      ...{ scenario, percent, limitMs, utilization: closed.utilization, isFew: overTime.isFew },
      truthMs: percentileOf(truth, percent),
      bySamplesMs: figures.percentileMs(percent)!,
      overTimeMs: overTime.percentileMs(percent)
    }))
  }
}

export function tallyCells(cells: readonly Cell[]): Tally {
  const isSure = ({ truthMs, limitMs }: Cell) => Math.abs(truthMs / limitMs - 1) > UNSURE
  const isBroken = ({ truthMs, limitMs }: Cell) => truthMs >= limitMs
  const sure = cells.filter(isSure)
  const broken = sure.filter(isBroken)
  const holding = sure.filter((cell) => !isBroken(cell) && !isBySamples(cell))
  const unstalled = cells.filter(({ scenario }) => scenario.server.stalls.length === 0)
  const above = unstalled.filter(({ isFew, overTimeMs, bySamplesMs }) => !isFew && overTimeMs >= bySamplesMs)
  return {
    cells: cells.length,
    unsure: cells.length - sure.length,
    leftOut: sure.length - broken.length - holding.length,
    broken: broken.length,
    missedBySamples: broken.filter((cell) => !isBySamples(cell)).length,
    missed: broken.filter((cell) => !isBySamples(cell) && !isOverTime(cell)).length,
    holding: holding.length,
    falseAlarms: holding.filter(isOverTime).length,
    unstalled: unstalled.length,
    aboveSamples: above.length,
    aboveSamplesAlone: above.filter(({ scenario }) => scenario.server.slowShare === 0).length
  }
}

function isBySamples({ bySamplesMs, limitMs }: Cell): boolean {
  return bySamplesMs >= limitMs
}

function isOverTime({ overTimeMs, limitMs, isFew }: Cell): boolean {
  return overTimeMs >= limitMs && !isFew
}
