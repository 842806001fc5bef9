import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { writeFileSync } from 'node:fs'
import { runGate } from '../../../src/gate/run-gate.js'
import '../../../src/gate/after-run.js'
import type { Settings } from '../../../src/gate/settings/settings.js'
import type { Outcome } from '../../../src/analysis/outcome.js'
import { judgeRun } from '../../../src/service/judging/judge-run.js'
import { Store } from '../../../src/service/store/store.js'
import type { RunRecord } from '../../../src/contract/records.js'
import { readAddress } from '../../../src/client/http/address.js'
import { createFolders, createServices, finishRun, get, runForm, send } from '../../service/support.js'
import { makePorts, makeSettings, type TestPorts } from '../../support/gate/gate-ports.js'
import { closedLoop, type ClosedLoop } from '../../support/stalls/closed-loop.js'
import { writeRows, type SentSample } from '../../support/stalls/write-rows.js'

const services = createServices()
const folders = createFolders()
let service: Awaited<ReturnType<typeof services.start>>
let store: Store
let run: RunRecord
let ports: TestPorts

beforeAll(async () => {
  const dataDir = folders.create()
  store = new Store(dataDir)
  service = await services.start({ dataDir, store })
  const { json } = await finishRun(service, runForm({ threads: '12', duration: '25' }))
  run = store.run(json.uuid)!
  Object.assign(run, { samples: null, nodes: undefined })
})
afterAll(async () => {
  await services.closeAll()
  folders.remove()
})

/** The same run with these samples. */
function write(samples: readonly SentSample[], users = 12): void {
  writeFileSync(store.folder.resultFile(run.id, store.gridsOf(run)[0]!.id), writeRows(samples, users))
}

const load = (changes: ClosedLoop = {}): SentSample[] => closedLoop({ startMs: run.startedMs!, ...changes })
const STILL = { stalls: [[8000, 5000]] } as const

async function gate(thresholdLines: string, changes: Partial<Settings> = {}): Promise<Outcome> {
  ports = await makePorts()
  const settings = makeSettings({
    target: { kind: 'remote', address: readAddress(service.url), token: service.token },
    origin: { kind: 'existing', runId: run.id },
    thresholdLines,
    ...changes
  })
  return ports.clock.run(runGate(ports, settings))
}

const SENTENCE =
  'p95 is 150 ms for the requests that were sent, but at least 3.7 s over time: at 0:08 nothing was answered for 5 s while 12 users waited; must be < 1 s'

describe('a server that stood still for 5 of 25 s', () => {
  beforeAll(() => write(load(STILL)))

  test('fails the gate, which says why', async () => {
    const outcome = await gate('p95 < 1s\nerror_rate < 1%')
    expect([outcome.verdict, outcome.reason]).toEqual(['failed', `1 threshold is broken: ${SENTENCE}`])
    expect(outcome.warnings).toEqual([])
  })

  test('passes with on-stall: warn, with a warning', async () => {
    const outcome = await gate('p95 < 1s', { onStall: 'warn' })
    expect([outcome.verdict, outcome.reason]).toEqual(['passed', 'The threshold holds.'])
    expect(outcome.warnings).toEqual([`${SENTENCE}.`])
  })

  test('passes with on-stall: ignore', async () => {
    const outcome = await gate('p95 < 1s', { onStall: 'ignore' })
    expect([outcome.verdict, outcome.warnings, outcome.notes]).toEqual(['passed', [], []])
  })

  test('fails a line on a label, and one that names baseline has the label followed too', async () => {
    expect((await gate('p95{label="home"} < 1s')).verdict).toBe('failed')
    const { measurements } = await gate('p95{label="ho*"} <= baseline + 10%')
    expect(measurements?.figures({ label: 'home' })?.overTime()).toMatchObject({ isFew: false })
  })

  test('does not after the warm-up that it was in, and does in part where it began in it', async () => {
    expect((await gate('p95 < 1s', { warmUpMs: 14_000 })).verdict).toBe('passed')
    const cut = await gate('p95 < 1s', { warmUpMs: 10_000 })
    expect([cut.verdict, cut.reason]).toEqual([
      'failed',
      expect.stringMatching(
        /over time: at 0:10 nothing was answered for 2\.9 s while 12 users waited; must be < 1 s$/
      )
    ])
  })

  test.each([
    ['fail', 'failed'],
    ['warn', 'passed'],
    ['ignore', 'passed']
  ])('and its page says the same with on_stall: %s', async (on_stall, verdict) => {
    const reply = await send(service, 'PUT', `/runs/${run.id}/thresholds`, {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ thresholds: 'p95{label="*"} < 1s', on_stall })
    })
    expect(reply.json).toMatchObject({ on_stall })
    const { json } = await get(service, `/runs/${run.id}/thresholds`)
    expect(json).toMatchObject({ verdict, on_stall, lines: [{ by_samples: 150 }] })
    const judged = await judgeRun(run, run.thresholds!, store)
    expect(judged.warnings).toHaveLength(on_stall === 'warn' ? 1 : 0)
  })
})

