import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { RunRecord } from '../../../src/contract/records.js'
import type { PageDocument } from '../../../src/report/page/build-document.js'
import type { Service } from '../../../src/service/server.js'
import { openDatabase } from '../../../src/service/store/database.js'
import { RunTable } from '../../../src/service/store/tables.js'
import { HTML, listen, nextWhere, readDocument, visit, WITH_PAGES } from './page-support.js'
import {
  createFolders,
  createRun,
  createServices,
  finishRun,
  get,
  runForm,
  send,
  specFields,
  waitForStatus
} from '../support.js'
import { ManualClock } from '../../support/manual-clock.js'

const REAL_TIME = { duration: '60', override_parameters: '-Jrehearsal.realtime=true' }

const folders = createFolders()
const services = createServices()
let service: Service
let clock: ManualClock
let cookie: string
let endedId: string
let runningId: string

beforeAll(async () => {
  clock = new ManualClock()
  service = await services.start({ ...WITH_PAGES, clock })
  cookie = await visit(service)
  const ended = await finishRun(
    service,
    runForm({
      name: '<script>alert(1)</script>',
      threads: '3',
      override_parameters: '-Jrehearsal.errors=20'
    })
  )
  endedId = ended.json.uuid
  runningId = await createRun(service, runForm(REAL_TIME))
  await waitForStatus(service, `/runs/${runningId}`, ['running'])
})
afterAll(async () => {
  await services.closeAll()
  folders.remove()
})

const origin = (): string => new URL(service.url).origin
const browse = (path: string, headers: Record<string, string> = {}) =>
  get(service, path, { token: null, headers: { ...HTML, cookie, ...headers } })

describe('the first visit', () => {
  test.each(['/', '/runs/RUN'])('of %s sets a cookie and goes on without the token', async (path) => {
    const address = path.replace('RUN', endedId)
    const reply = await get(service, `${address}?token=${service.token}`, { token: null, headers: HTML })
    expect(reply.status).toBe(303)
    expect(reply.headers.location).toBe(address)
    expect(reply.headers['cache-control']).toBe('no-store')
    const { port } = new URL(service.url)
    const [set] = reply.headers['set-cookie'] ?? []
    expect(set).toMatch(new RegExp(`^loadgate-${port}=[\\w-]{43}; Path=/; HttpOnly; SameSite=Strict$`))
    expect(set).not.toContain(service.token)
  })

  test.each(['?token=guess', '?token=', '?token=a&token=b'])('with "%s" is refused', async (query) => {
    const reply = await get(service, `/${query}`, { token: null, headers: HTML })
    expect(reply.status).toBe(401)
    expect(reply.headers['set-cookie']).toBeUndefined()
    expect(reply.headers['content-type']).toBe('text/plain; charset=utf-8')
    expect(reply.text).toContain('the address that the service printed')
    // A browser that asks for the token would send it with the requests of other sites' pages.
    expect(reply.headers['www-authenticate']).toBeUndefined()
  })

  test('never leaves the service', async () => {
    const reply = await get(service, `//evil.example/?token=${service.token}`, { token: null, headers: HTML })
    expect(reply.headers.location).toBeUndefined()
  })
})

