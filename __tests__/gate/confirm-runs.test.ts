import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { mkdtemp, readdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { cleanUpStep } from '../../src/gate/cleanup/post-step.js'
import { confirmRuns } from '../../src/gate/confirm-runs.js'
import { comparedRun } from '../../src/gate/collect/compared-run.js'
import { CancelledError } from '../../src/gate/errors.js'
import { findOut } from '../../src/gate/follow-run.js'
import type { Findings } from '../../src/gate/findings.js'
// Loaded beforehand: the manual clock does not see that a module is being loaded.
import '../../src/gate/after-run.js'
import type { Settings } from '../../src/gate/settings/settings.js'
import { conclude } from '../../src/gate/verdict/conclude.js'
import type { Outcome } from '../../src/analysis/outcome.js'
import { parseThresholds } from '../../src/analysis/thresholds/grammar/grammar.js'
import type { ComparedRun } from '../../src/analysis/baseline/judge/sides.js'
import type { GridChoice } from '../../src/client/documents/requests.js'
import { makeComparedRun } from '../support/baseline/make-run.js'
import {
  makeGate,
  makeSettings,
  makeSpecification,
  NOTHING_LEFT,
  type TestGate
} from '../support/gate/gate-ports.js'
import { GateService, faults, makeCsv, type Fault } from '../support/gate/gate-service.js'
import { MEDIAN_LINE, ordinalOf, segmentCsv } from '../support/gate/side-by-side.js'

let service: GateService
let gate: TestGate
let plan: string

beforeEach(async () => {
  service = new GateService()
  plan = join(await mkdtemp(join(tmpdir(), 'gate-plan-')), 'plan.jmx')
  await writeFile(plan, '<jmeterTestPlan/>')
})

afterEach(async () => {
  await gate.client.close()
  service.close()
})

type Changes = Partial<Settings> & { confirm?: number; grids?: GridChoice[] }

async function open({ confirm = 2, grids = [makeSpecification()], ...rest }: Changes = {}): Promise<void> {
  const { baseline } = makeSettings()
  gate = await makeGate(service.url, {
    origin: { kind: 'files', paths: [plan], grids },
    thresholds: [MEDIAN_LINE],
    baseline: { ...baseline, source: { kind: 'auto' }, confirm },
    ...rest
  })
}

/** The gate's own run, compared with recorded ones, and then the confirming runs. */
type IsDoubtful = Parameters<typeof confirmRuns>[2]

async function confirm(isDoubtful?: IsDoubtful, base: readonly ComparedRun[] = []): Promise<Findings> {
  const run = async (): Promise<Findings> => {
    const first = await findOut(gate)
    const head = [comparedRun(first)]
    return confirmRuns(gate, { ...first, comparison: { kind: 'recorded', base, head } }, isDoubtful)
  }
  return gate.ports.clock.run(run())
}

const always: IsDoubtful = () => true
const many = (fault: Fault): Fault[] => Array.from({ length: 500 }, () => fault)

function spoilSecond(status: string): void {
  service.onRun = (run, number) => {
    if (number === 2) run.statuses = [status]
  }
}

function headOf({ comparison }: Findings): readonly ComparedRun[] {
  return comparison?.kind === 'recorded' ? comparison.head : []
}

function running(): string[] {
  return [
    ...service.runs.filter(({ statuses }) => statuses[0] !== 'finished').map(({ id }) => id),
    ...[...service.grids.values()].filter(({ isTerminated }) => !isTerminated).map(({ id }) => id)
  ]
}

describe('further runs', () => {
  test('up to as many as asked for, each with a marker of its own, saved before its request', async () => {
    await open()
    const seen: (string | undefined)[] = []
    service.onRun = () => void seen.push(gate.ports.states.at(-1)?.marker)
    const findings = await confirm(always)
    expect(headOf(findings)).toHaveLength(3)
    expect(seen).toEqual(service.runs.toReversed().map(({ tags }) => tags.at(-1)))
    expect(new Set(seen).size).toBe(3)
    expect(gate.ports.outputs.get('run-id')).toBe('run1')
    expect(findings.run?.id).toBe('run1')
    expect(gate.ports.states.at(-1)).toMatchObject({ cleanupDue: false, runId: 'run3' })
    expect(gate.ports.states.at(-1)?.earlier?.map(({ runId }) => runId)).toEqual(['run1', 'run2'])
  })

  test('have their CSVs in folders of their own; the figures shown are those of the first run', async () => {
    await open()
    service.csvOf = (run) => {
      const ordinal = ordinalOf(service, run)
      return makeCsv(10 * ordinal, 100, 1_760_000_000_000 + ordinal * 40_000)
    }
    const findings = await confirm(always)
    const { scratchDir } = gate.ports
    expect((await readdir(join(scratchDir, 'results'))).sort()).toEqual([
      'confirm-1',
      'confirm-2',
      'us-east-1-grid1.csv'
    ])
    expect(findings.collection?.files?.map((file) => relative(scratchDir, file))).toEqual([
      'results/us-east-1-grid1.csv',
      'results/confirm-1/us-east-1-grid1.csv',
      'results/confirm-2/us-east-1-grid1.csv'
    ])
    expect(findings.collection?.measurements?.figures({})?.samples).toBe(10)
    expect(headOf(findings).map((head) => head.figures({})?.samples)).toEqual([10, 20, 30])
  })

  test('end when there is no doubt left', async () => {
    await open({ confirm: 5 })
    expect(headOf(await confirm((heads) => heads.length < 2))).toHaveLength(2)
  })

  test('are asked for by lines that are broken, judged together', async () => {
    await open({ confirm: 1 })
    service.csvOf = (run) => segmentCsv(ordinalOf(service, run), { elapsedMs: 200 })
    const { measurements } = (await gate.ports.clock.run(findOut(gate))).collection ?? {}
    const figures = measurements?.figures({})
    // Four runs of a base that took half the time.
    const quick: ComparedRun = {
      apdex: undefined,
      labels: [],
      regions: [],
      figures: () => figures && { ...figures, percentileMs: () => 100 }
    }
    expect(headOf(await confirm(undefined, [quick, quick, quick, quick]))).toHaveLength(2)
  })

  test.each<[string, Changes]>([
    ['none are asked for', { confirm: 0 }],
    ['the run is an existing one', { origin: { kind: 'existing', runId: 'run1' } }]
  ])('are not started when %s', async (_, changes) => {
    await open(changes)
    if (changes.origin !== undefined) service.addRun({ id: 'run1' })
    expect(headOf(await confirm(always))).toHaveLength(1)
    expect(service.runs).toHaveLength(1)
  })

  test('are not started after a run that is no evidence', async () => {
    await open()
    service.nextStatuses = ['running', 'problem']
    await confirm(always)
    expect(service.runs).toHaveLength(1)
  })

  test('create and terminate grids of their own', async () => {
    await open({ confirm: 1, grids: [makeSpecification(), { id: 'theirs' }] })
    await confirm(always)
    expect(service.count('createGrid')).toBe(2)
    expect(service.count('terminateGrid')).toBe(2)
    expect(running()).toEqual([])
  })
})

describe('lines with limits of their own', () => {
  const lines = 'error_rate < 1%\np95 < 300ms\nwarn: max < 1s'

  /** Each run has samples of its own. */
  async function judge(...runs: Parameters<typeof segmentCsv>[1][]): Promise<Outcome> {
    await open({ thresholds: parseThresholds(lines).thresholds })
    service.csvOf = (run) => {
      const ordinal = ordinalOf(service, run)
      return segmentCsv(ordinal, runs[ordinal - 1])
    }
    return conclude(gate.settings, await confirm(always))
  }

  test('judge each run by itself, and the worst of them decides', async () => {
    const { verdict, reason, judgements } = await judge({}, { failures: 40 }, { elapsedMs: 200 })
    expect(verdict).toBe('failed')
    expect(reason).toBe(
      '1 threshold is broken: error_rate is 40 %, must be < 1 %: 40 times the limit; the worst of 3 runs: confirming run 1 (run2)'
    )
    expect(judgements.map((one) => [one.verdict, one.actual])).toEqual([
      ['failed', 0.4],
      ['passed', 200],
      ['passed', 200]
    ])
    expect(judgements[1]?.reason).toMatch(
      /^p95 is 200 ms, .*; the worst of 3 runs: confirming run 2 \(run3\)$/
    )
  })

  test('say where it is the first one', async () => {
    const { verdict, reason } = await judge({ failures: 2 }, {}, {})
    expect(verdict).toBe('failed')
    expect(reason).toContain('; the worst of 3 runs: the first one')
  })

  test('are inconclusive where a confirming run is made of failures and no line is about them', async () => {
    await open({ thresholds: parseThresholds('p95 < 300ms').thresholds, confirm: 1 })
    service.csvOf = (run) => {
      const ordinal = ordinalOf(service, run)
      return segmentCsv(ordinal, ordinal === 2 ? { elapsedMs: 1, failures: 100 } : {})
    }
    const { verdict, reason } = conclude(gate.settings, await confirm(always))
    expect(verdict).toBe('inconclusive')
    expect(reason).toContain('100 of 100 samples failed')
    expect(reason).toContain('; the worst of 2 runs: confirming run 1 (run2)')
  })

  test('leave out a run that ended badly', async () => {
    await open({ thresholds: parseThresholds(lines).thresholds, confirm: 1 })
    service.csvOf = (run) => {
      const ordinal = ordinalOf(service, run)
      return segmentCsv(ordinal, { failures: ordinal === 2 ? 100 : 0 })
    }
    spoilSecond('problem')
    const { verdict, judgements } = conclude(gate.settings, await confirm(always))
    expect(verdict).toBe('passed')
    expect(judgements[0]?.reason).not.toContain('the worst of')
  })
})

test('a confirming run full of errors does not turn a broken comparison green', async () => {
  await open({ confirm: 1 })
  const csvs = (second: Parameters<typeof segmentCsv>[1]): void => {
    service.csvOf = (run) => {
      const ordinal = ordinalOf(service, run)
      return segmentCsv(ordinal, ordinal === 2 ? second : { elapsedMs: 200 })
    }
  }
  csvs({ elapsedMs: 1, failures: 100 })
  const quick = makeComparedRun({ overall: { samples: 100, percentileMs: 100 } })
  const outcome = conclude(gate.settings, await confirm(undefined, [quick, quick, quick, quick]))
  expect(service.runs).toHaveLength(2)
  expect(outcome.verdict).toBe('failed')
})

describe('a confirming run', () => {
  test('that ends badly is left out, with a warning; the next one is tried', async () => {
    await open()
    spoilSecond('problem')
    expect(headOf(await confirm(always))).toHaveLength(2)
    expect(gate.ports.log.of('warning')).toEqual([
      'Not compared: confirming run 1 of 2: The run ended as "problem", not "finished".'
    ])
  })

  test('in which a line of the plan is broken is not left out without a word in the verdict', async () => {
    await open()
    service.onRun = (run, number) => {
      if (number !== 2) return
      run.statuses = ['problem']
      run.document = { tool_thresholds: [{ text: 'k6: checks rate>0.9', holds: false }] }
    }
    const findings = await confirm(always)
    expect(service.runs).toHaveLength(2)
    expect(findings.gap).toMatch(/^Confirming run 1 of 2: The run ended as "problem"/)
    expect(conclude(gate.settings, findings).verdict).toBe('inconclusive')
  })

  test('that has the CSV of the first one makes the comparison inconclusive, and is the last one', async () => {
    await open()
    service.csvOf = () => segmentCsv(1)
    const findings = await confirm(always)
    expect(service.runs).toHaveLength(2)
    expect(headOf(findings)).toHaveLength(1)
    expect(conclude(gate.settings, findings)).toMatchObject({
      verdict: 'inconclusive',
      reason: expect.stringMatching(
        /^Confirming run 1 of 2: The results of grid grid1 begin with the same rows as those of run run1/
      )
    })
    expect(running()).toEqual([])
  })

  test('that is refused is the last one; the comparison stays what it was', async () => {
    await open()
    service.meet('createRun', faults.none, ...many(faults.answer(422)))
    const findings = await confirm(always)
    expect(findings.failure).toBeUndefined()
    expect(headOf(findings)).toHaveLength(1)
    expect(service.count('createRun')).toBe(2)
    expect(gate.ports.log.of('warning')).toEqual([expect.stringContaining('confirming run 1 of 2')])
    expect(gate.ports.states.at(-1)?.cleanupDue).toBe(false)
  })

  test('that runs into the timeout is stopped and left out', async () => {
    await open({ confirm: 1, timeoutMs: 60_000 })
    spoilSecond('running')
    const findings = await confirm(always)
    expect(findings.failure).toBeUndefined()
    expect(headOf(findings)).toHaveLength(1)
    expect(running()).toEqual([])
  })

  test('that is cancelled is stopped, and the gate is cancelled', async () => {
    await open()
    spoilSecond('running')
    const confirming = confirm(always)
    await service.reached('createRun', 2)
    gate.ports.cancellation.abort(new CancelledError('SIGINT'))
    expect((await confirming).failure?.kind).toBe('cancelled')
    const { log, clock, states } = gate.ports
    const state = states.at(-1)
    expect(state).toBeDefined()
    await clock.run(cleanUpStep(state!, { log, clock, ...NOTHING_LEFT }))
    expect(running()).toEqual([])
  })
})

test('behind a queue: the time in it is no time of the run, also where the service does not say when it started', async () => {
  await open({ durationSeconds: 60 })
  service.csvOf = (run) => segmentCsv(ordinalOf(service, run), { seconds: 60 })
  service.nextStatuses = [...Array.from({ length: 60 }, () => 'queued'), 'running', 'running', 'finished']
  service.nextDocument = { queue_position: 2, started: null, stopped: null }
  const { watched, run, comparison } = await confirm(always)
  expect(gate.ports.clock.elapsedMs).toBeGreaterThan(10 * 60_000)
  expect(run?.startedMs).toBeUndefined()
  expect(watched!.seenEndedMs - watched!.sinceMs).toBeLessThan(60_000)
  expect(watched!.seenEndedMs - watched!.sinceMs).toBeGreaterThan(0)
  expect(comparison).toMatchObject({ head: [{}, {}, {}] })
})
