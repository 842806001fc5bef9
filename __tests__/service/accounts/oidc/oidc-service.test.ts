import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openUsers } from '../../../../src/service/accounts/open-users.js'
import { parseConfig } from '../../../../src/service/config/parse-config.js'
import { serve, type ServedService } from '../../../../src/service/serve.js'
import { openDatabase } from '../../../../src/service/store/database.js'
import { startService } from '../../../../src/service/server.js'
import { type Call, createFolders, type FormPart, formOf, type Reply, runForm, send } from '../../support.js'
import { HTML } from '../../pages/page-support.js'
import { readLines } from '../team.js'
import { AUDIENCE, makeKey, TestIssuer } from './issuer.js'

const folders = createFolders()
const open: ServedService[] = []
let issuer: TestIssuer
beforeAll(async () => {
  issuer = await TestIssuer.start(folders.create())
})
afterEach(async () => {
  await Promise.all(open.splice(0).map((service) => service.close()))
})
afterAll(async () => {
  await issuer.stop()
  folders.remove()
})

interface Started {
  readonly dataDir: string
  readonly origin: string
  /** The log. */
  readonly lines: string[]
  /** The lines of the audit log of one kind. */
  audited(action: string): Record<string, unknown>[]
  call(method: string, path: string, token: string, call?: Call): Promise<Reply>
}

function issuerKeys({ url, ca }: TestIssuer, userClaim: string): string {
  return `issuer: ${url}, user-claim: ${userClaim}, audience: ${AUDIENCE}, ca: ${ca}`
}

/** As `loadgate serve --config` with an issuer, or those that are given. */
async function start(
  rules = '{ repository: acme/*, role: member }',
  { more = '', folder = folders.create(), issuers = '' } = {}
): Promise<Started> {
  const { config, problems } = parseConfig(
    `listen: 127.0.0.1:0
data: data
drain: 0
metrics: { allow: [127.0.0.1] }
oidc:
${issuers || `  - { ${issuerKeys(issuer, 'repository')}, allow: [${rules}] }`}
${more}`,
    folder
  )
  if (!config) throw new Error(problems.join('\n'))
  const lines: string[] = []
  const served = await serve(
    {
      ...{ setUp: config, rehearse: true, serviceName: undefined, signal: new AbortController().signal },
      log: (line) => void lines.push(line)
    },
    { start: startService, pages: () => import('../../../../src/report/page/served/served-pages.js') }
  )
  open.push(served)
  const dataDir = join(folder, 'data')
  const url = `http://${served.listening ?? ''}`
  return {
    dataDir,
    origin: served.url,
    lines,
    audited: (action) => readLines(join(dataDir, 'audit.jsonl')).filter(({ action: one }) => one === action),
    call: (method, path, token, { headers, ...call } = {}) =>
      send({ url, token }, method, path, {
        ...{ token: null, ...call, headers: { authorization: `Bearer ${token}`, ...headers } }
      })
  }
}

const REAL_TIME = { duration: '600', override_parameters: '-Jrehearsal.realtime=true' }

async function waitFor(
  status: string,
  { service, token, id }: { service: Started; token: string; id: string }
): Promise<void> {
  while ((await service.call('GET', `/runs/${id}`, token)).json.status !== status) await sleep(20)
}

/** A run that goes on until the service ends: a waiting one would start with the next service. */
async function keepBusy(service: Started, token: string): Promise<void> {
  const { json } = await run(service, token, runForm(REAL_TIME))
  await waitFor('running', { service, token, id: json.uuid })
}
const run = (service: Started, token: string, form: FormPart[] = runForm()): Promise<Reply> =>
  service.call('POST', '/runs', token, formOf(form))

