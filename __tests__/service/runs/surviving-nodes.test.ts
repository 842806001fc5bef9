import { afterAll, afterEach, describe, expect, test } from '@jest/globals'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { NodePlace } from '../../../src/service/nodes/load-node.js'
import { createSurvivingPlaces, gridsWithNodes, lose, refuse } from '../../support/surviving-place.js'
import { createKillable } from '../killable-service.js'
import { createWorld, optionsOf, type World, type WorldOptions } from './surviving-world.js'
import {
  type Address,
  createRun,
  createServices,
  type Doc,
  type FormPart,
  get,
  postForm,
  type Reply,
  runForm,
  send,
  SPEC,
  specFields,
  until,
  waitForStatus
} from '../support.js'

const prepareWorld = (options?: WorldOptions): World => createWorld(services.folder(), options)
const services = createServices()
const killable = createKillable()
afterEach(() => services.closeAll())
afterAll(() => {
  killable.killAll()
})

interface NodeDoc {
  readonly grid: string
  readonly region: string
  readonly number: number
  readonly place: string
  readonly started: string | null
  readonly first_sample: number | null
  readonly last_sample: number | null
  readonly rows: number | null
  readonly threads: number | null
  readonly lost: string | null
}

const nodesOf = ({ json }: Reply): readonly NodeDoc[] => (json as Doc & { nodes: NodeDoc[] }).nodes
const rowsOf = ({ text }: Reply): string[] => text.trimEnd().split('\n').slice(1)

const grid = (region: string, quantity = 1): FormPart[] =>
  specFields({ region, instance_quantity: String(quantity) })
const gridForm = (region: string): FormPart[] =>
  SPEC.map(([key, value]): FormPart => [`grid[${key}]`, key === 'region' ? region : value])
const ended = (service: Address, id: string): Promise<Reply> =>
  waitForStatus(service, `/runs/${id}`, ['finished', 'problem'])

