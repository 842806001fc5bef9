import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { randomBytes } from 'node:crypto'
import { copyFileSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { startShop, type Shop } from '../../src/service/demo-shop.js'
import { DEMO_PASSWORD } from '../../src/service/demo-shop/login.js'
import { INSTALL_MS, jmeterNote, lacksJMeter, runCommand } from '../e2e/cli-command.js'
import type { Ended } from '../e2e/cli-command.js'
import { describeInBrowser } from '../support/chromium.js'
import { removeFolder } from '../support/remove-folder.js'
import { K6, k6Note, lacksK6 } from '../support/tools/k6.js'
import { recordLogins } from '../support/tools/record-login.js'

/** Logins of the demo shop: recorded by a real browser, made into plans by `loadgate init`, and run by the real tools. */

const CONFIG = '.github/loadgate.yml'
const API = resolve('examples/login/openapi.yaml')
const GENERATED_API = resolve('__tests__/fixtures/init/generated-api.yaml')
const PASSWORD = 'LOADGATE_PARAMETER_PASSWORD'
const ENV = {
  K6,
  [PASSWORD]: DEMO_PASSWORD,
  LOADGATE_PARAMETER_USER: 'ada',
  LOADGATE_PARAMETER_USERNAME: 'ada'
}
/** Long enough for two visits on a busy machine. */
const LOAD = ['--duration', '8s', '--threads', '2', '--thresholds', 'error_rate < 1%, p95 < 5s']

const root = mkdtempSync(join(tmpdir(), 'loadgate-login-'))
let shop: Shop
let answered: string[]
let folder: string

beforeAll(async () => {
  shop = await startShop({ slow: false, accessLog: (line) => answered.push(line) })
})
afterAll(async () => {
  await shop.close()
  removeFolder(root)
})
beforeEach(() => {
  answered = []
  folder = mkdtempSync(join(root, 'work-'))
})
afterEach(() => removeFolder(folder))

const loadgate = (args: readonly string[], env: Record<string, string> = ENV): Promise<Ended> =>
  runCommand(args, { cwd: folder, env })
const run = (env?: Record<string, string>): Promise<Ended> =>
  loadgate(['run', '--config', CONFIG, '--output', 'out'], env)
const readText = (path: string): string => readFileSync(join(folder, path), 'utf8')
const refused = (): string[] => answered.filter((line) => / [45]\d\d [^/]*$/.test(line))

interface Way {
  readonly from: string
  readonly labels: readonly string[]
  readonly correlations: readonly string[]
}

async function passes(
  tool: 'jmeter' | 'k6',
  { from, labels, correlations }: Way,
  args: string[]
): Promise<void> {
  const made = await loadgate(['init', '--tool', tool, from, ...args, ...LOAD], {})
  expect(made).toMatchObject({ code: 0, err: '' })
  expect([...made.out.matchAll(/^- (\w+ from .*)$/gm)].map(([, line]) => line)).toEqual(correlations)
  expect(made.out).toContain(`1. Set `)
  expect(made.out).toContain(PASSWORD)
  const written = readText(tool === 'k6' ? 'load/script.js' : 'load/plan.jmx') + readText(CONFIG)
  expect(written).not.toContain(DEMO_PASSWORD)
  expect(await loadgate(['check', '--config', CONFIG])).toMatchObject({ code: 0 })
  answered = []
  const ended = await run()
  expect(ended).toMatchObject({ code: 0, out: expect.stringContaining('PASSED') })
  const verdict = readText('out/verdict.json')
  const { metrics } = JSON.parse(verdict) as { metrics: { labels: { label: string; samples: number }[] } }
  const sent = metrics.labels.map(({ label }) => label).filter((label) => !label.startsWith('check: '))
  expect(sent.sort()).toEqual(labels)
  // More than once around: a user who starts over logs in again.
  expect(Math.max(...metrics.labels.map(({ samples }) => samples))).toBeGreaterThan(2)
  expect(refused()).toEqual([])
  expect(ended.out + verdict).not.toContain(DEMO_PASSWORD)
}

describeInBrowser('a recording of a login', () => {
  let recorded: { form: string; token: string }

  beforeAll(async () => {
    answered = []
    recorded = await recordLogins(shop.url, join(root, 'recordings'))
    // For the tests without a browser.
    for (const path of process.env.LOADGATE_GOLDEN === 'write' ? Object.values(recorded) : [])
      copyFileSync(path, join('__tests__/fixtures/init', path.split('/').at(-1) ?? ''))
  })

  const byForm: Way = {
    from: '--from-har',
    labels: [
      'GET /',
      'GET /account',
      'GET /account/orders/{order_id}',
      'GET /login',
      'POST /account/orders',
      'POST /login'
    ],
    correlations: [
      'csrf from GET /login → csrf of POST /login',
      'csrf_2 from GET /account → csrf of POST /account/orders',
      'order_id from POST /account/orders → the path of GET /account/orders/{order_id}'
    ]
  }
  const byToken: Way = {
    from: '--from-har',
    labels: [
      'GET /',
      'GET /api/orders',
      'GET /api/orders/{order_id}',
      'GET /app',
      'POST /api/login',
      'POST /api/orders'
    ],
    correlations: [
      'token from POST /api/login → Authorization of 3 requests',
      'order_id from POST /api/orders → the path of GET /api/orders/{order_id}'
    ]
  }

  const withJMeter = lacksJMeter ? test.skip : test
  const withK6 = lacksK6 ? test.skip : test

  withJMeter(
    `by form: the plan logs in and is green${jmeterNote}`,
    () => passes('jmeter', byForm, [recorded.form, '--all-methods']),
    INSTALL_MS
  )
  withK6(`by form, with k6${k6Note}`, () => passes('k6', byForm, [recorded.form, '--all-methods']))
  withJMeter(
    `by token: the plan logs in and is green${jmeterNote}`,
    () => passes('jmeter', byToken, [recorded.token, '--all-methods']),
    INSTALL_MS
  )
  withK6(`by token, with k6${k6Note}`, () => passes('k6', byToken, [recorded.token, '--all-methods']))

  withK6(`without --all-methods it logs in all the same, and orders nothing${k6Note}`, async () => {
    await loadgate(['init', '--tool', 'k6', '--from-har', recorded.form, ...LOAD])
    answered = []
    expect(await run()).toMatchObject({ code: 0, out: expect.stringContaining('PASSED') })
    expect(refused()).toEqual([])
    expect(answered).toContainEqual(expect.stringContaining('GET /account 200'))
    expect(answered).not.toContainEqual(expect.stringContaining('/account/orders'))
  })

  withK6(`a wrong password fails the gate, and a missing one is named${k6Note}`, async () => {
    await loadgate(['init', '--tool', 'k6', '--from-har', recorded.token, ...LOAD])
    for (const command of ['run', 'check']) {
      const { code, out, err } = await loadgate([command, '--config', CONFIG], { K6 })
      expect([code, out + err]).toEqual([
        2,
        expect.stringContaining(`the environment variable ${PASSWORD}, which is not set`)
      ])
    }
    expect(await run({ ...ENV, [PASSWORD]: 'wrong-password' })).toMatchObject({ code: 1 })
    expect(refused()).toContainEqual(expect.stringContaining('POST /api/login 401'))
  })
})

describe('a value in any place of a reply', () => {
  /** Gives other values each time, and wants them back. */
  const KINDS = ['Meta', 'Field', 'Script', 'Header', 'Cookie', 'Deep']
  const issued = new Set<string>()
  let server: Server
  let refusals: string[]

  const issue = (kind: string): string => {
    const value = `${kind}${randomBytes(12).toString('hex')}`
    issued.add(value)
    return value
  }

  beforeAll(async () => {
    server = createServer((request, response) => {
      if (request.url === '/page') {
        response.setHeader('set-cookie', ['other=1', `XSRF-TOKEN=${issue('Cookie')}; Path=/`])
        response.setHeader('x-given', issue('Header'))
        response.setHeader('content-type', 'text/html')
        response.end(`<meta name="api-token" content="${issue('Meta')}"><form><input name="f" value="other">
<input type="hidden" name="f" value="${issue('Field')}"></form><script>const x = { scriptToken: '${issue('Script')}' }</script>`)
      } else if (request.url === '/json') {
        response.setHeader('content-type', 'application/json')
        response.end(JSON.stringify({ 'a b': [{}, { 'deep.token': issue('Deep') }] }))
      } else {
        const wrong = KINDS.filter((kind) => {
          const sent = String(request.headers[`x-${kind.toLowerCase()}`])
          return !sent.startsWith(kind) || !issued.has(sent)
        })
        const isCheck = request.url?.startsWith('/check') ?? false
        if (isCheck) refusals.push(...wrong)
        response.writeHead(isCheck && wrong.length > 0 ? 403 : 200).end()
      }
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })

  /** What was answered, as a browser saves it. */
  async function record(): Promise<string> {
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const entries: object[] = []
    const values: string[] = []
    for (const path of ['/page', '/json']) {
      const known = new Set(issued)
      const reply = await fetch(base + path)
      const headers = [...reply.headers].map(([name, value]) => ({ name, value }))
      const content = { mimeType: reply.headers.get('content-type'), text: await reply.text() }
      entries.push({
        request: { method: 'GET', url: base + path },
        response: { status: 200, headers, content }
      })
      values.push(...[...issued].filter((value) => !known.has(value)))
    }
    const headers = KINDS.map((kind) => ({
      name: `X-${kind}`,
      value: values.find((value) => value.startsWith(kind))
    }))
    entries.push({ request: { method: 'GET', url: `${base}/check`, headers }, response: { status: 200 } })
    return JSON.stringify({ log: { entries } })
  }

  async function sendsAll(tool: string): Promise<void> {
    refusals = []
    writeFileSync(join(folder, 'site.har'), await record())
    const made = await loadgate(['init', '--tool', tool, '--from-har', 'site.har', ...LOAD])
    expect([...made.out.matchAll(/→ X-(\w+) of GET \/check$/gm)].map(([, kind]) => kind).sort()).toEqual(
      [...KINDS].sort()
    )
    issued.clear()
    expect(await run()).toMatchObject({ code: 0, out: expect.stringContaining('PASSED') })
    expect([refusals, issued.size >= 2 * KINDS.length]).toEqual([[], true])
  }

  ;(lacksJMeter ? test.skip : test)(`JMeter takes it${jmeterNote}`, () => sendsAll('jmeter'), INSTALL_MS)
  ;(lacksK6 ? test.skip : test)(`k6 takes it${k6Note}`, () => sendsAll('k6'))
})

describe('an application that answers a refused login like a good one', () => {
  let server: Server
  const form = 'application/x-www-form-urlencoded'
  const [json, wrong] = ['application/json', 'wrong-password']

  beforeAll(async () => {
    server = createServer((request, response) => {
      request.on('data', (body: Buffer) => {
        const isRefused = String(body).includes(wrong)
        const token = JSON.stringify(isRefused ? { token: null } : { token: randomBytes(12).toString('hex') })
        if (request.url === '/login')
          response.writeHead(302, { location: isRefused ? '/login?error' : '/' }).end()
        else response.writeHead(200, { 'content-type': json }).end(token)
      })
      request.on('end', () => request.method === 'GET' && response.end('for everyone'))
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })

  const token = randomBytes(12).toString('hex')
  interface Step {
    readonly url: string
    readonly type?: string
    readonly text?: string
    readonly headers?: object[]
    readonly response?: object
  }
  const ways: Record<'form' | 'token', Step[]> = {
    form: [
      { url: '/login', type: form, text: 'password=x', response: { status: 302, redirectURL: '/' } },
      { url: '/', headers: [] }
    ],
    token: [
      {
        ...{ url: '/api/login', type: json, text: '{"password":"x"}' },
        response: { status: 200, content: { mimeType: json, text: JSON.stringify({ token }) } }
      },
      { url: '/me', headers: [{ name: 'Authorization', value: `Bearer ${token}` }] }
    ]
  }

  async function fails(tool: string, way: keyof typeof ways): Promise<void> {
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const entries = ways[way].map(({ url, type, text, headers, response = { status: 200 } }) => ({
      request: {
        ...{ method: type === undefined ? 'GET' : 'POST', url: base + url, headers },
        ...(type !== undefined && { postData: { mimeType: type, text } })
      },
      response
    }))
    writeFileSync(join(folder, 'site.har'), JSON.stringify({ log: { entries } }))
    await loadgate(['init', '--tool', tool, '--from-har', 'site.har', ...LOAD])
    expect(await run({ ...ENV, [PASSWORD]: wrong })).toMatchObject({
      code: 1,
      out: expect.stringContaining('FAILED: 1 threshold is broken')
    })
    expect(await loadgate(['run', '--config', CONFIG, '--output', 'good'])).toMatchObject({ code: 0 })
  }

  for (const way of ['form', 'token'] as const) {
    ;(lacksJMeter ? test.skip : test)(
      `by ${way}, with JMeter${jmeterNote}`,
      () => fails('jmeter', way),
      INSTALL_MS
    )
    ;(lacksK6 ? test.skip : test)(`by ${way}, with k6${k6Note}`, () => fails('k6', way))
  }
})

describe('an API with a login', () => {
  const api: Way = {
    from: '--from-openapi',
    labels: ['listOrders', 'logIn', 'order'],
    correlations: ['token from logIn → Authorization of 2 requests']
  }
  const withJMeter = lacksJMeter ? test.skip : test
  const withK6 = lacksK6 ? test.skip : test

  withJMeter(
    `the plan logs in and is green${jmeterNote}`,
    () => passes('jmeter', api, [API, '--target', shop.url, '--all-methods']),
    INSTALL_MS
  )
  withK6(`with k6${k6Note}`, () => passes('k6', api, [API, '--target', shop.url, '--all-methods']))
})

describe('an API whose description a framework generated', () => {
  let server: Server
  /** Whose orders are known, by their tokens. */
  const orders = new Map<string, Set<string>>()

  const answer = (line: string, body: string, authorization = ''): [status: number, reply?: object] => {
    const [method, path = ''] = line.split(' ')
    const [, id = ''] = /^\/orders\/(.+)$/.exec(path) ?? []
    if (line === 'POST /token') {
      const { grant_type, username, password, ...others } = Object.fromEntries(new URLSearchParams(body))
      const isRight = grant_type === 'password' && username === 'ada' && password === DEMO_PASSWORD
      if (!isRight || 'client_id' in others) return [422]
      const token = randomBytes(12).toString('hex')
      orders.set(token, new Set())
      return [200, { access_token: token, token_type: 'bearer' }]
    }
    const token = authorization.replace('Bearer ', '')
    const own = orders.get(token)
    if (own === undefined) return [path === '/' ? 200 : 401]
    if (line === 'POST /logout') return [orders.delete(token) ? 204 : 401]
    if (line === 'POST /orders') own.add(randomBytes(6).toString('hex'))
    if (path === '/orders') return [200, { id: [...own].at(-1), items: [...own].map((one) => ({ id: one })) }]
    if (method === 'DELETE') return [own.delete(id) ? 204 : 404]
    return [own.has(id) ? 200 : 404]
  }

  beforeAll(async () => {
    server = createServer((request, response) => {
      let body = ''
      request.on('data', (chunk: Buffer) => (body += chunk.toString()))
      request.on('end', () => {
        const line = `${request.method ?? ''} ${request.url ?? ''}`
        const [status, reply] = answer(line, body, request.headers.authorization)
        answered.push(`${line} ${status} -`)
        response.writeHead(status, { 'content-type': 'application/json' })
        response.end(reply === undefined ? undefined : JSON.stringify(reply))
      })
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })

  const api: Way = {
    from: '--from-openapi',
    labels: [
      'DELETE /orders/{order_id}',
      'GET /orders',
      'GET /orders/{order_id}',
      'POST /logout',
      'POST /orders',
      'POST /token'
    ],
    correlations: [
      'token from POST /token → Authorization of 5 requests',
      'order_id from POST /orders → the path of 2 requests'
    ]
  }
  const args = (): string[] => {
    const { port } = server.address() as AddressInfo
    return [GENERATED_API, '--target', `http://127.0.0.1:${port}`, '--all-methods']
  }

  ;(lacksJMeter ? test.skip : test)(
    `the plan logs in, orders, deletes and logs out${jmeterNote}`,
    () => passes('jmeter', api, args()),
    INSTALL_MS
  )
  ;(lacksK6 ? test.skip : test)(`with k6${k6Note}`, () => passes('k6', api, args()))
})
