import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describeDifference } from '../../src/analysis/baseline/document/fingerprint.js'
import type { Outcome } from '../../src/analysis/outcome.js'
import { readAddress } from '../../src/client/http/address.js'
// Loaded beforehand: the manual clock does not see that a module is being loaded.
import '../../src/gate/after-run.js'
import { fingerprintOf } from '../../src/gate/baseline/run-fingerprint.js'
import { LiveGrid } from '../../src/gate/live/live-grid.js'
import { gatherEvidence } from '../../src/gate/live/live-evidence.js'
import { asideGroupsOf, checkBeforeRun } from '../../src/gate/preflight.js'
import { runGate } from '../../src/gate/run-gate.js'
import type { Settings } from '../../src/gate/settings/settings.js'
import type { RunRecord } from '../../src/contract/records.js'
import { asideGroupsOf as groupsInService } from '../../src/service/runs/aside-groups.js'
import type { Store } from '../../src/service/store/store.js'
import { makePorts, makeSettings, makeSpecification, TOKEN } from '../support/gate/gate-ports.js'
import { CSV_HEADER, GateService } from '../support/gate/gate-service.js'
import { QUIET_PLAN } from '../support/quiet-plan.js'

const START_MS = 1_760_000_000_000
const row = (second: number, label: string, thread: string, isOk = true): string =>
  `${START_MS + second * 1000},100,${label},${isOk ? 200 : 503},${isOk ? 'OK' : 'Busy'},${thread},${isOk},512,5`
const LOAD = Array.from({ length: 20 }, (_, i) => row(5 + i, 'checkout', 'users 1-1'))
/** A service that lets nodes share the load, with JMeter's prefix. */
const CSV = [
  CSV_HEADER,
  row(0, 'login', '10.1.2.3:1099-prepare 1-1', false),
  ...LOAD,
  row(26, 'logout', 'tidy 1-1'),
  ''
]

const groups = (...each: (readonly [kind: string, name: string])[]): string =>
  each.map(([kind, name]) => `<${kind} testname="${name}" enabled="true"></${kind}><hashTree/>`).join('')
const WITH_GROUPS = QUIET_PLAN.replace(
  '<hashTree>',
  () => `<hashTree>${groups(['SetupThreadGroup', 'prepare'], ['PostThreadGroup', 'tidy'])}`
)

let service: GateService
let folder: string
let plan: string

beforeEach(async () => {
  service = new GateService()
  service.csvs.set('grid1', CSV.join('\n'))
  folder = await mkdtemp(join(tmpdir(), 'setup-groups-'))
  plan = join(folder, 'plan.jmx')
  await writeFile(plan, WITH_GROUPS)
})
afterEach(async () => {
  service.close()
  await rm(folder, { recursive: true })
})

function settingsFor(changes: Partial<Settings> = {}): Settings {
  return makeSettings({
    target: { kind: 'remote', address: readAddress(service.url), token: TOKEN },
    origin: { kind: 'files', paths: [plan], grids: [makeSpecification()] },
    thresholdLines: 'error_rate < 1%',
    ...changes
  })
}

async function gate(changes: Partial<Settings> = {}): Promise<Outcome> {
  const ports = await makePorts()
  return ports.clock.run(runGate(ports, settingsFor(changes)))
}

async function inService(...others: readonly string[]): Promise<readonly string[]> {
  const run = {
    ...{ id: 'run1', files: ['plan.jmx', ...others].map((name) => ({ name })) },
    request: { tool: 'jmeter', properties: [], threads: null, rampupSec: null, durationSec: null }
  }
  const store = {
    folder: { uploadDir: () => folder, uploadedFile: (_: string, name: string) => join(folder, name) }
  }
  return groupsInService(run as unknown as RunRecord, store as unknown as Store)
}

