import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { cleanUp } from '../../../src/gate/cleanup/clean-up.js'
import type { StepState } from '../../../src/gate/saved-state.js'
import type { ServiceClient } from '../../../src/client/client.js'
import { LogBook, makeClient, makeState } from '../../support/gate/gate-ports.js'
import { ManualClock } from '../../support/manual-clock.js'
import { GateService, faults } from '../../support/gate/gate-service.js'

const MARKER = 'loadgate-1'
let service: GateService
let clock: ManualClock
let client: ServiceClient
let log: LogBook

beforeEach(async () => {
  service = new GateService()
  clock = new ManualClock()
  client = makeClient(service.url, clock)
  log = new LogBook()
})

afterEach(async () => {
  await client.close()
  service.close()
})

function clean(changes: Partial<StepState>, signal = new AbortController().signal): Promise<boolean> {
  return clock.run(cleanUp(makeState(changes), { client, clock, log, signal }))
}

function statusOf(id: string): string | undefined {
  return service.runs.find((run) => run.id === id)?.statuses[0]
}

function addGrid(id: string): void {
  service.grids.set(id, { id, statuses: ['started'], fields: [], isTerminated: false })
}

describe('the run', () => {
  test('is stopped by its id, and its end is seen', async () => {
    service.addRun({ id: 'mine', statuses: ['running'] })
    service.addRun({ id: 'other', statuses: ['running'] })
    expect(await clean({ runId: 'mine', marker: MARKER })).toBe(true)
    expect(statusOf('mine')).toBe('finished')
    expect(statusOf('other')).toBe('running')
    expect(log.of('info')).toEqual(['Stopping run mine.', 'Run mine has ended (finished).'])
  })

  test('is found by its marker when its id was never learnt; every one of them is stopped', async () => {
    service.addRun({ id: 'mine1', tags: [MARKER], statuses: ['running'] })
    service.addRun({ id: 'other', tags: ['loadgate-2'], statuses: ['running'] })
    service.addRun({ id: 'mine2', tags: [MARKER], statuses: ['queued'] })
    expect(await clean({ marker: MARKER })).toBe(true)
    expect(statusOf('mine1')).toBe('finished')
    expect(statusOf('mine2')).toBe('finished')
    expect(statusOf('other')).toBe('running')
  })

  test('a twin that carries the same marker is stopped with it, and nothing else is', async () => {
    service.addRun({ id: 'mine', statuses: ['running'], tags: [MARKER] })
    service.addRun({ id: 'twin', statuses: ['running'], tags: [MARKER] })
    service.addRun({ id: 'theirs', statuses: ['running'], tags: ['loadgate-2'] })
    await expect(clean({ runId: 'mine', marker: MARKER })).resolves.toBe(true)
    expect(['mine', 'twin', 'theirs'].map(statusOf)).toEqual(['finished', 'finished', 'running'])
  })

  test("is not somebody else's, whose id a mixed-up reply gave: that one goes on, and ours is stopped", async () => {
    service.addRun({ id: 'mine', statuses: ['running'], tags: [MARKER] })
    service.addRun({
      ...{ id: 'theirs', statuses: ['running'], tags: ['loadgate-0b6e1c9e-7d0a-4b60-8f3d-0f4a5a4b7c11'] }
    })
    await expect(clean({ runId: 'theirs', marker: MARKER })).resolves.toBe(true)
    expect(['mine', 'theirs'].map(statusOf)).toEqual(['finished', 'running'])
    expect(log.of('warning')).toContainEqual(expect.stringContaining('Run theirs does not have the tag'))
  })

  test('is stopped once, though the list names it on two pages, beside odd entries', async () => {
    const listed = { uuid: 'mine', status: 'running', tag_list: [MARKER] }
    const odd = { uuid: 'theirs', status: 'running', duration: 0.5, _embedded: { run_files: [{}] } }
    const pages = [
      { _links: { next: { href: '/api/runs?page=2' } }, _embedded: { runs: [null, odd, listed] } },
      { _links: { next: { href: '/api/runs?page=2' } }, _embedded: { runs: [listed, odd] } }
    ]
    service.addRun({ id: 'theirs', statuses: ['running'] })
    service.addRun({ id: 'mine', tags: [MARKER], statuses: ['running'] })
    service.meet('listRuns', ...pages.map((page) => faults.answer(200, page)))
    expect(await clean({ marker: MARKER })).toBe(true)
    expect(service.count('stopRun')).toBe(1)
    expect(['mine', 'theirs'].map(statusOf)).toEqual(['finished', 'running'])
    expect(log.of('warning')).toEqual([])
  })

  test('404 from an ingress does not hide it from the clean-up', async () => {
    service.addRun({ id: 'mine', tags: [MARKER], statuses: ['running'] })
    service.meet(
      'listRuns',
      faults.answer(404),
      faults.answer(404),
      faults.answer(302, '', { location: '/' })
    )
    expect(await clean({ marker: MARKER })).toBe(true)
    expect(statusOf('mine')).toBe('finished')
  })

  test('is found in a list that lags', async () => {
    const cleaning = clean({ marker: MARKER })
    await service.reached('listRuns', 3)
    service.addRun({ id: 'mine', tags: [MARKER], statuses: ['running'] })
    expect(await cleaning).toBe(true)
    expect(statusOf('mine')).toBe('finished')
  })

  test('is found although its creation ends half a minute after main has gone', async () => {
    const cleaning = clean({ marker: MARKER })
    await service.reached('listRuns', 6)
    expect(clock.elapsedMs).toBeGreaterThanOrEqual(30_000)
    service.addRun({ id: 'mine', tags: [MARKER], statuses: ['running'] })
    expect(await cleaning).toBe(true)
    expect(statusOf('mine')).toBe('finished')
  })

  test('that has ended is left as it is', async () => {
    service.addRun({ id: 'mine', tags: [MARKER], statuses: ['problem'] })
    expect(await clean({ runId: 'mine', marker: MARKER })).toBe(true)
    expect(await clean({ marker: MARKER })).toBe(true)
    expect(service.count('stopRun')).toBe(0)
  })

  test.each([1, 100])('is stopped where %d replies are about another one, which has ended', async (count) => {
    service.addRun({ id: 'mine', tags: [MARKER], statuses: ['running'] })
    const another = faults.answer(200, { uuid: 'another', status: 'finished' })
    service.meet('showRun', ...Array.from({ length: count }, () => another))
    await clean({ runId: 'mine', marker: MARKER })
    expect(statusOf('mine')).toBe('finished')
  })

  test('whose stop is answered about another one is stopped once more', async () => {
    service.addRun({ id: 'mine', statuses: ['running'] })
    service.meet('stopRun', faults.answer(200, { uuid: 'another', status: 'finished' }))
    expect(await clean({ runId: 'mine' })).toBe(true)
    expect(service.count('stopRun')).toBe(2)
    expect(statusOf('mine')).toBe('finished')
  })

  test('with nothing in the state, nothing is asked', async () => {
    expect(await clean({})).toBe(true)
    expect(service.seen).toEqual([])
  })

  test('doing it twice does no harm', async () => {
    service.addRun({ id: 'mine', statuses: ['running'] })
    addGrid('g1')
    await clean({ runId: 'mine', madeGrids: ['g1'] })
    service.grids.delete('g1')
    expect(await clean({ runId: 'mine', madeGrids: ['g1'] })).toBe(true)
    expect(service.count('stopRun')).toBe(1)
    expect(log.of('warning')).toEqual([])
  })

  test('that cannot be stopped is warned about, by its id', async () => {
    service.addRun({ id: 'mine', statuses: ['running'] })
    service.meet('stopRun', faults.answer(401))
    expect(await clean({ runId: 'mine' })).toBe(false)
    expect(log.of('warning')).toEqual([
      expect.stringMatching(/^Run mine may still be running: .*401.*Stop it manually\.$/)
    ])
  })

  test('that cannot be looked for is warned about, by its tag', async () => {
    service.meet('listRuns', faults.answer(403))
    expect(await clean({ marker: MARKER })).toBe(false)
    expect(log.of('warning')).toEqual([
      expect.stringMatching(
        /^Could not check whether a run with the tag loadgate-1 was started: .*Check the service\.$/
      )
    ])
  })
})