describe('a workflow without a secret', () => {
  test('starts a run as its repository, in the project of that name unless it names another', async () => {
    const service = await start()
    const token = await issuer.sign()
    const account = await service.call('GET', '/account', token)
    expect(account.json).toMatchObject({ email: 'acme/shop', _embedded: { users: [{ role: 'member' }] } })
    const created = await run(service, token)
    expect([created.status, created.json]).toMatchObject([201, { user: 'acme/shop' }])
    expect((await run(service, token, runForm({ project: 'Spring' }))).status).toBe(201)
    const projects = await service.call('GET', '/projects', token)
    expect(projects.json._embedded).toMatchObject({
      projects: [
        { name: 'Spring', total: 1 },
        { name: 'acme/shop', total: 1 }
      ]
    })
    expect(service.audited('run.create')).toMatchObject([
      { user: 'acme/shop', role: 'member', status: 201 },
      { user: 'acme/shop' }
    ])
    // The next token of the same repository stops what the first one has started; another repository does not.
    const other = await issuer.sign({ repository: 'acme/cart' })
    const stop = `/runs/${created.json.uuid}/stop`
    expect((await service.call('POST', stop, other)).json.error).toContain('belongs to acme/shop')
    expect((await service.call('POST', stop, await issuer.sign({ jti: '2' }))).status).toBe(200)
  })

  test('has the role of its token: what one environment may do, another may not', async () => {
    const service = await start(
      '{ repository: acme/*, role: viewer }, { repository: acme/shop, environment: production, role: admin }'
    )
    const production = await issuer.sign({ environment: 'production' })
    const other = await issuer.sign()
    expect((await run(service, production)).status).toBe(201)
    expect((await service.call('GET', '/account', other)).json._embedded).toMatchObject({
      users: [{ email: 'acme/shop', role: 'viewer' }]
    })
    const refused = await run(service, other)
    expect([refused.status, refused.json.error]).toEqual([403, expect.stringContaining('is a viewer')])
    expect(service.audited('refused')).toMatchObject([
      { user: 'acme/shop', role: 'viewer', target: 'run.create' }
    ])
  })

  test('takes turns with other repositories', async () => {
    const service = await start()
    const [shop, cart] = [await issuer.sign(), await issuer.sign({ repository: 'acme/cart' })]
    const ids: string[] = []
    for (const token of [shop, shop, shop, cart])
      ids.push((await run(service, token, runForm(REAL_TIME))).json.uuid)
    const positions = await Promise.all(
      ids.map(async (id) => (await service.call('GET', `/runs/${id}`, shop)).json)
    )
    expect(positions).toMatchObject([
      ...[{ queue_position: null }, { queue_position: 2 }, { queue_position: 3 }, { queue_position: 1 }]
    ])
  })

  test('is listed with its issuer, and comes back after it was removed', async () => {
    const service = await start()
    const token = await issuer.sign()
    await service.call('GET', '/account', token)
    const users = openUsers(service.dataDir, () => undefined)
    try {
      expect(users.users()).toMatchObject([{ name: 'acme/shop', issuer: issuer.url }])
      expect(users.remove('acme/shop')).toMatchObject({ name: 'acme/shop', issuer: issuer.url })
      expect(users.users()).toEqual([])
      expect((await service.call('GET', '/account', token)).status).toBe(200)
      expect(users.users()).toMatchObject([{ name: 'acme/shop' }])
    } finally {
      users.close()
    }
  })
})

let gitlab: TestIssuer
beforeAll(async () => {
  gitlab = await TestIssuer.start(folders.create())
})
afterAll(() => gitlab.stop())
const ofGitlab = (): string =>
  `${issuerKeys(gitlab, 'project_path')}, allow: [{ project_path: "*/*", role: member }]`

describe('with a second issuer', () => {
  const second = (): string => `  - { name: gitlab, ${ofGitlab()} }\n`

  test.each(['first', 'second'])(
    'a name is that of one user, also where the %s one comes first',
    async (which) => {
      const projects =
        'projects: { acme/shop: { members: [acme/shop] }, tools: { members: ["gitlab:acme/*"] } }'
      const service = await start(undefined, { more: second() + projects })
      const github = await issuer.sign({ project_path: 'acme/shop' })
      // It says all that a token of the first one would say.
      const other = await gitlab.sign({
        project_path: 'acme/shop',
        repository: 'acme/shop',
        sub: 'acme/shop'
      })
      for (const token of which === 'first' ? [github, other] : [other, github])
        expect((await service.call('GET', '/account', token)).status).toBe(200)
      for (const [token, email] of [[github, 'acme/shop'] as const, [other, 'gitlab:acme/shop'] as const])
        expect((await service.call('GET', '/account', token)).json).toMatchObject({ email })
      const inProject = (project: string): FormPart[] => runForm({ project })
      const own = await run(service, github)
      expect([own.status, own.json]).toMatchObject([201, { user: 'acme/shop' }])
      expect((await service.call('GET', `/runs/${own.json.uuid}`, other)).status).toBe(404)
      const refused = await run(service, other, inProject('acme/shop'))
      expect([refused.status, refused.json.error]).toEqual([
        403,
        expect.stringMatching(/^gitlab:acme\/shop is not a member of the project acme\/shop /)
      ])
      expect((await run(service, github, inProject('tools'))).status).toBe(403)
      expect((await run(service, other, inProject('tools'))).status).toBe(201)
      expect((await run(service, other)).json).toMatchObject({ user: 'gitlab:acme/shop' })
      expect((await service.call('GET', '/projects', other)).json._embedded).toMatchObject({
        projects: [{ name: 'gitlab:acme/shop' }, { name: 'tools' }]
      })
    }
  )
})

