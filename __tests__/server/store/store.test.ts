import { afterAll, describe, expect, test } from '@jest/globals'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RunRecord } from '../../../src/server/store/records.js'
import { createId } from '../../../src/server/store/data-folder.js'
import { JsonStore as Store } from '../../../src/server/store/json-store.js'
import { createFolders, createServices, finishRun, get } from '../support.js'

const folders = createFolders()
const services = createServices()
afterAll(async () => {
  await services.closeAll()
  folders.remove()
})

/** A data folder with one finished run, and the content of its files. */
async function makeFolder(): Promise<{
  dataDir: string
  id: string
  run: Record<string, unknown>
  grid: Record<string, unknown>
}> {
  const service = await services.start()
  const id = (await finishRun(service)).json.uuid
  await service.close()
  const { dataDir } = service
  const [gridFile] = readdirSync(join(dataDir, 'grids'))
  const read = (...path: string[]): Record<string, unknown> =>
    JSON.parse(readFileSync(join(dataDir, ...path), 'utf8')) as Record<string, unknown>
  return { dataDir, id, run: read('runs', id, 'run.json'), grid: read('grids', gridFile!) }
}

describe('files of the data folder that the service did not write', () => {
  let made: ReturnType<typeof makeFolder> | undefined
  const folder = (): ReturnType<typeof makeFolder> => (made ??= makeFolder())

  test.each<{ name: string; change: (run: Record<string, unknown>) => unknown }>([
    { name: 'a list', change: () => [] },
    { name: 'an empty object', change: () => ({}) },
    { name: 'null', change: () => null },
    { name: 'a number', change: () => 7 },
    { name: 'no request', change: (run) => ({ ...run, request: undefined }) },
    { name: 'a request of null', change: (run) => ({ ...run, request: null }) },
    {
      name: 'tags of another type',
      change: (run) => ({ ...run, request: { ...asObject(run.request), tags: 'a' } })
    },
    { name: 'grid ids of another type', change: (run) => ({ ...run, gridIds: 'g' }) },
    { name: 'a grid id that leads elsewhere', change: (run) => ({ ...run, gridIds: ['../../x'] }) },
    {
      name: 'a file name that leads elsewhere',
      change: (run) => ({ ...run, files: [{ uuid: 'u', name: '../x' }] })
    },
    { name: "another run's id", change: (run) => ({ ...run, id: 'abc' }) },
    { name: 'an unknown status', change: (run) => ({ ...run, status: 'odd' }) },
    { name: 'a sequence of another type', change: (run) => ({ ...run, sequence: '1' }) },
    { name: 'a time that is none', change: (run) => ({ ...run, startedMs: 1e300 }) },
    { name: 'nodes of another type', change: (run) => ({ ...run, nodes: [{ grid: 'g' }] }) },
    { name: 'a mark of another type', change: (run) => ({ ...run, mark: '../x' }) },
    { name: 'a report of another shape', change: (run) => ({ ...run, report: { summary: 1 } }) }
  ])('a run.json with $name is ignored, and the rest is served', async ({ change }) => {
    const { dataDir, id, run } = await folder()
    const odd = createId()
    mkdirSync(join(dataDir, 'runs', odd), { recursive: true })
    writeFileSync(join(dataDir, 'runs', odd, 'run.json'), JSON.stringify(change({ ...run, id: odd })))
    const service = await services.start({ dataDir })
    const list = await get(service, '/runs')
    expect([list.json.total, list.json._embedded.runs.map(({ uuid }) => uuid)]).toEqual([1, [id]])
    expect(service.lines.filter((line) => line.includes(odd))).toEqual([
      expect.stringMatching(/run\.json was not written by this service, and is ignored$/)
    ])
    await service.close()
  })

  test.each<{ name: string; change: (grid: Record<string, unknown>) => unknown }>([
    { name: 'a list', change: () => [] },
    { name: 'an empty object', change: () => ({}) },
    { name: 'null', change: () => null },
    { name: 'no spec', change: (grid) => ({ ...grid, spec: undefined }) },
    {
      name: 'no nodes',
      change: (grid) => ({ ...grid, spec: { ...asObject(grid.spec), instanceQuantity: 0 } })
    },
    { name: "another grid's id", change: (grid) => ({ ...grid, id: 'abc' }) },
    { name: 'an unknown status', change: (grid) => ({ ...grid, status: 7 }) }
  ])('a grid with $name is ignored', async ({ change }) => {
    const { dataDir, grid } = await folder()
    const odd = createId()
    writeFileSync(join(dataDir, 'grids', `${odd}.json`), JSON.stringify(change({ ...grid, id: odd })))
    const service = await services.start({ dataDir })
    expect((await get(service, `/grids/${odd}`)).status).toBe(404)
    expect(service.lines.filter((line) => line.includes(odd))).toHaveLength(1)
    await service.close()
  })

  test.each(['[]', '{}', 'null', '{"pid":1,"startTime":"x"}', '{"pid":"2","startTime":"x"}', '{'])(
    'a process %s is ignored, and nothing is ended',
    async (text) => {
      const { dataDir } = await folder()
      for (const file of [join(dataDir, 'processes', '77.json'), join(dataDir, 'service.json')])
        writeFileSync(file, text)
      const service = await services.start({ dataDir })
      expect(service.lines.filter((line) => /\/(processes\/77|service)\.json /.test(line))).toHaveLength(2)
      expect(service.lines.filter((line) => line.includes('ended process'))).toEqual([])
      await service.close()
    }
  )

  test('folders and files in the wrong places are ignored', async () => {
    const { dataDir, id } = await folder()
    mkdirSync(join(dataDir, 'grids', 'folder.json'), { recursive: true })
    mkdirSync(join(dataDir, 'runs', 'empty'), { recursive: true })
    writeFileSync(join(dataDir, 'runs', 'file'), '')
    const service = await services.start({ dataDir })
    expect((await get(service, '/runs')).json._embedded.runs.map(({ uuid }) => uuid)).toEqual([id])
    await service.close()
  })
})