describe('a repeat whose reply was lost', () => {
  const repeat = {
    runId: 'before',
    likeness: { name: 'nightly', tool: 'jmeter', threads: 5 },
    knownIds: ['before', 'known'],
    askedMs: Date.UTC(2026, 0, 5, 12)
  }
  const alike = { document: { name: 'nightly', threads: 5 }, statuses: ['running'] }

  test('is stopped when one run alone can be it', async () => {
    service.addRun({ ...alike, id: 'known' })
    service.addRun({ ...alike, id: 'other', document: { name: 'nightly', threads: 6 } })
    service.addRun({ ...alike, id: 'mine' })
    expect(await clean({ repeat })).toBe(true)
    expect(['known', 'other', 'mine'].map(statusOf)).toEqual(['running', 'running', 'finished'])
  })

  test('is left alone when several can be it, which a warning names', async () => {
    service.addRun({ ...alike, id: 'one' })
    service.addRun({ ...alike, id: 'two' })
    expect(await clean({ repeat })).toBe(false)
    expect(service.count('stopRun')).toBe(0)
    expect(log.of('warning')).toEqual([
      expect.stringMatching(/^Several new runs look like before \(two, one\), .*None was stopped/)
    ])
  })

  test('that is not found may still be running, which a warning says', async () => {
    service.addRun({ ...alike, id: 'known' })
    expect(await clean({ repeat })).toBe(true)
    expect(service.count('stopRun')).toBe(0)
    expect(log.of('warning')).toEqual([
      'It is unclear whether a repeat of run before was started: none was found. One may still be running: check the service.'
    ])
  })

  test('is stopped under the name that the service gave it', async () => {
    service.addRun({ ...alike, id: 'mine', document: { name: 'nightly 2', threads: 5 } })
    expect(await clean({ repeat })).toBe(true)
    expect(statusOf('mine')).toBe('finished')
    expect(log.of('warning')).toEqual([])
  })

  test('is stopped by its id where that is known', async () => {
    service.addRun({ ...alike, id: 'one' })
    service.addRun({ ...alike, id: 'mine' })
    expect(await clean({ repeat, runId: 'mine' })).toBe(true)
    expect(['one', 'mine'].map(statusOf)).toEqual(['running', 'finished'])
  })
})

