import { afterAll, describe, expect, test } from '@jest/globals'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { DatabaseSync } from 'node:sqlite'
import type { FastifyInstance, RouteOptions } from 'fastify'
import { systemClock } from '../../../src/contract/clock.js'
import type { GridRecord, RunRecord } from '../../../src/contract/records.js'
import { JMETER_HEADER } from '../../../src/contract/sample-row.js'
import { TeamAccounts } from '../../../src/service/accounts/accounts.js'
import type { User } from '../../../src/service/accounts/users.js'
import { createLoopbackFront } from '../../../src/service/http/front.js'
import { addMetricsRoute, createMetrics } from '../../../src/service/metrics/metrics.js'
import { openStore } from '../../../src/service/serve.js'
import type { SqliteStore } from '../../../src/service/store/sqlite-store.js'
import { makeRandom } from '../../support/data/seeded-random.js'
import { slice } from '../../support/slice.js'
import { HTML, listen, logIn, WITH_PAGES } from '../pages/page-support.js'
import {
  createRun,
  createServices,
  get,
  postForm,
  type Reply,
  runForm,
  send,
  specFields,
  waitForStatus
} from '../support.js'
import { makeWorld, markOf, mayCreate, maySee, type World } from './visibility-world.js'

const SHA = '0123456789abcdef0123456789abcdef01234567'
const UNKNOWN = 'u0u0u0u0u0u0u0u0u0u0u0u0'
const services = createServices()
afterAll(() => services.closeAll())

interface Route {
  readonly method: string
  readonly url: string
  readonly config: RouteOptions['config']
}

interface Caller extends User {
  readonly token: string
  readonly cookie: string
}

interface Started {
  readonly world: World
  readonly service: Awaited<ReturnType<typeof services.start>>
  readonly store: SqliteStore
  readonly routes: readonly Route[]
  readonly callers: readonly Caller[]
}

/** Users with the claims that their issuers would have given them. */
class ClaimedAccounts extends TeamAccounts {
  constructor(
    database: DatabaseSync,
    private readonly claims: ReadonlyMap<number, User['claims']>
  ) {
    super(database, systemClock)
  }

  override admit(token: string): Promise<User | undefined> {
    return Promise.resolve(this.findByToken(token))
  }

  override findByToken(token: string): User | undefined {
    return this.#claim(super.findByToken(token))
  }

  override findBySession(cookie: string): User | undefined {
    return this.#claim(super.findBySession(cookie))
  }

  override findCreator({ id }: Pick<User, 'id'>): User | undefined {
    return this.#claim(this.users().find((user) => user.id === id))
  }

  #claim(user: Pick<User, 'id' | 'name' | 'role'> | undefined): User | undefined {
    const claims = user && this.claims.get(user.id)
    return user && { ...user, ...(claims && { claims }) }
  }
}

/** A run with something of its own in everything that it has, on disk too. */
function furnish(run: RunRecord, mark: string, store: SqliteStore): RunRecord {
  const { folder } = store
  const files = [
    { uuid: `${mark}plan`, name: 'plan.jmx' },
    { uuid: `${mark}file`, name: `${mark}data.csv` }
  ]
  const write = (path: string, name: string, text: string): void => {
    mkdirSync(path, { recursive: true })
    writeFileSync(join(path, name), text)
  }
  for (const { name } of files)
    write(folder.uploadDir(run.id), name, name === 'plan.jmx' ? '<jmeterTestPlan/>' : mark)
  const row = `1000,20,${mark}label,200,OK,${mark} 1-1,text,true,,10,10,1,1,http://t/${mark},10,0,1`
  write(folder.resultsDir(run.id), `${run.gridIds[0]!}.csv`, `${JMETER_HEADER}${row}\n`)
  write(folder.logsDir(run.id), `${mark}node.log`, `${mark} log\n`)
  return {
    ...run,
    files,
    request: {
      ...run.request,
      notes: `Commit: https://github.com/acme/${mark}repo/commit/${SHA}\n${mark}notes`,
      tags: [...run.request.tags, `${mark}tag`]
    },
    ...{ samples: 1, p95Ms: 20, apdex: '1.0 [500]', warnings: [`${mark}warning`] },
    ...(run.status === 'problem' && { remoteErrors: `${mark}error` }),
    thresholds: { text: `p95{label="${mark}label"} < 1s` },
    report: {
      ...{ summary: `${mark}summary`, mean_response_time: 20, mean_concurrency: 1, mean_throughput: 60 },
      ...{ mean_error_rate: 0, rehearsal: false }
    }
  }
}