const asObject = (value: unknown): object => value as object

test('records of a version that knew nothing of nodes are read', async () => {
  const { dataDir, id, run, grid } = await makeFolder()
  const older = (record: Record<string, unknown>, ...keys: string[]): string =>
    JSON.stringify(record, (key, value: unknown) => (keys.includes(key) ? undefined : value))
  writeFileSync(join(dataDir, 'runs', id, 'run.json'), older(run, 'nodes', 'mark', 'goMs'))
  writeFileSync(join(dataDir, 'grids', `${String(grid.id)}.json`), older(grid, 'ended'))
  const service = await services.start({ dataDir })
  expect((await get(service, `/runs/${id}`)).json).toMatchObject({
    status: 'finished',
    _embedded: { grids: [{ uuid: grid.id, status: 'stopped' }] }
  })
  expect(service.lines).toEqual([])
})

test('the marker of a folder stays the same, and is made anew if something else is in its place', () => {
  const dataDir = folders.create()
  const open = (): Store => Store.open(dataDir, () => undefined)
  const marker = open().marker()
  expect(marker).toMatch(/^[\da-f]{24}$/)
  expect(open().marker()).toBe(marker)
  expect(Store.open(folders.create(), () => undefined).marker()).not.toBe(marker)
  writeFileSync(join(dataDir, 'marker.json'), '{"marker":"a,b in (c)"}')
  expect(open().marker()).toMatch(/^[\da-f]{24}$/)
})

describe('many runs', () => {
  test('keep their order over a restart, whatever the order of their files', async () => {
    const { dataDir, run } = await makeFolder()
    const store = Store.open(dataDir, () => undefined)
    for (const sequence of [9, 4, 7]) store.saveRun({ ...run, id: createId(), sequence } as RunRecord)
    store.close()
    const again = Store.open(dataDir, () => undefined)
    expect(again.listRuns({ offset: 0, limit: 99 }).runs.map(({ sequence }) => sequence)).toEqual([
      9, 7, 4, 1
    ])
    expect(again.nextSequence()).toBe(10)
  })
})
