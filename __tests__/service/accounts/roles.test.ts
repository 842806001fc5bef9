import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import type { FastifyInstance, RouteOptions } from 'fastify'
import fastify from 'fastify'
import { requireDeclaredEffects } from '../../../src/service/accounts/permissions.js'
import { createRun, formOf, get, postForm, postJson, runForm, send, SPEC, waitForStatus } from '../support.js'
import { createLoopbackFront } from '../../../src/service/http/front.js'
import type { ServiceOptions } from '../../../src/service/server.js'
import { openStore } from '../../../src/service/serve.js'
import type { SqliteStore } from '../../../src/service/store/sqlite-store.js'
import { ManualClock } from '../../support/manual-clock.js'
import { HTML } from '../pages/page-support.js'
import { createTeams, type Member, type Team } from './team.js'

const teams = createTeams()
afterAll(() => teams.closeAll())

const REAL_TIME = { duration: '60', override_parameters: '-Jrehearsal.realtime=true' }
const GRID = Object.fromEntries(SPEC)
const WITH_EFFECT = ['run.create', 'run.stop', 'run.repeat', 'grid.create', 'grid.terminate'] as const

interface Route {
  readonly method: string
  readonly url: string
  readonly config: RouteOptions['config']
}

/** A service, and every route that it has. */
async function startWithRoutes(
  options: Partial<ServiceOptions> = {},
  clock?: ManualClock
): Promise<{ team: Team; routes: Route[] }> {
  const routes: Route[] = []
  const watch = (message: unknown): void => {
    const { fastify: app } = message as { fastify: FastifyInstance }
    app.addHook('onRoute', ({ method, url, config }) => {
      for (const one of [method].flat()) routes.push({ method: one, url, config })
    })
  }
  subscribe('fastify.initialization', watch)
  const team = await teams.start(options, clock)
  unsubscribe('fastify.initialization', watch)
  return { team, routes }
}

let team: Team
let routes: Route[]
beforeAll(async () => {
  ;({ team, routes } = await startWithRoutes())
})

const createGrid = async (member: Member): Promise<string> =>
  (await postJson(team.as(member), '/grids', { grid: GRID })).json.uuid

/** Everything that a request could change: every row of both databases, every file and what is in it. */
function readState({ store, team: { database, service } }: Watched): Record<string, string> {
  store.flush()
  const tables = (one: DatabaseSync): string[] =>
    one
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
      .all()
      .map(({ name }) => String(name))
  // That somebody was there is counted once per hour.
  const rows = (one: DatabaseSync, name: string): string => {
    const all = one.prepare(`SELECT * FROM ${name}`).all()
    return JSON.stringify(all, (key, value: unknown) => (key.includes('sign_in') ? undefined : value))
  }
  const databases = [store.database, database].flatMap((one, at) =>
    tables(one).map((name) => [`table ${at} ${name}`, rows(one, name)])
  )
  const files = readdirSync(service.dataDir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/sqlite|audit\.jsonl/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => [path, readFileSync(path, 'utf8')])
  return Object.fromEntries([...databases, ...files]) as Record<string, string>
}

/** When the run has begun to measure: its time stands still, so nothing changes after that. */
async function settledState(watched: Watched, id: string): Promise<Record<string, string>> {
  const hasRows = (state: Record<string, string>): boolean =>
    Object.entries(state).some(([name, text]) => name.includes(id) && name.endsWith('.csv') && text !== '')
  let [last, state] = [{}, readState(watched)]
  while (!hasRows(state) || JSON.stringify(last) !== JSON.stringify(state)) {
    await new Promise((resolve) => setTimeout(resolve, 100))
    ;[last, state] = [state, readState(watched)]
  }
  return state
}

interface Watched {
  readonly team: Team
  readonly store: SqliteStore
  readonly routes: readonly Route[]
}

/** A service in which nothing happens by itself: the clock stands still. */
async function startWatched(
  prepare?: (app: FastifyInstance, store: () => SqliteStore) => void
): Promise<Watched> {
  const clock = new ManualClock()
  const store = openStore(teams.folder(), { log: () => undefined, clock })
  const front = {
    ...(await createLoopbackFront()),
    prepare: (app: FastifyInstance) => prepare?.(app, () => store)
  }
  return { store, ...(await startWithRoutes({ store, front, dataDir: store.folder.path }, clock)) }
}

