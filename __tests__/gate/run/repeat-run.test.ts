import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { startRun } from '../../../src/gate/run/start-run.js'
import { CancelledError } from '../../../src/gate/errors.js'
import type { Run } from '../../../src/contract/api.js'
import { makeGate, type TestGate } from '../../support/gate/gate-ports.js'
import { GateService, faults, type Fault } from '../../support/gate/gate-service.js'

const ALIKE = { name: 'nightly', threads: 5, duration: 60 }
let service: GateService
let gate: TestGate

beforeEach(async () => {
  service = new GateService()
  service.nextDocument = ALIKE
  service.addRun({ id: 'earlier' })
  service.addRun({ id: 'before', statuses: ['finished'] })
  gate = await makeGate(service.url, { origin: { kind: 'repeat', runId: 'before' } })
})

afterEach(async () => {
  await gate.client.close()
  service.close()
})

function start(signal = new AbortController().signal): Promise<Run> {
  return gate.ports.clock.run(startRun(gate, signal))
}

const redirectAfter: Fault = (res, commit) => {
  commit()
  faults.answer(302, '', { location: '/api/runs' })(res, commit)
}

/** A repeat is a GET: what is between may answer with what it answered before. */
const cachedAfter: Fault = (res, commit) => {
  commit()
  faults.answer(200, { uuid: 'earlier', status: 'finished' })(res, commit)
}

test('a list that names the new run twice names one run', async () => {
  service.pageSize = 2
  service.meet('repeatRun', faults.dropAfter)
  service.meet('listRuns', faults.none, (res, commit) => {
    faults.none(res, commit)
    service.addRun({ document: { name: 'somebody else' } })
    service.addRun({ document: { name: 'somebody else' } })
  })
  const { id } = await start()
  expect(service.runs.findIndex((run) => run.id === id)).toBe(2)
})

test('a list that fails in passing before the repeat is read again, for without it nothing could be found', async () => {
  service.meet('listRuns', ...Array.from({ length: 6 }, () => faults.answer(503)), faults.answer(404))
  service.meet('repeatRun', faults.dropAfter)
  expect((await start()).id).toBe(service.runs[0]?.id)
  expect(service.count('repeatRun')).toBe(1)
})

test('a run that nobody knows is told at once, with the words of the service, and nothing is sent', async () => {
  service.runs.splice(0)
  await expect(start()).rejects.toThrow(/reading run before: the service answered 404: Sorry.*Check the id/)
  expect(gate.ports.clock.elapsedMs).toBe(0)
  expect(service.order()).toEqual(['showRun'])
  expect(gate.saved.state.cleanupDue).toBe(false)
})

test('a reply about another run does not say what the new one is like', async () => {
  service.meet('showRun', faults.answer(200, { uuid: 'earlier', status: 'finished', name: 'something else' }))
  service.meet('repeatRun', faults.dropAfter)
  const { id } = await start()
  expect(id).toBe(service.runs[0]?.id)
  expect(id).not.toBe('before')
})

test('gives a new run, which is noted', async () => {
  const { id } = await start()
  expect(id).toBe(service.runs[0]?.id)
  expect(id).not.toBe('before')
  expect(gate.saved.state).toMatchObject({ runId: id, cleanupDue: true })
  expect(service.order()).toEqual(['showRun', 'listRuns', 'repeatRun'])
})

test('what the list held is in the saved state before the request is sent', async () => {
  service.meet('repeatRun', faults.hold)
  const controller = new AbortController()
  const starting = start(controller.signal)
  await service.reached('repeatRun')
  expect(gate.ports.states.at(-1)).toMatchObject({
    repeat: { runId: 'before', knownIds: ['before', 'earlier'], likeness: { name: 'nightly', threads: 5 } },
    cleanupDue: true
  })
  controller.abort(new CancelledError('SIGINT'))
  await expect(starting).rejects.toBeInstanceOf(CancelledError)
  expect(service.count('listRuns')).toBe(1)
})

