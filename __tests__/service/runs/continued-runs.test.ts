import { afterEach, describe, expect, test } from '@jest/globals'
import { cpSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createSingleUser } from '../../../src/service/accounts/users.js'
import { systemClock } from '../../../src/contract/clock.js'
import type { ServiceOptions } from '../../../src/service/server.js'
import { ManualClock } from '../../support/manual-clock.js'
import {
  createSurvivingPlaces,
  gridsWithNodes,
  nodesFolder,
  type SurvivingPlaces
} from '../../support/surviving-place.js'
import {
  createRun,
  createServices,
  get,
  type Reply,
  runForm,
  specFields,
  readTables,
  until,
  waitForStatus
} from '../support.js'
import { createWorld, optionsOf, type World } from './surviving-world.js'

const services = createServices()
afterEach(() => services.closeAll())

interface Crashed {
  readonly world: World
  readonly dataDir: string
  readonly id: string
  readonly gridId: string
  readonly startedMs: number
}

/** A service with a run at work, killed: its data and the nodes are as they were at that moment. */
async function crash(quantity = 1): Promise<Crashed> {
  const world = createWorld(services.folder())
  const places = createSurvivingPlaces(world.world)
  const first = await services.start({ ...optionsOf(world), places })
  const id = await createRun(
    first,
    runForm({ threads: '2' }, specFields({ region: 'east', instance_quantity: String(quantity) }))
  )
  await until(() => world.starts() === quantity)
  const { json } = await waitForStatus(first, `/runs/${id}`, ['running'])
  const copy = join(services.folder(), 'data')
  cpSync(first.dataDir, copy, { recursive: true })
  places.detach()
  await first.close()
  rmSync(first.dataDir, { recursive: true })
  renameSync(copy, first.dataDir)
  const startedMs = Date.parse(json.started)
  return { world, dataDir: first.dataDir, id, gridId: json._embedded.grids[0]!.uuid, startedMs }
}

const changeGrid = ({ dataDir, gridId }: Crashed, fields: object): void =>
  readTables(dataDir, ({ grids }) => grids.update({ ...grids.find(gridId)!, ...fields }))
const changeRun = ({ dataDir, id }: Crashed, fields: object): void =>
  readTables(dataDir, ({ runs }) => runs.update({ ...runs.find(id)!, ...fields }))

/** As if it had been killed when the nodes were there, but no tool had started. */
function undoStart(crashed: Crashed, more: object = {}): void {
  changeRun(crashed, { status: 'queued', startedMs: null, goMs: undefined, nodes: undefined, ...more })
  changeGrid(crashed, { status: 'starting', startedMs: null })
  for (const name of ['nodes', 'logs'])
    rmSync(join(crashed.dataDir, 'runs', crashed.id, name), { recursive: true })
}

async function startAgain(
  { world, dataDir }: Crashed,
  clock?: ManualClock,
  more: Partial<ServiceOptions> = {}
): Promise<{ service: Awaited<ReturnType<typeof services.start>>; places: SurvivingPlaces }> {
  const places = createSurvivingPlaces(world.world)
  const service = await services.start({
    ...optionsOf(world),
    places,
    dataDir,
    ...(clock && { clock }),
    ...more
  })
  return { service, places }
}

type Started = Awaited<ReturnType<typeof startAgain>>

const endOf = ({ service }: Started, { id }: Crashed): Promise<Reply> =>
  waitForStatus(service, `/runs/${id}`, ['finished', 'problem'])
async function rowsOf({ service }: Started, { id, gridId }: Crashed): Promise<number> {
  const { text } = await get(service, `/runs/${id}/result.csv?grid_id=${gridId}`)
  return text.trimEnd().split('\n').length - 1
}

/** As if its plan had been compiled. */
function leaveBuild({ dataDir, id }: Crashed): string {
  const file = join(dataDir, 'runs', id, 'build', 'plan.jar')
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, '')
  return file
}

