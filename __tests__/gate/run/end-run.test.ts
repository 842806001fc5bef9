import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { startDeadline } from '../../../src/gate/deadline.js'
import { endRun } from '../../../src/gate/run/end-run.js'
import type { ServiceClient } from '../../../src/client/client.js'
import type { Run } from '../../../src/contract/api.js'
import { makeClient } from '../../support/gate/gate-ports.js'
import { ManualClock } from '../../support/manual-clock.js'
import { GateService, faults } from '../../support/gate/gate-service.js'

let service: GateService
let clock: ManualClock
let client: ServiceClient

beforeEach(async () => {
  service = new GateService()
  service.addRun({ id: 'mine', statuses: ['running'] })
  clock = new ManualClock()
  client = makeClient(service.url, clock)
})

afterEach(async () => {
  await client.close()
  service.close()
})

function end(signal = new AbortController().signal): Promise<Run> {
  return clock.run(endRun(client, 'mine', { clock, signal }))
}

const stillRunning = faults.answer(200, { uuid: 'mine', status: 'stopping' })

test('the word of the stop alone is not believed: a look confirms the end', async () => {
  expect((await end()).status).toBe('finished')
  expect(service.order()).toEqual(['stopRun', 'showRun'])
})

test('stop is repeated while the run goes on', async () => {
  service.meet('stopRun', stillRunning, stillRunning)
  expect((await end()).status).toBe('finished')
  expect(service.order()).toEqual(['stopRun', 'showRun', 'stopRun', 'showRun', 'stopRun', 'showRun'])
  expect(clock.elapsedMs).toBe(4_000)
})

test('a grid without an id hides neither the stop nor the end', async () => {
  service.runs[0]!.document = { _embedded: { grids: [{ region: 'us-east-1', status: 'started' }] } }
  expect((await end()).status).toBe('finished')
  expect(service.order()).toEqual(['stopRun', 'showRun'])
})

test('a stop that was answered with the end is not repeated while looks make no sense', async () => {
  service.meet('showRun', ...Array.from({ length: 5 }, () => faults.answer(200, { uuid: 'mine' })))
  expect((await end()).status).toBe('finished')
  expect(service.count('stopRun')).toBe(1)
})

test('the end of another run is not taken for the end', async () => {
  service.meet('showRun', faults.answer(200, { uuid: 'theirs', status: 'finished' }))
  expect((await end()).id).toBe('mine')
})

test('a service that never makes sense is given up after half a minute', async () => {
  const nonsense = faults.answer(200, { status: 'finished' })
  service.meet('stopRun', ...Array.from({ length: 100 }, () => nonsense))
  service.meet('showRun', ...Array.from({ length: 100 }, () => nonsense))
  await expect(end()).rejects.toThrow(/uuid should be text/)
  expect(clock.elapsedMs).toBeGreaterThanOrEqual(30_000)
  expect(clock.elapsedMs).toBeLessThan(60_000)
})

test('a stop that says finished while the run is seen running is repeated', async () => {
  service.meet('stopRun', faults.answer(200, { uuid: 'mine', status: 'finished' }))
  await end()
  expect(service.order()).toEqual(['stopRun', 'showRun', 'stopRun', 'showRun'])
})

test.each([
  ['503', faults.answer(503)],
  ['502 after it was done', faults.answerAfter(502)],
  ['a reset', faults.dropBefore],
  ['a reset after it was done', faults.dropAfter],
  ['an HTML page', faults.answer(200, '<html>')]
])('%s is tried again until it has ended', async (_, fault) => {
  service.meet('stopRun', ...Array.from({ length: 6 }, () => fault))
  expect((await end()).status).toBe('finished')
  expect(service.runs[0]?.statuses).toEqual(['finished'])
})

test('a stop that never says more than "stopping" is followed by looks that see the end', async () => {
  service.meet(
    'stopRun',
    (res, commit) => {
      commit()
      stillRunning(res, commit)
    },
    ...Array.from({ length: 50 }, () => faults.answer(409))
  )
  expect((await end()).status).toBe('finished')
  expect(service.order()).toEqual(['stopRun', 'showRun'])
})

test.each([400, 404, 409, 410, 422, 503])(
  '%d, since the run has just ended: a look sees it, and that is the outcome',
  async (status) => {
    service.runs[0]!.statuses = ['problem']
    service.meet('stopRun', ...Array.from({ length: 50 }, () => faults.answer(status)))
    expect((await end()).status).toBe('problem')
  }
)

test('404 in the middle of a deployment does not leave the run running', async () => {
  service.meet('stopRun', faults.answer(404), faults.answer(404))
  service.meet('showRun', faults.answer(404), faults.answer(404))
  expect((await end()).status).toBe('finished')
  expect(service.count('stopRun')).toBe(3)
})

test.each([401, 403])('%d is the end of trying: it is about the token', async (status) => {
  service.meet('stopRun', faults.answer(status))
  await expect(end()).rejects.toMatchObject({ status })
  expect(service.order()).toEqual(['stopRun', 'showRun'])
})

test('a stop that is refused while the run goes on is given up after half a minute, with the words of the service', async () => {
  service.meet('stopRun', ...Array.from({ length: 50 }, () => faults.answer(422, { error: 'not now' })))
  await expect(end()).rejects.toThrow(/422: not now/)
  expect(clock.elapsedMs).toBeGreaterThanOrEqual(30_000)
  expect(clock.elapsedMs).toBeLessThan(40_000)
})

test('when time is over, it is not made sure', async () => {
  const controller = new AbortController()
  service.meet('stopRun', ...Array.from({ length: 100 }, () => stillRunning))
  const ending = end(controller.signal)
  await service.reached('stopRun', 5)
  const reason = new Error('no time left')
  controller.abort(reason)
  await expect(ending).rejects.toBe(reason)
})

test.each([6_000, 7_000, 8_000, 9_000, 10_000])(
  "when time is over after %i ms, the service's error says why",
  async (ms) => {
    service.close()
    const { signal } = startDeadline(clock, ms, { error: new Error('over') })
    await expect(end(signal)).rejects.toThrow(/^stopping run mine: .*ECONNREFUSED/)
    service = new GateService()
  }
)

test('the end is seen although the stop is never answered', async () => {
  service.meet('stopRun', faults.holdAfter)
  const ending = endRun(client, 'mine', { clock, signal: new AbortController().signal })
  await service.reached('stopRun')
  await clock.advance(2_000)
  expect((await ending).status).toBe('finished')
  expect(service.order()).toEqual(['stopRun', 'showRun'])
  expect(clock.pendingCount).toBe(0)
})

test('a stop that got lost is sent again while the first is still waited for', async () => {
  service.meet('stopRun', faults.hold)
  const ending = endRun(client, 'mine', { clock, signal: new AbortController().signal })
  await service.reached('stopRun')
  for (let looks = 1; looks <= 10; looks++) {
    await clock.advance(2_000)
    await service.reached('showRun', looks)
  }
  expect((await clock.run(ending)).status).toBe('finished')
  expect(service.count('stopRun')).toBe(2)
})