describe('the grids that the service made for the run', () => {
  const grid = (id: string, changes: object = {}): object => ({
    ...{ uuid: id, region: 'us-east-1', status: 'started', infrastructure: 'demand', batch_id: 'b1' },
    ...changes
  })
  const grids = [
    grid('own'),
    grid('given', { batch_id: undefined }),
    grid('theirs', { batch_id: 'b0' }),
    grid('shared', { infrastructure: 'shared', stop_after: 0 }),
    grid('ended', { status: 'stopped' })
  ]
  const document = { batch_id: 'b1', _embedded: { grids } }
  const terminated = (): string[] =>
    service.seen.filter(({ operation }) => operation === 'terminateGrid').map(({ path }) => path.slice(-5))

  beforeEach(() => {
    for (const { uuid } of grids as { uuid: string }[]) addGrid(uuid)
  })

  test.each(['running', 'finished'])(
    'outlive one that is %s, and are terminated; no others are',
    async (status) => {
      service.addRun({ id: 'mine', tags: [MARKER], statuses: [status], document })
      expect(await clean({ runId: 'mine', marker: MARKER })).toBe(true)
      expect(terminated()).toEqual(['s/own'])
    }
  )

  test('of a twin that has ended are terminated too', async () => {
    service.addRun({ id: 'mine', tags: [MARKER], statuses: ['finished'] })
    service.addRun({ id: 'twin', tags: [MARKER], statuses: ['finished'], document })
    expect(await clean({ runId: 'mine', marker: MARKER })).toBe(true)
    expect(terminated()).toEqual(['s/own'])
  })

  test('are left alone if they were there before', async () => {
    service.addRun({ id: 'mine', tags: [MARKER], statuses: ['running'], document })
    expect(await clean({ runId: 'mine', marker: MARKER, givenGrids: ['own'] })).toBe(true)
    expect(terminated()).toEqual([])
  })

  test('are left alone if the run is somebody else’s, or ended without a word of batches', async () => {
    const tags = ['loadgate-0b6e1c9e-7d0a-4b60-8f3d-0f4a5a4b7c11']
    service.addRun({ id: 'theirs', tags, statuses: ['finished'], document })
    service.addRun({ id: 'mine', statuses: ['finished'], document: { _embedded: { grids } } })
    expect(await clean({ runId: 'theirs', marker: MARKER })).toBe(true)
    expect(await clean({ runId: 'mine' })).toBe(true)
    expect(terminated()).toEqual([])
  })
})

