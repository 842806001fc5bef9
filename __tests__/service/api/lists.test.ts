import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Store } from '../../../src/service/store/store.js'
import { WITH_PAGES } from '../pages/page-support.js'
import {
  createRun,
  createServices,
  finishRun,
  get,
  postJson,
  runForm,
  send,
  SPEC,
  waitForStatus
} from '../support.js'

const services = createServices()
afterAll(() => services.closeAll())

type Listed = Readonly<Record<string, unknown>>
interface List {
  readonly _links: Readonly<Record<string, { href: string }>>
  readonly total: number
  readonly _embedded: Readonly<Record<string, readonly Listed[]>>
}
type Running = Awaited<ReturnType<typeof services.start>>
const listOf = async (service: Running, path: string): Promise<List> =>
  (await get(service, path)).json as unknown as List

const STORES = [
  ['in memory', () => new Store(services.folder())],
  ['in a database', () => undefined]
] as const

describe.each(STORES)('lists of records %s', (_name, makeStore) => {
  let service: Running
  let grids: string[]
  beforeAll(async () => {
    const store = makeStore()
    service = await services.start(store ? { store, dataDir: store.folder.path } : {})
    grids = []
    for (let index = 0; index < 52; index++)
      grids.unshift((await postJson(service, '/grids', { grid: Object.fromEntries(SPEC) })).json.uuid)
    for (const project of ['Shop', 'Café & Co', 'Shop', ''])
      await finishRun(service, runForm({ project, duration: '1' }))
  })

  test('of grids: newest first, in pages, with the grids of runs', async () => {
    const first = await listOf(service, '/grids')
    expect([first.total, first._links]).toEqual([
      56,
      {
        self: { href: '/api/grids?page=1' },
        last: { href: '/api/grids?page=2' },
        next: { href: '/api/grids?page=2' }
      }
    ])
    expect(first._embedded.grids).toHaveLength(50)
    const second = await listOf(service, first._links.next!.href)
    expect(second._links.next).toBeUndefined()
    const ids = [...first._embedded.grids!, ...second._embedded.grids!].map(({ uuid }) => uuid)
    expect(ids.slice(4)).toEqual(grids)
    const { resources, ...alone } = (await get(service, `/grids/${grids[0]!}`)).json as unknown as Listed
    expect(first._embedded.grids![4]).toEqual({ ...alone, nodes: resources })
  })

  test('of projects: by name, each with a link to its runs', async () => {
    const { total, _embedded } = await listOf(service, '/api/projects')
    const links = (_embedded.projects as unknown as List[]).map(({ _links }) => _links.runs!.href)
    expect([total, _embedded.projects]).toEqual([
      2,
      [
        { name: 'Café & Co', total: 1, _links: { runs: { href: links[0] } } },
        { name: 'Shop', total: 2, _links: { runs: { href: links[1] } } }
      ]
    ])
    expect(await Promise.all(links.map(async (href) => (await listOf(service, href)).total))).toEqual([1, 2])
  })

  test.each(['/grids', '/projects', '/runs'])('%s has no page 0', async (path) => {
    expect((await get(service, `${path}?page=0`)).status).toBe(400)
    expect(await listOf(service, `${path}?page=9`)).toMatchObject({ _embedded: { [path.slice(1)]: [] } })
  })
})

describe('what there is of a run', () => {
  let service: Running
  let id: string
  beforeAll(async () => {
    service = await services.start(WITH_PAGES)
    id = (await finishRun(service, runForm({ override_parameters: '-Jshop.password=correct-horse' }))).json
      .uuid
    const logs = service.store.folder.logsDir(id)
    mkdirSync(logs, { recursive: true })
    writeFileSync(join(logs, 'grid-1.log'), 'INFO starts\nlogin with correct-horse\n')
  })

  test.each(['results', 'archives'])('%s: the same list as in the run', async (part) => {
    const run = (await get(service, `/runs/${id}`)).json as unknown as List
    for (const prefix of ['', '/api'])
      expect(await listOf(service, `${prefix}/runs/${id}/${part}`)).toEqual({
        _links: {
          self: { href: `/api/runs/${id}/${part}?page=1` },
          last: { href: `/api/runs/${id}/${part}?page=1` }
        },
        total: 1,
        _embedded: { [part]: run._embedded[part] }
      })
  })

  test('the archive holds the report, its page and the redacted logs', async () => {
    const [archive] = (await listOf(service, `/runs/${id}/archives`))._embedded.archives!
    expect(archive).toEqual({ name: `${id}.tar.gz`, href: `${service.url}/runs/${id}/archive.tar.gz` })
    const authorization = `Basic ${Buffer.from(`${service.token}:x`).toString('base64')}`
    const reply = await fetch(String(archive!.href), { headers: { authorization } })
    expect(reply.headers.get('content-disposition')).toBe(`attachment; filename="${id}.tar.gz"`)
    const folder = services.folder()
    const file = join(folder, 'archive.tar.gz')
    writeFileSync(file, Buffer.from(await reply.arrayBuffer()))
    execFileSync('tar', ['-xzf', file, '-C', folder])
    expect(readdirSync(join(folder, id)).sort()).toEqual(['logs', 'report.html', 'report.json'])
    const read = (name: string): string => readFileSync(join(folder, id, name), 'utf8')
    expect(read('logs/grid-1.log')).toBe('INFO starts\nlogin with ***\n')
    const { json } = await get(service, `/runs/${id}/report`)
    expect({ _links: json._links, ...(JSON.parse(read('report.json')) as object) }).toEqual(json)
    expect(read('report.html')).toContain('Up to ')
    expect(read('report.html')).not.toMatch(/action="|data-events|correct-horse/)
  })

  test('there is nothing before the end', async () => {
    const running = await createRun(
      service,
      runForm({ duration: '60', override_parameters: '-Jrehearsal.realtime=true' })
    )
    for (const part of ['results', 'archives'])
      expect(await listOf(service, `/runs/${running}/${part}`)).toMatchObject({
        total: 0,
        _embedded: { [part]: [] }
      })
    expect((await get(service, `/runs/${running}/archive.tar.gz`)).status).toBe(404)
    await send(service, 'POST', `/runs/${running}/stop`)
    await waitForStatus(service, `/runs/${running}`, ['finished', 'problem'])
  })

  test.each([
    ...['/grids', '/projects', '/runs', '/account', '/users/1', '/runs/ID', '/runs/ID/results'],
    ...['/runs/ID/archives', '/runs/ID/archive.tar.gz', '/runs/ID/report', '/runs/ID/result.csv']
  ])('HEAD %s has the headers of GET, and no body', async (path) => {
    for (const prefix of ['', '/api']) {
      const address = `${prefix}${path.replace('ID', id)}`
      const [head, whole] = [await send(service, 'HEAD', address), await get(service, address)]
      const type = whole.headers['content-type']
      expect([head.status, head.text, head.headers['content-type']]).toEqual([200, '', type])
    }
  })

  test.each(['/runs/x/results', '/runs/x/archives', '/runs/x/archive.tar.gz'])('%s: 404', async (path) => {
    expect((await get(service, path)).status).toBe(404)
  })
})