async function startWorld(seed: number): Promise<Started> {
  const made = makeWorld(seed, { runs: 8 })
  const dataDir = services.folder()
  const store = openStore(dataDir, { log: () => undefined })
  store.database.exec('PRAGMA synchronous = OFF')
  const accounts = new ClaimedAccounts(
    store.database,
    new Map(made.users.map(({ id, claims }) => [id, claims]))
  )
  const tokens = made.users.map(({ name, role }) => {
    const plain = name.replace(':', '_has_').replace('/', '_of_')
    const { token } = accounts.add(plain, role)
    store.database.prepare('UPDATE users SET name = ? WHERE name = ?').run(name, plain)
    return token
  })
  const runs = made.runs.map((run, at) => furnish(run, markOf(seed, at), store))
  for (const [at, grid] of made.grids.entries()) {
    const run = runs[at]
    store.create({ grids: [grid], ...(run && { run }) })
  }
  const metrics = createMetrics({ store, version: '0' })
  const loopback = await createLoopbackFront()
  const routes: Route[] = []
  const watch = (message: unknown): void => {
    const { fastify: app } = message as { fastify: FastifyInstance }
    app.addHook('onRoute', ({ method, url, config }) => {
      for (const one of [method].flat()) routes.push({ method: one, url, config })
    })
  }
  subscribe('fastify.initialization', watch)
  const service = await services.start({
    ...{ dataDir, store, accounts, projects: made.projects, ...WITH_PAGES },
    front: {
      ...loopback,
      prepare: (app) => {
        loopback.prepare(app)
        metrics.watch(app)
        addMetricsRoute(app, metrics, { allow: ['127.0.0.1'] })
      }
    }
  })
  unsubscribe('fastify.initialization', watch)
  const callers = await Promise.all(
    made.users.map(async (user, at) => ({
      ...{ ...user, token: tokens[at]! },
      cookie: await logIn({ url: service.url, token: tokens[at]! })
    }))
  )
  const running = await startRunning(seed, made, { service, callers, store })
  return {
    world: { ...made, runs: [...runs, running.run], grids: [...made.grids, ...running.grids] },
    ...{ service, store, routes, callers }
  }
}

/** A private run that goes on, of whoever may create one. */
async function startRunning(
  seed: number,
  world: World,
  { service, callers, store }: Pick<Started, 'service' | 'callers' | 'store'>
): Promise<{ run: RunRecord; grids: GridRecord[] }> {
  const mark = markOf(seed, 90)
  const creator =
    callers.find((caller) => mayCreate(world, caller, 'shop')) ??
    callers.find(({ role }) => role !== 'viewer')!
  const project = mayCreate(world, creator, 'shop') ? 'shop' : 'unlisted'
  const address = { url: service.url, token: creator.token }
  const fields = {
    duration: '600',
    override_parameters: '-Jrehearsal.realtime=true',
    name: `${mark}name`,
    project
  }
  const form = runForm(fields, [
    ...specFields(),
    { name: 'run_files[]', fileName: `${mark}data.csv`, content: mark }
  ])
  const id = await createRun(address, form)
  await waitForStatus(address, `/runs/${id}`, ['running'])
  const run = store.run(id)!
  return { run, grids: store.gridsOf(run) }
}

/** Everything by which somebody could tell that it is there. */
const marksOf = (item: RunRecord | GridRecord): string[] =>
  'request' in item
    ? [item.id, ...(item.request.name ?? '').replace(/name$/, '').split(' '), ...item.gridIds]
    : [item.id]

const fill = (url: string, id: string, mark: string): string =>
  url
    .replace(':id', id)
    .replace(':file', `${mark}file`)
    .replace(':log', `${mark}node.log`)
    .replace(/:\w+/g, mark)

/** As a program calls the API, and as a browser asks for a page or sends a form. */
function waysOf({ service }: Started, { token, cookie }: Caller) {
  const json = { 'content-type': 'application/json' }
  const form = { 'content-type': 'application/x-www-form-urlencoded', origin: service.url }
  return [
    (method: string, path: string): Promise<Reply> =>
      send({ url: service.url, token }, method, path, {
        headers: method === 'GET' || method === 'HEAD' ? {} : json,
        ...(method === 'PUT' && { body: '{"thresholds":"p95 < 1s"}' })
      }),
    (method: string, path: string): Promise<Reply> =>
      send({ url: service.url, token }, method, path, {
        token: null,
        headers: { ...HTML, cookie, ...(method === 'GET' || method === 'HEAD' ? {} : form) },
        ...(method === 'POST' && { body: 'thresholds=p95+%3C+1s&warm_up=&once=1' })
      })
  ]
}

/** All that a reply says: its headers, its text, and what is packed in it. */
function contentOf({ headers, text, bytes }: Reply): string {
  const isPacked = bytes[0] === 0x1f && bytes[1] === 0x8b
  return `${JSON.stringify(headers)}\n${isPacked ? gunzipSync(bytes).toString('utf8') : text}`
}

