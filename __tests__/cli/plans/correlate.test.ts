import { describe, expect, test } from '@jest/globals'
import { readFileSync } from 'node:fs'
import { readHar } from '../../../src/cli/plans/har/har-requests.js'
import { DEFAULT_TARGET, encodeText, type PlanText, type RequestSet } from '../../../src/cli/plans/request.js'
import { nameVariables, writeK6 } from '../../../src/cli/plans/write-k6.js'
import { writePlan } from '../../../src/cli/plans/write-plan.js'

const ALL = { allMethods: true, thinkTimes: false }
const READ_ONLY = { allMethods: false, thinkTimes: false }
const TOKEN = 'Zx81Kq0Lm77PwT3vB9rY'
const UUID = '3f2504e0-4f89-41d3-9a0c-0305e82c3301'

interface Facts {
  readonly method?: string
  readonly headers?: Record<string, string>
  readonly type?: string
  readonly body?: string
  readonly status?: number
  readonly redirect?: string
  readonly replyHeaders?: Record<string, string>
  readonly reply?: unknown
  readonly replyType?: string
  readonly base64?: boolean
  readonly startMs?: number
  readonly time?: number
}

const pairs = (map: Record<string, string> = {}): object[] =>
  Object.entries(map).map(([name, value]) => ({ name, value }))

function entry(path: string, facts: Facts = {}): object {
  const { reply } = facts
  const text = reply === undefined || typeof reply === 'string' ? reply : JSON.stringify(reply)
  return {
    ...(facts.startMs !== undefined && {
      startedDateTime: new Date(1_700_000_000_000 + facts.startMs).toISOString(),
      time: facts.time ?? 1
    }),
    request: {
      method: facts.method ?? 'GET',
      url: `https://s.example${path}`,
      headers: pairs(facts.headers),
      ...(facts.body !== undefined && {
        postData: { mimeType: facts.type ?? 'application/json', text: facts.body }
      })
    },
    response: {
      status: facts.status ?? 200,
      ...(facts.redirect !== undefined && { redirectURL: facts.redirect }),
      headers: pairs(facts.replyHeaders),
      content: {
        mimeType: facts.replyType ?? 'application/json',
        size: text?.length ?? 0,
        ...(text !== undefined &&
          (facts.base64 ? { text: Buffer.from(text).toString('base64'), encoding: 'base64' } : { text }))
      }
    }
  }
}

const html = (reply: string): Facts => ({ reply, replyType: 'text/html; charset=utf-8' })
const har = (...entries: object[]): string => JSON.stringify({ log: { entries } })
const read = (...entries: object[]): RequestSet => readHar(har(...entries), ALL)
const shown = (text: PlanText | undefined): string => encodeText(text ?? [])
const options = (set: RequestSet) => ({
  ...{ name: 'Load test', target: set.target ?? DEFAULT_TARGET, requests: set.requests },
  ...{ load: { kind: 'closed', threads: 1 } as const, rampupSeconds: 0, durationSeconds: 1 }
})
const planOf = (set: RequestSet): string => writePlan(options(set))
const scriptOf = (set: RequestSet): string => writeK6(options(nameVariables(set)))

