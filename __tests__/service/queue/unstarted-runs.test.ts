import { afterEach, describe, expect, test } from '@jest/globals'
import type { NodePlace, NodeSet } from '../../../src/service/nodes/load-node.js'
import type { Places } from '../../../src/service/places.js'
import { Queue } from '../../../src/service/queue/queue.js'
import type { ServiceOptions } from '../../../src/service/server.js'
import { openStore, whyNotWritable } from '../../../src/service/serve.js'
import { ManualClock } from '../../support/manual-clock.js'
import { createSurvivingPlaces, gridsWithNodes } from '../../support/surviving-place.js'
import { createWorld, optionsOf } from '../runs/surviving-world.js'
import {
  createRun,
  createServices,
  get,
  readRun,
  runForm,
  specFields,
  until,
  waitForStatus
} from '../support.js'

const services = createServices()
afterEach(() => services.closeAll())

const ENDED = ['finished', 'problem']
const FORM = runForm({}, specFields({ region: 'east', instance_quantity: '2' }))

/** The same places, whose nodes may be waited for or watched. */
function changeOpen(
  places: Places,
  change: (open: () => Promise<NodeSet>, signal: AbortSignal) => Promise<NodeSet>,
  rest: Partial<NodePlace> = {}
): Places {
  return {
    ...places,
    placeOf: (region) => {
      const place = places.placeOf(region)
      return (
        place && {
          ...place,
          ...rest,
          open: (request, signal) => change(() => place.open(request, signal), signal)
        }
      )
    }
  }
}

const withQueue = (clock = new ManualClock()): Partial<ServiceOptions> => ({
  clock,
  queue: (placeOf) => new Queue({ maxNodes: 2, placeOf, cores: 2, clock, log: () => undefined })
})

describe.each([
  ['pods', true],
  ['processes', false]
])('a service that closes while the nodes of a run start, on %s', (_, outlivesService) => {
  test('puts the run back into the queue before those that wait: the next service starts each of them once', async () => {
    const world = createWorld(services.folder())
    const dataDir = services.folder()
    const rest = { outlivesService }
    const places = createSurvivingPlaces(world.world)
    let opening = 0
    const hang = (open: () => Promise<NodeSet>, signal: AbortSignal): Promise<NodeSet> =>
      open().then(async (set) => {
        opening++
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
        await set.close()
        throw signal.reason
      })
    const lines: string[] = []
    const first = await services.start({
      ...optionsOf(world),
      ...withQueue(),
      dataDir,
      places: changeOpen(places, hang, rest),
      log: (line) => lines.push(line)
    })
    const ids = [await createRun(first, FORM), await createRun(first, FORM)]
    await until(() => opening === 1)
    await first.close()
    for (const id of ids) {
      expect(readRun(dataDir, id)).toMatchObject({ status: 'queued', startedMs: null, remoteErrors: null })
      expect(lines).toContain(`run ${id} stays in the queue for the next start`)
    }
    expect([gridsWithNodes(world.world.folder), world.starts()]).toEqual([[], 0])

    const next = await services.start({
      ...optionsOf(world),
      ...withQueue(),
      dataDir,
      places: changeOpen(places, (open) => open(), rest)
    })
    await waitForStatus(next, `/runs/${ids[0]!}`, ['running'])
    expect((await get(next, `/runs/${ids[1]!}`)).json).toMatchObject({ status: 'queued', queue_position: 1 })
    world.release()
    for (const id of ids)
      expect((await waitForStatus(next, `/runs/${id}`, ENDED)).json).toMatchObject({
        status: 'finished',
        remote_errors: null
      })
    expect(world.starts()).toBe(4)
  })
})

describe('a start that cannot be written down', () => {
  const openQuietly = (dataDir: string) => openStore(dataDir, { log: () => undefined })

  test('does not happen: no tool runs, and the run says why', async () => {
    const world = createWorld(services.folder())
    const dataDir = services.folder()
    const store = openQuietly(dataDir)
    const lock = async (open: () => Promise<NodeSet>): Promise<NodeSet> => {
      const set = await open()
      store.database.exec('PRAGMA query_only = 1')
      return set
    }
    const places = changeOpen(createSurvivingPlaces(world.world), lock)
    const service = await services.start({ ...optionsOf(world), dataDir, store, places })
    const id = await createRun(service, FORM)
    world.release()
    const { json } = await waitForStatus(service, `/runs/${id}`, ENDED)
    expect(json).toMatchObject({ status: 'problem', started: null })
    expect(json.remote_errors).toMatch(
      /^The run was not started, because the service could not record it \(.*readonly.*\); free up space/
    )
    expect([world.starts(), gridsWithNodes(world.world.folder)]).toEqual([0, []])
    store.database.exec('PRAGMA query_only = 0')
    await service.close()
    expect(readRun(dataDir, id).status).toBe('problem')
  })

  test('is not even tried while others could not be written either: the queue waits, and goes on by itself', async () => {
    const world = createWorld(services.folder())
    const dataDir = services.folder()
    const store = openQuietly(dataDir)
    const clock = new ManualClock()
    const lines: string[] = []
    const service = await services.start({
      ...optionsOf(world),
      ...{ dataDir, store, clock },
      queue: (placeOf) =>
        new Queue({
          ...{ maxNodes: 2, placeOf, cores: 2, clock, log: (line) => lines.push(line) },
          whyNotNow: () => whyNotWritable(store)
        })
    })
    const ids = [
      await createRun(service, FORM),
      await createRun(service, FORM),
      await createRun(service, FORM)
    ]
    await until(() => world.starts() === 2)
    store.database.exec('PRAGMA query_only = 1')
    world.release()
    await waitForStatus(service, `/runs/${ids[0]!}`, ENDED)
    await until(() => lines.some((line) => line.startsWith('no queued run starts for now')))
    await clock.advance(60_000)
    const show = async (id: string) => (await get(service, `/runs/${id}`)).json
    expect(await show(ids[1]!)).toMatchObject({ status: 'queued', queue_position: 1 })
    expect(await show(ids[2]!)).toMatchObject({ status: 'queued', queue_position: 2 })
    expect(world.starts()).toBe(2)
    expect(lines.filter((line) => line.startsWith('no queued run'))).toHaveLength(1)
    store.database.exec('PRAGMA query_only = 0')
    await clock.advance(5_000)
    for (const id of ids)
      expect((await waitForStatus(service, `/runs/${id}`, ENDED)).json.status).toBe('finished')
    expect(world.starts()).toBe(6)
  })
})
