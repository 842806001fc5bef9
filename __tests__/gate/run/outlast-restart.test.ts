import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { settleGrids, outlastRestart } from '../../../src/gate/run/make-grids.js'
import { startRun } from '../../../src/gate/run/start-run.js'
import { RefusedError, UnreachableError } from '../../../src/client/errors.js'
import { Choice } from '../../support/data/seeded-choice.js'
import { makeGate, makeSpecification } from '../../support/gate/gate-ports.js'
import type { TestGate } from '../../support/gate/gate-ports.js'
import { GateService, faults } from '../../support/gate/gate-service.js'
import type { Fault } from '../../support/gate/gate-service.js'
import { JumpingClock } from '../../support/manual-clock.js'
import { slice } from '../../support/slice.js'

let service: GateService
let gate: TestGate
let folder: string

beforeEach(async () => {
  service = new GateService()
  folder = await mkdtemp(join(tmpdir(), 'gate-plan-'))
  await writeFile(join(folder, 'plan.jmx'), '<jmeterTestPlan/>')
})
afterEach(async () => {
  await gate.client.close()
  service.close()
  await rm(folder, { recursive: true })
})

const VERSION = { 'x-loadgate-version': '1.0.0' }
const draining = faults.answer(
  503,
  { error: 'the service is about to restart and starts no new runs or grids until then' },
  { ...VERSION, 'retry-after': '15' }
)
const after =
  (fault: Fault): Fault =>
  (res, commit) => {
    commit()
    fault(res, commit)
  }

interface Operation {
  readonly operation: 'createRun' | 'createGrid' | 'repeatRun'
  readonly start: () => Promise<unknown>
  readonly made: () => number
}

async function openGate(operation: Operation['operation']): Promise<Operation> {
  const { signal } = new AbortController()
  const paths = [join(folder, 'plan.jmx')]
  const grids = [makeSpecification()]
  service.nextDocument = { name: 'nightly', threads: 5, duration: 60 }
  if (operation === 'repeatRun') service.addRun({ id: 'before', statuses: ['finished'] })
  gate = await makeGate(
    service.url,
    operation === 'repeatRun'
      ? { origin: { kind: 'repeat', runId: 'before' } }
      : { origin: { kind: 'files', paths, grids } }
  )
  const before = service.runs.length
  const act = (): Promise<unknown> =>
    operation === 'createGrid'
      ? settleGrids(gate, grids, signal, { areShared: true })
      : startRun(gate, signal)
  return {
    operation,
    start: () => gate.ports.clock.run(act()),
    made: () => (operation === 'createGrid' ? service.grids.size : service.runs.length - before)
  }
}

const OPERATIONS = ['createRun', 'createGrid', 'repeatRun'] as const

describe.each(OPERATIONS)('%s at a loadgate that is about to restart', (operation) => {
  test('is sent again when the service says, until the next one takes it; nothing is looked for', async () => {
    const { start, made } = await openGate(operation)
    service.meet(operation, draining, draining, draining)
    await start()
    expect([service.count(operation), made()]).toEqual([4, 1])
    expect(gate.ports.clock.elapsedMs).toBeGreaterThanOrEqual(45_000)
    expect(service.count('listRuns')).toBe(operation === 'repeatRun' ? 1 : 0)
    expect(gate.ports.log.of('warning')).toEqual([])
    expect(gate.ports.log.of('info').filter((line) => line.includes('about to restart'))).toEqual([
      expect.stringMatching(/Nothing was created; waiting until the service is ready\.$/)
    ])
  })

  test('is given up after a quarter of an hour: nothing was created, and there is nothing to clean up', async () => {
    const { start, made } = await openGate(operation)
    service.meet(operation, ...Array.from({ length: 100 }, () => draining))
    await expect(start()).rejects.toThrow(/503: the service is about to restart/)
    expect(gate.ports.clock.elapsedMs).toBeLessThan(16 * 60_000)
    expect(made()).toBe(0)
    expect(gate.ports.log.of('warning')).toEqual([])
    expect(gate.saved.state.cleanupDue).toBe(false)
  })
})

/** What may follow a few refusals; whether the request had its effect is unknown to the gate. */
const DOUBTS: Readonly<Record<string, Fault>> = {
  'a 503 of something else that says when to try again': faults.answer(503, 'down', { 'retry-after': '1' }),
  'the same after it was done': after(faults.answer(503, 'down', { 'retry-after': '1' })),
  'a 502 after it was done': faults.answerAfter(502),
  'a reset before it was done': faults.dropBefore,
  'a reset after it was done': faults.dropAfter
}

test.each(Array.from({ length: slice(12, 300) }, (_, seed) => seed))(
  'seed %d: after a doubtful reply it is never sent again, whatever came before',
  async (seed) => {
    const choice = new Choice(seed)
    const { start, made, operation } = await openGate(OPERATIONS[seed % 3]!)
    const refusals = choice.between(0, 3)
    const [words, doubt] = choice.of(Object.entries(DOUBTS))
    service.meet(operation, ...Array.from({ length: refusals }, () => draining), doubt)
    const isDone = words.includes('after it was done')
    const isFound = await start().then(
      () => true,
      () => false
    )
    expect([service.count(operation), made()]).toEqual([refusals + 1, isDone ? 1 : 0])
    // Grids have no list.
    expect(isFound).toBe(isDone && operation !== 'createGrid')
  }
)

// It says so before it creates anything, as when it cannot write; __tests__/service/full-disk.test.ts has the other side.
test.each([
  { operation: 'createRun', requests: 2, created: 1 },
  { operation: 'createGrid', requests: 2, created: 1 },
  { operation: 'repeatRun', requests: 1, created: 0 }
] as const)(
  'a 503 of a loadgate that does not say when: $operation is sent $requests times',
  async ({ operation, requests, created }) => {
    const { start, made } = await openGate(operation)
    service.meet(operation, faults.answer(503, { error: 'no' }, VERSION))
    await start().catch(() => undefined)
    expect([service.count(operation), made()]).toEqual([requests, created])
  }
)

describe('between two services nothing answers', () => {
  const refused = (isLoadgate: boolean): RefusedError =>
    new RefusedError('creating', {
      ...{ status: 503, detail: 'no', requestId: undefined, retryAfterMs: 15_000, isLoadgate }
    })
  const away = (neverSent: boolean): UnreachableError =>
    new UnreachableError('creating', 'no answer', { neverSent })

  test.each([
    ['after the announcement it is waited for', [refused(true), away(true), away(true)], 4],
    ['without one it is not', [away(true)], 1],
    ['a request that may have arrived is not sent again', [refused(true), away(false)], 2],
    ['nor is one to another service', [refused(false)], 1]
  ])('%s', async (_, failures, calls) => {
    gate = await makeGate(service.url)
    let count = 0
    const create = (): Promise<string> => {
      const failure = failures[count++]
      return failure ? Promise.reject(failure) : Promise.resolve('made')
    }
    const { log } = gate.ports
    const clock = new JumpingClock()
    const made = outlastRestart({ log, clock }, create, new AbortController().signal)
    await (calls > failures.length
      ? expect(made).resolves.toBe('made')
      : expect(made).rejects.toBe(failures.at(-1)))
    expect(count).toBe(calls)
  })
})
