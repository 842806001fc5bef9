import { expect, test } from '@jest/globals'
import { Choice } from '../../support/data/seeded-choice.js'
import { slice } from '../../support/slice.js'
import { judgeMade } from '../../support/evidence/judge-made.js'
import type { JudgeOptions } from '../../support/evidence/judge-made.js'
import {
  asEpoch,
  asZonelessDate,
  changeGrid,
  csvOf,
  endOf,
  makeRun,
  shiftGrid
} from '../../support/evidence/made-run.js'
import type { MadeGrid, MadeRow, MadeRun } from '../../support/evidence/made-run.js'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const LINES = 'p95 < 10s\nerror_rate < 60%\nthroughput > 0.001/s\nsamples > 1\napdex > 0.2'
/** Grids on demand start apart, and users may end a moment early. */
const HARMLESS = /^The load of grid .* started .* after that of the first one|^The samples of grid .* span /
const only = process.env.LOADGATE_SEED
const SEEDS =
  only === undefined ? Array.from({ length: slice(10, 1000) }, (_, index) => index + 1) : [Number(only)]

/** Only what every service says: when the run started and stopped. */
function told(run: MadeRun): MadeRun {
  const rows = run.grids.flatMap((grid) => grid.rows)
  const { startedMs = Math.min(...rows.map(({ startMs }) => startMs)) } = run
  const { stoppedMs = Math.max(...rows.map(endOf)) } = run
  return { ...run, startedMs, stoppedMs }
}

function createdMs(run: MadeRun): number {
  return told(run).startedMs ?? 0
}

function addRow(grid: MadeGrid, startMs: number): MadeGrid {
  const row: MadeRow = { startMs, elapsedMs: 10, user: 1, isFailure: false }
  return { ...grid, rows: [...grid.rows, row].sort((one, other) => endOf(one) - endOf(other)) }
}

function stop(run: MadeRun, index: number, share: number): MadeRun {
  return changeGrid(run, index, (grid) => {
    const firstMs = Math.min(...grid.rows.map(({ startMs }) => startMs))
    const untilMs = firstMs + run.durationSeconds * 1000 * share
    return { ...grid, rows: grid.rows.filter((row) => endOf(row) < untilMs) }
  })
}

interface Spoilt {
  readonly run: MadeRun
  readonly options?: JudgeOptions
}

/** Each spoils one thing about a run. `told` are the words of a warning with which the run may pass all the same. */
const SPOILS: Readonly<
  Record<string, { readonly spoil: (run: MadeRun, choice: Choice) => Spoilt; readonly told?: RegExp }>
