import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { readFileSync } from 'node:fs'
import { escapeHtml } from '../../../src/report/escape.js'
import { TeamAccounts } from '../../../src/service/accounts/accounts.js'
import { openUsers } from '../../../src/service/accounts/open-users.js'
import type { User } from '../../../src/service/accounts/users.js'
import { parseConfig } from '../../../src/service/config/parse-config.js'
import { Queue } from '../../../src/service/queue/queue.js'
import { serve } from '../../../src/service/serve.js'
import { startService } from '../../../src/service/server.js'
import { openDatabase } from '../../../src/service/store/database.js'
import { ManualClock } from '../../support/manual-clock.js'
import { HTML, listen, logIn, WITH_PAGES } from '../pages/page-support.js'
import {
  createRun,
  createServices,
  finishRun,
  get,
  postForm,
  type Reply,
  runForm,
  send,
  waitForStatus
} from '../support.js'
import { createTeams, type Member, type Team } from './team.js'

const teams = createTeams()
const services = createServices()
afterAll(async () => {
  await teams.closeAll()
  await services.closeAll()
})

const LOGIN =
  'external-url: https://load.example.com\nlogin: { issuer: "https://id.example.com", client-id: x, client-secret-file: x, members: [perf] }'
const projectsOf = (yaml: string) => {
  const { config, problems } = parseConfig(`listen: 127.0.0.1:0\ndata: d\n${LOGIN}\n${yaml}`, '/')
  if (!config) throw new Error(problems.join('\n'))
  return config.projects
}
const SHOP = projectsOf('projects: { shop: { members: [MEMBER], viewers: [viewer] } }')
const REAL_TIME = { duration: '60', override_parameters: '-Jrehearsal.realtime=true' }

let team: Team
beforeAll(async () => {
  team = await teams.start({ projects: SHOP })
})

const create = (member: Member, fields: Record<string, string>): Promise<Reply> =>
  postForm(team.as(member), '/runs', runForm({ duration: '1', ...fields }))

describe('the tag by which a gate finds its runs', () => {
  const tag = 'loadgate-0f4a2b1c-77aa-4f3e-9d3b-1f2e3d4c5b6a'
  const taken = `tag_list: ${tag} is the tag of a gate that somebody else runs; remove it`

  test.each(['public', 'private'])('belongs to whoever had it first: %s', async (privacy_flag) => {
    const { status, json } = await create('member', { privacy_flag, tag_list: `nightly,${tag}` })
    expect(status).toBe(201)
    const refused = await create('other', { tag_list: tag })
    expect([refused.status, refused.json.error]).toEqual([422, taken])
    // Not even an admin makes a gate find two runs; other tags are everybody's.
    expect((await create('admin', { tag_list: tag })).status).toBe(422)
    expect((await create('other', { tag_list: 'nightly,loadgate-nightly' })).status).toBe(201)
    expect((await create('member', { tag_list: tag })).status).toBe(201)
    await waitForStatus(team.as('member'), `/runs/${json.uuid}`, ['finished'])
    const repeated = await send(team.as('admin'), 'POST', `/runs/${json.uuid}/repeat`)
    expect(repeated).toMatchObject({ status: 200, json: { tag_list: ['nightly'] } })
  })

  test('many requests at once: one user has it', async () => {
    const other = tag.replace('0f4a', '1f4a')
    const replies = await Promise.all(
      Array.from({ length: 8 }, (_, at) => create(at % 2 ? 'member' : 'other', { tag_list: other }))
    )
    expect(replies.map(({ status }) => status).sort()).toEqual([201, 201, 201, 201, 422, 422, 422, 422])
  })
})

test.each(['shop ', ' shop', 'shop\u0000x', 'shop\u200b', 'shop\u00a0', 'sh\nop'])(
  'no run can be in the project %j, which looks like another one',
  async (project) => {
    const { status, json } = await create('other', { project })
    expect([status, json.error]).toEqual([
      422,
      'run: project must be text without invisible characters, and without blanks at its ends'
    ])
  }
)

