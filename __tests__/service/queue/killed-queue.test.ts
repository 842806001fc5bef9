import { afterEach, expect, test } from '@jest/globals'
import { openDatabase } from '../../../src/service/store/database.js'
import { type LoadNode, withRun } from '../../../src/service/nodes/load-node.js'
import type { Places } from '../../../src/service/places.js'
import { createSurvivingPlaces } from '../../support/surviving-place.js'
import { createKillable } from '../killable-service.js'
import { createServedTeams, type ServedTeam } from '../quotas/served-team.js'
import { createWorld, optionsOf } from '../runs/surviving-world.js'
import { createRun, createServices, get, runForm, specFields, until, waitForStatus } from '../support.js'

const services = createServices()
const teams = createServedTeams()
const killable = createKillable()
afterEach(async () => {
  killable.killAll()
  await services.closeAll()
  await teams.closeAll()
})

const ENDED = ['finished', 'problem']

test('a killed service: no tool is started twice, runs that had not started wait again in their order, and none is lost', async () => {
  const world = createWorld(services.folder())
  const dataDir = services.folder()
  const first = await killable.start(dataDir, world.home, undefined, 1)
  const ids: string[] = []
  for (let count = 0; count < 3; count++) ids.push(await createRun(first))
  await until(() => world.starts() === 1)
  await first.kill()
  const next = await killable.start(dataDir, world.home, undefined, 1)
  const ended = await waitForStatus(next, `/runs/${ids[0]!}`, ENDED)
  expect(ended.json).toMatchObject({
    status: 'problem',
    remote_errors: 'The service ended during this run.'
  })
  await until(() => world.starts() === 2)
  expect((await get(next, `/runs/${ids[1]!}`)).json).toMatchObject({
    status: 'running',
    queue_position: null
  })
  expect((await get(next, `/runs/${ids[2]!}`)).json).toMatchObject({ status: 'queued', queue_position: 1 })
  world.release()
  for (const id of ids.slice(1))
    expect((await waitForStatus(next, `/runs/${id}`, ENDED)).json.status).toBe('finished')
  expect(world.starts()).toBe(3)
  expect((await get(next, '/runs')).json.total).toBe(3)
})

test('users take turns across a restart', async () => {
  const world = createWorld(teams.folder())
  const folder = teams.folder()
  const keys = 'max-nodes: 1\ndrain: 0\n'
  const first = await teams.start(keys, { folder, world })
  await createRun(first.as('eve'))
  await until(() => world.starts() === 1)
  const ids = [await createRun(first.as('eve')), await createRun(first.as('ann'))]
  const positionsIn = (service: ServedTeam): Promise<unknown[]> =>
    Promise.all(
      ids.map(
        async (id) =>
          ((await get(service.as('eve'), `/runs/${id}`)).json as { queue_position?: unknown }).queue_position
      )
    )
  expect(await positionsIn(first)).toEqual([2, 1])
  await first.close()
  const next = await teams.start(keys, { folder, world })
  await until(() => world.starts() === 2)
  expect(await positionsIn(next)).toEqual([1, null])
  world.release()
})

test('before any tool starts, it is on the disk that the run has started', async () => {
  const world = createWorld(services.folder())
  const dataDir = services.folder()
  const seen: unknown[] = []
  const service = await services.start({
    ...optionsOf(world),
    dataDir,
    places: watchStarts(createSurvivingPlaces(world.world), () => seen.push(...readRuns(dataDir)))
  })
  const id = await createRun(service, runForm({}, specFields({ region: 'east', instance_quantity: '2' })))
  world.release()
  await waitForStatus(service, `/runs/${id}`, ENDED)
  expect(seen).toHaveLength(2)
  for (const run of seen)
    expect(run).toMatchObject({
      id,
      status: 'running',
      startedMs: expect.any(Number),
      goMs: expect.any(Number)
    })
})

/** As another process would find them. */
function readRuns(dataDir: string): unknown[] {
  const database = openDatabase(dataDir)
  try {
    const rows = database.prepare('SELECT record FROM run_records').all() as { record: string }[]
    return rows.map(({ record }) => JSON.parse(record) as unknown)
  } finally {
    database.close()
  }
}

/** Calls back at the moment in which a node lets its tool start. */
function watchStarts(places: Places, onStart: () => void): Places {
  const watch = (node: LoadNode): LoadNode =>
    withRun(node, (command, signal) =>
      node.run(
        {
          ...command,
          whenReady: async () => {
            await command.whenReady?.()
            onStart()
          }
        },
        signal
      )
    )
  return {
    ...places,
    placeOf: (region) => {
      const place = places.placeOf(region)
      if (place === undefined) return undefined
      return {
        ...place,
        open: async (request, signal) => {
          const set = await place.open(request, signal)
          return { ...set, nodes: set.nodes.map(watch) }
        }
      }
    }
  }
}
