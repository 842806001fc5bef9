import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { mkdtemp, readFile, readdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { cleanUpStep } from '../../../src/gate/cleanup/post-step.js'
import { runGate } from '../../../src/gate/run-gate.js'
// Loaded beforehand: the manual clock does not see that a module is being loaded.
import '../../../src/gate/after-run.js'
import { CancelledError } from '../../../src/gate/errors.js'
import type { Progress } from '../../../src/gate/ports.js'
import type { Settings } from '../../../src/gate/settings/settings.js'
import type { Outcome } from '../../../src/analysis/outcome.js'
import { readAddress } from '../../../src/client/http/address.js'
import type { GridChoice } from '../../../src/client/documents/requests.js'
import { parseThresholds } from '../../../src/analysis/thresholds/grammar/grammar.js'
import {
  TOKEN,
  makePorts,
  makeSettings,
  makeSpecification,
  NOTHING_LEFT
} from '../../support/gate/gate-ports.js'
import type { TestPorts } from '../../support/gate/gate-ports.js'
import { GateService, faults } from '../../support/gate/gate-service.js'
import type { Fault, ServedRun } from '../../support/gate/gate-service.js'
import {
  HEAD_PARAMETERS,
  MEDIAN_LINE,
  PLAN_WITH_PORT,
  ordinalOf,
  parametersOf,
  segmentCsv,
  sideBySide,
  sideOf,
  sidesIn
} from '../../support/gate/side-by-side.js'

let service: GateService
let ports: TestPorts
let plan: string

beforeEach(async () => {
  service = new GateService()
  service.csvOf = (run) => segmentCsv(ordinalOf(service, run))
  ports = await makePorts()
  plan = join(await mkdtemp(join(tmpdir(), 'gate-plan-')), 'plan.jmx')
  await writeFile(plan, PLAN_WITH_PORT)
})

afterEach(() => service.close())

type Changes = Partial<Settings> & { rounds?: number; grids?: GridChoice[]; lines?: string }

function gate({
  rounds = 3,
  grids = [makeSpecification()],
  lines = 'p95 <= 200ms',
  ...rest
}: Changes = {}): Promise<Outcome> {
  const settings = makeSettings({
    target: { kind: 'remote', address: readAddress(service.url), token: TOKEN },
    origin: { kind: 'files', paths: [plan], grids },
    overrideParameters: HEAD_PARAMETERS,
    durationSeconds: 10,
    thresholds: [...parseThresholds(lines).thresholds, MEDIAN_LINE],
    baseline: sideBySide(rounds),
    ...rest
  })
  return ports.clock.run(runGate(ports, settings))
}

/** What would still cost money. */
function left(): string[] {
  return [
    ...service.runs.filter(({ statuses }) => statuses[0] !== 'finished').map(({ id }) => id),
    ...[...service.grids.values()].filter(({ isTerminated }) => !isTerminated).map(({ id }) => id)
  ]
}

async function post(): Promise<void> {
  const state = ports.states.at(-1)
  if (state === undefined) throw new Error('no state was saved')
  const { log, clock } = ports
  await clock.run(cleanUpStep(state, { log, clock, ...NOTHING_LEFT }))
}

/** Lets every run of a kind have samples of its own. */
function csvs(choose: (run: ServedRun, ordinal: number) => Parameters<typeof segmentCsv>[1]): void {
  service.csvOf = (run) => {
    const ordinal = ordinalOf(service, run)
    return segmentCsv(ordinal, choose(run, ordinal))
  }
}

const base = (run: ServedRun): boolean => sideOf(run) === 'base'
const many = (fault: Fault): Fault[] => Array.from({ length: 500 }, () => fault)

describe('rounds', () => {
  test('warm up once, then change their order; each segment is a run with a marker and a folder of its own', async () => {
    const outcome = await gate()
    expect(sidesIn(service)).toBe('BH BH HB BH')
    expect(outcome).toMatchObject({
      verdict: 'passed',
      baseline: { state: 'compared', kind: 'side-by-side' }
    })
    expect(outcome.baseline?.runs).toEqual(['run4', 'run7', 'run8'])
    // The service's sentence is about one segment, and its figures are not those of all.
    expect(outcome.summary).toBeUndefined()
    const tags = service.runs.map((run) => run.tags.at(-1))
    expect(new Set(tags).size).toBe(8)
    const folders = ['01-base', '01-head', '02-base', '02-head', '03-base', '03-head']
    expect((await readdir(join(ports.scratchDir, 'results'))).sort()).toEqual(folders)
    const uploaded = ports.uploads[0]?.files.map((file) => relative(ports.scratchDir, file)) ?? []
    expect(uploaded.filter((file) => file.endsWith('.csv')).sort()).toEqual(
      folders.map((folder) => `results/${folder}/us-east-1-made1.csv`)
    )
    expect(left()).toEqual([])
    expect(ports.states.at(-1)?.cleanupDue).toBe(false)
    expect(ports.clock.pendingCount).toBe(0)
  })

  test('run-id is that of the first head segment, and stays', async () => {
    await gate()
    expect(ports.outputs.get('run-id')).toBe('run5')
    expect(ports.events.filter((event) => event === 'output run-id')).toHaveLength(1)
    expect(ports.uploads[0]?.name).toBe('loadgate-run5')
  })

  test('base segments get the parameters of the base laid over the others', async () => {
    await gate({ rounds: 1 })
    expect(new Set(service.runs.map(parametersOf))).toEqual(
      new Set(['-Jport=9000, -Jpath=/shop', '-Jpath=/shop, -Jport=9001'])
    )
  })

  test('a setUp group that is named after a parameter is known on both sides', async () => {
    const group = '<SetupThreadGroup testname="prepare ${__P(port,80)}" enabled="true"/><hashTree/>'
    await writeFile(
      plan,
      PLAN_WITH_PORT.replace('</TestPlan><hashTree/>', `</TestPlan><hashTree>${group}</hashTree>`)
    )
    service.csvOf = (run) => {
      const csv = segmentCsv(ordinalOf(service, run))
      const [startMs] = csv.split('\n')[1]!.split(',')
      const port = sideOf(run) === 'base' ? 9001 : 9000
      return `${csv}${startMs},900,login,503,Busy,prepare ${port} 1-1,false,512,5\n`
    }
    const { measurements, labelChanges } = await gate()
    expect(measurements!.figures({})).toMatchObject({ samples: 300, failures: 0 })
    const overall = { valuesMs: [100], counts: [300] }
    expect(labelChanges?.times).toContainEqual({ label: null, base: overall, head: overall })
  })

  test('say which one it is, in the log and to whoever shows progress', async () => {
    const stages = new Set<string | undefined>()
    Object.assign(ports, { onProgress: ({ stage }: Progress) => stages.add(stage) })
    await gate({ rounds: 2 })
    expect([...stages]).toEqual([
      'warm-up: base',
      'warm-up: head',
      'round 1 of 2: base',
      'round 1 of 2: head',
      'round 2 of 2: head',
      'round 2 of 2: base'
    ])
    expect(ports.log.of('info')).toContainEqual(expect.stringMatching(/^Round 1 of 2: head: run run5 /))
  })

  test('a slower head breaks the line; the pairs are what is judged', async () => {
    csvs((run) => ({ elapsedMs: base(run) ? 100 : 150 }))
    const outcome = await gate()
    expect(outcome.verdict).toBe('failed')
    expect(outcome.judgements[1]?.comparison).toMatchObject({ outcome: 'broken', baseRuns: 3 })
    expect(outcome.baseline?.notes).toEqual([])
  })

  test('which requests got slower is the first thing that a broken line shows', async () => {
    service.csvOf = (run) => {
      const slow = { elapsedMs: sideOf(run) === 'head' ? 150 : 100 }
      let row = 0
      return segmentCsv(ordinalOf(service, run), slow).replace(/,\d+,checkout,/g, (cells) =>
        row++ % 4 === 0 ? ',40,home,' : cells
      )
    }
    const outcome = await gate()
    expect(outcome.labelChanges).toMatchObject({
      metric: 'median',
      leftOut: 0,
      rows: [
        { label: 'checkout', base: 100, head: 150, outcome: 'slower', samples: { base: 225, head: 225 } },
        { label: 'home', base: 40, head: 40, outcome: 'no clear change', samples: { base: 75, head: 75 } }
      ]
    })
    const [summary = ''] = ports.summaries
    expect(summary.indexOf('### Which requests got slower')).toBeLessThan(summary.indexOf('### Thresholds'))
    expect(summary).toMatch(/\n\| checkout \| 100 ms \| 150 ms \| \+50 % \(\+\S+ to \+\S+\) \| ▲ slower \|\n/)
    const page = await readFile(join(ports.scratchDir, 'report.html'), 'utf8')
    expect(page).toContain('<h2 id="label-changes-title">Which requests got slower</h2>')
    // The rows of all rounds, as many as there are samples.
    expect(outcome.measurements?.figures({})?.samples).toBe(300)
    expect(page).toMatch(/<th scope="row">made1<\/th>(<td[^>]*>[^<]*<\/td>){3}<td class="number">300<\/td>/)
    const verdict = JSON.parse(await readFile(join(ports.scratchDir, 'verdict.json'), 'utf8')) as object
    expect(verdict).toMatchObject({ label_changes: { rows: [{ label: 'checkout', outcome: 'slower' }, {}] } })
  })

  test('a base with more failures than the head is none, whatever on-missing-baseline says', async () => {
    // A tenth of the base's requests fail after a while, and the head is five times slower.
    csvs((run) => (base(run) ? { elapsedMs: 3000, failures: 10 } : { elapsedMs: 500 }))
    const outcome = await gate({ lines: 'p95 <= 2s', baseline: sideBySide(3, { onMissing: 'pass' }) })
    expect(outcome.verdict).toBe('inconclusive')
    expect(outcome.reason).toContain(
      "median cannot be compared: 3 of 3 rounds are left out, as more samples of the base failed (10 %, and 0 % of the head's); at least 3 are needed: check that the server of the base works"
    )
  })

  test('each segment leaves out its own warm-up', async () => {
    // The first 60 of each hundred fail, in six of its ten seconds.
    csvs(() => ({ failures: 60 }))
    const lines = 'failures < 1\nsamples == 120'
    const outcome = await gate({ lines, warmUpMs: 6000 })
    expect(outcome).toMatchObject({
      verdict: 'passed',
      apdex: { score: 1 },
      baseline: { state: 'compared' },
      warmUp: { ms: 6000, samples: 180, failures: 180 }
    })
    expect(outcome.warmUp?.whole.figures({})?.samples).toBe(300)
  })

  test('segments that are not longer than their warm-up are no evidence', async () => {
    const outcome = await gate({ warmUpMs: 20_000 })
    expect(outcome.verdict).toBe('inconclusive')
    expect(outcome.reason).toContain('The run is not longer than its warm-up: all 100 samples start')
  })

  test('a head that gets less done in the same time says that the load differed', async () => {
    csvs((run) => ({ seconds: base(run) ? 10 : 12 }))
    const { baseline } = await gate()
    expect(baseline?.notes).toEqual([expect.stringContaining('the load differed')])
  })
})

describe('parameters of the base that the plan does not read', () => {
  test('are an input error before anything is created: base and head would be the same server', async () => {
    await writeFile(plan, PLAN_WITH_PORT.replace('(port,', '(prot,'))
    await expect(gate()).rejects.toThrow(
      'Invalid input, nothing was sent: baseline-parameters: -Jport has no effect: plan.jmx does not read ${__P(port,…)}, so base and head would be the same server, and every comparison would hold. Is the name spelled as in the plan?'
    )
    expect(service.seen).toEqual([])
  })

  test('are a warning where part of the plan cannot be looked into', async () => {
    const jar = join(dirname(plan), 'plugin.jar')
    await Promise.all([writeFile(plan, PLAN_WITH_PORT.replace('(port,', '(prot,')), writeFile(jar, 'x')])
    const outcome = await gate({
      origin: { kind: 'files', paths: [plan, jar], grids: [makeSpecification()] }
    })
    expect(outcome.verdict).toBe('passed')
    expect(ports.log.of('warning')).toContainEqual(
      expect.stringMatching(
        /^baseline-parameters: -Jport may have no effect: .*base and head would be the same server/
      )
    )
  })
})

describe('grids', () => {
  test('are created once, referenced by every segment, and terminated at the end', async () => {
    const grids = [makeSpecification(), makeSpecification({ region: 'eu-west-1' })]
    await gate({ rounds: 1, grids })
    expect(service.count('createGrid')).toBe(2)
    const referenced = service.runs.map(({ fields }) =>
      fields.filter(([name]) => name === 'run[grids][][uuid]').map(([, id]) => id)
    )
    expect(referenced).toEqual(Array(4).fill(['made1', 'made2']))
    expect(left()).toEqual([])
  })

  test('of somebody else are used and left alone', async () => {
    await gate({ rounds: 1, grids: [{ id: 'theirs' }, makeSpecification()] })
    expect(service.count('createGrid')).toBe(1)
    expect(service.seen.filter(({ path, method }) => method === 'DELETE' && path.includes('theirs'))).toEqual(
      []
    )
    expect(left()).toEqual([])
  })

  test('that are smaller than requested make every segment incomplete evidence', async () => {
    const outcome = await gate({ rounds: 1, grids: [makeSpecification({ nodeCount: 3 })] })
    expect(outcome).toMatchObject({
      verdict: 'inconclusive',
      reason: expect.stringContaining('2 of the 3 nodes')
    })
  })
})

describe('lines with limits of their own', () => {
  test('judge the samples of all head segments, over the time in which they ran', async () => {
    csvs((run, ordinal) => ({ elapsedMs: base(run) ? 5_000 : 100 * ordinal }))
    const { measurements, apdex } = await gate({ lines: 'samples == 300', rounds: 3 })
    const all = measurements?.figures({})
    expect(all?.samples).toBe(300)
    // The head segments are the 4th, 5th and 8th run: 9.9 s from the first start to the last, and what that one took.
    const seconds = 3 * 9.9 + (0.4 + 0.5 + 0.8)
    expect(all?.throughput).toBeCloseTo(300 / seconds, 9)
    expect(measurements?.series?.throughput.filter((each) => each === 0)).toEqual([])
    expect(measurements?.series?.activeThreads.every((threads) => threads === 5)).toBe(true)
    // Up to the target of 500 ms, and up to four times that.
    expect(apdex).toEqual({ score: (200 + 100 / 2) / 300, targetMs: 500 })
    expect(ports.outputs.get('apdex')).toBe(String(250 / 300))
  })

  test('fail when they are broken, whatever the base does', async () => {
    csvs((run) => ({ elapsedMs: base(run) ? 300 : 250 }))
    expect(await gate({ rounds: 1, lines: 'p95 <= 200ms' })).toMatchObject({
      verdict: 'failed',
      reason: expect.stringContaining('p95')
    })
  })

  test('judge the head of a round whose base is bad: its failures do not vanish', async () => {
    csvs((_run, ordinal) => ({ failures: ordinal === 5 || ordinal === 6 ? 100 : 0 }))
    const outcome = await gate({ rounds: 5, lines: 'error_rate < 1%' })
    expect(outcome).toMatchObject({ verdict: 'failed', reason: expect.stringContaining('error_rate') })
    expect(outcome.measurements?.figures({})).toMatchObject({ samples: 500, failures: 100 })
    expect(outcome.baseline?.notes).toEqual([expect.stringContaining('round 2: base: 100 of 100')])
  })
})

/** Changes the runs with these numbers, counted from 1, as they are created. */
function spoil(changes: Readonly<Record<number, (run: ServedRun) => void>>): void {
  service.onRun = (run, number) => changes[number]?.(run)
}

const endless = (run: ServedRun): void => void (run.statuses = ['running'])

describe('a bad segment', () => {
  test('drops its pair, with a warning', async () => {
    spoil({ 6: (run) => void (run.statuses = ['problem']) })
    const outcome = await gate({ rounds: 5 })
    expect(sidesIn(service)).toBe('BH BH HB BH HB BH')
    const words = 'Not compared: round 2: base: The run ended as "problem", not "finished".'
    expect(ports.log.of('warning')).toContain(words)
    expect(outcome.verdict).toBe('passed')
    expect(outcome.baseline).toMatchObject({ notes: [words], runs: ['run4', 'run8', 'run11', 'run12'] })
    // The head of that round is evidence for the lines that need no base.
    expect(outcome.measurements?.figures({})?.samples).toBe(500)
    // What was measured is evidence, compared or not.
    expect(ports.uploads[0]?.files.filter((file) => file.endsWith('.csv'))).toHaveLength(10)
  })

  test('has lost load, no samples, or ended early', async () => {
    spoil({ 3: (run) => void (run.document = { remote_errors: 'load lost: a node died' }) })
    service.csvOf = (run) => {
      const ordinal = ordinalOf(service, run)
      const [header = ''] = segmentCsv(1).split('\n')
      return ordinal === 6 ? `${header}\n` : segmentCsv(ordinal, ordinal === 8 ? { seconds: 4 } : {})
    }
    const { baseline } = await gate({ rounds: 10 })
    expect(baseline?.notes).toEqual([
      expect.stringContaining('round 1: base: Part of the load was lost: a node died'),
      expect.stringContaining('round 2: base: The run ended after 2 s of the 10 s requested'),
      expect.stringContaining('round 3: head: The samples of grid made1 span 4 s of the 10 s requested')
    ])
  })

  test('has a CSV that never comes, or mostly failures on the side of the base', async () => {
    service.meet('result', ...many(faults.answer(404)).slice(0, 12))
    csvs((_run, ordinal) => (ordinal === 6 || ordinal === 7 ? { failures: 51 } : {}))
    const { baseline } = await gate({ rounds: 10, durationSeconds: undefined })
    expect(baseline?.notes.slice(0, 2)).toEqual([
      expect.stringMatching(/round 1: .*could not be downloaded completely/),
      expect.stringContaining('round 2: base: 51 of 100 samples failed')
    ])
  })

  test('of 5 s has samples of half that time: nothing is compared, and nothing passes', async () => {
    csvs((run) => ({ seconds: base(run) ? 5 : 2.5 }))
    expect(await gate({ durationSeconds: 5 })).toMatchObject({
      verdict: 'inconclusive',
      reason: expect.stringMatching(/round 1: .*span \d\.?\d* s of the base and 2.\d s of the head/)
    })
  })

  test('covers much less time than the other one of its pair', async () => {
    csvs((run, ordinal) => ({ seconds: ordinal === 6 ? 7.9 : 10.1, elapsedMs: base(run) ? 10 : 11 }))
    const { baseline } = await gate({ rounds: 5 })
    expect(baseline?.notes).toEqual([expect.stringMatching(/round 2: .*span 7.\d s of the/)])
  })

  const dropped = (): string[] => ports.log.of('warning').filter((line) => line.startsWith('Not compared'))

  test.each(['warn', 'fail'] as const)(
    'has the CSV of another one, as all do: inconclusive with on-missing-baseline %s',
    async (onMissing) => {
      service.csvOf = () => segmentCsv(1)
      const outcome = await gate({ baseline: sideBySide(3, { onMissing }) })
      expect(outcome).toMatchObject({
        verdict: 'inconclusive',
        reason: expect.stringMatching(
          /^Only 0 rounds can be compared .*round 1: head: The results of grid made1 begin with the same rows as those of round 1 of 3: base, and cannot be the results of both/
        )
      })
      expect(left()).toEqual([])
    }
  )

  test('has the CSV of another one: its pair is dropped, and the others decide', async () => {
    service.csvOf = (run) => segmentCsv(ordinalOf(service, run) === 6 ? 3 : ordinalOf(service, run))
    const outcome = await gate({ rounds: 5 })
    expect(outcome.verdict).toBe('passed')
    expect(dropped()).toEqual([
      expect.stringMatching(/^Not compared: round 2: base: .* as those of round 1 of 5: base/)
    ])
  })

  test('has a CSV that grows from round to round, as where a grid appends to one file', async () => {
    // The head takes 30 % longer: with all rows before them in each file, the difference would be a few percent.
    service.csvOf = (run) => {
      const all = service.runs.toReversed().slice(0, ordinalOf(service, run))
      const csvs = all.map((each) =>
        segmentCsv(ordinalOf(service, each), { elapsedMs: base(each) ? 100 : 130 })
      )
      return csvs.map((csv, index) => (index === 0 ? csv : csv.slice(csv.indexOf('\n') + 1))).join('')
    }
    const outcome = await gate({ lines: '' })
    expect(outcome).toMatchObject({
      verdict: 'inconclusive',
      reason: expect.stringContaining('begin with the same rows')
    })
  })

  test('has the CSV of a run of another day: its pair is dropped', async () => {
    spoil({ 6: (run) => void (run.document = { started: '2026-10-09T08:00:00Z' }) })
    expect((await gate({ rounds: 5 })).verdict).toBe('passed')
    expect(dropped()).toEqual([
      expect.stringMatching(
        /round 2: base: The results of grid made1 are not from this run: their samples are from 2025-10-09T08:.*, and the run started at 2026-10-09T08:00/
      )
    ])
  })

  const TOOL_LINE = 'k6: http_req_failed rate<0.01'
  test.each([
    ['head', 'failed', `1 threshold is broken: ${TOOL_LINE} is broken (judged by the tool)`],
    ['base', 'inconclusive', 'Only 0 rounds can be compared after 1 of 3, and at least 3 are needed']
  ])(
    'is one that the plan itself ended at a broken line of its own: on the side of the %s, %s',
    async (side, verdict, reason) => {
      service.onRun = (run) => {
        const holds = sideOf(run) !== side
        run.document = { tool_thresholds: [{ text: TOOL_LINE, holds }] }
      }
      csvs((run) => (sideOf(run) === side ? { seconds: 4 } : {}))
      expect(await gate()).toMatchObject({ verdict, reason: expect.stringContaining(reason) })
    }
  )

  test('half of the failures of a head are a finding, not a bad segment', async () => {
    csvs((run) => ({ failures: base(run) ? 0 : 60 }))
    const outcome = await gate({ rounds: 1, lines: 'error_rate < 1%' })
    expect(outcome.verdict).toBe('failed')
    expect(outcome.baseline?.notes).toEqual([])
  })

  test('too many of them: inconclusive, with the reason, and no more rounds than can matter', async () => {
    csvs((run) => ({ failures: base(run) ? 100 : 0 }))
    const outcome = await gate({ rounds: 10 })
    expect(outcome).toMatchObject({
      verdict: 'inconclusive',
      reason:
        'Only 0 rounds can be compared after 3 of 10, and at least 8 are needed; round 1: base: 100 of 100 samples failed: check that the server of the base is running'
    })
    expect(service.runs).toHaveLength(2 + 3 * 2)
    expect(outcome.judgements[1]?.comparison?.outcome).toBe('not comparable')
    expect(left()).toEqual([])
  })

  test('a run that something in between has created twice drops its pair, and the other one is stopped', async () => {
    spoil({ 3: ({ tags }) => void service.addRun({ tags, statuses: ['running'] }) })
    const outcome = await gate({ rounds: 1 })
    expect(outcome).toMatchObject({
      verdict: 'inconclusive',
      reason: expect.stringContaining('round 1: base: the run was created twice (run5 has the same tag)')
    })
    expect(left()).toEqual([])
  })
})

describe('a service that is slow to answer', () => {
  test('delays no segment for long by a list of runs that cannot be read', async () => {
    service.meet('listRuns', ...many(faults.answer(503)))
    const sinceMs = ports.clock.now()
    const outcome = await gate({ rounds: 5, stopOnCancel: true })
    expect(outcome.verdict).toBe('passed')
    // Twelve segments of a few seconds, and one thorough look at the end.
    expect(ports.clock.now() - sinceMs).toBeLessThan(12 * 15_000 + 60_000)
  })

  test('delays no segment for longer than a minute by a CSV that never comes', async () => {
    service.meet('result', ...many(faults.answer(404)))
    const sinceMs = ports.clock.now()
    const outcome = await gate({ rounds: 5, durationSeconds: undefined, timeoutMs: 7_200_000 })
    expect(outcome.verdict).toBe('inconclusive')
    expect(outcome.reason).toContain('could not be downloaded completely')
    // Two rounds are enough to know that four of five are out of reach.
    expect(service.runs).toHaveLength(2 + 2 * 2)
    expect(ports.clock.now() - sinceMs).toBeLessThan(4 * 90_000)
  })

  test('is not waited for beyond the timeout', async () => {
    service.meet('result', ...many(faults.answer(404)))
    const sinceMs = ports.clock.now()
    const outcome = await gate({ rounds: 5, timeoutMs: 60_000 })
    expect(outcome.verdict).toBe('timed-out')
    expect(ports.clock.now() - sinceMs).toBeLessThan(65_000)
  })
})

describe('a refused segment', () => {
  /** Refuses the runs with these numbers, counted from 1. */
  function refuse(...numbers: number[]): void {
    const answers = Array.from({ length: Math.max(...numbers) }, (_, index) =>
      numbers.includes(index + 1) ? faults.answer(422) : faults.none
    )
    service.meet('createRun', ...answers)
  }

  test('drops its pair once another pair is complete', async () => {
    refuse(6)
    const outcome = await gate({ rounds: 5 })
    expect(outcome.verdict).toBe('passed')
    expect(outcome.baseline).toMatchObject({
      state: 'compared',
      notes: [expect.stringMatching(/^Not compared: round 2: base: .*422/)]
    })
    expect(outcome.baseline?.runs).toHaveLength(4)
    // The head of that round has run.
    expect(outcome.measurements?.figures({})?.samples).toBe(500)
    expect(left()).toEqual([])
  })

  test('as the last one of all drops its pair too', async () => {
    refuse(12)
    expect(await gate({ rounds: 5 })).toMatchObject({ verdict: 'passed' })
    expect(left()).toEqual([])
    expect(ports.states.at(-1)?.cleanupDue).toBe(false)
  })

  test.each([
    ['the first one', [1], 1],
    ['one before any pair is complete', [4], 4],
    ['the second one in a row', [5, 6], 6],
    ['the second one in a row, in another round', [6, 7], 7]
  ])('ends the gate: %s', async (_, numbers, last) => {
    refuse(...numbers)
    expect(await gate({ rounds: 5 })).toMatchObject({
      verdict: 'error',
      reason: expect.stringContaining('422')
    })
    expect(service.count('createRun')).toBe(last)
    expect(left()).toEqual([])
  })

  test('is not one whose reply was lost: the gate ends, as a run may have been created', async () => {
    service.meet('createRun', ...Array<Fault>(5).fill(faults.none), faults.dropBefore)
    expect(await gate({ rounds: 5 })).toMatchObject({ verdict: 'error' })
    expect(service.count('createRun')).toBe(6)
  })
})

describe('nothing is left running', () => {
  test('after a refusal: the gate ends with an error at once', async () => {
    service.meet('createRun', faults.none, faults.none, faults.none, ...many(faults.answer(422)))
    expect(await gate({ rounds: 1 })).toMatchObject({
      verdict: 'error',
      reason: expect.stringContaining('422')
    })
    expect(service.count('createRun')).toBe(4)
    expect(left()).toEqual([])
  })

  test('after a lost reply that leaves no trace: an error, and no second try', async () => {
    service.meet('createRun', faults.none, faults.none, faults.none, faults.dropBefore)
    expect(await gate({ rounds: 1 })).toMatchObject({ verdict: 'error' })
    expect(service.count('createRun')).toBe(4)
    expect(left()).toEqual([])
  })

  test('after a lost reply: the run is found by its own marker', async () => {
    service.meet('createRun', faults.none, faults.none, faults.none, faults.dropAfter)
    expect(await gate()).toMatchObject({ verdict: 'passed' })
    expect(service.runs).toHaveLength(8)
  })

  test('after the timeout, which is that of all segments together', async () => {
    spoil({ 5: endless })
    const outcome = await gate({ timeoutMs: 120_000 })
    expect(outcome).toMatchObject({
      verdict: 'timed-out',
      reason: 'The comparison side by side did not end within the timeout of 2 min.'
    })
    expect(service.runs).toHaveLength(5)
    expect(left()).toEqual([])
    // What was measured until then is shown.
    expect(outcome.measurements?.figures({})?.samples).toBe(100)
  })

  test('after a cancellation', async () => {
    spoil({ 5: endless })
    const gating = gate()
    await service.reached('createRun', 5)
    ports.cancellation.abort(new CancelledError('SIGINT'))
    expect(await gating).toMatchObject({ verdict: 'cancelled' })
    await post()
    expect(left()).toEqual([])
  })

  test('with stop-on-cancel: false the current segment and its grids are left, and nothing else is started', async () => {
    spoil({ 5: endless })
    const gating = gate({ stopOnCancel: false })
    await service.reached('createRun', 5)
    await service.reached('showRun', 30)
    ports.cancellation.abort(new CancelledError('SIGINT'))
    await gating
    expect(left()).toEqual(['run6', 'made1'])
  })

  test('after a kill at any saved state, the post step ends all of it', async () => {
    await gate({ rounds: 2 })
    const states = [...ports.states]
    expect(states.filter(({ cleanupDue }) => cleanupDue).length).toBeGreaterThan(12)
    for (const state of states.filter(({ cleanupDue }) => cleanupDue)) {
      for (const grid of service.grids.values()) grid.isTerminated = false
      for (const run of service.runs) if (run.id === state.runId) run.statuses = ['running']
      const { log, clock } = ports
      await clock.run(cleanUpStep(state, { log, clock, ...NOTHING_LEFT }))
      expect(left().filter((id) => id.startsWith('run') || state.madeGrids.includes(id))).toEqual([])
    }
  })

  test('the post step ends duplicates of all segments with one listing', async () => {
    await gate({ rounds: 2 })
    const state = ports.states.at(-2)
    expect(state?.earlier).toHaveLength(5)
    for (const { marker } of state?.earlier ?? []) service.addRun({ tags: [marker], statuses: ['running'] })
    await ports.clock.advance(60_000)
    const before = service.count('listRuns')
    const { log, clock } = ports
    await clock.run(cleanUpStep({ ...state!, cleanupDue: true }, { log, clock, ...NOTHING_LEFT }))
    expect(left()).toEqual([])
    expect(service.count('listRuns')).toBe(before + 1)
  })
})

describe('confirm', () => {
  test('adds blocks of rounds while a line is broken or unsure, judged together', async () => {
    csvs((run) => ({ elapsedMs: base(run) ? 100 : 150 }))
    const outcome = await gate({ baseline: sideBySide(2, { confirm: 2 }) })
    expect(sidesIn(service)).toBe('BH BH HB BH HB BH HB')
    expect(outcome.judgements[1]?.comparison).toMatchObject({ outcome: 'broken', baseRuns: 6 })
    expect(outcome.verdict).toBe('failed')
  })

  test('that fails leaves the finished block and its verdict, with a warning', async () => {
    csvs((run) => ({ elapsedMs: base(run) ? 100 : 150 }))
    const finished = 2 + 2 * 3
    service.meet('createRun', ...Array<Fault>(finished + 3).fill(faults.none), ...many(faults.answer(422)))
    const outcome = await gate({ baseline: sideBySide(3, { confirm: 2 }) })
    expect(outcome).toMatchObject({ verdict: 'failed', baseline: { state: 'compared' } })
    expect(outcome.judgements[1]?.comparison).toMatchObject({ outcome: 'broken', baseRuns: 3 })
    expect(ports.log.of('warning')).toContainEqual(
      expect.stringMatching(/^Confirming failed, so the first 3 rounds alone are compared: .*422/)
    )
    expect(left()).toEqual([])
  })

  test('with too many bad segments leaves the finished block', async () => {
    csvs((run, ordinal) => ({
      elapsedMs: base(run) ? 100 : 150,
      failures: base(run) && ordinal > 8 ? 100 : 0
    }))
    const outcome = await gate({ baseline: sideBySide(3, { confirm: 2 }) })
    expect(outcome.verdict).toBe('failed')
    expect(outcome.judgements[1]?.comparison).toMatchObject({ outcome: 'broken', baseRuns: 3 })
    expect(ports.log.of('warning')).toContainEqual(
      expect.stringMatching(
        /^Confirming failed, so the first 3 rounds alone are compared: .*100 of 100 samples/
      )
    )
  })

  test.each([
    ['timed-out', (): void => undefined],
    ['cancelled', (): void => ports.cancellation.abort(new CancelledError('SIGINT'))]
  ])('that is %s is no verdict', async (verdict, end) => {
    csvs((run) => ({ elapsedMs: base(run) ? 100 : 150 }))
    spoil({ 10: endless })
    const gating = gate({ baseline: sideBySide(3, { confirm: 1 }), timeoutMs: 300_000 })
    await service.reached('createRun', 10)
    end()
    const outcome = await gating
    expect(outcome.verdict).toBe(verdict)
    expect(outcome.baseline?.reason).toMatch(
      /^Only 3 rounds can be compared after 3 of 6.*; the others did not take place$/
    )
    await post()
    expect(left()).toEqual([])
  })

  test('adds none when every line holds', async () => {
    await gate({ baseline: sideBySide(3, { confirm: 2 }) })
    expect(service.runs).toHaveLength(8)
  })

  test('adds none for which there is no time, and says so', async () => {
    csvs((run) => ({ elapsedMs: base(run) ? 100 : 150 }))
    const outcome = await gate({ baseline: sideBySide(3, { confirm: 2 }), timeoutMs: 22_000 })
    expect(outcome.verdict).toBe('failed')
    expect(service.runs).toHaveLength(8)
    expect(ports.log.of('warning')).toContainEqual(expect.stringContaining('no time left to confirm'))
  })
})

test('behind a queue: however long each segment waits, the comparison is the same', async () => {
  const straight = await gate()
  service.nextStatuses = [...Array.from({ length: 20 }, () => 'queued'), 'running', 'finished']
  service.nextDocument = { queue_position: 3 }
  service.csvOf = (run) => segmentCsv(ordinalOf(service, run) - service.runs.length / 2)
  const before = ports.clock.now()
  const queued = await gate()
  expect(ports.clock.now() - before).toBeGreaterThan(10 * 60_000)
  expect([queued.verdict, queued.reason]).toEqual([straight.verdict, straight.reason])
  expect(queued.judgements).toEqual(straight.judgements)
})