describe('the logins that a browser recorded in the demo shop', () => {
  const fixture = (name: string): string => readFileSync(`__tests__/fixtures/init/${name}.har`, 'utf8')

  test('by form: CSRF fields, and the id of an order', () => {
    const set = readHar(fixture('login-form'), ALL)
    expect(set.correlations).toEqual([
      'csrf from GET /login → csrf of POST /login',
      'csrf_2 from GET /account → csrf of POST /account/orders',
      'order_id from POST /account/orders → the path of GET /account/orders/{order_id}'
    ])
    expect(set.credentials).toEqual(['password'])
    expect(set.requests.map(({ body }) => shown(body)).filter((text) => text !== '')).toEqual([
      'csrf=${__urlencode(${csrf})}&user=ada&password=${__urlencode(${__P(password,)})}',
      'csrf=${__urlencode(${csrf_2})}&product=teapot'
    ])
    expect(set.notes).toContainEqual(expect.stringContaining('It logs in with POST /login'))
  })

  test('by token: Bearer, and the id of an order', () => {
    const set = readHar(fixture('login-token'), ALL)
    expect(set.correlations).toEqual([
      'token from POST /api/login → Authorization of 3 requests',
      'order_id from POST /api/orders → the path of GET /api/orders/{order_id}'
    ])
    const sent = set.requests.flatMap(({ headers }) => headers).filter(({ name }) => /^auth/i.test(name))
    expect(sent.map(({ value }) => shown(value))).toEqual(Array(3).fill('Bearer ${token}'))
  })

  test.each(['login-form', 'login-token'])('%s: nothing of it that is secret is in the plan', (name) => {
    const text = fixture(name)
    const set = readHar(text, ALL)
    const secrets = [
      ...text.matchAll(/open-sesame|name=\\"csrf\\" value=\\"(\w+)|shop_session=([\w-]+)|(YWRh-[\w-]+)/g)
    ].map(([whole, ...groups]) => groups.find(Boolean) ?? whole)
    expect(new Set(secrets).size).toBeGreaterThan(2)
    const written = planOf(set) + scriptOf(set) + set.notes.join() + set.correlations.join()
    expect(secrets.filter((secret) => written.includes(secret))).toEqual([])
  })

  test('without --all-methods the login is sent, and what needs the reply to an order is not', () => {
    const { requests } = readHar(fixture('login-form'), READ_ONLY)
    expect(requests.map(({ name, isEnabled }) => `${isEnabled ? 'yes' : 'no'} ${name}`)).toEqual([
      'yes GET /',
      'yes GET /login',
      'yes POST /login',
      'yes GET /account',
      'no POST /account/orders',
      'no GET /account/orders/{order_id}'
    ])
    expect(requests[5]?.note).toBe(
      'Disabled, because it sends the order_id of POST /account/orders, which is disabled.'
    )
  })
})

describe('a value of a reply', () => {
  const login = (reply: unknown, facts: Facts = {}): object => entry('/a', { reply, ...facts })
  const bearer = (token: string): object => entry('/b', { headers: { Authorization: `Bearer ${token}` } })

  test.each([
    { where: 'JSON', first: login({ data: [{ access_token: TOKEN }] }), place: '$.data[0].access_token' },
    { where: 'JSON with odd keys', first: login({ 'a.b': { token: TOKEN } }), place: "$['a.b'].token" },
    { where: 'JSON behind a guard', first: login(`)]}',\n{"token":"${TOKEN}"}`), place: 'token[&quot;' },
    { where: 'JSON in base64', first: login({ token: TOKEN }, { base64: true }), place: '$.token' },
    {
      where: 'a field of a form',
      first: entry('/a', html(`<input name=x><INPUT value='${TOKEN}' type="hidden" name='csrf[a]'>`)),
      place: 'input[name=&quot;csrf[a]&quot;]'
    },
    {
      where: 'a meta element',
      first: entry('/a', html(`<meta name="csrf-token" content="${TOKEN}">`)),
      place: 'meta[name=&quot;csrf-token&quot;]'
    },
    {
      where: 'a script',
      first: entry('/a', html(`<script>x={csrfToken: "${TOKEN}"}</script>`)),
      place: 'csrfToken'
    },
    {
      where: 'a header',
      first: entry('/a', { replyHeaders: { 'X-CSRF-Token': TOKEN } }),
      place: '(?im)^X-CSRF-Token:\\s*(\\S+)'
    },
    {
      where: 'a header with a scheme',
      first: entry('/a', { replyHeaders: { Authorization: `Bearer ${TOKEN}` } }),
      place: '(?im)^Authorization:\\s*Bearer\\s+(\\S+)'
    },
    {
      where: 'a cookie',
      first: entry('/a', { replyHeaders: { 'Set-Cookie': `XSRF-TOKEN=${TOKEN}; Path=/` } }),
      place: 'XSRF-TOKEN=([^;,\\s]+)'
    },
    {
      where: 'the query of a redirect',
      first: entry('/a', { status: 302, replyHeaders: { Location: `/b?code=${TOKEN}&x=1` } }),
      place: '[?&amp;]code=([^&amp;#\\s]+)'
    }
  ])('in $where becomes an extractor', ({ first, place }) => {
    const set = read(first, bearer(TOKEN))
    const [variable] = set.requests[0]?.extracts?.map((extract) => extract.variable) ?? []
    expect(variable).toMatch(/^\w+$/)
    expect(shown(set.requests[1]?.headers[0]?.value)).toBe(`Bearer \${${variable}}`)
    const plan = planOf(set)
    expect(plan).toContain(place)
    expect(plan + scriptOf(set)).not.toContain(TOKEN)
  })

  test.each([
    { where: 'a header', request: bearer(TOKEN), sent: 'Authorization' },
    { where: 'a header alone', request: entry('/b', { headers: { 'X-Token': TOKEN } }), sent: 'X-Token' },
    { where: 'a query', request: entry(`/b?x=1&t=${TOKEN}`), sent: 't' },
    { where: 'a path', request: entry(`/things/${TOKEN}/x`), sent: 'the path' },
    {
      where: 'a form',
      request: entry('/b', {
        ...{ method: 'POST', type: 'application/x-www-form-urlencoded', body: `a=1&t=${TOKEN}` }
      }),
      sent: 't'
    },
    { where: 'JSON', request: entry('/b', { method: 'POST', body: `{"a":{"t":"${TOKEN}"}}` }), sent: 't' }
  ])('is sent in $where', ({ request, sent }) => {
    const set = read(login({ token: TOKEN }), request)
    expect(set.correlations).toEqual([expect.stringMatching(new RegExp(`^token from GET /a → ${sent} of `))])
    const [, later] = set.requests
    const all = [...later!.path, ...later!.headers.flatMap(({ value }) => value), ...(later!.body ?? [])]
    expect(all.filter((part) => typeof part !== 'string')).toEqual([
      expect.objectContaining({ variable: 'token' })
    ])
    expect(set.credentials).toEqual([])
  })

  test.each([
    { what: 'a word', reply: { token: 'checkout' }, path: '/x/checkout' },
    { what: 'a slug', reply: { slug: 'blue-tea-pot-2024' }, path: '/x/blue-tea-pot-2024' },
    { what: 'a short number of another name', reply: { count: 7 }, path: '/x/7' },
    { what: 'a short id in a query', reply: { id: 7 }, path: '/x?page=7' },
    {
      what: 'an address',
      reply: { next: 'https://s.example/Zx81Kq0Lm77Pw' },
      path: '/x?u=https://s.example/Zx81Kq0Lm77Pw'
    },
    { what: 'part of a value', reply: { token: TOKEN }, path: `/x/${TOKEN}9` },
    {
      what: 'a date',
      reply: { session_start: '2026-01-01', at: '2026-01-01T10:00:00Z' },
      path: '/x?since=2026-01-01T10:00:00Z'
    }
  ])('$what is no correlation', ({ reply, path }) => {
    const set = read(login(reply), entry(path))
    expect([set.correlations, set.requests[0]?.extracts]).toEqual([[], undefined])
  })

  test('an id in a path is one, however short, and has the name of its thing', () => {
    const set = read(
      entry('/orders', { reply: { items: [{ id: 4711 }, { id: UUID }], user: { id: 7 } } }),
      entry('/orders/4711'),
      entry('/products/7'),
      entry(`/categories/${UUID}/x`)
    )
    expect(set.requests.slice(1).map(({ name, path }) => [name, shown(path)])).toEqual([
      ['GET /orders/{order_id}', '/orders/${__urlencode(${order_id})}'],
      ['GET /products/7', '/products/7'],
      ['GET /categories/{category_id}/x', '/categories/${__urlencode(${category_id})}/x']
    ])
  })

  test('what was sent before the reply, or while it was under way, is none', () => {
    const before = read(bearer(TOKEN), login({ token: TOKEN }), bearer(TOKEN))
    expect(before.correlations).toEqual([])
    const at = (startMs: number, time: number): Facts => ({ startMs, time })
    const meanwhile = read(
      login({ token: TOKEN }, at(0, 100)),
      entry('/b', { headers: { Authorization: `Bearer ${TOKEN}` }, ...at(50, 1) })
    )
    expect(meanwhile.correlations).toEqual([])
    const after = read(
      login({ token: TOKEN }, at(0, 100)),
      entry('/b', { headers: { Authorization: `Bearer ${TOKEN}` }, ...at(101, 1) })
    )
    expect(after.correlations).toHaveLength(1)
    const ofPage = read(
      entry('/a', {
        ...html(`<meta name="csrf" content="${TOKEN}"><script>fetch('/b')</script>`),
        ...at(0, 100)
      }),
      entry('/b', { headers: { 'X-CSRF': TOKEN }, ...at(50, 1) })
    )
    expect(ofPage.correlations).toHaveLength(1)
  })

  test('the reply to a request that is enabled is preferred', () => {
    const requests = [
      entry('/a', { method: 'POST', body: '{}', reply: { token: TOKEN } }),
      entry('/me', { reply: { token: TOKEN } }),
      bearer(TOKEN)
    ]
    const { correlations, requests: made } = readHar(har(...requests), READ_ONLY)
    expect(correlations).toEqual(['token from GET /me → Authorization of GET /b'])
    expect(made.map(({ isEnabled }) => isEnabled)).toEqual([false, true, true])
  })

  test('a reply that an enabled request gets later replaces that of one that is cut off', () => {
    const set = readHar(
      har(
        entry('/orders', { method: 'POST', body: '{}', reply: { id: 4711 } }),
        entry('/orders/4711', { reply: { token: TOKEN } }),
        entry('/session', { reply: { token: TOKEN } }),
        entry('/mine', { headers: { Authorization: `Bearer ${TOKEN}` }, reply: { orders: [{ id: 4711 }] } }),
        entry('/orders/4711/items')
      ),
      READ_ONLY
    )
    expect(set.requests.map(({ name, isEnabled }) => `${isEnabled ? 'yes' : 'no'} ${name}`)).toEqual([
      'no POST /orders',
      'no GET /orders/{order_id}',
      'yes GET /session',
      'yes GET /mine',
      'yes GET /orders/{order_id_2}/items'
    ])
    expect(set.correlations).toEqual([
      'order_id from POST /orders → the path of GET /orders/{order_id}',
      'token from GET /session → Authorization of GET /mine',
      'order_id_2 from GET /mine → the path of GET /orders/{order_id_2}/items'
    ])
  })

  test('of several fields of one name the right one is taken', () => {
    const set = read(
      entry('/a', html('<input name="csrf" value="first-0001"><input name="csrf" value="second-0002">')),
      entry('/b', {
        ...{ method: 'POST', type: 'application/x-www-form-urlencoded', body: 'csrf=second-0002' }
      })
    )
    const [one] = set.requests[0]?.extracts ?? []
    expect(one?.from).toMatchObject({ at: 2 })
    expect(planOf(set)).toContain('<stringProp name="HtmlExtractor.match_number">2</stringProp>')
  })
})

describe('a login', () => {
  const post = (path: string, body: string, facts: Facts = {}): object =>
    entry(path, { method: 'POST', body, ...facts })
  const enabled = (...entries: object[]): boolean[] =>
    readHar(har(...entries), READ_ONLY).requests.map(({ isEnabled }) => isEnabled)

  test.each([
    { what: 'with a password', request: post('/login', '{"user":"ada","password":"planted"}'), is: true },
    { what: 'with one further down', request: post('/auth', '{"a":{"userPassword":"planted"}}'), is: true },
    {
      what: 'of a form',
      request: post('/users/sign_in', 'user%5Bpassword%5D=planted', {
        type: 'application/x-www-form-urlencoded'
      }),
      is: true
    },
    { what: 'by a procedure', request: post('/xrpc/server.createSession', '{"password":"x"}'), is: true },
    { what: 'that is a new user', request: post('/api/users', '{"password":"x"}'), is: false },
    { what: 'that confirms a transfer', request: post('/api/move', '{"password":"x"}'), is: false },
    { what: 'that was refused', request: post('/login', '{"password":"x"}', { status: 401 }), is: false },
    { what: 'that is a registration', request: post('/register', '{"password":"x"}'), is: false },
    { what: 'that is a change', request: post('/me', '{"password":"a","newPassword":"b"}'), is: false },
    { what: 'without a password', request: post('/login', '{"user":"ada"}'), is: false }
  ])('$what is enabled: $is', ({ request, is }) => {
    expect(enabled(entry('/'), request)).toEqual([true, is])
  })

  test.each([
    { what: 'a token', facts: { reply: { token: TOKEN } }, header: { Authorization: `Bearer ${TOKEN}` } },
    {
      what: 'a cookie',
      facts: { replyHeaders: { 'Set-Cookie': `s=${TOKEN}` } },
      header: { Cookie: `s=${TOKEN}` }
    }
  ])('whatever it is called, its reply has $what that is sent later', ({ facts, header }) => {
    const next = entry('/me', { headers: header })
    expect(enabled(entry('/'), post('/enter', '{"password":"x"}', facts), next)[1]).toBe(true)
    expect(enabled(entry('/'), post('/enter', '{"password":"x"}', facts), entry('/me'))[1]).toBe(false)
    expect(enabled(entry('/'), post('/enter', '{"password":"x"}', { ...facts, status: 201 }), next)[1]).toBe(
      false
    )
    expect(enabled(entry('/'), post('/api/users', '{"password":"x"}', facts), next)[1]).toBe(false)
  })

  test.each([
    {
      redirect: '/orders/17',
      good: ['/orders/18', 'http://x/orders/a-b1'],
      bad: ['/login', '/orders/1?error', '/orders']
    },
    {
      redirect: 'https://s.example/',
      good: ['/', '/;jsessionid=1A', '/#top'],
      bad: ['/login?error', '/?error', '']
    },
    { redirect: 'home?id=1', good: ['home?id=2'], bad: ['home', '/login?next=home?id=1'] }
  ])('a redirect to $redirect has to lead there again', ({ redirect, good, bad }) => {
    const [{ from } = { from: undefined }] =
      read(post('/login', '{"password":"x"}', { status: 302, redirect })).requests[0]?.proofs ?? []
    const pattern = new RegExp(from?.pattern ?? 'none', 'im')
    expect([...good, ...bad].filter((location) => pattern.test(location))).toEqual(good)
  })

  test('the session that it opened has to be opened again', () => {
    const set = read(
      post('/login', '{"password":"x"}', { replyHeaders: { 'Set-Cookie': `s=${TOKEN}\nlang=en` } })
    )
    expect(set.requests[0]?.proofs?.map(({ words }) => words)).toEqual(['sets the cookie s'])
  })

  test('users start over without cookies, and stay the same without one', () => {
    const plain = read(entry('/'))
    const loggedIn = read(entry('/'), post('/login', '{"password":"planted"}'))
    expect(planOf(plain)).toContain('clearEachIteration">false<')
    expect(planOf(loggedIn)).toContain('clearEachIteration">true<')
    expect([plain, loggedIn].map((set) => /noCookiesReset: (\w+)/.exec(scriptOf(set))?.[1])).toEqual([
      'true',
      'false'
    ])
  })

  test('what a recording lacks is said', () => {
    const lost = readHar(
      JSON.stringify({
        log: {
          entries: [
            {
              request: { method: 'GET', url: 'https://s.example/' },
              response: { status: 200, content: { size: 7, mimeType: 'text/html' } }
            }
          ]
        }
      }),
      ALL
    )
    expect(lost.notes).toContainEqual(expect.stringContaining('lacks the content of 1 of 1 replies'))
    const sanitized = read(
      post('/login', '{"password":"planted"}', { reply: { token: TOKEN } }),
      entry('/orders')
    )
    expect(sanitized.notes).toContainEqual(
      expect.stringContaining('No request after POST /login sends a cookie or a token')
    )
  })
})

describe('replies of any shape', () => {
  test('do no harm, and no code of theirs gets into a plan', () => {
    const hostile = '${__groovy(1)}\\"}];throw 1//'
    const replies: Facts[] = [
      { reply: '{"a":' },
      { reply: 'null' },
      { reply: `{"${hostile}":"${TOKEN}","b":"${hostile}"}` },
      html(`<input name="${hostile}" value="${TOKEN}"><input name='x\${' value="${TOKEN}1">`),
      html('<input name="a'),
      { replyHeaders: { Location: 'http://[', 'Set-Cookie': '=;', [hostile]: TOKEN } }
    ]
    const set = read(
      ...replies.map((facts, at) => entry(`/${at}`, facts)),
      entry(`/x/${TOKEN}`),
      entry(`/x/${TOKEN}1`)
    )
    expect(set.correlations).toEqual([])
    expect(planOf(set) + scriptOf(set)).not.toMatch(/__groovy|throw 1/)
  })

  test('megabytes take no time', () => {
    const many = { list: Array.from({ length: 50_000 }, (_, id) => ({ id, token: `${TOKEN}${id}` })) }
    const page =
      `<input value="${'a1'.repeat(100_000)}" name=x `.repeat(5) +
      'token = "'.repeat(100_000) +
      '<input '.repeat(100_000)
    const startMs = performance.now()
    read(entry('/a', { reply: many }), entry('/b', html(page)), entry('/c'))
    expect(performance.now() - startMs).toBeLessThan(10_000)
  })
})