describe('the cookie', () => {
  test('opens the list and a run, without caching, framing or sniffing', async () => {
    for (const path of ['/', `/runs/${endedId}`, `/runs/${runningId}`]) {
      const page = await browse(path)
      expect(page.status).toBe(200)
      expect(page.headers).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-store',
        'x-frame-options': 'DENY',
        'x-content-type-options': 'nosniff'
      })
      expect(page.headers['content-security-policy']).toMatch(
        /^default-src 'none'; style-src 'sha256-[^']+'; script-src 'sha256-[^']+';.* frame-ancestors 'none'$/
      )
      expect(page.text).not.toContain(service.token)
    }
  })

  test.each<[string, string, Record<string, string>]>([
    ['GET', '/api/account', {}],
    ['GET', '/account', {}],
    ['GET', '/users/1', {}],
    ['GET', '/runs', {}],
    ['GET', '/runs/ENDED', { accept: 'application/json' }],
    ['GET', '/runs/ENDED', { accept: '*/*' }],
    ['GET', '/api/runs/ENDED', {}],
    ['GET', '/runs/RUNNING/stop', {}],
    ['GET', '/api/runs/RUNNING/stop', {}],
    ['GET', '/runs/ENDED/repeat', {}],
    ['GET', '/runs/ENDED/report', {}],
    ['GET', '/runs/ENDED/result.csv', {}],
    ['GET', '/api/', {}],
    ['GET', '/api/runs/RUNNING/events', {}],
    ['POST', '/api/runs/RUNNING/stop', {}],
    ['POST', '/runs', {}],
    ['DELETE', '/grids/x', {}]
  ])('does not open %s %s %p', async (method, path, headers) => {
    const address = path.replace('ENDED', endedId).replace('RUNNING', runningId)
    const call = { token: null, headers: { ...HTML, cookie, origin: origin(), ...headers } }
    expect((await send(service, method, address, call)).status).toBe(401)
    expect((await get(service, `/runs/${runningId}`)).json.status).toBe('running')
  })

  test.each([
    ['none', () => ''],
    ['a guess', () => `${cookie.split('=')[0]!}=guess`],
    ['the token itself', () => `${cookie.split('=')[0]!}=${service.token}`],
    ['that of another port', () => cookie.replace(/-\d+=/, '-1=')]
  ])('is %s: nothing opens', async (_, made) => {
    const headers = { ...HTML, cookie: made(), origin: origin() }
    for (const [method, path] of [
      ['GET', '/'],
      ['GET', `/runs/${endedId}`],
      ['GET', `/runs/${runningId}/events`],
      ['GET', '/events'],
      ['POST', `/runs/${runningId}/stop`]
    ] as const) {
      const { status, headers: replied, text } = await send(service, method, path, { token: null, headers })
      expect([status, replied.location, replied['www-authenticate']]).toEqual([401, undefined, undefined])
      expect(text.includes(`name="next" value="${path}"`)).toBe(method === 'GET')
      // What is not a page of its own does not lead to one.
      const events = { ...headers, accept: 'text/event-stream' }
      expect((await send(service, method, path, { token: null, headers: events })).status).toBe(401)
    }
  })

  test.each<[string, Record<string, string>]>([
    ['a foreign host', { host: 'evil.example' }],
    ['a foreign origin', { origin: 'https://evil.example' }],
    ['an origin without a name', { origin: 'null' }]
  ])('does not help %s', async (_, headers) => {
    for (const path of ['/', '/events', `/runs/${endedId}`, `/runs/${runningId}/events`])
      expect((await browse(path, headers)).status).toBe(403)
  })
})

test("a proxy's own credentials are no guesses at a token, however many pages are opened with them", async () => {
  const authorization = `Basic ${Buffer.from('ann:proxy-password').toString('base64')}`
  const statuses = new Set<number>()
  for (let count = 0; count < 25; count++)
    statuses.add((await get(service, '/', { token: null, headers: { ...HTML, authorization } })).status)
  expect([...statuses]).toEqual([401])
})

describe('the API', () => {
  test.each(['cross-site', 'same-site'])('is closed to a browser that calls from a %s page', async (site) => {
    const headers = { 'sec-fetch-site': site }
    expect((await get(service, `/runs/${runningId}/stop`, { headers })).status).toBe(403)
    expect((await get(service, `/runs/${runningId}`)).json.status).toBe('running')
  })

  test.each(['/api/', '/api/events'])('has no page at %s, with the token either', async (path) => {
    expect((await get(service, path, { headers: HTML })).status).toBe(404)
  })

  test('keeps the permalink for callers that want the document', async () => {
    expect((await get(service, `/runs/${endedId}`)).json.uuid).toBe(endedId)
    expect((await get(service, `/api/runs/${endedId}`, { headers: HTML })).json.uuid).toBe(endedId)
  })
})