describe('an issuer that is put before another one, whose users get another name,', () => {
  const both = (): string =>
    `  - { ${issuerKeys(issuer, 'repository')}, allow: [{ repository: "*/*", role: member }] }
  - { name: gitlab, ${ofGitlab()} }`
  const signGitlab = (path: string): Promise<string> =>
    gitlab.sign({ repository: undefined, project_path: path, sub: path })
  const before = (folder: string): Promise<Started> =>
    start('', {
      folder,
      issuers: `  - { ${ofGitlab()} }`,
      more: 'max-nodes: 1\nprojects: { acme/shop: { members: [acme/shop] } }'
    })

  test('leaves them their runs, and shows none to its own user of the earlier name', async () => {
    const folder = folders.create()
    const first = await before(folder)
    const shop = await signGitlab('acme/shop')
    const idOf = async (token: string, form?: FormPart[]): Promise<string> =>
      (await run(first, token, form)).json.uuid
    const done = await idOf(shop)
    await waitFor('finished', { service: first, token: shop, id: done })
    const elsewhere = await idOf(shop, runForm({ project: 'tools' }))
    await keepBusy(first, await signGitlab('acme/pay'))
    const waiting = await idOf(shop)
    await Promise.all(open.splice(0).map((one) => one.close()))
    const more =
      'max-nodes: 1\nprojects: { acme/shop: { members: [acme/shop] }, "gitlab:acme/shop": { members: ["gitlab:acme/*"] } }'
    const service = await start('', { folder, issuers: both(), more })
    const seenBy = async (token: string) => {
      const list = async (path: string) => (await service.call('GET', path, token)).json
      const { runs, grids } = { ...(await list('/runs'))._embedded, ...(await list('/grids'))._embedded }
      const { total } = await list('/runs?user=gitlab:acme/shop')
      const { _embedded: projects } = await list('/projects')
      return { runs: runs.map(({ uuid }) => uuid), grids: grids.length, ofThisName: total, projects }
    }
    const nothing = { runs: [], grids: 0, ofThisName: 0, projects: { projects: [] } }
    expect(await seenBy(await issuer.sign())).toEqual(nothing)
    const [name, tools] = ['gitlab:acme/shop', 'tools']
    expect(await seenBy(shop)).toMatchObject({
      ...{ runs: [waiting, elsewhere, done], grids: 3, ofThisName: 3 },
      projects: {
        projects: [
          { name, total: 2 },
          { name: tools, total: 1 }
        ]
      }
    })
    expect((await service.call('GET', `/runs/${done}`, shop)).json).toMatchObject({ user: name })
    // Another one of the project sees what is the project's.
    const docs = await signGitlab('acme/docs')
    expect((await seenBy(docs)).runs).toEqual([waiting, done])
    expect((await service.call('GET', `/runs/${done}`, docs)).status).toBe(200)
    expect((await service.call('GET', `/runs/${elsewhere}`, docs)).status).toBe(404)
    for (;;) {
      const { status, remote_errors: why } = (await service.call('GET', `/runs/${waiting}`, shop)).json
      expect(why ?? '').toBe('')
      if (status === 'finished') break
      await sleep(20)
    }
  })

  test('does so completely, or the service does not start', async () => {
    const folder = folders.create()
    const first = await before(folder)
    await run(first, await signGitlab('acme/shop'))
    await Promise.all(open.splice(0).map((one) => one.close()))
    const database = openDatabase(first.dataDir)
    database.exec(
      "CREATE TRIGGER full BEFORE UPDATE ON grids BEGIN SELECT raise(ABORT, 'database or disk is full'); END"
    )
    await expect(start('', { folder, issuers: both() })).rejects.toThrow('full')
    const rows = 'SELECT users.name, project FROM users JOIN runs ON user_id = users.id'
    expect(database.prepare(rows).all()).toMatchObject([{ name: 'acme/shop', project: 'acme/shop' }])
    database.exec('DROP TRIGGER full')
    await start('', { folder, issuers: both() })
    const name = 'gitlab:acme/shop'
    expect(database.prepare(rows).all()).toMatchObject([{ name, project: name }])
    database.close()
  })
})

