import { afterEach, describe, expect, test } from '@jest/globals'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { Store } from '../../src/service/store/store.js'
import { runEndlessly, writeJMeter } from './stand-in.js'
import {
  createRun,
  createServices,
  finishRun,
  get,
  readRun,
  readTables,
  runForm,
  specFields,
  until
} from './support.js'

const services = createServices()
afterEach(() => services.closeAll())

type Started = Awaited<ReturnType<typeof services.start>>

/** A run in progress with one sample recorded on each node. */
async function startRun(nodes = '1'): Promise<{ service: Started; id: string }> {
  const pidFile = join(services.folder(), 'pids')
  const home = writeJMeter(services.folder(), runEndlessly(`${pidFile}-$$`))
  const env = { PATH: process.env.PATH, JMETER_HOME: home }
  const service = await services.start({ engine: 'real', env })
  const id = await createRun(service, runForm({}, specFields({ instance_quantity: nodes })))
  await until(
    () => readdirSync(join(pidFile, '..')).filter((name) => /^pids-\d+$/.test(name)).length === Number(nodes)
  )
  return { service, id }
}

const nodesOf = ({ dataDir }: Started, id: string): string => join(dataDir, 'runs', id, 'nodes')

describe('a service that is closed', () => {
  test.each(['1', '2'])('keeps what the %s nodes of a run have measured', async (nodes) => {
    const { service, id } = await startRun(nodes)
    await service.close({ withinMs: 60_000 })
    expect(service.lines).toContainEqual(
      expect.stringContaining(`ending run ${id} because the service is closing`)
    )
    const next = await services.start({ dataDir: service.dataDir })
    const run = await get(next, `/runs/${id}`)
    expect(run.json).toMatchObject({ status: 'problem', apdex: '1.0 [500]' })
    expect(run.json.remote_errors).toBe('The service was closed during this run.')
    expect((await get(next, `/runs/${id}/result.csv`)).text.match(/,endless,/g)).toHaveLength(Number(nodes))
    expect(existsSync(nodesOf(service, id))).toBe(false)
  })

  test.each(['1', '2'])(
    'with no time left leaves the samples of %s nodes for the next start',
    async (nodes) => {
      const { service, id } = await startRun(nodes)
      // It times out before the tools have ended.
      await service.close({ withinMs: 0 })
      expect(readdirSync(nodesOf(service, id)).filter((name) => name.endsWith('.csv'))).toHaveLength(
        Number(nodes)
      )
      const next = await services.start({ dataDir: service.dataDir })
      const run = await get(next, `/runs/${id}`)
      expect(run.json).toMatchObject({ status: 'problem', apdex: '1.0 [500]' })
      expect(run.json.remote_errors).toMatch(
        /^The service was closed during this run\.\nThe results could not be written: there was no time left/
      )
      expect((await get(next, `/runs/${id}/result.csv`)).text.match(/,endless,/g)).toHaveLength(Number(nodes))
      expect(existsSync(nodesOf(service, id))).toBe(false)
    }
  )

  test('reports that a caller had stopped the run before', async () => {
    const { service, id } = await startRun()
    const stop = get(service, `/runs/${id}/stop`).catch(() => undefined)
    await until(() => readStatus(service, id) !== 'running')
    await service.close({ withinMs: 60_000 })
    await stop
    const next = await services.start({ dataDir: service.dataDir })
    expect((await get(next, `/runs/${id}`)).json).toMatchObject({
      status: 'finished',
      remote_errors: expect.stringMatching(/^load lost: stopped by a caller after \d+ s$/)
    })
  })
})

describe('a service that was killed', () => {
  /** What a kill leaves of a run that had ended. */
  async function rewind(): Promise<{ service: Started; id: string; csv: string; grid: string }> {
    const service = await services.start()
    const run = await finishRun(service)
    const { uuid: id } = run.json
    const csv = (await get(service, `/runs/${id}/result.csv`)).text
    await service.close({ withinMs: 60_000 })
    readTables(service.dataDir, ({ runs }) =>
      runs.update({ ...runs.find(id)!, status: 'running', apdex: null, report: null, stoppedMs: null })
    )
    return { service, id, csv, grid: run.json._embedded.grids[0]!.uuid }
  }

  test('between merging and recording it loses nothing', async () => {
    const { service, id, csv } = await rewind()
    const next = await services.start({ dataDir: service.dataDir })
    const run = await get(next, `/runs/${id}`)
    expect(run.json).toMatchObject({ status: 'problem', apdex: expect.stringMatching(/^\d/) })
    expect((await get(next, `/runs/${id}/result.csv`)).text).toBe(csv)
  })

  test('leaves a run that ended with its last sample', async () => {
    const { service, id, csv } = await rewind()
    const next = await services.start({ dataDir: service.dataDir })
    const [timeStamp, elapsed] = csv.trimEnd().split('\n').at(-1)!.split(',').map(Number)
    const stopped = Date.parse((await get(next, `/runs/${id}`)).json.stopped)
    expect(stopped).toBeGreaterThanOrEqual(timeStamp! + elapsed!)
    expect(stopped).toBeLessThan(timeStamp! + 60_000)
  })

  test('before the merge has its nodes’ files merged', async () => {
    const { service, id, csv, grid } = await rewind()
    mkdirSync(nodesOf(service, id))
    const result = join(service.dataDir, 'runs', id, 'results', `${grid}.csv`)
    renameSync(result, join(nodesOf(service, id), `${grid}-1.csv`))
    const next = await services.start({ dataDir: service.dataDir })
    expect((await get(next, `/runs/${id}/result.csv`)).text).toBe(csv)
  })
})

describe('keeping samples', () => {
  test('moves the results, or the nodes’ files if there are none', async () => {
    const pidFile = join(services.folder(), 'pids')
    const home = writeJMeter(services.folder(), runEndlessly(`${pidFile}-$$`))
    const env = { PATH: process.env.PATH, JMETER_HOME: home }
    const dataDir = services.folder()
    const service = await services.start({ engine: 'real', env, dataDir, store: new Store(dataDir) })
    const stopped = await createRun(service)
    await until(() => readdirSync(join(pidFile, '..')).length === 1)
    await get(service, `/runs/${stopped}/stop`)
    const cut = await createRun(
      service,
      runForm({}, specFields({ region: 'eu.west', instance_quantity: '2' }))
    )
    await until(() => readdirSync(join(pidFile, '..')).length === 3)
    const gridOf = async (id: string): Promise<string> =>
      (await get(service, `/runs/${id}`)).json._embedded.grids[0]!.uuid
    const [first, second] = [await gridOf(stopped), await gridOf(cut)]
    await service.close({ withinMs: 0 })
    const folder = join(service.dataDir, 'kept')
    const kept = await service.keepSamples(folder)
    const names = [`eu_west-${second}-node-1.csv`, `eu_west-${second}-node-2.csv`, `us-east-1-${first}.csv`]
    expect(kept).toEqual(names.map((name) => join(folder, name)))
    for (const path of kept) expect(readFileSync(path, 'utf8')).toContain(',endless,')
    expect(await service.keepSamples(folder)).toEqual([])
  })
})

function readStatus({ dataDir }: Started, id: string): unknown {
  return readRun(dataDir, id).status
}
