import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openUsers } from '../../../../src/service/accounts/open-users.js'
import { parseConfig } from '../../../../src/service/config/parse-config.js'
import { serve, type ServedService } from '../../../../src/service/serve.js'
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

/** As `loadgate serve --config` with an issuer. */
async function start(rules = '{ repository: acme/*, role: member }'): Promise<Started> {
  const folder = folders.create()
  const { config, problems } = parseConfig(
    `listen: 127.0.0.1:0
data: data
drain: 0
metrics: { allow: [127.0.0.1] }
oidc:
  - issuer: ${issuer.url}
    audience: ${AUDIENCE}
    ca: ${issuer.ca}
    allow: [${rules}]
`,
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
    expect(service.audited('login.failed')).toHaveLength(2)
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
    `listen: 127.0.0.1:0\ndata: data\noidc: [{ issuer: ${issuer.url}, audience: a, ca: none.pem, allow: [{ sub: a, role: viewer }] }]`,
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