describe('when the reply is lost', () => {
  test.each([
    ['a 502 after it was done', faults.answerAfter(502)],
    ['a reset after it was done', faults.dropAfter],
    ['a redirect after it was done', redirectAfter],
    ['an old run out of a cache', cachedAfter]
  ])('%s: the gate continues with the one new run that is like it', async (_, fault) => {
    service.meet('repeatRun', fault)
    const { id } = await start()
    expect(id).toBe(service.runs[0]?.id)
    expect(service.runs).toHaveLength(3)
    expect(service.count('repeatRun')).toBe(1)
    expect(gate.saved.state).toMatchObject({ runId: id, cleanupDue: true })
    expect(gate.ports.log.of('info')).toContain(`Found new run ${id} like before; continuing with it.`)
  })

  test.each([
    ['503', faults.answer(503)],
    ['a reset before it was done', faults.dropBefore],
    ['success without JSON', faults.answer(200, 'ok')]
  ])('%s: an error says that nothing was found, and it is never sent twice', async (_, fault) => {
    service.meet('repeatRun', fault)
    await expect(start()).rejects.toThrow(
      /^repeating run before: .*No new run like before was found\. One may still be running: check the service\.$/
    )
    expect(service.count('repeatRun')).toBe(1)
    expect(gate.saved.state).toMatchObject({ runId: undefined, cleanupDue: true })
  })

  test.each([
    ['another name', { name: 'weekly' }],
    ['a longer name', { name: 'nightlybuild' }],
    ['a shorter name', { name: 'night' }],
    ['no name', { name: '' }],
    ['other threads', { threads: 6 }],
    ['another duration', { duration: 61 }],
    ['a start long before', { started: '2026-01-05T11:00:00.000Z' }]
  ])('a new run with %s is not taken for it', async (_, difference) => {
    service.meet('repeatRun', (res) => {
      service.addRun({ id: 'stranger', document: { ...ALIKE, ...difference } })
      res.destroy()
    })
    await expect(start()).rejects.toThrow('No new run like before was found')
  })

  test.each(['nightly 2', 'nightly (2)', 'nightly #2', 'nightly-2', 'nightly2', 'nightly copy'])(
    'a new run that the service names %s is taken for it',
    async (name) => {
      service.meet('repeatRun', (res) => {
        service.addRun({ id: 'numbered', document: { ...ALIKE, name } })
        res.destroy()
      })
      expect((await start()).id).toBe('numbered')
      expect(gate.saved.state).toMatchObject({ runId: 'numbered', cleanupDue: true })
    }
  )

  test('a run without a name is no beginning of all the others', async () => {
    service.runs.find(({ id }) => id === 'before')!.document = { ...ALIKE, name: '' }
    service.meet('repeatRun', (res) => {
      service.addRun({ id: 'stranger', document: { ...ALIKE, name: '2' } })
      res.destroy()
    })
    await expect(start()).rejects.toThrow('No new run like before was found')
  })

  test('of two it cannot be told which is whose: both are named, none is touched', async () => {
    service.meet('repeatRun', (res, commit) => {
      service.addRun({ id: 'stranger' })
      commit()
      res.destroy()
    })
    await expect(start()).rejects.toThrow(
      /Several new runs look like before \(\w+, stranger\).*none was touched/
    )
    expect(service.count('stopRun')).toBe(0)
  })

  test('and the list could not be read before, the error says so', async () => {
    service.meet('listRuns', faults.answer(403))
    service.meet('repeatRun', faults.dropAfter)
    await expect(start()).rejects.toThrow('the list of runs could not be read beforehand')
    expect(service.count('repeatRun')).toBe(1)
    expect(service.count('listRuns')).toBe(1)
  })
})

test.each([404, 422, 429])('%d made nothing, and nothing is looked for', async (status) => {
  service.meet('repeatRun', faults.answer(status))
  await expect(start()).rejects.toMatchObject({ status })
  expect(service.order()).toEqual(['showRun', 'listRuns', 'repeatRun'])
  expect(gate.saved.state).toMatchObject({ repeat: undefined, cleanupDue: false })
})