describe('a run on nodes elsewhere', () => {
  test('has nodes of its own on a grid that others use, which has none when nobody does', async () => {
    const world = prepareWorld()
    const { folder } = world.world
    const service = await services.start(optionsOf(world))
    const id = (await postForm(service, '/grids', gridForm('west'))).json.uuid
    await waitForStatus(service, `/grids/${id}`, ['started'])
    expect(gridsWithNodes(folder)).toEqual([])
    const form = (): ReturnType<typeof runForm> => runForm({}, [['run[grids][]', id]])
    const runs = [await createRun(service, form()), await createRun(service, form())]
    await until(() => world.starts() === 2)
    expect(gridsWithNodes(folder)).toEqual([id, id])
    await get(service, `/runs/${runs.shift()!}/stop`)
    expect(gridsWithNodes(folder)).toEqual([id])
    world.release()
    for (const run of [...runs, await createRun(service, form())]) {
      expect((await ended(service, run)).json.status).toBe('finished')
      expect(rowsOf(await get(service, `/runs/${run}/result.csv?grid_id=${id}`))).toHaveLength(2)
    }
    await until(() => gridsWithNodes(folder).length === 0)
    const { json } = await get(service, `/grids/${id}`)
    expect(json).toMatchObject({ status: 'started', resources: [{ instance_id: 'node-1', ip: null }] })
  })

  test('starts them for itself, says where each part ran, and gives them back', async () => {
    const world = prepareWorld()
    world.release()
    const service = await services.start(optionsOf(world))
    const id = await createRun(service, runForm({ threads: '3' }, [...grid('east', 2), ...grid('west')]))
    const run = await ended(service, id)
    expect(run.json).toMatchObject({ status: 'finished', remote_errors: null })
    expect(nodesOf(run)).toMatchObject([
      { region: 'east', number: 1, place: 'node-1 on the machine here', rows: 2, threads: 2, lost: null },
      { region: 'east', number: 2, place: 'node-2 on the machine here', rows: 2, threads: 1 },
      { region: 'west', number: 1, rows: 2, threads: 3, cpu_limit: 1, restarts: 0, throttled: 0.25 }
    ])
    expect(nodesOf(run).every(({ started }) => started !== null)).toBe(true)
    for (const { first_sample, last_sample } of nodesOf(run))
      expect(last_sample).toBeGreaterThanOrEqual(first_sample ?? Infinity)
    const [east] = run.json._embedded.grids
    expect(east).toMatchObject({
      origin: 'nodes that survive in east',
      nodes: [{ instance_id: 'node-1', ip: null }, { instance_id: 'node-2' }]
    })
    expect(service.lines.join('\n')).toMatch(/run \w+: the 3 nodes started within \d+ ms/)
    await until(() => gridsWithNodes(world.world.folder).length === 0)
    expect((await get(service, `/grids/${east!.uuid}`)).json.status).toBe('started')
  })

  test('has the times of this machine where a clock is off, also while it runs', async () => {
    const world = prepareWorld({ offsetMs: -3_600_000 })
    const service = await services.start(optionsOf(world))
    const beforeMs = Math.floor(Date.now() / 1000) * 1000
    const id = await createRun(service, runForm({}, grid('east')))
    await until(() => world.starts() === 1)
    const { json } = await get(service, `/runs/${id}`)
    const path = `/runs/${id}/result.csv?grid_id=${json._embedded.grids[0]!.uuid}`
    await until(() => existsSync(join(service.dataDir, 'runs', id, 'nodes')))
    let live = await get(service, path)
    while (live.status !== 200 || rowsOf(live).length === 0) live = await get(service, path)
    world.release()
    await ended(service, id)
    for (const row of [...rowsOf(live), ...rowsOf(await get(service, path))]) {
      const agoMs = Number(row.split(',')[0]) - beforeMs
      expect(agoMs).toBeGreaterThanOrEqual(3_600_000)
      expect(agoMs).toBeLessThan(3_600_000 + 60_000)
    }
  })

  test('is a problem if the nodes of a grid do not start, and those of the others are given back', async () => {
    const world = prepareWorld()
    refuse(world.world.folder, 'west', 'exceeded quota: load')
    const service = await services.start(optionsOf(world))
    const run = await ended(
      service,
      await createRun(service, runForm({}, [...grid('east'), ...grid('west')]))
    )
    expect(run.json).toMatchObject({
      status: 'problem',
      remote_errors: 'Exceeded quota: load'
    })
    expect(world.starts()).toBe(0)
    await until(() => gridsWithNodes(world.world.folder).length === 0)
    expect(run.json._embedded.grids.map(({ status }) => status)).toEqual(['stopped', 'stopped'])
  })

  test('goes on without a node that is lost, and says what was lost with it', async () => {
    const world = prepareWorld()
    const service = await services.start(optionsOf(world))
    const id = await createRun(service, runForm({ threads: '8' }, grid('east', 4)))
    await until(() => world.starts() === 4)
    const gridId = (await get(service, `/runs/${id}`)).json._embedded.grids[0]!.uuid
    const { samplesFile } = { samplesFile: join(service.dataDir, 'runs', id, 'nodes', `${gridId}-2.csv`) }
    await until(() => readFileSync(samplesFile, 'utf8').includes('before'))
    // The last row did not arrive as a whole.
    writeFileSync(samplesFile, '1700000000000,1,be', { flag: 'a' })
    lose(world.world.folder, gridId, 2, 'Evicted: The node was low on resource: memory.')
    await until(() => service.lines.some((line) => line.includes('Evicted')))
    world.release()
    const run = await ended(service, id)
    expect(run.json.status).toBe('problem')
    expect(run.json.remote_errors).toMatch(
      /^Node 2 of 4 in east: Evicted: The node was low on resource: memory\. 2 of 8 threads, 25% of the load, were lost after \d+ s\.$/
    )
    expect(nodesOf(run).map(({ rows, lost }) => [rows, lost !== null])).toEqual([
      ...[
        [2, false],
        [1, true]
      ],
      ...[
        [2, false],
        [2, false]
      ]
    ])
    expect(rowsOf(await get(service, `/runs/${id}/result.csv?grid_id=${gridId}`))).toHaveLength(7)
  })

  test('does not start at all if one node fails before the start', async () => {
    const world = prepareWorld()
    const { folder } = world.world
    const places = createSurvivingPlaces(world.world)
    const placeOf = (region: string): NodePlace | undefined => {
      const place = places.placeOf(region)
      const open: NodePlace['open'] = async (request, signal) => {
        const set = await place!.open(request, signal)
        if (region === 'west') lose(folder, request.gridId, 1, 'OOMKilled')
        return set
      }
      return place && { ...place, open }
    }
    const service = await services.start({ ...optionsOf(world), places: { ...places, placeOf } })
    const run = await ended(
      service,
      await createRun(service, runForm({}, [...grid('west'), ...grid('east')]))
    )
    expect(run.json.status).toBe('problem')
    expect(run.json.remote_errors?.split('\n')).toEqual([
      'Node 1 of 1 in west: OOMKilled. 1 of 2 nodes, 50% of the load, was lost before the start.',
      'No node was started, because node 1 of 1 in west failed before the start'
    ])
    expect(world.starts()).toBe(0)
    await until(() => gridsWithNodes(folder).length === 0)
  })

  test('gives the nodes of a deleted grid back at once, and goes on with the others', async () => {
    const world = prepareWorld()
    const service = await services.start(optionsOf(world))
    const id = await createRun(service, runForm({}, [...grid('east'), ...grid('west')]))
    await until(() => world.starts() === 2)
    const [east, west] = (await get(service, `/runs/${id}`)).json._embedded.grids
    await send(service, 'DELETE', `/grids/${east!.uuid}`)
    expect(gridsWithNodes(world.world.folder)).toEqual([west!.uuid])
    world.release()
    const run = await ended(service, id)
    expect(run.json.status).toBe('problem')
    expect(run.json.remote_errors).toContain(`Grid ${east!.uuid} was deleted`)
    expect(run.json._embedded.grids.map(({ status }) => status)).toEqual(['stopped', 'started'])
  })
})