/** What requests of a viewer to all routes, and every HEAD of an admin, have changed; and what they were allowed. */
async function visitAll(watched: Watched): Promise<{ changes: string[]; allowed: string[] }> {
  const { team: visited, routes: all } = watched
  const id = await createRun(visited.as('member'), runForm(REAL_TIME))
  await waitForStatus(visited.as('viewer'), `/runs/${id}`, ['running'])
  const grid = (await postJson(visited.as('member'), '/grids', { grid: GRID })).json.uuid
  await waitForStatus(visited.as('viewer'), `/grids/${grid}`, ['started'])
  const before = await settledState(watched, id)
  const { origin } = new URL(visited.service.url)
  const allowed: string[] = []
  for (const { method, url, config } of all) {
    if (url.endsWith('/events')) continue
    for (const target of [id, grid]) {
      const path = url.replace(':id', target)
      for (const more of [{}, HTML]) {
        const headers = { origin, 'content-type': 'application/json', ...more }
        const { status } = await send(visited.as('viewer'), method, path, { headers })
        const isOpen = config?.effect === undefined || ['login', 'logout'].includes(config.effect)
        if (!isOpen && status !== 403) allowed.push(`${method} ${path}: ${status}`)
        const { status: ofHead } = await send(visited.as('admin'), 'HEAD', path, { headers: more })
        if (ofHead >= 500) allowed.push(`HEAD ${path}: ${ofHead}`)
      }
    }
  }
  const after = readState(watched)
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  return { changes: [...names].filter((name) => before[name] !== after[name]), allowed }
}

test('all routes with an effect were found', () => {
  const effects = new Set(routes.map(({ config }) => config?.effect))
  expect([...effects]).toEqual(expect.arrayContaining([...WITH_EFFECT, 'login', 'logout']))
})

test('every route that a viewer requests, and every HEAD of an admin, changes nothing', async () => {
  expect(await visitAll(await startWatched())).toEqual({ changes: [], allowed: [] })
})

test.each<[string, (store: SqliteStore) => void, RegExp]>([
  ['a file', ({ folder }) => writeFileSync(join(folder.path, 'noted'), 'x'), /noted$/],
  [
    'a session',
    ({ database }) =>
      database.exec(
        "INSERT OR REPLACE INTO sessions (hash, user_id, token_hash, created_ms, expires_ms) VALUES (x'00', 1, x'00', 1, 1)"
      ),
    /^table 0 sessions$/
  ],
  [
    'a record',
    ({ database }) => database.exec('UPDATE run_records SET record = record || 1'),
    /^table 0 run_records$/
  ]
])('a GET that changes %s without saying so is noticed', async (_, change, expected) => {
  const watched = await startWatched((app, store) => {
    app.get('/innocent', (_request, reply) => {
      change(store())
      return reply.send({})
    })
  })
  const { changes } = await visitAll(watched)
  expect(changes).toEqual([expect.stringMatching(expected)])
})

describe('whose it is decides', () => {
  const MATRIX: [Member, number][] = [
    ['viewer', 403],
    ['other', 403],
    ['member', 200],
    ['admin', 200]
  ]

  test.each(MATRIX)('%s gets %i for a stop of a run of member', async (who, status) => {
    const id = await createRun(team.as('member'), runForm(REAL_TIME))
    const reply = await get(team.as(who), `/runs/${id}/stop`)
    expect(reply.status).toBe(status)
    const { json } = await get(team.as('viewer'), `/runs/${id}`)
    expect(['queued', 'running'].includes(json.status)).toBe(status === 403)
    await get(team.as('admin'), `/runs/${id}/stop`)
  })

  test.each(MATRIX)('%s gets %i for a repeat of a run of member', async (who, status) => {
    const id = await createRun(team.as('member'), runForm({ duration: '1' }))
    await waitForStatus(team.as('viewer'), `/runs/${id}`, ['finished', 'problem'])
    const before = (await get(team.as('viewer'), '/runs')).json.total
    expect((await get(team.as(who), `/runs/${id}/repeat`)).status).toBe(status)
    expect((await get(team.as('viewer'), '/runs')).json.total).toBe(before + (status === 200 ? 1 : 0))
  })

  test.each(MATRIX)('%s gets %i for the termination of a grid of member', async (who, status) => {
    const grid = await createGrid('member')
    expect((await send(team.as(who), 'DELETE', `/grids/${grid}`)).status).toBe(status)
    const { json } = await get(team.as('viewer'), `/grids/${grid}`)
    expect(json.status === 'stopped').toBe(status === 200)
  })

  test.each<[Member, number]>([
    ['viewer', 403],
    ['other', 403],
    ['member', 201],
    ['admin', 201]
  ])("%s gets %i for a run on a grid of member, and on one of member's run", async (who, status) => {
    const run = await createRun(team.as('member'), runForm({ duration: '1' }))
    const ended = await waitForStatus(team.as('viewer'), `/runs/${run}`, ['finished'])
    for (const grid of [await createGrid('member'), ended.json._embedded.grids[0]!.uuid]) {
      await waitForStatus(team.as('viewer'), `/grids/${grid}`, ['started'])
      const form = runForm({ duration: '1' }, [['run[grids][][uuid]', grid]])
      expect((await postForm(team.as(who), '/runs', form)).status).toBe(status)
    }
  })

  test('a refusal says whose it is', async () => {
    const id = await createRun(team.as('member'), runForm({ duration: '1' }))
    const { json } = await get(team.as('other'), `/runs/${id}/stop`)
    expect(json.error).toBe(`run ${id} belongs to member; only member or an admin may do this`)
    expect((await get(team.as('viewer'), `/runs/${id}/stop`)).json.error).toContain(
      'viewer and may only read'
    )
  })
})