describe('a run in a project of the config file', () => {
  test.each<[Member, number]>([
    ['admin', 201],
    ['member', 201],
    ['other', 403],
    ['viewer', 403]
  ])('by %s: %i', async (member, status) => {
    expect((await create(member, { project: 'shop' })).status).toBe(status)
  })

  test('of somebody who is no member is refused, with the project and who adds members', async () => {
    const { json } = await create('other', { project: 'shop' })
    expect(json.error).toBe(
      'other is not a member of the project shop and cannot create runs in it; whoever operates the service adds members in its config file (projects, shop, members)'
    )
    expect(team.audited().at(-1)).toMatchObject({ action: 'refused', user: 'other', target: 'run.create' })
  })

  test.each(['Shop', 'elsewhere', ''])('not so in the project %j', async (project) => {
    expect((await create('other', { project })).status).toBe(201)
  })

  test.each<[Member, string, number, number, number]>([
    ['admin', 'private', 200, 200, 200],
    ['member', 'private', 200, 200, 200],
    ['viewer', 'private', 200, 403, 403],
    ['other', 'private', 404, 404, 404],
    ['other', 'public', 200, 403, 403]
  ])(
    'of member is for %s, if it is %s: %i, its stop %i, its repeat %i',
    async (who, privacy, seen, stop, repeat) => {
      const id = await createRun(team.as('member'), runForm({ ...REAL_TIME, project: 'shop', privacy }))
      const statusOf = async (path: string): Promise<number> =>
        (await get(team.as(who), `/runs/${id}${path}`)).status
      expect([await statusOf(''), await statusOf('/stop')]).toEqual([seen, stop])
      await get(team.as('admin'), `/runs/${id}/stop`)
      expect(await statusOf('/repeat')).toBe(repeat)
    }
  )

  test('is repeated by its owner as long as they are a member', async () => {
    const dataDir = services.folder()
    const start = (yaml: string) => services.start({ dataDir, projects: projectsOf(yaml), accounts })
    const database = openDatabase(dataDir)
    const accounts = new TeamAccounts(database, new ManualClock())
    const { token } = accounts.add('ann', 'member')
    const first = await start('projects: { shop: { members: [ann] } }')
    const { json } = await finishRun({ url: first.url, token }, runForm({ duration: '1', project: 'shop' }))
    await first.close()
    const next = await start('projects: { shop: { viewers: [ann] } }')
    const address = { url: next.url, token }
    expect((await get(address, `/runs/${json.uuid}`)).status).toBe(200)
    expect((await get(address, `/runs/${json.uuid}/repeat`)).status).toBe(403)
    database.close()
  })
})

test.each<[Record<string, string>, string]>([
  [{ project: 'shop' }, 'its creator, the users of the project shop, and admins (private)'],
  [{ project: 'x' }, 'its creator and admins (private)'],
  [{ privacy: 'public' }, 'everyone who is signed in (public)']
])('the page of a run says who sees it: %j', async (fields, words) => {
  const { json } = await finishRun(team.as('member'), runForm({ duration: '1', ...fields }))
  const cookie = await logIn(team.as('admin'))
  const { text } = await get(team.service, `/runs/${json.uuid}`, {
    token: null,
    headers: { ...HTML, cookie }
  })
  expect(text).toContain(`<dt>Seen by</dt><dd>${escapeHtml(words)}</dd>`)
})

test('without projects everyone sees everything, and the page says so', async () => {
  const open = await teams.start()
  const { json } = await finishRun(open.as('member'), runForm({ duration: '1', project: 'shop' }))
  const cookie = await logIn(open.as('viewer'))
  const headers = { ...HTML, cookie }
  const { status, text } = await get(open.service, `/runs/${json.uuid}`, { token: null, headers })
  expect([status, text.includes('"seenBy":"everyone who is signed in"')]).toEqual([200, true])
  expect((await postForm(open.as('other'), '/runs', runForm({ project: 'shop' }))).status).toBe(201)
})

test('a run that shared the machine with one that others do not see does not name it', async () => {
  const clock = new ManualClock()
  const shared = await teams.start(
    {
      projects: SHOP,
      queue: (placeOf) => new Queue({ maxNodes: Infinity, placeOf, cores: 2, clock, log: () => undefined })
    },
    clock
  )
  const start = async (member: Member): Promise<string> => {
    const id = await createRun(shared.as(member), runForm({ ...REAL_TIME, duration: '600' }))
    await waitForStatus(shared.as(member), `/runs/${id}`, ['running'])
    return id
  }
  const [own, others, second] = [await start('member'), await start('other'), await start('member')]
  await get(shared.as('member'), `/runs/${own}/stop`)
  const warnings = String((await get(shared.as('member'), `/runs/${own}/report`)).json.warnings)
  expect(warnings).toContain('with another run for')
  expect(warnings).toContain(`with run ${second} for`)
  expect(warnings).not.toContain(others)
})