/** The data block of a page. */
describe('the page of a run that has ended', () => {
  test('is the whole report, without a verdict', async () => {
    const { text } = await browse(`/runs/${endedId}`)
    const shown = readDocument(text)
    expect(shown).toMatchObject({
      headline: 'finished',
      thresholds: [],
      rehearsal: 'rehearsal, synthetic samples'
    })
    expect(shown.live).toBeUndefined()
    expect(shown.run?.facts).toContainEqual(['Threads', '3'])
    expect(shown.views[0]?.labels.map(({ label }) => label).sort()).toEqual(['check & out', 'home'])
    expect(shown.series?.throughput.length).toBeGreaterThan(5)
    expect(shown.details?.overall).toMatchObject({
      atMs: shown.series?.atMs,
      p95Ms: shown.series?.p95Ms,
      failures: shown.series?.failures
    })
    expect(shown.details?.labels.map(({ label }) => label).sort()).toEqual(['check & out', 'home'])
    expect(shown.summary).toContain('transactions passed with')
    expect(shown.grids[0]).toMatchObject({ region: 'us-east-1', nodeCount: 1 })
    const run = await get(service, `/runs/${endedId}`)
    expect(shown.apdex!.targetMs).toBe(500)
    expect(shown.apdex!.score).toBeLessThan(1)
    expect(Number.parseFloat(run.json.apdex!)).toBeCloseTo(shown.apdex!.score, 3)
    expect(text).not.toContain('data-events')
    expect(text).toMatch(/<section id="thresholds"[^>]* hidden="">/)
  })

  test('takes names for text', async () => {
    const { text } = await browse(`/runs/${endedId}`)
    expect(text).toContain('&#60;script&#62;alert(1)')
    expect(text).not.toContain('<script>alert')
  })

  test('says why it failed', async () => {
    const words = '-Jrehearsal.problem=no such class'
    const run = await finishRun(service, runForm({ override_parameters: words }))
    const { text } = await browse(`/runs/${run.json.uuid}`)
    expect(readDocument(text)).toMatchObject({ headline: 'problem', reason: 'No such class' })
  })

  test('does not exist for an unknown run', async () => {
    expect((await browse('/runs/nobody')).status).toBe(404)
    expect((await browse('/runs/nobody/events')).status).toBe(404)
  })
})