describe('a token', () => {
  test.each<[string, number]>([
    ['Bearer TOKEN', 200],
    ['bearer TOKEN', 200],
    ['Bearer TOKENx', 401],
    ['Bearer', 401],
    ['TOKEN', 401],
    ['Digest TOKEN', 401]
  ])('as "Authorization: %s" gets %i', async (value, status) => {
    const { token } = team.as('member')
    const headers = { authorization: value.replace('TOKEN', token) }
    expect((await get(team.service, '/account', { token: null, headers })).status).toBe(status)
  })

  test('is refused as soon as it is replaced, beside the running service', async () => {
    const extra = team.users.add('extra', 'viewer')
    const address = { url: team.service.url, token: extra.token }
    expect((await get(address, '/account')).status).toBe(200)
    const { token } = team.users.rotate('extra')
    expect((await get(address, '/account')).status).toBe(401)
    expect((await get({ ...address, token }, '/account')).status).toBe(200)
    team.users.remove('extra')
    expect((await get({ ...address, token }, '/account')).status).toBe(401)
  })
})

describe('a body that is still on its way when the user is removed', () => {
  const form = formOf(runForm({ duration: '1' }))
  test.each<[string, string, string, string]>([
    ['a run', '/runs', form.headers['content-type']!, String(form.body)],
    ['a grid', '/grids', 'application/json', JSON.stringify({ grid: GRID })]
  ])('creates nothing: %s', async (_, path, type, body) => {
    const { token } = team.users.add('late', 'member')
    const half = Math.floor(body.length / 2)
    const countRuns = async (): Promise<number> => (await get(team.as('admin'), '/runs')).json.total
    const before = await countRuns()
    const { port } = new URL(team.service.url)
    const status = await new Promise((resolve, reject) => {
      const headers = {
        ...{ authorization: `Bearer ${token}`, 'content-type': type },
        'content-length': String(Buffer.byteLength(body))
      }
      const options = { host: '127.0.0.1', port, path, method: 'POST', headers, agent: false }
      const call = request(options, (response) => resolve(response.resume().statusCode))
      call.on('error', reject)
      call.write(body.slice(0, half), () =>
        setTimeout(() => {
          team.users.remove('late')
          call.end(body.slice(half))
        }, 100)
      )
    })
    expect(status).toBe(401)
    expect(await countRuns()).toBe(before)
  })
})

describe('the account', () => {
  const usersSeenBy = async (member: Member): Promise<Record<string, unknown>[]> =>
    (
      (await get(team.as(member), '/account')).json._embedded as unknown as {
        users: Record<string, unknown>[]
      }
    ).users

  test('shows all users to an admin, and to others themselves, never a token', async () => {
    expect((await usersSeenBy('admin')).map(({ email }) => email)).toEqual(
      expect.arrayContaining(['admin', 'member', 'viewer', 'other'])
    )
    for (const member of ['member', 'viewer'] as const) {
      const seen = await usersSeenBy(member)
      expect(seen).toMatchObject([{ email: member, role: member, authentication_token: 'redacted' }])
      const own = Number(seen[0]!.id)
      for (const user of await usersSeenBy('admin')) {
        const { status, text } = await get(team.as(member), `/users/${String(user.id)}`)
        expect(status).toBe(user.id === own ? 200 : 404)
        expect(text).not.toContain('lg_')
      }
    }
  })
})

describe('a route that does not say what it changes', () => {
  test.each(['post', 'put', 'patch', 'delete'] as const)('keeps the service from starting: %s', (method) => {
    const app = fastify()
    requireDeclaredEffects(app)
    expect(() => app[method]('/x', () => 'done')).toThrow('does not declare its effect')
  })

  test('keeps it from starting if HEAD would do it too', () => {
    const app = fastify()
    requireDeclaredEffects(app)
    const config = { effect: 'run.stop' } as const
    expect(() => app.get('/x', { config }, () => 'done')).toThrow('HEAD /x would do what GET does')
  })
})