describe('a waiting run whose creator', () => {
  const ALL = '{ repository: acme/*, role: member }'
  /** A run that waits while another one is at work; then the service is started with another config file. */
  async function restart(rules: string, more: readonly [before: string, after: string] = ['', '']) {
    const folder = folders.create()
    const before = await start(ALL, { folder, more: more[0] })
    const shop = await issuer.sign()
    await keepBusy(before, shop)
    const waiting = await run(before, await issuer.sign({ repository: 'acme/cart' }))
    expect(waiting.json).toMatchObject({ queue_position: 1 })
    await Promise.all(open.splice(0).map((one) => one.close()))
    const after = await start(rules, { folder, more: more[1] })
    const read = async () => (await after.call('GET', `/runs/${waiting.json.uuid}`, shop)).json
    for (;;) {
      const shown = await read()
      if (!['queued', 'starting', 'running', 'stopping'].includes(shown.status)) return shown
      await sleep(20)
    }
  }

  test('is no longer let in ends at its turn', async () => {
    expect(await restart('{ repository: acme/shop, role: admin }')).toMatchObject({
      status: 'problem',
      remote_errors:
        'The user who created this run, acme/cart, is no longer let in by the config file of the service (oidc, login).'
    })
  })

  test('may only read by now ends at its turn', async () => {
    const rules = '{ repository: acme/shop, role: admin }, { repository: acme/*, role: viewer }'
    expect(await restart(rules)).toMatchObject({
      status: 'problem',
      remote_errors:
        'The user who created this run, acme/cart, may not start it any more: acme/cart is a viewer and may only read; ask an admin for the role member.'
    })
  })

  test('is no member of its project any more ends at its turn', async () => {
    const rules = '{ repository: acme/shop, role: admin }, { repository: acme/*, role: member }'
    const list = (members: string): string => `projects: { acme/cart: { members: [${members}] } }`
    expect(await restart(rules, [list('acme/*'), list('acme/other')])).toMatchObject({
      status: 'problem',
      remote_errors: expect.stringMatching(
        /may not start it any more: acme\/cart is not a member of the project/
      )
    })
  })

  test('is let in as before starts', async () => {
    expect(await restart(`{ repository: acme/shop, role: admin }, ${ALL}`)).toMatchObject({
      status: 'finished'
    })
  })
})

