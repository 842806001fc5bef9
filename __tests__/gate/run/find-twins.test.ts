import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { findTwins } from '../../../src/gate/run/find-run.js'
import type { ServiceClient } from '../../../src/client/client.js'
import { makeClient } from '../../support/gate/gate-ports.js'
import { ManualClock } from '../../support/manual-clock.js'
import { GateService, faults } from '../../support/gate/gate-service.js'
import type { Fault } from '../../support/gate/gate-service.js'

const MARKER = 'loadgate-1'
const HOUR_MS = 3_600_000
let service: GateService
let clock: ManualClock
let client: ServiceClient

beforeEach(async () => {
  service = new GateService()
  service.pageSize = 2
  clock = new ManualClock()
  client = makeClient(service.url, clock)
})

afterEach(async () => {
  await client.close()
  service.close()
})

async function find(
  changes: { isLast?: boolean; earlier?: { marker: string; runId: string; askedMs?: number }[] } = {}
): Promise<{ ids: string[]; unread: string | undefined }> {
  const { isLast, earlier } = changes
  const runs = { runId: 'mine', marker: MARKER, askedMs: clock.now(), ...(earlier && { earlier }) }
  const { signal } = new AbortController()
  const { twins, unread } = await clock.run(findTwins(runs, { client, clock, signal, isLast }))
  return { ids: twins.map(({ run }) => run.id), unread: unread?.message }
}

/** From the oldest to the newest; each started so long before now, or never. */
function others(...startedAgoMs: (number | null)[]): void {
  for (const agoMs of startedAgoMs)
    service.addRun({
      document: { started: agoMs === null ? null : new Date(clock.now() - agoMs).toISOString() }
    })
}

const many = (count: number, fault: Fault): Fault[] => Array.from({ length: count }, () => fault)

describe('every page is read', () => {
  test('where nothing says which runs are older', async () => {
    service.addRun({ id: 'twin', tags: [MARKER] })
    others(...Array.from({ length: 20 }, () => null))
    service.addRun({ id: 'mine', tags: [MARKER] })
    expect(await find()).toEqual({ ids: ['twin'], unread: undefined })
    expect(service.count('listRuns')).toBe(11)
  })

  test.each<[string, (number | null)[]]>([
    ['a page does not fall', [3 * HOUR_MS, 5 * HOUR_MS, 4 * HOUR_MS, 4 * HOUR_MS, HOUR_MS, 2 * HOUR_MS]],
    ['a run of the page has not started yet', [3 * HOUR_MS, null, 2 * HOUR_MS, null]],
    ['clocks may differ', [4 * 60_000, 3 * 60_000, 2 * 60_000, 60_000]]
  ])('where %s', async (_, startedAgoMs) => {
    service.nextStatuses = ['queued']
    service.addRun({ id: 'twin', tags: [MARKER] })
    others(...startedAgoMs)
    expect(await find()).toEqual({ ids: ['twin'], unread: undefined })
  })
})

describe('the reading ends at a page of older runs', () => {
  beforeEach(() => {
    service.nextStatuses = ['finished']
    others(9 * HOUR_MS, 8 * HOUR_MS, 7 * HOUR_MS, 6 * HOUR_MS, 5 * HOUR_MS, 4 * HOUR_MS)
    service.addRun({ id: 'twin', tags: [MARKER] })
    service.addRun({ id: 'mine', tags: [MARKER] })
  })

  test('the newest on top', async () => {
    expect(await find()).toEqual({ ids: ['twin'], unread: undefined })
    expect(service.count('listRuns')).toBe(2)
  })

  test('older than the first run of the step, where there are several', async () => {
    await find({ earlier: [{ marker: 'loadgate-0', runId: 'first', askedMs: clock.now() - 6.5 * HOUR_MS }] })
    expect(service.count('listRuns')).toBe(4)
  })

  test('never, where it is not known when that was', async () => {
    await find({ earlier: [{ marker: 'loadgate-0', runId: 'first' }] })
    expect(service.count('listRuns')).toBe(4)
  })
})

describe('a list that is not read to its end says why, and what was found until then', () => {
  test('more than 50 pages', async () => {
    others(...Array.from({ length: 110 }, () => null))
    service.addRun({ id: 'twin', tags: [MARKER] })
    expect(await find()).toEqual({ ids: ['twin'], unread: 'it has more than 50 pages' })
    expect(service.count('listRuns')).toBe(50)
  })

  test('a page that never comes', async () => {
    others(null, null, null)
    service.addRun({ id: 'twin', tags: [MARKER] })
    service.meet('listRuns', faults.none, faults.hold)
    // While the held request is under way, no time passes by itself.
    const finding = find()
    await service.reached('listRuns', 2)
    await clock.advance(10_000)
    expect(await finding).toEqual({ ids: ['twin'], unread: 'it took more than 10 s' })
  })

  test('a service that fails: after some seconds', async () => {
    service.meet('listRuns', ...many(100, faults.answer(500)))
    expect((await find()).unread).toContain('listing the runs: the service answered 500')
    expect(clock.elapsedMs).toBeLessThan(6_000)
  })

  test('a service that asks for a long wait: after ten seconds', async () => {
    service.meet('listRuns', ...many(100, faults.answer(429, {}, { 'retry-after': '60' })))
    expect((await find()).unread).toBe('it took more than 10 s')
    expect(clock.elapsedMs).toBe(10_000)
  })
})

test('the last look is more patient', async () => {
  service.addRun({ id: 'twin', tags: [MARKER] })
  service.meet('listRuns', ...many(10, faults.answer(500)))
  expect(await find({ isLast: true })).toEqual({ ids: ['twin'], unread: undefined })
})