/** Somebody whose issuer may say something else with the next sign-in. */
class ChangingAccounts extends TeamAccounts {
  claims: User['claims'] = { groups: ['perf'] }
  override findBySession(cookie: string): User | undefined {
    const user = super.findBySession(cookie)
    return user && { ...user, ...(this.claims && { claims: this.claims }) }
  }
}

test('events end soon after a right has ended, and not before', async () => {
  const clock = new ManualClock()
  const dataDir = services.folder()
  const database = openDatabase(dataDir)
  const accounts = new ChangingAccounts(database, clock)
  const [ann, ops] = [accounts.add('ann', 'member'), accounts.add('ops', 'admin')]
  const projects = projectsOf('projects: { shop: { viewers: [{ groups: perf }] } }')
  const service = await services.start({ ...WITH_PAGES, dataDir, clock, accounts, projects })
  const id = await createRun(
    { url: service.url, token: ops.token },
    runForm({ ...REAL_TIME, project: 'shop' })
  )
  const cookie = await logIn({ url: service.url, token: ann.token })
  const streams = [
    await listen(service, `/runs/${id}/events`, cookie),
    await listen(service, '/events', cookie)
  ]
  for (const stream of streams) expect(await stream.next()).toBeDefined()
  await clock.advance(30_000)
  expect(streams.map(({ response }) => response.destroyed)).toEqual([false, false])
  accounts.claims = { groups: ['others'] }
  const closed = streams.map(({ response }) => new Promise((resolve) => response.once('close', resolve)))
  await clock.advance(10_000)
  await Promise.all(closed)
  const again = await listen(service, `/runs/${id}/events`, cookie)
  expect(again.response.statusCode).toBe(404)
  again.close()
  database.close()
})

test('the projects of the config file count in a service that was started with it', async () => {
  const dataDir = services.folder()
  const users = openUsers(dataDir, () => undefined)
  const [ann, bob] = [users.add('ann', 'member'), users.add('bob', 'member')]
  users.close()
  const { config } = parseConfig(`listen: 127.0.0.1:0\ndata: ${dataDir}\nprojects: {}`, '/')
  const served = await serve(
    {
      ...{ setUp: config!, rehearse: true, serviceName: undefined, log: () => undefined },
      signal: new AbortController().signal
    },
    { start: startService, pages: WITH_PAGES.pages! }
  )
  const id = await createRun({ url: served.url, token: ann.token }, runForm({ duration: '1' }))
  const replies = [ann, bob].map(
    async ({ token }) => (await get({ url: served.url, token }, `/runs/${id}`)).status
  )
  expect(await Promise.all(replies)).toEqual([200, 404])
  await served.close()
})

test('the example of the docs is read as it says', async () => {
  const page = readFileSync('docs/service.md', 'utf8')
  const [, yaml = ''] = /```yaml\n(projects:.*?)```/s.exec(page) ?? []
  const oidc =
    'oidc: [{ issuer: "https://token.actions.githubusercontent.com", audience: x, allow: [{ repository: acme/*, role: member }] }]'
  const project = projectsOf(`${oidc}\n${yaml}`)?.get('acme/shop')
  expect(project?.members).toEqual([
    { name: 'ann' },
    { name: 'acme/shop' },
    {
      issuer: 'https://token.actions.githubusercontent.com',
      isOfPeople: false,
      claims: [
        ['repository', 'acme/infra'],
        ['environment', 'production']
      ]
    }
  ])
  expect(project?.viewers).toEqual([
    { name: 'bob' },
    { name: 'acme/*' },
    { issuer: 'https://id.example.com', isOfPeople: true, claims: [['groups', 'perf']] }
  ])
})

test('a run cannot be made public later, and the reply says what to do', async () => {
  const { status, json } = await send(team.as('admin'), 'PATCH', '/runs/x/set-public')
  expect([status, json.error]).toEqual([
    404,
    'a run stays private or public as it was created: send run[privacy_flag]=public with POST /runs'
  ])
})
