import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { findMarkedRuns } from '../../../src/gate/run/find-run.js'
import type { ServiceClient } from '../../../src/client/client.js'
import { makeClient } from '../../support/gate/gate-ports.js'
import { ManualClock } from '../../support/manual-clock.js'
import { GateService, faults } from '../../support/gate/gate-service.js'

const MARKER = 'loadgate-1'
let service: GateService
let clock: ManualClock
let client: ServiceClient

beforeEach(async () => {
  service = new GateService()
  clock = new ManualClock()
  client = makeClient(service.url, clock)
})

afterEach(async () => {
  await client.close()
  service.close()
})

async function find(signal?: AbortSignal): Promise<string[]> {
  const found = await clock.run(findMarkedRuns(client, MARKER, { clock, ...(signal && { signal }) }))
  return found.map(({ id }) => id)
}

test('finds by the marker alone, on every page, newest first', async () => {
  service.pageSize = 2
  service.addRun({ id: 'older', tags: [MARKER] })
  for (const tags of [[], ['loadgate-2'], ['loadgate-11'], [`${MARKER}x`], ['x', 'y']])
    service.addRun({ tags })
  service.addRun({ id: 'newer', tags: ['x', MARKER] })
  expect(await find()).toEqual(['newer', 'older'])
  expect(service.count('listRuns')).toBe(4)
  expect(clock.elapsedMs).toBe(0)
})

test.each([
  ['in capitals', ['LOADGATE-1']],
  ['joined by spaces', [`nightly ${MARKER} team-x`]],
  ['joined by semicolons', [`a;${MARKER}`]]
])('finds it where the service writes tags %s', async (_, tags) => {
  service.addRun({ id: 'mine', tags })
  expect(await find()).toEqual(['mine'])
})

test('is patient with a list that lags', async () => {
  const finding = find()
  await service.reached('listRuns', 3)
  service.addRun({ id: 'late', tags: [MARKER] })
  expect(await finding).toEqual(['late'])
  expect(clock.elapsedMs).toBeGreaterThanOrEqual(3_000)
})

test('gives up after some seconds, not after minutes', async () => {
  service.addRun({ tags: ['loadgate-2'] })
  expect(await find()).toEqual([])
  expect(service.count('listRuns')).toBeGreaterThanOrEqual(4)
  expect(clock.elapsedMs).toBeGreaterThanOrEqual(10_000)
  expect(clock.elapsedMs).toBeLessThanOrEqual(30_000)
})

test('a list that fails in passing is asked again', async () => {
  service.addRun({ id: 'mine', tags: [MARKER] })
  service.meet('listRuns', faults.answer(503), faults.dropBefore)
  expect(await find()).toEqual(['mine'])
})

test('a service that is away for a while is waited for', async () => {
  service.addRun({ id: 'mine', tags: [MARKER] })
  service.meet('listRuns', ...Array.from({ length: 20 }, () => faults.answer(503)))
  expect(await find()).toEqual(['mine'])
  expect(clock.elapsedMs).toBeGreaterThan(20_000)
})

test('a service that stays away is an error after some minutes', async () => {
  service.meet('listRuns', ...Array.from({ length: 500 }, () => faults.answer(503)))
  await expect(find()).rejects.toMatchObject({ status: 503 })
  expect(clock.elapsedMs).toBeGreaterThan(120_000)
  expect(clock.elapsedMs).toBeLessThan(240_000)
})

test('a list that is refused is an error, not an empty one', async () => {
  service.meet('listRuns', faults.answer(401))
  await expect(find()).rejects.toMatchObject({ status: 401 })
})

test('a next link that leads in a circle comes to an end', async () => {
  const page = {
    _links: { next: { href: '/api/runs?page=2' } },
    _embedded: { runs: [{ uuid: 'other', status: 'queued' }] }
  }
  service.meet('listRuns', ...Array.from({ length: 10 }, () => faults.answer(200, page)))
  expect(await find()).toEqual([])
  expect(service.count('listRuns')).toBeLessThanOrEqual(20)
})

test('a signal ends the patience', async () => {
  const controller = new AbortController()
  const reason = new Error('no time')
  const finding = find(controller.signal)
  await service.reached('listRuns', 2)
  controller.abort(reason)
  await expect(finding).rejects.toBe(reason)
})
