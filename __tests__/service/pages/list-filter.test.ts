import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { systemClock } from '../../../src/contract/clock.js'
import { Queue } from '../../../src/service/queue/queue.js'
import { type RunListRequest, type RunPage, Store } from '../../../src/service/store/store.js'
import type { RunRecord } from '../../../src/contract/records.js'
import { HTML, visit, WITH_PAGES } from './page-support.js'
import { createFolders, createServices, get, type Reply } from '../support.js'

const RUNS = 10_000

class CountingStore extends Store {
  lists = 0
  override listRuns(request: RunListRequest): RunPage {
    this.lists++
    return super.listRuns(request)
  }
}

const folders = createFolders()
const services = createServices()
let store: CountingStore
let service: Awaited<ReturnType<typeof services.start>>
let cookie: string

beforeAll(async () => {
  const dataDir = folders.create()
  store = new CountingStore(dataDir)
  for (let n = 1; n <= RUNS; n++) store.saveRun(makeRun(n))
  const queue = (placeOf: ConstructorParameters<typeof Queue>[0]['placeOf']) =>
    Object.assign(
      new Queue({ maxNodes: Infinity, placeOf, cores: 1, clock: systemClock, log: () => undefined }),
      {
        positionOf: (id: string) => (id === `r${RUNS}` ? 3 : null),
        reasonFor: () => undefined
      }
    )
  service = await services.start({ ...WITH_PAGES, dataDir, store, queue })
  cookie = await visit(service)
  const waiting = store.run(`r${RUNS}`)!
  waiting.status = 'queued'
})
afterAll(async () => {
  await services.closeAll()
  folders.remove()
})

function makeRun(n: number): RunRecord {
  const isOdd = n % 2 === 1
  return {
    ...{ id: `r${n}`, batchId: `b${n}`, gridIds: [], files: [], createdMs: n, sequence: n },
    request: {
      ...{ tool: 'jmeter', name: `Nightly <${n}>`, notes: null, project: isOdd ? 'shop & co' : 'site' },
      ...{ tags: n % 100 === 0 ? ['weekly'] : [], privacy: 'private', threads: 1, rampupSec: null },
      ...{ durationSec: 1, hosts: [], properties: [] }
    },
    user: isOdd ? { id: 1, name: 'ann' } : { id: 2, name: '"bob"' },
    ...{ toolVersion: null, status: n % 1000 === 0 ? 'problem' : 'finished', apdex: null, samples: 1 },
    ...{ remoteErrors: null, startedMs: n, stoppedMs: n, report: null }
  }
}

const browse = (query: string): Promise<Reply> =>
  get(service, `/${query}`, { token: null, headers: { ...HTML, cookie } })
const rowsIn = ({ text }: Reply): number => text.split('<tr><th scope="row">').length - 1
const linksIn = ({ text }: Reply): string[] =>
  [...text.matchAll(/<a href="([^"]+)"[^>]*>(?:Newest|← Newer|Older →|Oldest)<\/a>/g)].map(([, href]) =>
    href!.replaceAll('&#38;', '&').replaceAll('&amp;', '&')
  )

test('a page of 10,000 runs has 50 rows, a bounded size, and one question to the store', async () => {
  store.lists = 0
  const reply = await browse('?page=100')
  expect([reply.status, rowsIn(reply), store.lists]).toEqual([200, 50, 1])
  expect(Buffer.byteLength(reply.text)).toBeLessThan(120_000)
  expect(reply.text).toContain('4,951 to 5,000 of 10,000 runs')
})

test.each([
  ['?name=nIGHTLY+%3C9', 1111],
  ['?project=shop+%26+co', 5000],
  ['?project=shop', 0],
  ['?tag=weekly', 100],
  ['?user=%22bob%22', 5000],
  ['?status=problem', 9],
  ['?status=queued', 1],
  ['?user=ann&tag=weekly', 0],
  ['?user=%22bob%22&tag=weekly&status=problem&name=3000', 1]
])('%s shows %d runs, on its page and by the API', async (query, total) => {
  const page = await browse(query)
  expect([page.status, rowsIn(page)]).toEqual([200, Math.min(50, total)])
  expect(page.text.includes('No runs match.')).toBe(total === 0)
  const api = await get(service, `/runs${query}`)
  expect(api.json.total).toBe(total)
  const filter = new URLSearchParams(query)
  for (const link of [...linksIn(page), api.json._links.last.href]) {
    const kept = new URL(link, service.url).searchParams
    kept.delete('page')
    expect(Object.fromEntries(kept)).toEqual(Object.fromEntries(filter))
  }
})

test('the links lead through all pages of a filter', async () => {
  let query = '?tag=weekly'
  let seen = 0
  for (let pages = 1; ; pages++) {
    const reply = await browse(query)
    seen += rowsIn(reply)
    const older = linksIn(reply).find((link) => link.endsWith(`page=${pages + 1}`))
    if (older === undefined) break
    query = older.slice(1)
  }
  expect(seen).toBe(100)
})

test('the form keeps what was asked for, escaped, and its empty fields are no part of the address', async () => {
  const { text } = await browse('?name=%22%3E%3Cscript%3E&status=problem')
  expect(text).toContain('value="&#34;&#62;&#60;script&#62;"')
  expect(text).not.toContain('"><script>')
  expect(text).toContain('<option selected="">problem</option>')
  const sent = await browse('?name=a+b&project=&tag=&user=&status=')
  expect([sent.status, sent.headers.location]).toEqual([303, '/?name=a+b'])
})

test.each(['', '/events'])('an unknown status is told in a sentence: %s', async (path) => {
  const reply = await browse(`${path.slice(1)}?status=runing`)
  expect([reply.status, reply.text]).toEqual([
    400,
    'There is no status "runing"; runs are queued, running, stopping, finished, problem.'
  ])
})

test.each(['?name=a&name=b', `?tag=${'x'.repeat(400)}`, '?page=0'])('%s is refused', async (query) => {
  expect((await browse(query)).status).toBe(400)
  expect((await get(service, `/runs${query}`)).status).toBe(400)
})

test.each(['?page=201', '?tag=weekly&page=3', 'events?tag=weekly&page=3'])(
  'there is no %s',
  async (query) => {
    expect((await browse(query)).status).toBe(404)
  }
)

test('a waiting run has its place in the queue, and each run who started it', async () => {
  const { text } = await browse('?status=queued')
  expect(text).toContain('queued, 3rd</span>')
  expect(text).toContain('<td class="short">site</td><td class="short">&#34;bob&#34;</td>')
})