test('a run that has finished is not said to end with the service, although its nodes are still being given back', async () => {
  const world = prepareWorld()
  world.release()
  const places = createSurvivingPlaces(world.world)
  let giveBack = (): void => undefined
  const mayClose = new Promise<void>((resolve) => (giveBack = resolve))
  const placeOf = (region: string): NodePlace | undefined => {
    const place = places.placeOf(region)
    const open: NodePlace['open'] = async (...request) => {
      const set = await place!.open(...request)
      return { ...set, close: () => mayClose.then(() => set.close()) }
    }
    return place && { ...place, open }
  }
  const service = await services.start({ ...optionsOf(world), places: { ...places, placeOf } })
  await ended(service, await createRun(service, runForm({}, grid('east'))))
  const closing = service.close()
  giveBack()
  await closing
  expect(service.lines.join('\n')).not.toContain('because the service is closing')
})

test('nodes of this machine start together too, and say when', async () => {
  const world = prepareWorld()
  world.release()
  const service = await services.start({ ...optionsOf(world), places: undefined })
  const run = await ended(service, await createRun(service, runForm({}, grid('anywhere', 2))))
  const here = { place: 'this machine', rows: 2, lost: null, started: expect.any(String) }
  expect(nodesOf(run)).toMatchObject([here, here])
  expect(service.lines.join('\n')).toMatch(/run \w+: the 2 nodes started within [\d.]+ m?s\b/)
})

describe('regions', () => {
  test('another one than those there are is refused, for grids and runs', async () => {
    const service = await services.start(optionsOf(prepareWorld()))
    const words = 'there is no region us-east-1: this service has east, west'
    const forGrid = await postForm(service, '/grids', gridForm('us-east-1'))
    expect([forGrid.status, forGrid.json.error]).toEqual([422, `grid: ${words}`])
    const forRun = await postForm(service, '/runs', runForm())
    expect([forRun.status, forRun.json.error]).toEqual([422, `grid 1: ${words}`])
  })
})

describe('after a kill of the service', () => {
  test('runs and grids go on as if nothing had happened, and nothing starts twice', async () => {
    const world = prepareWorld()
    const dataDir = services.folder()
    const first = await killable.start(dataDir, world.home, world.world)
    const standalone = (await postForm(first, '/grids', gridForm('west'))).json.uuid
    await waitForStatus(first, `/grids/${standalone}`, ['started'])
    const id = await createRun(first, runForm({ threads: '4' }, grid('east', 2)))
    const other = await createRun(first, runForm({}, [['run[grids][]', standalone]]))
    await until(() => world.starts() === 3)
    const before = await waitForStatus(first, `/runs/${id}`, ['running'])
    await first.kill()

    const places = createSurvivingPlaces(world.world)
    const second = await services.start({ ...optionsOf(world), places, dataDir })
    const gridId = before.json._embedded.grids[0]!.uuid
    expect(places.cleared).toEqual([
      [
        { runId: id, gridId },
        { runId: other, gridId: standalone }
      ]
    ])
    expect((await get(second, `/grids/${standalone}`)).json.status).toBe('started')
    expect((await get(second, `/runs/${id}`)).json.status).toBe('running')
    world.release()
    const run = await ended(second, id)
    expect(run.json).toMatchObject({
      ...{ status: 'finished', remote_errors: null, started: before.json.started }
    })
    expect(nodesOf(run).map(({ rows }) => rows)).toEqual([2, 2])
    expect((await ended(second, other)).json).toMatchObject({ status: 'finished', remote_errors: null })
    expect(world.starts()).toBe(3)
    await until(() => gridsWithNodes(world.world.folder).length === 0)

    // Both grids serve other runs.
    for (const uuid of [standalone, gridId]) {
      const next = await ended(second, await createRun(second, runForm({}, [['run[grids][]', uuid]])))
      expect(next.json.status).toBe('finished')
    }
    expect(world.starts()).toBe(6)
  })
})