describe('a run in progress', () => {
  test('sends events: the complete state in each, at once and again after a reconnect', async () => {
    const moving = new ManualClock()
    const live = await services.start({ ...WITH_PAGES, clock: moving })
    const ticket = await visit(live)
    const id = await createRun(
      live,
      runForm({ ...REAL_TIME, duration: '3600', threads: '4' }, specFields({ instance_quantity: '2' }))
    )
    await waitForStatus(live, `/runs/${id}`, ['running'])
    const page = await get(live, `/runs/${id}`, { token: null, headers: { ...HTML, cookie: ticket } })
    expect(page.text).toContain(`data-events="/runs/${id}/events"`)
    expect(page.headers['content-security-policy']).toContain("connect-src 'self'")
    expect(readDocument(page.text).live).toEqual({
      elapsedMs: null,
      durationMs: 3_600_000,
      now: null,
      quiet: null
    })

    const first = await listen(live, `/runs/${id}/events`, ticket)
    expect(first.response.headers['content-type']).toBe('text/event-stream; charset=utf-8')
    expect(first.response.headers['cache-control']).toBe('no-store')
    expect(await first.next()).toMatchObject({ headline: 'running', live: { elapsedMs: null } })
    expect(first.text()).toMatch(/^retry: 1000\n\ndata: \{/)
    // The rehearsal writes its samples when its own clock has advanced; the next poll finds them. An hour is longer than any poll takes.
    const step = setInterval(() => void moving.advance(1000), 30)
    const later = await nextWhere(
      first,
      ({ live: state }) => (state?.now?.throughput ?? 0) > 0 && state!.elapsedMs! > 5000
    )
    expect(later.live?.now).toMatchObject({ bucketMs: 1000 })
    expect(later.views[0]?.figures.samples).toBeGreaterThan(20)
    expect(Math.max(...later.series!.activeThreads.map(Number))).toBe(4)
    first.close()

    const second = await listen(live, `/runs/${id}/events`, ticket)
    const again = (await second.next()) as PageDocument
    expect(again.views[0]!.figures.samples).toBeGreaterThanOrEqual(later.views[0]!.figures.samples)
    const beside = await listen(live, `/runs/${id}/events`, ticket)
    await beside.next()
    await get(live, `/runs/${id}/stop`)
    // An ended run may be shown once more, when its results have been read.
    let last = await nextWhere(second, ({ headline }) => headline === 'finished')
    for (let next = await second.next(); next !== undefined; next = await second.next())
      last = next as PageDocument
    expect([last.headline, last.live]).toEqual(['finished', undefined])
    await nextWhere(beside, ({ headline }) => headline === 'finished')
    const afterwards = await listen(live, `/runs/${id}/events`, ticket)
    expect(await afterwards.next()).toEqual(last)
    expect(await afterwards.next()).toBeUndefined()
    clearInterval(step)
  })

  test('does not keep the service from closing', async () => {
    const closing = await services.start(WITH_PAGES)
    const id = await createRun(closing, runForm(REAL_TIME))
    const listener = await listen(closing, `/runs/${id}/events`, await visit(closing))
    await listener.next()
    await closing.close()
    while ((await listener.next()) !== undefined);
  })

  test('is stopped by a POST of its own page, and by nothing else of a browser', async () => {
    const id = await createRun(service, runForm(REAL_TIME))
    await waitForStatus(service, `/runs/${id}`, ['running'])
    const post = async (headers: Record<string, string>): Promise<number> =>
      (await send(service, 'POST', `/runs/${id}/stop`, { token: null, headers: { cookie, ...headers } }))
        .status
    expect(await post({})).toBe(401)
    expect(await post({ origin: 'https://evil.example' })).toBe(403)
    expect(await post({ origin: 'null' })).toBe(403)
    expect(await post({ origin: `${origin()}0` })).toBe(403)
    expect(await post({ origin: origin(), host: 'evil.example' })).toBe(403)
    expect(await post({ origin: origin(), cookie: '' })).toBe(401)
    expect((await browse(`/runs/${id}/stop`)).status).toBe(401)
    expect((await get(service, `/runs/${id}`)).json.status).toBe('running')
    expect(await post({ origin: origin() })).toBe(204)
    expect((await get(service, `/runs/${id}`)).json.status).toBe('finished')
  })
})

describe('the list of runs', () => {
  test('has the newest first, with facts and no verdict', async () => {
    const shop = await services.start({ ...WITH_PAGES, clock: new ManualClock() })
    const ticket = await visit(shop)
    const list = async (): Promise<string> =>
      (await get(shop, '/', { token: null, headers: { ...HTML, cookie: ticket } })).text
    expect(await list()).toContain('No runs yet.')
    const first = await finishRun(shop, runForm({ name: 'first <b>', duration: '30' }))
    const second = await finishRun(shop, runForm({ duration: '90', threads: '1' }))
    const html = await list()
    const rows = [...html.matchAll(/<tr><th scope="row">(.*?)<\/tr>/g)].map(([, row]) => row ?? '')
    expect(rows.map((row) => /href="([^"]+)">([^<]+)</.exec(row)?.slice(1))).toEqual([
      [`/runs/${second.json.uuid}`, second.json.uuid],
      [`/runs/${first.json.uuid}`, 'first &#60;b&#62;']
    ])
    const csv = await get(shop, `/runs/${second.json.uuid}/result.csv`)
    expect(rows[0]).toContain(`>${csv.text.trimEnd().split('\n').length - 1}<`)
    expect(rows[0]).toContain(`>${second.json.apdex!}<`)
    expect(rows[0]).toContain('>1:30<')
    expect(rows[1]).toContain('>0:30<')
    expect(rows[1]).toContain('rehearsal, synthetic samples')
    expect(html).not.toMatch(/passed|failed/)
  })

  test('distinguishes a run that lost load from a complete one', async () => {
    const shop = await services.start({ ...WITH_PAGES, clock: new ManualClock() })
    const ticket = await visit(shop)
    await finishRun(shop, runForm())
    const id = await createRun(shop, runForm(REAL_TIME))
    await waitForStatus(shop, `/runs/${id}`, ['running'])
    await get(shop, `/runs/${id}/stop`)
    await waitForStatus(shop, `/runs/${id}`, ['finished'])
    const { text } = await get(shop, '/', { token: null, headers: { ...HTML, cookie: ticket } })
    const statuses = [...text.matchAll(/<td>(<span class="pill[^>]*>[^<]*<\/span>)<\/td>/g)].map(
      ([, status]) => status
    )
    expect(statuses).toEqual([
      expect.stringMatching(
        /^<span class="pill doubtful" title="load lost: stopped by a caller [^"]*">finished, load lost<\/span>$/
      ),
      '<span class="pill neutral">finished</span>'
    ])
  })

  test('is updated with every change', async () => {
    const moving = new ManualClock()
    const shop = await services.start({ ...WITH_PAGES, clock: moving })
    const listener = await listen(shop, '/events', await visit(shop))
    expect(await listener.next()).toContain('No runs yet.')
    const id = await createRun(shop)
    await waitForStatus(shop, `/runs/${id}`, ['finished'])
    await moving.advance(1000)
    expect(await listener.next()).toContain(`href="/runs/${id}"`)
    listener.close()
  })
})

