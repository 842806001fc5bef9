import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { mkdtemp, readFile, readdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { cleanUpStep } from '../../src/gate/cleanup/post-step.js'
import { runGate } from '../../src/gate/run-gate.js'
// Loaded beforehand: the manual clock does not see that a module is being loaded.
import '../../src/gate/after-run.js'
import type { Settings } from '../../src/gate/settings/settings.js'
import type { StepState } from '../../src/gate/saved-state.js'
import { CancelledError } from '../../src/gate/errors.js'
import type { LocalServiceRequest, Ports } from '../../src/gate/ports.js'
import { parseRegions } from '../../src/contract/regions/parse-regions.js'
import type { Outcome } from '../../src/analysis/outcome.js'
import { terminalLines } from '../../src/cli/outcome-text.js'
import { readAddress } from '../../src/client/http/address.js'
import type { GridChoice } from '../../src/client/documents/requests.js'
import {
  TOKEN,
  makePorts,
  makeSettings,
  makeSpecification,
  NOTHING_LEFT
} from '../support/gate/gate-ports.js'
import type { TestPorts } from '../support/gate/gate-ports.js'
import { gridDocument } from '../support/fake-documents.js'
import { GateService, faults, makeCsv } from '../support/gate/gate-service.js'
import type { Fault } from '../support/gate/gate-service.js'
import { QUIET_PLAN } from '../support/quiet-plan.js'

let service: GateService
let ports: TestPorts
let plan: string

beforeEach(async () => {
  service = new GateService()
  ports = await makePorts()
  plan = join(await mkdtemp(join(tmpdir(), 'gate-plan-')), 'plan.jmx')
  await writeFile(plan, QUIET_PLAN)
})

afterEach(() => service.close())

type Changes = Partial<Settings> & { thresholdLines?: string; grids?: GridChoice[] }

function gate(changes: Changes = {}): Promise<Outcome> {
  const { grids = [makeSpecification()], ...rest } = changes
  const settings = makeSettings({
    target: { kind: 'remote', address: readAddress(service.url), token: TOKEN },
    origin: { kind: 'files', paths: [plan], grids },
    thresholdLines: 'apdex >= 0.85',
    ...rest
  })
  return ports.clock.run(runGate(ports, settings))
}

test('a grid without an id beside the one requested: the end is seen, and its results are missed', async () => {
  const document = (id?: string): Record<string, unknown> => ({
    uuid: id,
    region: 'us-east-1',
    status: 'started'
  })
  service.nextDocument = { _embedded: { grids: [document('grid1'), document()] } }
  const outcome = await gate()
  expect(outcome.verdict).toBe('inconclusive')
  expect(JSON.stringify(outcome)).toContain('_embedded.grids[1].uuid should be text, found nothing')
})

describe('the nodes of a grid', () => {
  /** A look at the run that lists these. */
  const look =
    (status: string, ...nodes: string[]): Fault =>
    (res) =>
      faults.answer(200, {
        ...{ uuid: 'run1', status, apdex: '0.93 [500]' },
        _embedded: {
          grids: [
            { ...gridDocument({ id: 'grid1', status: 'started' }), nodes: nodes.map((state) => ({ state })) }
          ]
        }
      })(res, () => ({ status: 500, body: '' }))

  test('were there if any look has shown them: after the end they are gone', async () => {
    service.meet('showRun', look('running', 'running'), look('running', 'running', 'running'))
    for (let looks = 0; looks < 9; looks++) service.meet('showRun', look('finished', 'stopping'))
    expect(await gate()).toMatchObject({ verdict: 'passed', warnings: [] })
  })

  test('are too few if no look has shown all of them, though the list is empty at the end', async () => {
    service.meet('showRun', look('running', 'running'), look('running', 'running'))
    expect(await gate()).toMatchObject({
      verdict: 'inconclusive',
      reason: 'The service lists 1 of the 2 nodes of grid grid1: the others did not take part.'
    })
  })

  test('are incomplete if one of them failed on the way', async () => {
    service.meet('showRun', look('running', 'running', 'crashed'), look('running', 'running', 'running'))
    expect(await gate()).toMatchObject({
      verdict: 'inconclusive',
      reason: 'The service says that node 2 of grid grid1 is "crashed".'
    })
  })
})

const MIXED: GridChoice[] = [makeSpecification(), { id: 'theirs' }]
const EXISTING: Partial<Settings> = { origin: { kind: 'existing', runId: 'theirs' } }

function cancel(): void {
  ports.cancellation.abort(new CancelledError('SIGINT'))
}

function many(fault: Fault): Fault[] {
  return Array.from({ length: 500 }, () => fault)
}

/** Who would still cost money. */
function running(): string[] {
  return service.runs.filter(({ statuses }) => statuses[0] !== 'finished').map(({ id }) => id)
}

describe('a run that comes to its end', () => {
  test('passes: started, watched, collected, judged, published', async () => {
    const outcome = await gate()
    expect(outcome).toMatchObject({ verdict: 'passed', reason: 'The threshold holds.' })
    expect(service.order().slice(0, 3)).toEqual(['unknown', 'account', 'createRun'])
    expect([...new Set(service.order().slice(2))].sort()).toEqual([
      'createRun',
      'listRuns',
      'report',
      'result',
      'resultSize',
      'showRun'
    ])
    expect(Object.fromEntries(ports.outputs)).toMatchObject({
      'run-id': 'run1',
      'run-url': 'https://service.example/run1',
      status: 'finished',
      verdict: 'passed',
      apdex: '0.93',
      'artifact-id': '77'
    })
    expect(await readdir(ports.scratchDir)).toEqual(['report.html', 'results', 'verdict.json'])
    expect(ports.uploads[0]?.name).toBe('loadgate-run1')
    expect(ports.states.at(-1)).toMatchObject({ runId: 'run1', cleanupDue: false })
    expect(ports.clock.pendingCount).toBe(0)
  })

  test('fails', async () => {
    expect(await gate({ thresholdLines: 'apdex >= 0.95' })).toMatchObject({ verdict: 'failed' })
    expect(ports.outputs.get('verdict')).toBe('failed')
    expect(ports.uploads).toHaveLength(1)
    expect(ports.annotations).toHaveLength(1)
  })

  test('run-id and run-url are set as soon as they are known', async () => {
    service.meet('showRun', faults.hold)
    const gating = gate()
    await service.reached('showRun')
    expect(ports.events).toEqual(['output run-id', 'output run-url'])
    cancel()
    await gating
  })

  test.each(['stopped', 'problem'])(
    '%s is inconclusive; what there is is kept, and nobody waits long for the rest',
    async (status) => {
      service.nextStatuses = ['running', status]
      service.meet('result', ...many(faults.answer(404)))
      expect(await gate()).toMatchObject({
        verdict: 'inconclusive',
        reason: expect.stringContaining(`"${status}"`)
      })
      expect(ports.clock.elapsedMs).toBeLessThan(90_000)
      expect(ports.uploads[0]?.files).toHaveLength(2)
      expect(service.count('stopRun')).toBe(0)
    }
  )

  test('a service that is away for 2 minutes in the middle does not fail the gate', async () => {
    service.nextStatuses = ['queued', 'running', 'running', 'finished']
    const down = (res: Parameters<Fault>[0], commit: Parameters<Fault>[1]): void =>
      (ports.clock.elapsedMs < 120_000 ? faults.answer(503) : faults.none)(res, commit)
    service.meet('showRun', faults.none, ...many(down))
    expect((await gate()).verdict).toBe('passed')
    expect(ports.clock.elapsedMs).toBeGreaterThan(120_000)
  })

  test('two grids have two CSVs', async () => {
    service.ownGrids = [
      { id: 'g1', region: 'us-east-1' },
      { id: 'g2', region: 'eu-west-1' }
    ]
    await gate()
    expect(await readdir(join(ports.scratchDir, 'results'))).toEqual(['eu-west-1-g2.csv', 'us-east-1-g1.csv'])
    expect(ports.uploads[0]?.files).toHaveLength(4)
  })

  test('a CSV that never comes: inconclusive after at most 10 minutes of collecting, the others kept', async () => {
    service.ownGrids = [
      { id: 'g1', region: 'us-east-1' },
      { id: 'g2', region: 'eu-west-1' }
    ]
    service.meet('result', faults.none, ...many(faults.answer(200, { error: 'no such thing' })))
    const outcome = await gate()
    expect(outcome.verdict).toBe('inconclusive')
    expect(outcome.reason).toMatch(
      /^The CSV of grid g\d could not be downloaded completely: .*expected CSV, got JSON/
    )
    expect(await readdir(join(ports.scratchDir, 'results'))).toContainEqual(expect.stringMatching(/\.csv$/))
    expect(ports.clock.elapsedMs).toBeGreaterThan(590_000)
    expect(ports.clock.elapsedMs).toBeLessThan(650_000)
  })

  test('collecting takes no longer than the timeout', async () => {
    service.meet('report', ...many(faults.answer(404)))
    expect((await gate({ timeoutMs: 100_000 })).reason).toMatch(/^The report could not be downloaded/)
    expect(ports.clock.elapsedMs).toBeLessThan(130_000)
  })
})

describe('every grid that was requested', () => {
  const TWO = [makeSpecification(), makeSpecification({ region: 'eu-west-1' })]
  const BOTH = [
    { id: 'g1', region: 'us-east-1' },
    { id: 'g2', region: 'eu-west-1' }
  ]

  test.each([
    ['with a threshold on the apdex', 'apdex >= 0.85'],
    ['with a threshold on the samples', 'p95 < 10s'],
    ['without thresholds', '']
  ])('must have results: one of two that is not listed is named, %s', async (_, thresholdLines) => {
    const outcome = await gate({ grids: TWO, thresholdLines })
    expect(outcome).toMatchObject({
      verdict: 'inconclusive',
      reason: expect.stringContaining('a grid in eu-west-1 is missing')
    })
    expect(ports.clock.elapsedMs).toBeLessThan(11 * 60_000)
  })

  test('may be listed late', async () => {
    service.nextStatuses = ['finished']
    const early = (res: Parameters<Fault>[0], commit: Parameters<Fault>[1]): void => {
      service.ownGrids = []
      faults.none(res, commit)
      service.ownGrids = BOTH
    }
    service.meet('showRun', early, early, early)
    expect((await gate({ grids: TWO })).verdict).toBe('passed')
    expect(service.downloads).toBe(2)
  })

  test('by a reference is known by its id', async () => {
    service.nextDocument = {
      _embedded: { grids: [{ uuid: 'other', region: 'us-east-1', status: 'started' }] }
    }
    expect(await gate({ grids: [{ id: 'theirs' }] })).toMatchObject({
      verdict: 'inconclusive',
      reason: expect.stringContaining('grid theirs is missing')
    })
  })

  test('counts once, however often it is listed', async () => {
    service.ownGrids = [BOTH[0]!, BOTH[0]!]
    const outcome = await gate({ grids: TWO })
    expect(outcome.measurements?.figures({})?.samples).toBe(10)
    expect(outcome).toMatchObject({ verdict: 'inconclusive', grids: [{ gridId: 'g1' }] })
  })

  test('listed twice does not double the load that was requested', async () => {
    service.nextDocument = { threads: 5 }
    service.ownGrids = [BOTH[0]!, BOTH[0]!]
    service.addRun({ id: 'theirs', statuses: ['finished'] })
    // Nobody knows when a run was created that somebody else has started.
    const warnings = [expect.stringContaining('does not say when the run took place')]
    expect(await gate(EXISTING)).toMatchObject({ verdict: 'passed', warnings })
  })

  test('of a run that is repeated must be there again', async () => {
    service.ownGrids = BOTH
    const before = service.addRun({ id: 'before', statuses: ['finished'] })
    const both = (service.show('before') as { _embedded: unknown })._embedded
    before.document = { _embedded: both }
    service.ownGrids = [BOTH[0]!]
    expect(await gate({ origin: { kind: 'repeat', runId: 'before' } })).toMatchObject({
      verdict: 'inconclusive',
      reason: expect.stringContaining('a grid in eu-west-1 is missing')
    })
  })

  test('of a run that was there before stays one of it', async () => {
    service.ownGrids = BOTH
    service.addRun({ id: 'theirs', statuses: ['running', 'finished'] })
    const late = (res: Parameters<Fault>[0], commit: Parameters<Fault>[1]): void => {
      service.ownGrids = [BOTH[0]!]
      faults.none(res, commit)
    }
    service.meet('showRun', faults.none, late)
    expect((await gate(EXISTING)).reason).toContain('a grid in eu-west-1 is missing')
  })
})

describe('an apdex that comes late', () => {
  const none = (res: Parameters<Fault>[0], commit: Parameters<Fault>[1]): void => {
    const answer = commit()
    faults.answer(200, { ...(answer.body as object), apdex: null })(res, commit)
  }
  const nextLooks = (...next: Fault[]): void => {
    service.nextStatuses = ['finished']
    service.meet('showRun', ...next)
  }

  test('is asked for again where a threshold needs it', async () => {
    nextLooks(none, none, none)
    expect(await gate()).toMatchObject({ verdict: 'passed', apdex: { score: 0.93, targetMs: 500 } })
    // The last look comes once the CSVs are home.
    expect(service.count('showRun')).toBe(5)
  })

  test.each(['apdex{label="checkout"} >= 0.5', 'warn: apdex >= 0.5'])('so for %s', async (thresholdLines) => {
    nextLooks(...Array.from({ length: 10 }, () => none))
    expect((await gate({ thresholdLines })).apdex).toBeDefined()
  })

  test('is waited for two minutes, and no longer', async () => {
    nextLooks(...many(none))
    expect(await gate()).toMatchObject({
      verdict: 'inconclusive',
      reason: expect.stringContaining('the service gave no apdex for this run')
    })
    expect(ports.clock.elapsedMs).toBeGreaterThanOrEqual(120_000)
    expect(ports.clock.elapsedMs).toBeLessThan(150_000)
    expect(service.count('showRun')).toBeLessThan(30)
  })

  test('costs a few seconds where no threshold needs it', async () => {
    nextLooks(...many(none))
    expect((await gate({ thresholdLines: 'p95 < 1s' })).verdict).toBe('passed')
    expect(ports.clock.elapsedMs).toBeGreaterThan(9_000)
    expect(ports.clock.elapsedMs).toBeLessThan(20_000)
  })

  test('is shown where it comes within these', async () => {
    nextLooks(none, none)
    expect((await gate({ thresholdLines: 'p95 < 1s' })).apdex).toBeDefined()
  })

  test('costs nothing once the timeout has decided', async () => {
    service.nextStatuses = ['running']
    service.meet('showRun', ...many(none))
    expect((await gate({ timeoutMs: 60_000 })).verdict).toBe('timed-out')
    expect(ports.clock.elapsedMs).toBeLessThan(85_000)
  })

  test('looks that fail, are older than the end or about another run do not matter', async () => {
    const older = (res: Parameters<Fault>[0]): void =>
      faults.answer(200, { uuid: 'run1', status: 'running' })(res, () => ({ status: 200, body: '' }))
    const other = faults.answer(200, { uuid: 'run9', status: 'finished', apdex: '0.1 [500]' })
    nextLooks(none, faults.answer(503), older, other, faults.dropBefore, faults.answer(404), none)
    expect(await gate()).toMatchObject({ verdict: 'passed', apdex: { score: 0.93 } })
  })

  test('an end that turns out to be a bad one is one', async () => {
    nextLooks(none, faults.answer(200, { uuid: 'run1', status: 'problem', remote_errors: ['out of memory'] }))
    expect(await gate()).toMatchObject({
      verdict: 'inconclusive',
      reason: 'The run ended as "problem", not "finished". The service says: out of memory'
    })
  })
})

describe('what the service says went wrong', () => {
  test.each<[string, unknown, string[]]>([
    ['text', 'node 2 failed\nnode 3 too', ['node 2 failed', 'node 3 too']],
    [
      'a list',
      ['node 2 failed', { node: 'n3', error: 'lost' }],
      ['node 2 failed', 'node: n3', 'error: lost']
    ],
    ['an object', { n2: 'failed' }, ['n2: failed']]
  ])('as %s reaches log, summary, page, terminal and verdict.json', async (_, remote_errors, lines) => {
    service.nextDocument = { remote_errors }
    const outcome = await gate()
    expect(outcome).toMatchObject({ verdict: 'passed', remoteErrors: lines })
    expect(ports.log.of('warning')).toEqual(
      lines.map((line) => `The service reports an error for the run: ${line}`)
    )
    const read = (name: string): Promise<string> => readFile(join(ports.scratchDir, name), 'utf8')
    expect(JSON.parse(await read('verdict.json'))).toMatchObject({ remote_errors: lines })
    const shown = lines.map((line) => `The service says: ${line}`)
    expect(terminalLines(outcome).warnings).toEqual(shown.map((line) => `Warning: ${line}`))
    expect(ports.summaries[0]).toContain(shown[0])
    expect(await read('report.html')).toContain(shown[0])
  })

  test('is a warning for each error, lost load first, and no more than a step has room for', async () => {
    const trace = ['java.lang.Error: a', ...Array.from({ length: 30 }, () => '\tat a.B.c(B.java:1)')].join(
      '\n'
    )
    service.nextDocument = { remote_errors: [trace, 'b', 'c', 'd', 'e', 'load lost: node 2'] }
    await gate()
    const said = ports.log.of('warning').filter((line) => line.startsWith('The service reports'))
    expect(said).toEqual([
      'The service reports an error for the run: load lost: node 2',
      'The service reports an error for the run: java.lang.Error: a',
      'The service reports an error for the run: b',
      'The service reports an error for the run: c',
      'The service reports 2 more errors for the run; verdict.json lists them all.'
    ])
  })

  test('is bounded everywhere', async () => {
    service.nextDocument = {
      remote_errors: Array.from({ length: 5_000 }, (_, i) => `${i} ${'x'.repeat(2_000)}`)
    }
    const outcome = await gate()
    expect(outcome.remoteErrors).toHaveLength(51)
    expect(JSON.stringify(outcome.remoteErrors).length).toBeLessThan(30_000)
    expect(ports.log.of('warning')).toHaveLength(5)
    expect(Math.max(...ports.log.of('warning').map((line) => line.length))).toBeLessThan(1_000)
    expect(ports.summaries[0]?.length).toBeLessThan(20_000)
  })

  test('of load that was lost is never green', async () => {
    service.nextDocument = { remote_errors: 'load lost: grid g2 was cut off by its stop_after' }
    expect(await gate()).toMatchObject({
      verdict: 'inconclusive',
      reason: 'Part of the load was lost: grid g2 was cut off by its stop_after'
    })
  })
})

describe('the token', () => {
  test.each([20, 21, 22])('of %d characters is in the saved state and nowhere else', async (length) => {
    const token = 'T'.repeat(length)
    service.meet('showRun', faults.dropBefore, faults.answer(500, { error: 'bad token' }))
    await gate({ target: { kind: 'remote', address: readAddress(service.url), token } })
    const files = await Promise.all(
      ['verdict.json', 'report.html'].map((name) => readFile(join(ports.scratchDir, name), 'utf8'))
    )
    const told = [...ports.log.lines, ...ports.outputs.values(), ...ports.summaries, ...files].join('\n')
    expect(told).not.toContain(token)
    expect(told).not.toContain(Buffer.from(`${token}:`).toString('base64'))
    expect(ports.states.every((state) => state.token === token)).toBe(true)
  })
})

describe('a parameter that is marked as secret', () => {
  const SECRET = 'v4luable-thing'

  test('that is refused: the request that was refused first, and the variable that has it', async () => {
    const rows = makeCsv().replaceAll(',200,OK,', ',401,Unauthorized,').replaceAll(',true,', ',false,')
    service.csvs.set('grid1', rows.replace('checkout', 'POST /login'))
    const { warnings } = await gate({ parameterVariables: ['LOADGATE_PARAMETER_PASSWORD'] })
    expect(warnings).toEqual([
      '"POST /login" was refused (401): the requests are not logged in. Check LOADGATE_PARAMETER_PASSWORD.'
    ])
  })

  test('reaches the plan, and nothing that is written, though the service echoes it everywhere', async () => {
    service.summary = `up to 5 users with ${SECRET}`
    service.nextDocument = { remote_errors: `node 2: ${SECRET}`, notes: SECRET }
    const rows = makeCsv().replace(',OK,', `,no ${SECRET},`).replace(',true,', ',false,')
    service.csvs.set('grid1', `${rows}${rows.split('\n')[1]!.replace('checkout', SECRET)}\n`)
    service.meet('report', faults.answer(500, { error: `cannot log in with ${SECRET}` }))
    await gate({ overrideParameters: `-Jfoo=secret:${SECRET}, -Jport=80`, comment: 'off' })
    const fields = new Map(service.runs[0]!.fields)
    expect(fields.get('run[override_parameters]')).toBe(`-Jfoo=${SECRET}, -Jport=80`)
    expect(fields.get('run[secret_parameters]')).toBe('foo')
    expect(ports.masked).toContain(SECRET)
    const names = await readdir(ports.scratchDir, { recursive: true, withFileTypes: true })
    const files = names.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
    expect(files.map((path) => basename(path))).toEqual(
      expect.arrayContaining(['verdict.json', 'report.html'])
    )
    const written = await Promise.all(files.map((path) => readFile(path, 'utf8')))
    const told = [
      ports.log.lines,
      [...ports.outputs.values()],
      ports.summaries,
      ports.states,
      ports.annotations
    ]
    const everything = [...written, JSON.stringify([told, ports.uploads])].join('\n')
    expect(everything).not.toContain(SECRET)
    expect(everything).not.toContain(Buffer.from(SECRET).toString('base64').slice(0, -2))
    expect(everything).toContain('*'.repeat(SECRET.length))
  })

  test('that cannot be redacted is said', async () => {
    await gate({ overrideParameters: '-Jfoo=secret:17' })
    expect(ports.log.of('warning')).toContainEqual(
      expect.stringContaining('the value of foo is marked as secret, but')
    )
    expect(ports.masked).not.toContain('17')
  })
})

describe('a run that was made twice by something in between', () => {
  const twice: Fault = (res, commit) => {
    commit()
    faults.none(res, commit)
  }

  test('the second one is stopped, with a warning; the first one is judged', async () => {
    service.nextStatuses = ['queued', 'running']
    service.addRun({ id: 'theirs', tags: ['loadgate-0'] })
    service.meet('createRun', twice)
    const gating = gate()
    await service.reached('showRun', 3)
    const [judged, twin] = service.runs
    judged!.statuses = ['finished']
    expect(await gating).toMatchObject({
      verdict: 'passed',
      warnings: [
        `The run was created twice (${twin!.id} has the same tag), and both may have generated load for a time, so the load was not the requested one.`
      ]
    })
    expect(ports.outputs.get('run-id')).toBe(judged!.id)
    expect(twin!.statuses).toEqual(['finished'])
    expect(running()).toEqual(['theirs'])
    expect(ports.log.of('warning')).toEqual([
      `Run ${twin!.id} has the same tag as run ${judged!.id}: the run was created twice, and both generated load.`,
      expect.stringMatching(/^The run was created twice/)
    ])
  })

  test('the verdict warns of a second one that has ended too', async () => {
    service.meet('createRun', twice)
    expect(await gate()).toMatchObject({
      verdict: 'passed',
      warnings: [expect.stringContaining(`created twice (${service.runs[1]!.id} has the same tag)`)]
    })
  })

  test('a list that cannot be read leaves the look to post', async () => {
    service.meet('listRuns', ...many(faults.answer(403)))
    expect((await gate()).verdict).toBe('passed')
    expect(ports.states.at(-1)).toMatchObject({ cleanupDue: true })
    expect(ports.log.of('warning')).toEqual([])
    expect(ports.log.of('info')).toContainEqual(
      expect.stringMatching(/The list of runs was not read to its end .*403.* post step looks again/)
    )
  })

  test('the second one is stopped where the list has it on its fourth page', async () => {
    service.nextStatuses = ['queued', 'running']
    service.pageSize = 2
    service.meet('createRun', twice)
    const gating = gate()
    await service.reached('showRun', 3)
    const [judged, twin] = service.runs
    for (let count = 0; count < 6; count++) service.addRun({ tags: [`loadgate-${count}`] })
    judged!.statuses = ['finished']
    expect((await gating).verdict).toBe('passed')
    expect(twin!.statuses).toEqual(['finished'])
    expect(ports.states.at(-1)).toMatchObject({ cleanupDue: false })
  })

  test('a list that fails costs a gate some seconds, not more', async () => {
    await gate()
    const usualMs = ports.clock.elapsedMs
    service.meet('listRuns', ...many(faults.answer(500)))
    expect((await gate()).verdict).toBe('passed')
    expect(ports.clock.elapsedMs - 2 * usualMs).toBeLessThan(6_000)
  })
})

describe('the timeout', () => {
  beforeEach(() => {
    service.nextStatuses = ['queued', 'running']
  })

  test('stops the run, and what it brought so far is collected, uploaded and shown', async () => {
    const outcome = await gate({ timeoutMs: 60_000 })
    expect(outcome).toMatchObject({
      verdict: 'timed-out',
      reason: 'The run did not end within the timeout of 60 s.',
      summary: service.summary
    })
    expect(running()).toEqual([])
    expect(outcome.grids).toMatchObject([{ gridId: 'grid1', problem: undefined }])
    expect(ports.uploads[0]?.files).toHaveLength(3)
    expect(ports.outputs.get('verdict')).toBe('timed-out')
    expect(ports.states.at(-1)).toMatchObject({ cleanupDue: false })
    expect(ports.clock.elapsedMs).toBeLessThan(70_000)
  })

  const TIMED_OUT = 'The run did not end within the timeout of 60 s. The last request to the service failed:'
  const WHAT_TO_DO = 'Run the job again once the service answers.'

  /** An address at which nobody listens any more. */
  async function goneService(): Promise<Extract<Settings['target'], { kind: 'remote' }>> {
    const gone = new GateService()
    const address = readAddress(gone.url)
    gone.close()
    return { kind: 'remote', address, token: TOKEN }
  }

  test('names the last error of a service that refuses every connection', async () => {
    const target = await goneService()
    const outcome = await gate({ timeoutMs: 60_000, ...EXISTING, target })
    expect(outcome).toMatchObject({
      verdict: 'timed-out',
      reason: `${TIMED_OUT} reading run theirs: ${new URL(target.address.origin).host} refused the connection (ECONNREFUSED). Is the service up, and is base-url right? ${WHAT_TO_DO}`
    })
  })

  test('names it too where not even the first request was answered', async () => {
    const outcome = await gate({ timeoutMs: 2_000, target: await goneService() })
    expect(outcome.verdict).toBe('timed-out')
    expect(outcome.reason).toMatch(/creating the run: .* refused the connection \(ECONNREFUSED\)/)
  })

  test.each<[string, Fault, RegExp]>([
    [
      'answers with errors, in its own words',
      faults.answer(503, { error: 'in maintenance until 6.' }),
      /reading run run1: the service answered 503: in maintenance until 6\. Run/
    ],
    [
      'drops every connection',
      faults.dropBefore,
      /reading run run1: the connection to \S+ failed: \w.*\. Run/
    ]
  ])('names the last error of a service that, once the run runs, %s', async (_, fault, words) => {
    service.meet('showRun', faults.none, ...many(fault))
    const { verdict, reason } = await gate({ timeoutMs: 60_000 })
    expect(verdict).toBe('timed-out')
    expect(reason).toContain(TIMED_OUT)
    expect(reason).toMatch(words)
    expect(reason).toContain(WHAT_TO_DO)
  })

  test('does not name an error that the service has recovered from', async () => {
    service.meet('showRun', ...Array.from({ length: 5 }, () => faults.answer(503)))
    const { reason } = await gate({ timeoutMs: 60_000 })
    expect(reason).toBe('The run did not end within the timeout of 60 s.')
  })

  test('a grid without an id costs no time, and the run is stopped once', async () => {
    service.nextDocument = { _embedded: { grids: [{ region: 'us-east-1', status: 'started' }] } }
    expect((await gate({ timeoutMs: 60_000 })).verdict).toBe('timed-out')
    expect(service.count('stopRun')).toBe(1)
    expect(ports.clock.elapsedMs).toBeLessThan(85_000)
  })

  test('a service that makes no sense any more keeps the step for a minute or two, not for more', async () => {
    const nonsense = faults.answer(200, { status: 'finished' })
    service.meet('showRun', ...many(nonsense))
    service.meet('stopRun', ...many(nonsense))
    expect((await gate({ timeoutMs: 60_000 })).verdict).toBe('timed-out')
    expect(ports.states.at(-1)).toMatchObject({ runId: 'run1', cleanupDue: true })
    expect(ports.clock.elapsedMs).toBeLessThan(180_000)
  })

  test.each([404, 409, 422])(
    'a stop that is refused with %d, since the run has just ended: what it brought is collected',
    async (status) => {
      service.meet('stopRun', (res, commit) => {
        commit()
        faults.answer(status)(res, commit)
      })
      const outcome = await gate({ timeoutMs: 60_000 })
      expect(outcome).toMatchObject({ verdict: 'timed-out', summary: service.summary })
      expect(outcome.grids).toMatchObject([{ gridId: 'grid1', problem: undefined }])
      expect(ports.uploads[0]?.files).toHaveLength(3)
      expect(ports.states.at(-1)).toMatchObject({ cleanupDue: false })
    }
  )

  test('while the run is being made: it is found by its marker and stopped', async () => {
    service.meet('createRun', faults.holdAfter)
    const gating = gate({ timeoutMs: 60_000 })
    await service.reached('createRun')
    await ports.clock.advance(60_000)
    expect((await gating).verdict).toBe('timed-out')
    expect(service.count('createRun')).toBe(1)
    expect(running()).toEqual([])
  })

  test('a run that will not stop is left to post, with a warning, after some minutes', async () => {
    service.meet('stopRun', ...many(faults.answer(200, { uuid: 'run1', status: 'running' })))
    expect((await gate({ timeoutMs: 60_000 })).verdict).toBe('timed-out')
    expect(ports.states.at(-1)).toMatchObject({ runId: 'run1', cleanupDue: true })
    expect(ports.log.of('warning').join('\n')).toContain('Run run1 may still be running')
    expect(ports.clock.elapsedMs).toBeLessThan(10 * 60_000)
  })
})

describe('what the service says of the stop', () => {
  const LINE = 'load lost: stopped by a caller after 60 s'

  test("is not told as news where it was the gate's own, at the timeout", async () => {
    service.nextStatuses = ['queued', 'running']
    service.nextDocument = { remote_errors: `${LINE}\nload lost: node 2 was gone` }
    const outcome = await gate({ timeoutMs: 60_000 })
    expect(outcome).toMatchObject({ verdict: 'timed-out', remoteErrors: ['load lost: node 2 was gone'] })
    expect([...ports.log.lines, ...ports.summaries].join('\n')).not.toContain('stopped by a caller')
  })

  test('is told, and decides, where it was somebody else', async () => {
    service.nextDocument = { remote_errors: LINE }
    expect(await gate()).toMatchObject({
      verdict: 'inconclusive',
      reason: 'Part of the load was lost: stopped by a caller after 60 s',
      remoteErrors: [LINE]
    })
  })

  test('is told of a run that was there before, which the timeout does not stop', async () => {
    service.addRun({ id: 'theirs', statuses: ['running'], document: { remote_errors: LINE } })
    const outcome = await gate({ timeoutMs: 60_000, origin: { kind: 'existing', runId: 'theirs' } })
    expect(outcome).toMatchObject({ verdict: 'timed-out', remoteErrors: [LINE] })
  })
})

describe('a cancelled job', () => {
  beforeEach(() => {
    service.nextStatuses = ['queued', 'running']
  })

  test('stops the run at once; the verdict is cancelled, and nothing is uploaded', async () => {
    const gating = gate()
    await service.reached('showRun', 20)
    const beforeMs = ports.clock.elapsedMs
    cancel()
    expect(await gating).toMatchObject({ verdict: 'cancelled', reason: 'cancelled by SIGINT' })
    expect(running()).toEqual([])
    expect(ports.clock.elapsedMs - beforeMs).toBeLessThanOrEqual(5_000)
    expect(ports.uploads).toEqual([])
    expect(ports.outputs.get('verdict')).toBe('cancelled')
    expect(ports.summaries).toHaveLength(1)
    expect(ports.states.at(-1)).toMatchObject({ cleanupDue: false })
  })

  test('within seconds of the creation: post looks once more, for a list that lags may hide a second run', async () => {
    const gating = gate()
    await service.reached('showRun', 2)
    cancel()
    await gating
    expect(running()).toEqual([])
    const state = ports.states.at(-1)!
    expect(state).toMatchObject({ runId: 'run1', cleanupDue: true })
    const late = service.addRun({ tags: [state.marker!], statuses: ['running'] })
    const { log, clock } = ports
    await clock.run(cleanUpStep(state, { log, clock, ...NOTHING_LEFT }))
    expect(late.statuses).toEqual(['finished'])
    expect(clock.elapsedMs).toBeLessThan(15_000)
  })

  test('while the run is being made: found by its marker and stopped', async () => {
    service.meet('createRun', faults.holdAfter)
    const gating = gate()
    await service.reached('createRun')
    cancel()
    expect((await gating).verdict).toBe('cancelled')
    expect(service.count('createRun')).toBe(1)
    expect(running()).toEqual([])
  })

  test('with a list that lags more than there is time: post is left the marker, and the grids are gone', async () => {
    service.meet('createRun', faults.hold)
    service.grids.set('theirs', { id: 'theirs', statuses: ['started'], fields: [], isTerminated: false })
    const gating = gate({ grids: MIXED })
    await service.reached('createRun')
    const beforeMs = ports.clock.elapsedMs
    cancel()
    await gating
    expect(ports.clock.elapsedMs - beforeMs).toBeLessThanOrEqual(5_000)
    expect(ports.states.at(-1)).toMatchObject({
      cleanupDue: true,
      marker: expect.stringMatching(/^loadgate-/)
    })
    expect(service.grids.get('made1')?.isTerminated).toBe(true)
    expect(service.grids.get('theirs')?.isTerminated).toBe(false)
  })

  test('with a stop that does not answer: given up after 5 s, and left to post', async () => {
    service.meet('stopRun', faults.hold)
    const gating = gate()
    await service.reached('showRun', 2)
    cancel()
    await service.reached('stopRun')
    await ports.clock.advance(5_000)
    expect((await gating).verdict).toBe('cancelled')
    expect(ports.states.at(-1)).toMatchObject({ runId: 'run1', cleanupDue: true })
  })

  test('stop-on-cancel: false leaves the run running, and post too', async () => {
    const gating = gate({ stopOnCancel: false, grids: MIXED })
    await service.reached('showRun', 2)
    cancel()
    expect((await gating).verdict).toBe('cancelled')
    expect(running()).toEqual(['run2'])
    expect(service.count('stopRun')).toBe(0)
    expect(service.count('terminateGrid')).toBe(0)
    expect(ports.states.at(-1)).toMatchObject({ cleanupDue: false })
    expect(ports.log.of('info').join('\n')).toContain(
      'stop-on-cancel is false: the run is left running, and its grids end after their stop_after.'
    )
  })

  test('stop-on-cancel: false does not leave grids behind for which no run was asked for yet', async () => {
    service.meet('showGrid', faults.hold)
    const gating = gate({ stopOnCancel: false, grids: MIXED })
    await service.reached('showGrid')
    cancel()
    expect((await gating).verdict).toBe('cancelled')
    expect(service.count('terminateGrid')).toBe(1)
    expect(ports.states.at(-1)).toMatchObject({ cleanupDue: false })
  })

  test('while collecting: the run has ended, and is not stopped', async () => {
    service.nextStatuses = ['finished']
    service.meet('result', faults.hold)
    const gating = gate()
    await service.reached('result')
    cancel()
    expect((await gating).verdict).toBe('cancelled')
    expect(service.count('stopRun')).toBe(0)
    expect(ports.states.at(-1)).toMatchObject({ cleanupDue: false })
  })

  test('before anything was sent: nothing is', async () => {
    cancel()
    expect((await gate()).verdict).toBe('cancelled')
    expect(service.runs).toEqual([])
  })

  test('during the stop that follows a timeout, which stop-on-cancel: false does not concern', async () => {
    service.meet('stopRun', faults.hold)
    const gating = gate({ timeoutMs: 30_000, stopOnCancel: false })
    await service.reached('stopRun')
    expect(ports.states.at(-1)).toMatchObject({ cleanupDue: true, leaveIfKilled: false })
    cancel()
    await gating
    expect(running()).toEqual([])
  })

  test('during the stop that follows a timeout', async () => {
    service.meet('stopRun', faults.hold)
    const gating = gate({ timeoutMs: 30_000 })
    await service.reached('stopRun')
    cancel()
    expect((await gating).verdict).toBe('cancelled')
    expect(running()).toEqual([])
  })
})

describe('wait: false', () => {
  beforeEach(() => {
    service.nextStatuses = ['queued', 'running']
  })

  test('starts the run and leaves it', async () => {
    expect(await gate({ wait: false })).toMatchObject({ verdict: 'detached' })
    expect(service.order()).toEqual(['unknown', 'account', 'createRun'])
    expect(ports.outputs.get('run-id')).toBe('run1')
    expect(ports.outputs.get('verdict')).toBe('detached')
    expect(ports.states.at(-1)).toMatchObject({ cleanupDue: false })
    expect(ports.uploads).toEqual([])
  })

  test('leaves the grids that were made to the run, and says so', async () => {
    await gate({ wait: false, grids: MIXED })
    expect(service.count('terminateGrid')).toBe(0)
    expect(ports.log.of('info')).toContain(
      'The grids made1 keep running with the run; their stop_after ends them.'
    )
  })
})

describe('an existing run', () => {
  test('is waited for and judged', async () => {
    service.addRun({ id: 'theirs', statuses: ['running', 'running', 'finished'] })
    expect((await gate(EXISTING)).verdict).toBe('passed')
    expect(ports.outputs.get('run-id')).toBe('theirs')
    expect(service.count('createRun')).toBe(0)
  })

  test('one that has ended is judged at once, whatever its duration', async () => {
    service.csvs.set('grid1', makeCsv(600))
    service.addRun({ id: 'theirs', statuses: ['finished'], document: { duration: 600 } })
    expect((await gate(EXISTING)).verdict).toBe('passed')
    expect(ports.clock.elapsedMs).toBe(0)
  })

  test.each<[string, () => void, string]>([
    ['on timeout', () => void ports.clock.advance(7_200_000), 'timed-out'],
    ['on cancel', cancel, 'cancelled']
  ])('is never stopped, %s', async (_, failure, verdict) => {
    service.addRun({ id: 'theirs', statuses: ['running'] })
    service.meet('showRun', faults.none, faults.none, faults.hold)
    const gating = gate(EXISTING)
    await service.reached('showRun', 3)
    failure()
    expect((await gating).verdict).toBe(verdict)
    expect(service.count('stopRun')).toBe(0)
    expect(ports.states.every(({ cleanupDue }) => !cleanupDue)).toBe(true)
  })

  test('is never stopped, on an error', async () => {
    service.addRun({ id: 'theirs', statuses: ['running'] })
    service.meet('showRun', faults.none, faults.none, faults.answer(401))
    expect((await gate(EXISTING)).verdict).toBe('error')
    expect(service.count('stopRun')).toBe(0)
  })

  test('a service that is away for a minute before the first look does not fail the gate', async () => {
    service.addRun({ id: 'theirs', statuses: ['finished'] })
    const page = faults.answer(200, '<html><title>Down</title></html>')
    service.meet('showRun', ...Array.from({ length: 9 }, () => page))
    expect((await gate(EXISTING)).verdict).toBe('passed')
  })

  test('another one in its place is never judged', async () => {
    service.addRun({ id: 'theirs', statuses: ['finished'] })
    service.meet('showRun', faults.answer(200, { uuid: 'other', status: 'finished', apdex: '1.0 [500]' }))
    expect(await gate(EXISTING)).toMatchObject({
      verdict: 'passed',
      run: { id: 'theirs' },
      apdex: { score: 0.93 }
    })
  })

  test('one that is not there is an error', async () => {
    expect(await gate(EXISTING)).toMatchObject({ verdict: 'error', reason: expect.stringContaining('404') })
  })
})

describe('a repeat', () => {
  test('is watched and judged like any run', async () => {
    service.addRun({ id: 'before', statuses: ['finished'] })
    expect((await gate({ origin: { kind: 'repeat', runId: 'before' } })).verdict).toBe('passed')
    expect(service.count('repeatRun')).toBe(1)
    expect(service.count('createRun')).toBe(0)
  })

  test('is stopped on cancel', async () => {
    service.addRun({ id: 'before', statuses: ['finished'] })
    service.nextStatuses = ['running']
    const gating = gate({ origin: { kind: 'repeat', runId: 'before' } })
    await service.reached('showRun', 2)
    cancel()
    await gating
    expect(running()).toEqual([])
  })
})

describe('mixed grids', () => {
  test.each<[string, Changes, () => void, string]>([
    ['a run that passes', {}, () => undefined, 'passed'],
    ['a run that fails', { thresholdLines: 'apdex > 0.99' }, () => undefined, 'failed'],
    ['a timeout', { timeoutMs: 60_000 }, () => (service.nextStatuses = ['running']), 'timed-out'],
    ['a run that is refused', {}, () => service.meet('createRun', faults.answer(422)), 'error'],
    [
      'a grid that is refused',
      { grids: [...MIXED, makeSpecification()] },
      () => service.meet('createGrid', faults.none, faults.answer(422)),
      'error'
    ],
    ['a grid that ends too soon', {}, () => (service.nextGridStatuses = ['stopped']), 'error']
  ])('those that were made are terminated after %s; theirs are not', async (_, changes, arrange, verdict) => {
    service.grids.set('theirs', { id: 'theirs', statuses: ['started'], fields: [], isTerminated: false })
    arrange()
    expect((await gate({ grids: MIXED, ...changes })).verdict).toBe(verdict)
    expect(service.grids.get('made1')?.isTerminated).toBe(true)
    expect(service.grids.get('theirs')?.isTerminated).toBe(false)
    expect(ports.states.at(-1)).toMatchObject({
      madeGrids: expect.arrayContaining(['made1']),
      cleanupDue: false
    })
  })

  test('the run refers to all of them', async () => {
    await gate({ grids: MIXED })
    const created = service.seen.find(({ operation }) => operation === 'createRun')
    expect(created?.fields.filter(([name]) => name.includes('[grids]'))).toEqual([
      ['run[grids][][uuid]', 'made1'],
      ['run[grids][][uuid]', 'theirs']
    ])
  })
})

describe('grids that the service makes for the run', () => {
  beforeEach(() => {
    service.grids.set('grid1', { id: 'grid1', statuses: ['started'], fields: [], isTerminated: false })
    service.ownGrids = [{ id: 'grid1', region: 'us-east-1', batchId: 'b1' }]
    service.nextDocument = { batch_id: 'b1' }
  })

  test.each<[string, Changes, () => void, string]>([
    ['a run that passes', {}, () => undefined, 'passed'],
    ['a repeated run', { origin: { kind: 'repeat', runId: 'before' } }, () => undefined, 'passed'],
    ['a run that fails', { thresholdLines: 'apdex > 0.99' }, () => undefined, 'failed'],
    ['a timeout', { timeoutMs: 60_000 }, () => (service.nextStatuses = ['running']), 'timed-out']
  ])(
    'are terminated after %s, and the results are read before that',
    async (_, changes, arrange, verdict) => {
      service.addRun({ id: 'before', statuses: ['finished'], document: { _embedded: {} } })
      arrange()
      expect((await gate(changes)).verdict).toBe(verdict)
      expect(service.grids.get('grid1')?.isTerminated).toBe(true)
      expect(service.order().lastIndexOf('result')).toBeLessThan(service.order().indexOf('terminateGrid'))
      expect(ports.states.at(-1)).toMatchObject({ cleanupDue: false })
    }
  )

  test.each<[string, Changes]>([
    ['that the step named', { grids: [{ id: 'grid1' }] }],
    ['that the repeated run used', { origin: { kind: 'repeat', runId: 'before' } }]
  ])('are not those %s, whatever batch the service reports', async (_, changes) => {
    service.addRun({ id: 'before', statuses: ['finished'] })
    const grids = [{ uuid: 'grid1', region: 'us-east-1', status: 'started', batch_id: 'b1' }]
    const results = [{ name: 'x', region: 'us-east-1', href: '/api/runs/run1/result.csv?grid_id=grid1' }]
    service.nextDocument = { batch_id: 'b1', _embedded: { grids, results } }
    expect((await gate(changes)).verdict).not.toBe('error')
    expect(service.count('terminateGrid')).toBe(0)
  })

  test('are left to whoever started it, where a run is only judged', async () => {
    service.addRun({ id: 'before', statuses: ['finished'], document: { batch_id: 'b1' } })
    expect((await gate({ origin: { kind: 'existing', runId: 'before' } })).verdict).toBe('passed')
    expect(service.count('terminateGrid')).toBe(0)
  })

  test('that cannot be terminated are named, and the post step looks again', async () => {
    service.meet('terminateGrid', ...Array.from({ length: 50 }, () => faults.answer(403)))
    expect((await gate()).verdict).toBe('passed')
    expect(ports.log.of('warning')).toContainEqual(
      expect.stringMatching(/^Grid grid1 may still be running: /)
    )
    expect(ports.states.at(-1)).toMatchObject({ cleanupDue: true })
  })
})

describe('errors', () => {
  test.each<[string, Fault, RegExp]>([
    ['a wrong token', faults.answer(401), /^creating the run: the service answered 401: .*Check the token/],
    ['a refused body', faults.answer(422, { errors: ['tool is odd'] }), /422: tool is odd/],
    ['a lost reply', faults.dropBefore, /One may still be running: check the service/],
    ['an HTML page', faults.answer(503, '<html><title>Down</title></html>'), /an HTML page titled "Down"/]
  ])('%s: one clear message, and the evidence so far', async (_, fault, reason) => {
    service.meet('createRun', fault)
    const outcome = await gate()
    expect(outcome.verdict).toBe('error')
    expect(outcome.reason).toMatch(reason)
    expect(ports.outputs.get('verdict')).toBe('error')
    // There was no run, so there is nothing to keep that the summary does not say.
    expect(ports.uploads).toEqual([])
    expect(ports.summaries).toHaveLength(1)
    expect(service.runs).toEqual([])
  })

  test('a lost reply and a list that lags too long: the run is found by post, from the saved state', async () => {
    service.nextStatuses = ['running']
    let lost = (): void => undefined
    service.meet('createRun', (res, commit) => {
      lost = () => void commit()
      res.destroy()
    })
    expect((await gate()).reason).toMatch(/One may still be running: check the service/)
    const state = ports.states.at(-1)!
    expect(state).toMatchObject({ cleanupDue: true, marker: expect.stringMatching(/^loadgate-/) })
    lost()
    const { log, clock } = ports
    await clock.run(cleanUpStep(state, { log, clock, ...NOTHING_LEFT }))
    expect(service.runs).toHaveLength(1)
    expect(running()).toEqual([])
  })

  test('a single 404 in the middle of the watch does not end the gate, nor the run', async () => {
    service.nextStatuses = ['queued', 'running', 'running', 'finished']
    service.meet('showRun', faults.none, faults.none, faults.answer(404))
    expect((await gate()).verdict).toBe('passed')
    expect(service.count('stopRun')).toBe(0)
  })

  test('a run that was deleted in the middle of the watch is an error, after a minute', async () => {
    service.nextStatuses = ['running']
    service.meet('showRun', faults.none, faults.none, (res, commit) => {
      service.runs.length = 0
      faults.none(res, commit)
    })
    expect(await gate()).toMatchObject({ verdict: 'error', reason: expect.stringContaining('404') })
    expect(ports.clock.elapsedMs).toBeGreaterThan(60_000)
    expect(ports.clock.elapsedMs).toBeLessThan(150_000)
  })

  test('401 in the middle of the watch: the run is stopped', async () => {
    service.nextStatuses = ['running']
    service.meet('showRun', ...Array.from({ length: 20 }, () => faults.none), faults.answer(401))
    expect((await gate()).verdict).toBe('error')
    expect(running()).toEqual([])
    expect(ports.uploads).toHaveLength(1)
    expect(ports.states.at(-1)).toMatchObject({ cleanupDue: false })
  })

  test('a service that stays away: what may still run is left to post', async () => {
    service.nextStatuses = ['running']
    service.meet('showRun', faults.none, ...many(faults.answer(503)))
    service.meet('stopRun', ...many(faults.answer(503)))
    expect((await gate()).verdict).toBe('error')
    expect(ports.states.at(-1)).toMatchObject({ runId: 'run1', cleanupDue: true })
  })
})

describe('a state that cannot be saved', () => {
  /** Saves this many times, then never again. */
  function fillDiskAfter(saves: number): void {
    const { states } = ports
    let left = saves
    Object.assign(ports, {
      saveState: (state: StepState) => {
        if (left-- <= 0) throw new Error('ENOSPC: no space left on device, write')
        states.push(state)
      }
    })
  }

  test.each([
    ['at the start', 0, []],
    ['when the API was found', 1, ['unknown', 'account']],
    ['when the run is about to be created', 2, ['unknown', 'account']]
  ])('%s: nothing is created, since post could not stop it', async (_name, saves, requests) => {
    fillDiskAfter(saves)
    const { verdict, reason } = await gate()
    expect([verdict, service.order()]).toEqual(['error', requests])
    expect(reason).toMatch(/^(creating the run: )?The state of the step could not be saved: ENOSPC: /)
  })

  test('after the run was created: a warning, and the run is judged', async () => {
    fillDiskAfter(3)
    expect((await gate()).verdict).toBe('passed')
    expect(service.runs).toHaveLength(1)
    expect(ports.log.of('warning')).toContainEqual(
      expect.stringMatching(
        /^The state of the step could not be saved: ENOSPC: .* If this step is killed now/
      )
    )
    // Enough for post to find it.
    expect(ports.states.at(-1)).toMatchObject({ marker: expect.any(String), cleanupDue: true })
  })

  test('when a run is to be left running: it is stopped, since post would stop it unsaid', async () => {
    service.nextStatuses = ['running']
    fillDiskAfter(4)
    expect((await gate({ wait: false })).verdict).toBe('error')
    expect(running()).toEqual([])
  })

  test('when a grid is about to be asked for: it is not', async () => {
    fillDiskAfter(1)
    expect((await gate({ grids: MIXED })).verdict).toBe('error')
    expect(service.order()).toEqual(['unknown', 'account'])
  })

  test('when a grid was made: it is terminated all the same', async () => {
    service.grids.set('theirs', { id: 'theirs', statuses: ['started'], fields: [], isTerminated: false })
    fillDiskAfter(3)
    expect((await gate({ grids: MIXED })).verdict).toBe('error')
    expect(service.runs).toEqual([])
    expect([...service.grids.values()].map(({ id, isTerminated }) => [id, isTerminated])).toEqual([
      ['theirs', false],
      ['made1', true]
    ])
  })
})

describe('the embedded service', () => {
  let closed: number
  let request: LocalServiceRequest | undefined

  beforeEach(() => {
    closed = 0
    Object.assign(ports, {
      startLocalService: async (asked: LocalServiceRequest) => {
        request = asked
        asked.onProcessGroup({ pid: 7, startTime: '1' })
        return {
          url: service.url,
          token: 'local-token',
          close: async () => {
            closed++
          }
        }
      }
    })
  })

  test('is started, used, and closed; its token is masked and its page is no link', async () => {
    expect((await gate({ target: { kind: 'local' }, serviceName: undefined })).verdict).toBe('passed')
    expect(closed).toBe(1)
    expect(request).toBeDefined()
    expect(ports.masked[0]).toBe('local-token')
    expect(ports.outputs.get('run-url')).toBe('')
    expect(ports.outputs.get('run-id')).toBe('run1')
  })

  test.each([
    { status: 'finished', thresholdLines: 'apdex >= 0.85', verdict: 'passed', kept: [] },
    { status: 'finished', thresholdLines: 'apdex >= 0.95', verdict: 'failed', kept: [] },
    { status: 'problem', thresholdLines: 'apdex >= 0.85', verdict: 'inconclusive', kept: ['run1'] }
  ])(
    "the tool's logs of a run that is $status and $verdict",
    async ({ status, thresholdLines, verdict, kept }) => {
      const events: string[] = []
      const log = join(ports.scratchDir, 'logs', 'node.log')
      const local = {
        url: service.url,
        token: 'local-token',
        keepLogs: async ({ runId }: { runId: string }) => {
          events.push(runId)
          return [log]
        },
        close: async () => void events.push('closed')
      }
      Object.assign(ports, { startLocalService: async () => local })
      service.nextStatuses = [status]
      expect((await gate({ target: { kind: 'local' }, thresholdLines })).verdict).toBe(verdict)
      expect(events).toEqual([...kept, 'closed'])
      expect(ports.uploads[0]?.files.filter((path) => path === log)).toEqual(kept.map(() => log))
    }
  )

  test('its process groups are in the saved state, its address and token are not', async () => {
    await gate({ target: { kind: 'local' } })
    expect(ports.states.at(-1)).toMatchObject({
      address: '',
      token: '',
      processGroups: [{ pid: 7, startTime: '1' }]
    })
  })

  test('one that does not start is an error that is published', async () => {
    Object.assign(ports, { startLocalService: () => Promise.reject(new Error('no java')) })
    expect(await gate({ target: { kind: 'local' } })).toMatchObject({ verdict: 'error', reason: 'no java' })
    expect(ports.outputs.get('verdict')).toBe('error')
  })

  test('a run of it that will not stop is ended by closing it: nobody is told to stop it', async () => {
    service.meet('stopRun', ...many(faults.answer(200, { uuid: 'run1', status: 'running' })))
    service.nextStatuses = ['running']
    const changes = { target: { kind: 'local' }, timeoutMs: 60_000 } as const
    expect((await gate(changes)).verdict).toBe('timed-out')
    expect(closed).toBe(1)
    expect(ports.log.of('warning').join('\n')).not.toContain('may still be running')
  })

  test('one that cannot be closed costs a warning, not the verdict', async () => {
    const close = (): Promise<void> => Promise.reject(new Error('stuck'))
    Object.assign(ports, { startLocalService: async () => ({ url: service.url, token: 't', close }) })
    expect((await gate({ target: { kind: 'local' } })).verdict).toBe('passed')
    expect(ports.outputs.get('verdict')).toBe('passed')
    expect(ports.log.of('warning')).toEqual([expect.stringContaining('stuck')])
  })

  describe('with regions', () => {
    const { regions } = parseRegions({ eu: { kubernetes: {} } })
    const EU = { kubeconfig: '/home/runner/.kube/config', context: 'load-eu', namespace: 'load' }
    const settings = { target: { kind: 'local' }, regions } as const
    const start = (startLocalService: Ports['startLocalService']): void => {
      Object.assign(ports, { startLocalService })
    }

    const rejectOnAbort = (signal: AbortSignal): Promise<never> =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))

    test('the clusters are saved before anything is created on them, and the marker is random', async () => {
      const markers: (string | undefined)[] = []
      start(async (asked) => {
        expect(asked.regions?.places).toBe(regions)
        markers.push(asked.regions?.marker)
        asked.regions?.onClusters([EU])
        expect(ports.states.at(-1)?.clusters).toEqual({ marker: markers.at(-1), addresses: [EU] })
        return { url: service.url, token: 't', close: async () => void (closed += 1) }
      })
      await gate(settings)
      await gate(settings)
      expect(closed).toBe(2)
      expect(new Set(markers).size).toBe(2)
      expect(markers).toEqual([expect.stringMatching(/^[0-9a-f]{24}$/), expect.any(String)])
      expect(ports.states.at(-1)?.clusters).toMatchObject({ addresses: [EU], isClosed: true })
    })

    test('what could not be closed is left to the post step', async () => {
      const close = (): Promise<void> => Promise.reject(new Error('stuck'))
      start(async (asked) => {
        asked.regions?.onClusters([EU])
        return { url: service.url, token: 't', close }
      })
      await gate(settings)
      expect(ports.states.at(-1)?.clusters).toEqual({ marker: expect.any(String), addresses: [EU] })
    })

    test('a service that does not start has created nothing, and its words are the verdict', async () => {
      start(async (asked) => {
        asked.regions?.onClusters([EU])
        throw new Error('namespace load of the cluster load-eu: may not create jobs')
      })
      expect(await gate(settings)).toMatchObject({
        verdict: 'error',
        reason: 'namespace load of the cluster load-eu: may not create jobs'
      })
      expect(ports.states.at(-1)?.clusters).toBeUndefined()
    })

    test('a signal while the clusters are checked ends that, as cancelled', async () => {
      start(({ regions }) => {
        setImmediate(cancel)
        return rejectOnAbort(regions!.signal)
      })
      expect(await gate(settings)).toMatchObject({ verdict: 'cancelled' })
    })

    test('the timeout counts while the clusters are checked', async () => {
      start(({ regions }) => rejectOnAbort(regions!.signal))
      expect(await gate({ ...settings, timeoutMs: 60_000 })).toMatchObject({
        verdict: 'timed-out',
        reason: expect.stringContaining('could not be checked within the timeout of 60 s.')
      })
    })

    test('pods that could not be deleted are a warning, and left to the post step', async () => {
      start(async ({ regions }) => {
        regions?.onClusters([EU])
        const close = async (): Promise<void> => regions?.onLeft('the pods could not be deleted: 403')
        return { url: service.url, token: 't', close }
      })
      await gate(settings)
      expect(ports.log.of('warning')).toContain('the pods could not be deleted: 403')
      expect(ports.states.at(-1)?.clusters).toEqual({
        marker: expect.any(String),
        addresses: [EU],
        hasLeft: true
      })
    })

    test('a service that never closes does not keep the verdict, and its pods are left to the post step', async () => {
      start(async ({ regions }) => {
        regions?.onClusters([EU])
        return { url: service.url, token: 't', close: () => new Promise(() => undefined) }
      })
      expect(await gate(settings)).toMatchObject({ verdict: 'passed' })
      expect(ports.log.of('warning')).toContainEqual(
        expect.stringMatching(
          /did not shut down cleanly: it is not done after 150 s\. Pods .*: kubectl delete job -n load --context load-eu -l loadgate\.dev\/marker=\w+$/
        )
      )
      expect(ports.states.at(-1)?.clusters?.isClosed).toBeUndefined()
    })

    test('nothing is created where the clusters cannot be saved', async () => {
      let isCreated = false
      start(async (asked) => {
        const saveState = (): never => {
          throw new Error('disk full')
        }
        Object.assign(ports, { saveState })
        asked.regions?.onClusters([EU])
        isCreated = true
        return { url: service.url, token: 't', close: async () => undefined }
      })
      expect(await gate(settings)).toMatchObject({
        verdict: 'error',
        reason: expect.stringContaining('could not be saved: disk full')
      })
      expect(isCreated).toBe(false)
    })
  })

  test('is closed after a cancel too', async () => {
    service.nextStatuses = ['running']
    const gating = gate({ target: { kind: 'local' } })
    await service.reached('showRun', 2)
    cancel()
    await gating
    expect(closed).toBe(1)
  })
})

test('inputs without an effect are one warning in the log, and a note in the summary', async () => {
  await gate({ ...EXISTING, unused: ['grids', 'threads'] })
  const warnings = ports.log.of('warning').filter((line) => line.includes('threads'))
  expect(warnings).toEqual([
    'Ignored inputs: grids, threads (run-id judges an existing run as it is). Remove them from this step.'
  ])
  expect(ports.summaries.join()).toContain(
    '> Ignored inputs: grids, threads (run-id judges an existing run as it is).'
  )
})