/** What does not depend on what was asked for. */
const essence = ({ status, text, headers }: Reply, id: string): unknown => ({
  status,
  text: text.replaceAll(id, UNKNOWN),
  type: headers['content-type'],
  location: String(headers.location ?? '').replaceAll(id, UNKNOWN)
})

/** What a user was shown or told and must not know, as far as all routes with the id of something hidden go. */
async function probeHidden(
  started: Started,
  caller: Caller,
  hidden: readonly (RunRecord | GridRecord)[]
): Promise<string[]> {
  const leaks: string[] = []
  for (const { method, url } of started.routes.filter(
    (route) => route.url.includes(':id') && !route.url.endsWith('/events')
  ))
    for (const ask of waysOf(started, caller)) {
      const nothing = essence(await ask(method, fill(url, UNKNOWN, 'unknown')), UNKNOWN)
      for (const item of hidden) {
        const reply = await ask(method, fill(url, item.id, item.id.replace(/id$/, '')))
        if (JSON.stringify(essence(reply, item.id)) !== JSON.stringify(nothing))
          leaks.push(
            `${caller.name}: ${method} ${url} of ${item.id}: ${reply.status} ${reply.text.slice(0, 200)}`
          )
      }
    }
  return leaks
}

/** The same for everything that can be read, with the ids of hidden runs and grids as what else is asked for. */
async function readAll(
  started: Started,
  caller: Caller,
  {
    seen,
    hidden,
    asked
  }: { seen: readonly RunRecord[]; hidden: readonly (RunRecord | GridRecord)[]; asked: RunRecord | undefined }
): Promise<{ leaks: string[]; shown: number; own: string[] }> {
  const marks = hidden.flatMap(marksOf)
  const leaks: string[] = []
  const own = new Set<string>()
  let shown = 0
  const check = (what: string, reply: Reply, route = ''): void => {
    const content = contentOf(reply)
    const found = marks.find((mark) => content.includes(mark))
    // Where what is seen is found, what is hidden would be found too.
    if (reply.status === 200 && seen.some(({ id }) => content.includes(`${id.replace(/id$/, '')}label`)))
      own.add(route)
    if (found !== undefined) leaks.push(`${caller.name}: ${what} has ${found}`)
    if (reply.status >= 500)
      leaks.push(`${caller.name}: ${what}: ${reply.status} ${reply.text.slice(0, 200)}`)
    if (reply.status === 200) shown++
  }
  const reads = started.routes.filter(
    ({ method, url, config }) => method === 'GET' && config?.effect === undefined && !url.endsWith('/events')
  )
  const queries = ['', '?page=1&project=shop', '?name=q', '?user=ann', '?tag=slow', '?status=finished']
  for (const { url } of reads)
    for (const ask of waysOf(started, caller)) {
      const paths = url.includes(':id')
        ? seen.map((run) => fill(url, run.id, run.id.replace(/id$/, '')))
        : queries.map((query) => `${url}${query}`)
      for (const path of paths) check(path, await ask('GET', path), url)
      const [first] = paths
      if (asked === undefined || first === undefined || !url.includes(':id')) continue
      const about = (id: string, grid: string): string => `${first}?with=${id}&grid_id=${grid}`
      const [one, none] = [
        await ask('GET', about(asked.id, asked.gridIds[0]!)),
        await ask('GET', about(UNKNOWN, UNKNOWN))
      ]
      if (one.status !== none.status)
        leaks.push(`${caller.name}: ${about(asked.id, '')}: ${one.status}, not ${none.status}`)
      if (one.status >= 400) continue
      check(about(asked.id, ''), one)
    }
  return { leaks, shown, own: [...own] }
}

async function followEvents(
  started: Started,
  caller: Caller,
  { seen, hidden }: { seen: readonly RunRecord[]; hidden: readonly RunRecord[] }
) {
  const leaks: string[] = []
  const { world, callers } = started
  const countSeen = (one: Caller): number => world.runs.filter((run) => maySee(world, one, run)).length
  const most = callers.toSorted((one, other) => countSeen(other) - countSeen(one))[0]!
  const paths = started.routes
    .filter(({ method, url }) => method === 'GET' && url.endsWith('/events'))
    .flatMap(({ url }) =>
      url.includes(':id') ? [...seen, ...hidden].map(({ id }) => url.replace(':id', id)) : [url]
    )
  for (const path of paths) {
    // Somebody who sees more is there already: who sees the same gets the same.
    const others = await listen(started.service, path, most.cookie)
    await others.next()
    const listener = await listen(started.service, path, caller.cookie)
    const { statusCode } = listener.response
    const isHidden = hidden.some(({ id }) => path.includes(id))
    if (statusCode !== (isHidden ? 404 : 200)) leaks.push(`${caller.name}: ${path}: ${statusCode}`)
    if (statusCode === 200) await listener.next()
    listener.close()
    others.close()
    const found = hidden.flatMap(marksOf).find((mark) => listener.text().includes(mark))
    if (found !== undefined) leaks.push(`${caller.name}: ${path} has ${found}`)
  }
  return leaks
}