describe('a thousand runs', () => {
  let shop: Service
  let ticket: string
  const moving = new ManualClock()
  const idOf = (sequence: number): string => String(sequence).padStart(24, '0')

  beforeAll(async () => {
    const dataDir = folders.create()
    const database = openDatabase(dataDir)
    const table = new RunTable(database, () => undefined)
    database.exec('BEGIN')
    for (let sequence = 1; sequence <= 1000; sequence++) table.insert(endedRun(sequence))
    database.exec('COMMIT')
    database.close()
    shop = await services.start({ ...WITH_PAGES, dataDir, clock: moving })
    ticket = await visit(shop)
  }, 120_000)

  /** A run that has ended, as the service keeps it. */
  function endedRun(sequence: number): RunRecord {
    const id = idOf(sequence)
    const request = { tool: 'jmeter', name: `run ${sequence}`, notes: null, project: null, tags: [] }
    const wish = {
      privacy: 'private',
      threads: 1,
      rampupSec: null,
      durationSec: 30,
      hosts: [],
      properties: []
    }
    const times = {
      createdMs: sequence * 1000,
      startedMs: sequence * 1000,
      stoppedMs: sequence * 1000 + 30_000
    }
    const result = {
      toolVersion: '5.6.3',
      status: 'finished',
      apdex: '1.0 [500]',
      samples: 100,
      report: null
    }
    const links = { batchId: idOf(0), gridIds: [], files: [{ uuid: idOf(1), name: 'plan.jmx' }] }
    return {
      id,
      ...links,
      sequence,
      request: { ...request, ...wish },
      ...times,
      ...result,
      remoteErrors: null
    } as RunRecord
  }

  const look = (path: string) => get(shop, path, { token: null, headers: { ...HTML, cookie: ticket } })
  const names = (html: string): string[] =>
    [...html.matchAll(/">(run \d+)<\/a>/g)].map(([, name]) => name ?? '')
  const ways = (html: string): string[] =>
    [
      ...(/<nav class="bar pages".*?<\/nav>/s.exec(html)?.[0] ?? '').matchAll(/href="([^"]+)"[^>]*>([^<]+)</g)
    ].map(([, path, words]) => `${words!}: ${path!}`)

  test.each([
    {
      path: '/',
      newest: 1000,
      oldest: 951,
      shown: '1 to 50',
      to: ['Older →: /?page=2', 'Oldest: /?page=20']
    },
    {
      path: '/?page=2',
      newest: 950,
      oldest: 901,
      shown: '51 to 100',
      to: ['← Newer: /', 'Older →: /?page=3', 'Oldest: /?page=20']
    },
    {
      path: '/?page=10',
      newest: 550,
      oldest: 501,
      shown: '451 to 500',
      to: ['Newest: /', '← Newer: /?page=9', 'Older →: /?page=11', 'Oldest: /?page=20']
    },
    {
      path: '/?page=20',
      newest: 50,
      oldest: 1,
      shown: '951 to 1,000',
      to: ['Newest: /', '← Newer: /?page=19']
    }
  ])('are shown fifty per page: $path', async ({ path, newest, oldest, shown, to }) => {
    const { text, status } = await look(path)
    expect(status).toBe(200)
    expect(text.length).toBeLessThan(100_000)
    expect([names(text).length, names(text)[0], names(text).at(-1)]).toEqual([
      50,
      `run ${newest}`,
      `run ${oldest}`
    ])
    expect(text).toContain(`${shown} of 1,000 runs`)
    expect(ways(text)).toEqual(to)
  })

  test.each([
    ['/?page=21', 404],
    ['/?page=0', 400],
    ['/?page=x', 400],
    ['/?page=1&page=2', 400],
    ['/events?page=21', 404],
    ['/events?page=-1', 400]
  ])('%s is rejected with a message', async (path, status) => {
    const reply = await look(path)
    expect([reply.status, reply.text]).toEqual([status, expect.stringMatching(/page/)])
  })

  test('the events of a page are those of that page', async () => {
    const { text } = await look('/?page=3')
    expect(text).toContain('data-events="/events?page=3"')
    const listener = await listen(shop, '/events?page=3', ticket)
    const before = String(await listener.next())
    expect([before.length < 50_000, names(before)[0], names(before).length]).toEqual([true, 'run 900', 50])
    await createRun(shop)
    await moving.advance(1000)
    const after = String(await listener.next())
    expect([names(after)[0], names(after).length]).toEqual(['run 901', 50])
    listener.close()
  })
})