describe('a run that a killed service left behind', () => {
  test('has lost its nodes: that is its problem, and what had arrived is kept', async () => {
    const crashed = await crash()
    const { folder } = crashed.world.world
    renameSync(join(folder, nodesFolder({ ...crashed, runId: crashed.id })), join(folder, 'gone'))
    const again = await startAgain(crashed)
    expect((await endOf(again, crashed)).json).toMatchObject({
      status: 'problem',
      remote_errors: 'They are gone'
    })
    expect(await rowsOf(again, crashed)).toBe(1)
    expect(crashed.world.starts()).toBe(1)
    crashed.world.release()
  })

  test('goes on with what was built for it, because its nodes are at work', async () => {
    const crashed = await crash()
    const built = leaveBuild(crashed)
    crashed.world.release()
    const again = await startAgain(crashed)
    expect((await endOf(again, crashed)).json.status).toBe('finished')
    expect(existsSync(built)).toBe(true)
  })

  test('had not started: its nodes are cleared away, and it gets others', async () => {
    const crashed = await crash()
    const built = leaveBuild(crashed)
    undoStart(crashed)
    crashed.world.release()
    const again = await startAgain(crashed)
    expect(again.places.cleared).toEqual([[]])
    expect((await endOf(again, crashed)).json).toMatchObject({ status: 'finished', remote_errors: null })
    expect(crashed.world.starts()).toBe(2)
    expect(existsSync(built)).toBe(false)
  })

  test('had not started, and its user was removed since: it never does, and its nodes are given back', async () => {
    const crashed = await crash()
    const user = { id: 7, name: 'leaked' }
    undoStart(crashed, { user })
    const accounts = { ...createSingleUser('token', { clock: systemClock }), isRemoved: () => true }
    const again = await startAgain(crashed, undefined, { accounts, token: 'token' })
    expect((await endOf(again, crashed)).json).toMatchObject({
      status: 'problem',
      remote_errors: 'The user who created this run, leaked, was removed before it started.'
    })
    await until(() => gridsWithNodes(crashed.world.world.folder).length === 0)
    expect(crashed.world.starts()).toBe(1)
    crashed.world.release()
  })

  test('had lost its grid to somebody: it ends with that reason, and the nodes are cleared away', async () => {
    const crashed = await crash()
    changeGrid(crashed, { status: 'stopped', ended: { by: 'deleted', atMs: crashed.startedMs + 7000 } })
    const again = await startAgain(crashed)
    expect((await endOf(again, crashed)).json).toMatchObject({
      status: 'problem',
      remote_errors: `Grid ${crashed.gridId} was deleted after 7 s`
    })
    expect(again.places.cleared).toEqual([[]])
    expect(await rowsOf(again, crashed)).toBe(1)
    crashed.world.release()
  })

  test('was being stopped: it is not continued', async () => {
    const crashed = await crash()
    changeRun(crashed, { status: 'stopping' })
    const again = await startAgain(crashed)
    expect((await get(again.service, `/runs/${crashed.id}`)).json).toMatchObject({
      status: 'problem',
      remote_errors: 'The service ended during this run.'
    })
    expect(again.places.cleared).toEqual([[]])
    crashed.world.release()
  })

  test('has no more minutes than it had', async () => {
    const crashed = await crash()
    const clock = new ManualClock(crashed.startedMs + 9 * 60_000)
    const again = await startAgain(crashed, clock)
    expect((await get(again.service, `/runs/${crashed.id}`)).json.status).toBe('running')
    await clock.advance(61_000)
    expect((await endOf(again, crashed)).json).toMatchObject({
      status: 'problem',
      remote_errors: `Grid ${crashed.gridId} was cut off after 10 min by its stop_after of 10 min`
    })
    expect(crashed.world.starts()).toBe(1)
  })

  test('had started one node long before the other: that is a loss of load', async () => {
    const crashed = await crash(2)
    const { world, gridId, id, startedMs } = crashed
    const nodes = nodesFolder({ runId: id, gridId })
    writeFileSync(join(world.world.folder, nodes, '1', id, 'started'), String(startedMs - 20_000))
    world.release()
    const { json } = await endOf(await startAgain(crashed), crashed)
    expect(json.remote_errors).toMatch(
      /^load lost: the 2 nodes started within 2\d\.\d s: first node 1 of 2 in east, last node 2 of 2 in east; until then, only part of the load was generated$/
    )
  })
})