describe('the grids that the step made', () => {
  test('are terminated, the others are not', async () => {
    for (const id of ['g1', 'g2', 'theirs']) addGrid(id)
    expect(await clean({ madeGrids: ['g1', 'g2'] })).toBe(true)
    expect([...service.grids.values()].map(({ isTerminated }) => isTerminated)).toEqual([true, true, false])
  })

  test('one that is gone is fine', async () => {
    expect(await clean({ madeGrids: ['gone'] })).toBe(true)
    expect(log.of('warning')).toEqual([])
  })

  test.each([400, 404, 409, 422])(
    'one that has ended already, and refuses with %d, is fine',
    async (status) => {
      service.grids.set('g1', { id: 'g1', statuses: ['stopped'], fields: [], isTerminated: false })
      service.meet('terminateGrid', ...Array.from({ length: 50 }, () => faults.answer(status)))
      expect(await clean({ madeGrids: ['g1'] })).toBe(true)
      expect(service.count('terminateGrid')).toBe(1)
      expect(log.of('warning')).toEqual([])
    }
  )

  test.each(['Stopped', 'INVOICED '])('one that is "%s" has ended, and may refuse', async (status) => {
    service.grids.set('g1', { id: 'g1', statuses: [status], fields: [], isTerminated: false })
    service.meet('terminateGrid', ...Array.from({ length: 50 }, () => faults.answer(422)))
    expect(await clean({ madeGrids: ['g1'] })).toBe(true)
    expect(service.count('terminateGrid')).toBe(1)
  })

  test('404 in the middle of a deployment is not taken for the end of one', async () => {
    addGrid('g1')
    service.meet('terminateGrid', faults.answer(404), faults.answer(404))
    service.meet('showGrid', faults.answer(404), faults.answer(404))
    expect(await clean({ madeGrids: ['g1'] })).toBe(true)
    expect(service.grids.get('g1')?.isTerminated).toBe(true)
  })

  test('one whose termination is answered about another one is terminated', async () => {
    addGrid('g1')
    service.meet('terminateGrid', faults.answer(200, { uuid: 'another', status: 'stopped' }))
    expect(await clean({ madeGrids: ['g1'] })).toBe(true)
    expect(service.grids.get('g1')?.isTerminated).toBe(true)
  })

  test('one that is refused for good is warned about, soon', async () => {
    addGrid('g1')
    service.meet('terminateGrid', ...Array.from({ length: 50 }, () => faults.answer(422)))
    expect(await clean({ madeGrids: ['g1'] })).toBe(false)
    expect(clock.elapsedMs).toBeLessThan(30_000)
  })

  test('one whose termination is never answered so that it can be understood is warned about, soon', async () => {
    addGrid('g1')
    service.meet('terminateGrid', ...Array.from({ length: 50 }, () => faults.answer(200, { ok: true })))
    expect(await clean({ madeGrids: ['g1'] })).toBe(false)
    expect(clock.elapsedMs).toBeLessThan(60_000)
  })

  test('one that is seen ended has ended, in whatever form its termination was answered', async () => {
    service.grids.set('g1', { id: 'g1', statuses: ['stopped'], fields: [], isTerminated: false })
    service.meet('terminateGrid', ...Array.from({ length: 50 }, () => faults.answer(200, { ok: true })))
    expect(await clean({ madeGrids: ['g1'] })).toBe(true)
  })

  test('a termination that fails in passing is repeated', async () => {
    addGrid('g1')
    service.meet('terminateGrid', faults.answer(503), faults.dropAfter)
    expect(await clean({ madeGrids: ['g1'] })).toBe(true)
    expect(service.count('terminateGrid')).toBe(3)
  })

  test('a service that is away for a minute does not leave one running', async () => {
    addGrid('g1')
    service.meet('terminateGrid', ...Array.from({ length: 30 }, () => faults.answer(503)))
    expect(await clean({ madeGrids: ['g1'] })).toBe(true)
    expect(service.grids.get('g1')?.isTerminated).toBe(true)
    expect(clock.elapsedMs).toBeGreaterThan(30_000)
    expect(log.of('warning')).toEqual([])
  })

  test('one that cannot be terminated is warned about, and the rest is still ended', async () => {
    service.addRun({ id: 'mine', statuses: ['running'] })
    addGrid('g1')
    addGrid('g2')
    service.meet('terminateGrid', faults.answer(403))
    expect(await clean({ runId: 'mine', madeGrids: ['g1', 'g2'] })).toBe(false)
    expect(log.of('warning')).toEqual([expect.stringMatching(/^Grid g1 may still be running: .*stop_after/)])
    expect(service.grids.get('g2')?.isTerminated).toBe(true)
    expect(statusOf('mine')).toBe('finished')
  })

  test('are terminated even when the run cannot be looked for', async () => {
    addGrid('g1')
    service.meet('listRuns', faults.answer(403))
    expect(await clean({ marker: MARKER, madeGrids: ['g1'] })).toBe(false)
    expect(service.grids.get('g1')?.isTerminated).toBe(true)
  })
})

test('a lagging list does not hold up the grids', async () => {
  addGrid('g1')
  const cleaning = clean({ marker: MARKER, madeGrids: ['g1'] })
  await service.reached('terminateGrid')
  expect(clock.elapsedMs).toBeLessThan(5_000)
  expect(await cleaning).toBe(true)
})

test('when there is no time left, it says so and throws nothing', async () => {
  service.addRun({ id: 'mine', statuses: ['running'] })
  service.meet('stopRun', faults.hold)
  service.meet('terminateGrid', faults.hold)
  addGrid('g1')
  const controller = new AbortController()
  const cleaning = clean({ runId: 'mine', madeGrids: ['g1'] }, controller.signal)
  await service.reached('stopRun')
  await service.reached('terminateGrid')
  controller.abort(new Error('there was no time left'))
  expect(await cleaning).toBe(false)
  expect(log.of('warning').sort()).toEqual([
    expect.stringContaining('Grid g1 may still be running: there was no time left'),
    expect.stringContaining('Run mine may still be running: there was no time left')
  ])
})