describe('the rows of setUp and tearDown groups, from any service', () => {
  test('count for their labels only, where the gate knows the plan', async () => {
    const outcome = await gate()
    expect(outcome).toMatchObject({ verdict: 'passed' })
    expect(outcome.measurements!.figures({})).toMatchObject({ samples: 20, failures: 0 })
    expect(outcome.measurements!.figures({ label: 'login' })).toMatchObject({ samples: 1, failures: 1 })
    expect(outcome.measurements!.startMs).toBe(START_MS + 5_000)
    expect(outcome.warnings).toContainEqual(
      '2 samples of setUp and tearDown thread groups count for their labels only, not overall. 1 of them failed: "login" (503 Busy).'
    )
    expect(outcome.measurements!.sources[0]!.aside_groups).toEqual(['prepare', 'tidy'])
  })

  test('a warm-up begins after them', async () => {
    const { warmUp } = await gate({ warmUpMs: 5_000 })
    expect(warmUp).toMatchObject({ startMs: START_MS + 5_000, samples: 5, failures: 0 })
  })

  test('count overall in a run of which nobody knows the plan', async () => {
    await gate()
    const outcome = await gate({ origin: { kind: 'repeat', runId: service.runs[0]!.id } })
    expect(outcome).toMatchObject({ verdict: 'failed' })
    expect(outcome.measurements!.figures({})).toMatchObject({ samples: 22, failures: 1 })
    expect(outcome.notes.join(' ')).not.toContain('setUp')
  })

  test.each([
    ['repeat', ['prepare', 'tidy'], 20],
    ['existing', ['prepare', 'tidy'], 20],
    ['existing', [], 22]
  ] as const)('count as the service says, if it does (%s, %j)', async (kind, groups, samples) => {
    service.nextDocument = { aside_groups: groups }
    await gate()
    const outcome = await gate({ origin: { kind, runId: service.runs[0]!.id } })
    expect(outcome.measurements!.figures({})!.samples).toBe(samples)
  })

  test('count overall where the plan is too large to be looked at, with a warning', async () => {
    await writeFile(plan, `${WITH_GROUPS}<!--${'x'.repeat(4 << 20)}-->`)
    expect((await gate()).measurements!.figures({})!.samples).toBe(22)
    const { findings } = await checkBeforeRun(settingsFor(), {})
    expect(findings).toContainEqual({
      level: 'warning',
      message:
        'plan.jmx is too large to be checked (4 MB). So the samples of its setUp and tearDown groups count in the overall figures.'
    })
    expect(await inService()).toEqual([])
  })

  test('a run with nothing else is inconclusive', async () => {
    service.csvs.set(
      'grid1',
      [CSV[0], CSV[1]!.replace('503,Busy', '200,OK').replace('false', 'true'), ''].join('\n')
    )
    const outcome = await gate()
    expect(outcome.verdict).toBe('inconclusive')
    expect(outcome.reason).toContain('All samples of grid grid1 are of setUp and tearDown thread groups')
  })
})

test('runs that were recorded with them in the overall figures are not comparable', async () => {
  const machine = { system: 'linux x64', cpu: 'A CPU', cores: 4 }
  const print = async () => fingerprintOf(settingsFor(), machine, await asideGroupsOf(settingsFor()))
  const now = await print()
  const { 'setUp and tearDown samples': counted, ...before } = now
  expect(counted).toBe('count for their labels only')
  expect(describeDifference(before, now)).toBe(
    'setUp and tearDown samples: count for their labels only, was not set'
  )
  await writeFile(plan, QUIET_PLAN)
  expect(await print()).not.toHaveProperty('setUp and tearDown samples')
})

test('a name from user.properties is read as JMeter reads it, in the gate and in the service', async () => {
  const properties = join(folder, 'user.properties')
  await writeFile(plan, WITH_GROUPS.replace('"tidy"', '"${__P(last,tidy)}"'))
  await writeFile(properties, Buffer.from('last = caf\xe9 \x80 \\u20ac\n', 'latin1'))
  const names = ['prepare', 'café \x80 €']
  const origin = { kind: 'files' as const, paths: [plan, properties], grids: [] }
  expect(await asideGroupsOf(settingsFor({ origin }))).toEqual(names)
  expect(await inService('user.properties')).toEqual(names)
})

test('a service does not show a secret that is part of a name', async () => {
  await writeFile(plan, WITH_GROUPS.replace('"tidy"', '"for ${__P(password)}"'))
  await writeFile(join(folder, 'user.properties'), 'password = hunter2hunter2\n')
  expect(await inService('user.properties')).toEqual(['prepare'])
})

test('a check warns of groups that cannot be told from the load', async () => {
  await writeFile(plan, WITH_GROUPS.replace('"tidy"', '"${__threadNum}"'))
  const { findings } = await checkBeforeRun(settingsFor(), {})
  expect(findings.map(({ message }) => message)).toContain(
    'The samples of the tearDown thread group "${__threadNum}" count in the overall figures: its name is only known during the run; give it a fixed one.'
  )
})

describe('while the run goes on', () => {
  test('nothing is judged before the load begins, and the warm-up begins with it', () => {
    const warmUp = { ms: 5_000, firstMs: Infinity }
    const grid = new LiveGrid({ grid: 'g', region: 'r', asideGroups: ['prepare', 'tidy'] }, warmUp)
    const times = { durationMs: 20_000, settledAfterMs: 0, warmUpMs: 5_000 }
    grid.take(Buffer.from(`${CSV.slice(0, 2).join('\n')}\n`))
    expect(gatherEvidence([grid], times)).toBeUndefined()
    grid.take(Buffer.from(CSV.slice(2).join('\n')))
    expect(warmUp.firstMs).toBe(START_MS + 5_000)
    const { whole, total } = gatherEvidence([grid], times)!
    expect(whole.figures({})).toMatchObject({ samples: 20, failures: 0 })
    expect(total.figures({})).toMatchObject({ samples: 15, failures: 0 })
  })
})