/** Downloads of each kind. */
const HAVE_LABELS = [
  ...['result.csv', 'archive.tar.gz', 'verdict.json', 'thresholds'].map((end) => `/runs/:id/${end}`),
  ...['result.csv', 'archive.tar.gz', 'verdict.json'].map((end) => `/runs/:id/download/${end}`)
]

const SEEDS = Array.from({ length: slice(1, 12) }, (_, at) => at + 1)

describe.each(SEEDS)('in world %i, through every route', (seed) => {
  test('nobody is shown or told what the rule forbids', async () => {
    const started = await startWorld(seed)
    const { world, service, store, callers } = started
    const random = makeRandom(seed)
    const limited = callers.filter((caller) => world.runs.some((run) => !maySee(world, caller, run)))
    const chosen = [...(limited.length === 0 ? callers : limited)].sort(() => random() - 0.5).slice(0, 2)
    const before = store.listRuns({ offset: 0, limit: 100 })
    const statuses = before.runs.map(({ id, status }) => [id, status])
    for (const caller of chosen) {
      const address = { url: service.url, token: caller.token }
      const [seen, hidden] = [true, false].map((isSeen) =>
        world.runs.filter((run) => maySee(world, caller, run) === isSeen)
      ) as [RunRecord[], RunRecord[]]
      const hiddenGrids = world.grids.filter((grid) => !maySee(world, caller, grid))
      // The run that goes on is among them whenever it can be.
      const picked = <T>(items: readonly T[], most: number): T[] =>
        [...items.slice(0, most - 1), ...items.slice(-1)].slice(0, most)
      const probed = [...picked(hidden, 2), ...picked(hiddenGrids, 1)]
      expect(await probeHidden(started, caller, probed)).toEqual([])
      const { leaks, shown, own } = await readAll(started, caller, {
        ...{ seen: picked(seen, 3), hidden: [...hidden, ...hiddenGrids], asked: hidden[0] }
      })
      expect(leaks).toEqual([])
      expect(shown).toBeGreaterThan(10)
      expect(own).toEqual(expect.arrayContaining(seen.length > 1 ? HAVE_LABELS : []))
      expect(
        await followEvents(started, caller, { seen: picked(seen, 2), hidden: picked(hidden, 1) })
      ).toEqual([])
      for (const query of [
        '',
        '?project=shop',
        '?project=unlisted',
        '?tag=slow',
        '?user=ann',
        '?status=problem',
        ...hidden.slice(0, 1).map((run) => `?name=${run.request.name!}`)
      ]) {
        const filter = Object.fromEntries(new URLSearchParams(query))
        const expected = seen.filter(
          ({ request, user, status }) =>
            request.name!.includes(filter.name ?? '') &&
            (filter.project ?? request.project) === request.project &&
            (filter.tag === undefined || request.tags.includes(filter.tag)) &&
            (filter.user ?? user?.name) === user?.name &&
            (filter.status ?? status) === status
        )
        const { json } = await get(address, `/runs${query}`)
        expect([query, json.total, json._embedded.runs.map(({ uuid }) => uuid).sort()]).toEqual([
          ...[query, expected.length],
          expected.map(({ id }) => id).sort()
        ])
      }
      expect((await get(address, '/grids')).json.total).toBe(world.grids.length - hiddenGrids.length)
      const projects = new Set(seen.flatMap(({ request }) => request.project ?? []))
      expect((await get(address, '/projects')).json.total).toBe(projects.size)
      // A grid that nobody sees is like one that is not there.
      for (const grid of hiddenGrids.slice(0, 1)) {
        const using = (id: string): Promise<Reply> =>
          postForm(address, '/runs', runForm({}, [['run[grids][][uuid]', id]]))
        expect(essence(await using(grid.id), grid.id)).toEqual(essence(await using(UNKNOWN), UNKNOWN))
      }
    }
    const metrics = await get(service, '/metrics', { token: null })
    expect(metrics.status).toBe(200)
    expect(world.runs.flatMap(marksOf).filter((mark) => metrics.text.includes(mark))).toEqual([])
    const after = store.listRuns({ offset: 0, limit: 100 })
    expect(after.runs.map(({ id, status }) => [id, status])).toEqual(statuses)
    await service.close()
  }, 180_000)
})