describe('a refusal is in the reply and in the audit log:', () => {
  test('a fork’s token', async () => {
    const service = await start()
    const fork = await issuer.sign({ repository: 'mallory/shop' })
    const reply = await run(service, fork)
    const why = expect.stringMatching(/^no rule of this service lets in .* repository "mallory\/shop"; /)
    expect([reply.status, reply.json.error]).toEqual([403, why])
    expect(service.audited('refused')).toMatchObject([
      { user: null, target: 'run.create', status: 403, reason: why }
    ])
  })

  test('a wrong token, which counts as a guess; a right one is let in all the same', async () => {
    const service = await start()
    const wrong = await issuer.sign({ aud: 'https://other.example' })
    const first = await service.call('GET', '/account', wrong)
    const why =
      'the token of an issuer is refused: it is for the audience "https://other.example", and not for https://load.example.com'
    expect([first.status, first.json.error]).toEqual([401, why])
    expect(first.headers['www-authenticate']).toBe('Bearer realm="loadgate", error="invalid_token"')
    expect(service.audited('login.failed')).toMatchObject([{ status: 401, reason: why }])
    const forged = await issuer.sign({}, { key: { ...(await makeKey('first')), kid: 'first' } })
    for (let i = 0; i < 19; i++) expect((await service.call('GET', '/account', forged)).status).toBe(401)
    const limited = await service.call('GET', '/account', forged)
    expect([limited.status, limited.headers['retry-after']]).toEqual([429, expect.stringMatching(/^\d+$/)])
    expect((await service.call('GET', '/account', await issuer.sign())).status).toBe(200)
    expect((await service.call('GET', '/account', 'lg_wrong')).status).toBe(429)
  })

  test('an issuer that is down, which is nobody’s guess', async () => {
    const service = await start()
    const token = await issuer.sign()
    await issuer.stop()
    try {
      for (let i = 0; i < 25; i++) {
        const reply = await service.call('GET', '/account', token)
        expect([reply.status, reply.headers['retry-after']]).toEqual([503, '5'])
        expect(reply.json.error).toMatch(/^the token cannot be checked: the keys of its issuer https:/)
      }
      expect((await service.call('GET', '/account', 'lg_wrong')).status).toBe(401)
      expect(service.audited('login.failed')[0]).toMatchObject({
        status: 503,
        reason: expect.stringContaining('could not be fetched')
      })
      expect(service.lines.filter((line) => line.includes('cannot be fetched'))).toHaveLength(1)
      expect((await service.call('GET', '/healthz', token)).status).toBe(200)
    } finally {
      await issuer.resume()
    }
  })

  test('the login form, which is for people', async () => {
    const service = await start()
    const submit = async (token: string): Promise<Reply> =>
      service.call('POST', '/login', '', {
        headers: {
          ...{
            ...HTML,
            origin: service.origin,
            authorization: '',
            'content-type': 'application/x-www-form-urlencoded'
          }
        },
        body: new URLSearchParams({ token }).toString()
      })
    const right = await submit(await issuer.sign())
    expect([right.status, right.text]).toEqual([403, expect.stringContaining('opens no session')])
    expect(right.headers['set-cookie']).toBeUndefined()
    expect((await submit(await issuer.sign({ aud: 'x' }))).status).toBe(401)
    expect((await submit(`${'a'.repeat(20_000)}.b.c`)).text).toContain('longer than 16384 characters')
    expect(service.audited('login.failed')).toMatchObject([
      { status: 403, user: 'acme/shop', reason: expect.stringContaining('opens no session') },
      { status: 401, user: null },
      { status: 401, user: null }
    ])
    expect(service.audited('login')).toEqual([])
  })
})

test('no token is in the log, the audit log, the metrics or the data folder', async () => {
  const service = await start()
  const tokens = [
    await issuer.sign(),
    await issuer.sign({ repository: 'mallory/shop' }),
    await issuer.sign({ aud: 'x' }),
    await issuer.sign({}, { key: await makeKey('stranger') }),
    `${'a'.repeat(10)}.${'b'.repeat(10)}.${'c'.repeat(10)}`
  ]
  for (const token of tokens) {
    await service.call('GET', '/account', token)
    await run(service, token)
  }
  const metrics = (await service.call('GET', '/metrics', tokens[0]!)).text
  await Promise.all(open.splice(0).map((one) => one.close()))
  const files = readdirSync(service.dataDir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
  expect(files.join('')).toContain('acme/shop')
  const written = [...service.lines, metrics, ...files].join('\n')
  for (const token of tokens)
    for (const part of token.split('.').slice(1)) expect(written).not.toContain(part)
})

test('a file of authorities that is missing keeps the service from starting, and leaves its folder free', async () => {
  const folder = folders.create()
  mkdirSync(join(folder, 'data'))
  const { config } = parseConfig(
    `listen: 127.0.0.1:0\ndata: data\noidc: [{ issuer: ${issuer.url}, name: ci, audience: a, ca: none.pem, allow: [{ sub: a, role: viewer }] }]`,
    folder
  )
  const begin = serve(
    {
      ...{ setUp: config!, rehearse: true, serviceName: undefined, signal: new AbortController().signal },
      log: () => undefined
    },
    { start: startService, pages: () => import('../../../../src/report/page/served/served-pages.js') }
  )
  await expect(begin).rejects.toThrow(/^oidc: ca of https:.* cannot be read: .*ENOENT/)
  expect(readdirSync(join(folder, 'data'))).toEqual([])
})