describe('a pause in which nobody asked', () => {
  const during = (fromSeconds: number, toSeconds: number): SentSample[] =>
    load({ users: 1, elapsedMs: 20, thinkMs: 30 }).filter(
      ({ startMs }) =>
        startMs < run.startedMs! + fromSeconds * 1000 || startMs >= run.startedMs! + toSeconds * 1000
    )

  test.each([
    ['of a twentieth of the run', 8, 9.2, 'passed', []],
    [
      'of a fifth',
      8,
      13,
      'passed',
      [expect.stringMatching(/^No request was sent for 5 s of the 25 s .* at 0:08, /)]
    ],
    ['of more than half', 8, 21, 'inconclusive', []]
  ])('%s', async (_, from, to, verdict, warnings) => {
    write(during(from, to))
    const outcome = await gate('p95 < 1s')
    expect([outcome.verdict, outcome.warnings]).toEqual([verdict, warnings])
    const judged = await judgeRun(run, { text: 'p95 < 1s' }, store)
    expect([judged.verdict, judged.warnings]).toEqual([verdict, warnings])
    expect(judged.reason).toBe(outcome.reason)
  })

  test.each(['warn', 'ignore'] as const)(
    'of more than half is a warning with on-stall: %s',
    async (onStall) => {
      write(during(8, 21))
      const outcome = await gate('error_rate < 1%', { onStall })
      expect(outcome).toMatchObject({
        verdict: 'passed',
        warnings: [expect.stringMatching(/ set warm-up \(for a pause at its start\) or on-stall: warn\.$/)]
      })
      const judged = await judgeRun(run, { text: 'error_rate < 1%', onStall }, store)
      expect([judged.verdict, judged.warnings]).toEqual(['passed', outcome.warnings])
    }
  )

  test('of more than half is not judged where it lies within the warm-up', async () => {
    write(during(2, 16))
    expect((await gate('p95 < 1s', { warmUpMs: 16_000 })).verdict).toBe('passed')
    const judged = await judgeRun(run, { text: 'p95 < 1s', warmUpSec: 16 }, store)
    expect(judged.verdict).toBe('passed')
  })

  test('of more than half is a part of what comes after the warm-up', async () => {
    write(during(8, 21))
    const { verdict, reason } = await gate('p95 < 1s', { warmUpMs: 5_000 })
    expect([verdict, reason]).toEqual([
      'inconclusive',
      expect.stringMatching(/^No request was sent for 13 s of the 20 s after the warm-up, at 0:08, /)
    ])
  })

  test('is usual where requests are far apart', async () => {
    write(load({ users: 1, elapsedMs: 100, thinkMs: 6000 }))
    expect((await gate('p95 < 1s')).warnings).toEqual([])
  })
})

test('that stalls cannot be found is said once', async () => {
  const whole = load({ users: 3 }).map((sample) => ({
    ...sample,
    ...{ startMs: Math.floor(sample.startMs / 1000) * 1000, elapsedMs: 1000 }
  }))
  write(whole, 3)
  const { notes, verdict } = await gate('p95 < 2s\np99{label="*"} < 2s')
  expect([verdict, notes]).toEqual([
    'passed',
    [expect.stringContaining('the times in the results are whole seconds')]
  ])
})