> = {
  'rows of an earlier run': {
    spoil: (run, choice) => {
      const own = told(run)
      const atMs = (own.startedMs ?? 0) - choice.between(MINUTE_MS + 1, 3 * HOUR_MS)
      return { run: changeGrid(own, 0, (grid) => addRow(addRow(grid, atMs), atMs + 5)) }
    }
  },
  'rows of a later run': {
    spoil: (run, choice) => {
      const own = told(run)
      const atMs = (own.stoppedMs ?? 0) + choice.between(MINUTE_MS + 1, 3 * HOUR_MS)
      return { run: changeGrid(own, 1, (grid) => addRow(grid, atMs)) }
    }
  },
  'results of another year, and no times of the run': {
    spoil: (run) => ({
      run: {
        ...changeGrid(run, 0, (grid) => shiftGrid(grid, -365 * 24 * HOUR_MS)),
        startedMs: undefined,
        stoppedMs: undefined
      }
    })
  },
  'results that are hours off': {
    spoil: (run, choice) => {
      const ms = choice.of([-1, 1]) * choice.between(2 * HOUR_MS, 48 * HOUR_MS)
      const own = told(run)
      return {
        run: { ...own, writeTime: asEpoch, grids: own.grids.map((grid) => shiftGrid(grid, ms)) }
      }
    }
  },
  'one CSV for two grids': {
    spoil: (run) => ({ run: changeGrid(run, 1, (grid) => ({ ...run.grids[0]!, id: grid.id })) })
  },
  'a CSV that begins with that of another grid': {
    spoil: (run, choice) => {
      const [first, second] = run.grids.map((grid) => csvOf(grid, run))
      const rows = first!.split('\n').slice(1, choice.between(21, 40))
      const [header = '', ...own] = second!.split('\n')
      return { run, options: { csvs: new Map([['grid2', [header, ...rows, ...own].join('\n')]]) } }
    }
  },
  'the CSV of an earlier run of the step': {
    spoil: (run) => {
      const earlierResults: JudgeOptions['earlierResults'] = []
      return { run, options: { earlierResults } }
    }
  },
  'a link to another run': {
    spoil: (run) => ({
      run: changeGrid(run, 0, (grid) => ({ ...grid, href: `/api/runs/other1/result.csv?grid_id=${grid.id}` }))
    })
  },
  'a grid whose clock differs': {
    spoil: (run, choice) => {
      const ms = choice.of([-1, 1]) * choice.between(10 * MINUTE_MS, HOUR_MS - MINUTE_MS)
      return { run: { ...changeGrid(told(run), 1, (grid) => shiftGrid(grid, ms)), writeTime: asEpoch } }
    }
  },
  'grids that are hours apart, and no times of the run': {
    spoil: (run) => ({
      run: {
        ...changeGrid(run, 0, (grid) => shiftGrid(grid, -HOUR_MS)),
        ...{ startedMs: undefined, stoppedMs: undefined }
      }
    })
  },
  'machines whose clocks differ from that of the service': {
    spoil: (run, choice) => {
      const own = told(run)
      const ms = choice.of([-1, 1]) * choice.between(2 * MINUTE_MS, HOUR_MS)
      return { run: { ...own, writeTime: asEpoch, grids: own.grids.map((grid) => shiftGrid(grid, ms)) } }
    },
    told: /The times in the results are .* (ahead of|behind) the service's clock\. Check the clocks/
  },
  'times of another zone': {
    spoil: (run, choice) => {
      const own = told(run)
      const ms = choice.of([-1, 1]) * choice.between(8, 56) * 15 * MINUTE_MS
      return {
        run: { ...own, writeTime: asZonelessDate, grids: own.grids.map((grid) => shiftGrid(grid, ms)) }
      }
    },
    told: /They are written without a time zone/
  },
  'a grid that was cut off, and a row at the end': {
    spoil: (run, choice) => {
      // Where requests are far apart, nothing shows that one of them does not belong.
      const most = Math.max(...run.grids.map(({ rows }) => rows.length))
      const busiest = run.grids.findIndex(({ rows }) => rows.length === most)
      const cut = stop(run, busiest, choice.between(15, 60) / 100)
      const lastMs = Math.max(...run.grids[busiest]!.rows.map(({ startMs }) => startMs))
      return { run: changeGrid(cut, busiest, (grid) => addRow(grid, lastMs)) }
    }
  },
  'a grid that failed': {
    spoil: (run, choice) => {
      const status = choice.of(['failed', 'failure', 'Problem', 'error', 'lost', 'crashed'])
      return { run: changeGrid(run, 1, (grid) => ({ ...grid, status })) }
    }
  },
  'a node that failed': {
    spoil: (run, choice) => {
      const state = choice.of(['failed', 'failure', 'problem', 'error', 'lost', 'crashed'])
      return {
        run: changeGrid(run, 1, (grid) => ({
          ...grid,
          nodes: Array.from({ length: grid.nodeCount }, (_, index) => (index === 0 ? state : 'running'))
        }))
      }
    }
  },
  'fewer nodes than there should be': {
    spoil: (run) => ({
      run: changeGrid(run, 0, (grid) => ({ ...grid, nodeCount: 3, nodes: ['running', 'running'] }))
    })
  },
  'a status that nobody knows': {
    spoil: (run) => ({ run: changeGrid(run, 0, (grid) => ({ ...grid, status: 'hibernating' })) }),
    told: /grid grid1 is "hibernating"/
  }
}

test('a run passes as it is, and not with one thing spoilt, or not without a word', async () => {
  const names = Object.keys(SPOILS)
  const wrong: unknown[] = []
  for (const seed of SEEDS) {
    const run = makeRun(seed)
    const earlierResults: NonNullable<JudgeOptions['earlierResults']> = []
    const options = { lines: LINES, createdMs: createdMs(run), earlierResults }
    const { verdict, reason, warnings } = await judgeMade(run, options)
    const isQuiet = warnings.every((words) => HARMLESS.test(words))
    if (verdict !== 'passed' || !isQuiet) wrong.push({ seed, verdict, reason, warnings })
    const name = names[seed % names.length] ?? ''
    const rule = SPOILS[name]!
    const spoilt = rule.spoil(run, new Choice(seed))
    // The results of an earlier run of the step are those of this one, collected before.
    const earlier = earlierResults.map((results) => ({ ...results, runId: 'run0', name: 'run run0' }))
    const other = await judgeMade(spoilt.run, {
      ...options,
      ...spoilt.options,
      earlierResults: spoilt.options?.earlierResults === undefined ? [] : earlier
    })
    const isTold = rule.told !== undefined && other.warnings.some((words) => rule.told?.test(words))
    const isRight = other.verdict === 'inconclusive' || (other.verdict === 'passed' && isTold)
    if (!isRight)
      wrong.push({ seed, name, verdict: other.verdict, reason: other.reason, warnings: other.warnings })
  }
  expect(wrong).toEqual([])
}, 600_000)
