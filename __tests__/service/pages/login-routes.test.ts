import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { readNextPath } from '../../../src/service/pages/send-page.js'
import { ManualClock } from '../../support/manual-clock.js'
import { createTeams, type Team } from '../accounts/team.js'
import { type Address, createRun, createServices, get, type Reply, runForm, send, until } from '../support.js'
import { HTML, listen, WITH_PAGES } from './page-support.js'

const teams = createTeams()
const services = createServices()
afterAll(async () => {
  await teams.closeAll()
  await services.closeAll()
})

let team: Team
beforeAll(async () => {
  team = await teams.start()
})

const FORM = 'application/x-www-form-urlencoded'

/** What a browser sends for the form. */
function submit(
  { url }: Pick<Address, 'url'>,
  path: string,
  fields: Record<string, string> = {},
  headers: Record<string, string> = {}
): Promise<Reply> {
  return send({ url, token: '' }, 'POST', path, {
    token: null,
    headers: { ...HTML, origin: url, 'content-type': FORM, ...headers },
    body: new URLSearchParams(fields).toString()
  })
}

function cookieOf({ headers }: Reply): string {
  return headers['set-cookie']?.[0]?.split(';')[0] ?? ''
}

const browse = (path: string, cookie: string, headers: Record<string, string> = {}): Promise<Reply> =>
  get(team.service, path, { token: null, headers: { ...HTML, cookie, ...headers } })

test('a person signs in with the form, and out with the button', async () => {
  const form = await browse('/?page=1&x=%22', '')
  expect([form.status, form.headers.location]).toEqual([401, undefined])
  // A browser that asks for the token itself would send it with the requests of other sites' pages.
  expect(form.headers['www-authenticate']).toBeUndefined()
  const own = await browse('/login?next=%2F%3Fpage%3D1%26x%3D%2522', '')
  expect([own.status, own.text]).toEqual([200, form.text])
  expect(form.headers).toMatchObject({ 'cache-control': 'no-store', 'x-frame-options': 'DENY' })
  expect(form.headers['content-security-policy']).toMatch(/default-src 'none'.*form-action 'self'/)
  expect(form.text).toMatch(/<input type="hidden" name="next" value="[^"]*page[^"]*%22">/)
  expect(form.text).toMatch(/<input type="password"[^>]* autocomplete="current-password"/)
  expect(form.text).not.toContain('<script')

  const { token } = team.as('viewer')
  const signedIn = await submit(team.service, '/login', { token: ` ${token}\n`, next: '/?page=1' })
  expect([signedIn.status, signedIn.headers.location]).toEqual([303, '/?page=1'])
  expect(signedIn.headers['set-cookie']?.[0]).toMatch(
    /^loadgate-\d+=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/
  )
  const cookie = cookieOf(signedIn)
  expect((await browse('/', cookie)).status).toBe(200)
  expect((await browse('/login', cookie)).headers.location).toBe('/')
  expect((await browse('/account', cookie)).status).toBe(401)

  const signedOut = await submit(team.service, '/logout', {}, { cookie })
  expect([signedOut.status, signedOut.headers.location]).toEqual([303, '/login'])
  expect(signedOut.headers['set-cookie']?.[0]).toMatch(/^loadgate-\d+=; .*Max-Age=0$/)
  expect((await browse('/', cookie)).status).toBe(401)
  const said = (): unknown[] => team.audited().map(({ action, user }) => [action, user])
  await until(() => said().length >= 3)
  expect(said()).toEqual(
    expect.arrayContaining([
      ['login', 'viewer'],
      ['logout', 'viewer']
    ])
  )
})

test('every wrong token gets the same reply, and no cookie', async () => {
  const { token } = team.as('viewer')
  const clean = await teams.start({}, new ManualClock())
  const texts = new Set<string>()
  for (const guess of ['', 'x', token.slice(0, -1)]) {
    const reply = await submit(clean.service, '/login', { token: guess })
    expect([reply.status, reply.headers['set-cookie']]).toEqual([401, undefined])
    texts.add(reply.text)
  }
  expect(texts.size).toBe(1)
  expect([...texts][0]).toContain('This token is wrong.')
})

test.each<[string, Record<string, string>, number]>([
  ['a page of another site', { origin: 'https://evil.example' }, 403],
  ['a page without a name', { origin: 'null' }, 403],
  ['something else', { 'content-type': 'text/plain' }, 415]
])('%s signs nobody in', async (_, headers, status) => {
  const { token } = team.as('viewer')
  const reply = await submit(team.service, '/login', { token }, headers)
  expect([reply.status, reply.headers['set-cookie']]).toEqual([status, undefined])
})

test('a form without an origin, and one that is far too long, sign nobody in', async () => {
  const { token } = team.as('viewer')
  const body = new URLSearchParams({ token }).toString()
  const headers = { ...HTML, 'content-type': FORM }
  const post = (call: { headers: Record<string, string>; body: string }): Promise<Reply> =>
    send(team.service, 'POST', '/login', { token: null, ...call })
  expect((await post({ headers, body })).status).toBe(403)
  const long = {
    headers: { ...headers, origin: team.service.url },
    body: `${body}&x=${'x'.repeat(1_100_000)}`
  }
  expect((await post(long)).status).toBe(413)
})

test('with users, a token in the address opens nothing and goes no further', async () => {
  const { token } = team.as('admin')
  const reply = await browse(`/?token=${token}&page=1`, '')
  expect([reply.status, reply.headers.location]).toEqual([401, undefined])
  expect(reply.headers['set-cookie']).toBeUndefined()
  expect(reply.text).toContain('name="next" value="/?page=1"')
  expect(reply.text).not.toContain(token)
})

test('the service of one person has the form as well', async () => {
  const service = await services.start(WITH_PAGES)
  const reply = await submit(service, '/login', { token: service.token })
  expect([reply.status, reply.headers.location]).toEqual([303, '/'])
  const headers = { ...HTML, cookie: cookieOf(reply) }
  const visit = async (): Promise<number> => (await get(service, '/', { token: null, headers })).status
  expect(await visit()).toBe(200)
  const other = cookieOf(await submit(service, '/login', { token: service.token }))
  await submit(service, '/logout', {}, { cookie: other })
  expect(await visit()).toBe(200)
  await submit(service, '/logout', {}, { cookie: cookieOf(reply) })
  expect(await visit()).toBe(401)
})

test.each([
  '{"fields":[null]}',
  '{"fields":["ab"]}',
  '{"fields":[["token",5]]}',
  '{"fields":[["token","TOKEN"]]}',
  '{"fields":5}',
  '{}',
  'null',
  '[]',
  ''
])('%j is no form', async (sent) => {
  const body = sent.replace('TOKEN', team.as('viewer').token)
  for (const path of ['/login', '/logout'])
    for (const type of ['application/json', 'application/vnd.x+json']) {
      const headers = { ...HTML, origin: team.service.url, 'content-type': type }
      const reply = await send(team.service, 'POST', path, { token: null, headers, body })
      expect([reply.status, reply.headers['set-cookie']]).toEqual([422, undefined])
    }
})

describe('a link on another site', () => {
  const FOREIGN = {
    'sec-fetch-site': 'cross-site',
    'sec-fetch-mode': 'navigate',
    'sec-fetch-dest': 'document'
  }

  test('is followed again from a page of this service: by the login, which never leads back to it', async () => {
    const detour = await browse('/runs/x?a=%22%3E&token=y', '', FOREIGN)
    expect(detour.status).toBe(401)
    expect(detour.headers).toMatchObject({ 'cache-control': 'no-store', 'x-frame-options': 'DENY' })
    expect(detour.headers['content-security-policy']).toMatch(/default-src 'none'/)
    const [, path] = /http-equiv="refresh" content="0; url=([^"]*)"/.exec(detour.text) ?? []
    expect(path).toBe('/login?next=%2Fruns%2Fx%3Fa%3D%2522%253E')
    const form = await browse(path!, '', FOREIGN)
    expect([form.status, form.text.includes('http-equiv="refresh"')]).toEqual([200, false])
    const { token } = team.as('viewer')
    const cookie = cookieOf(await submit(team.service, '/login', { token }))
    expect((await browse(path!, cookie, FOREIGN)).headers.location).toBe('/runs/x?a=%22%3E')
    // With a cookie there is nothing to go around for.
    expect((await browse('/', cookie, FOREIGN)).status).toBe(200)
  })

  test.each([
    ['a picture', { ...FOREIGN, 'sec-fetch-mode': 'no-cors' }],
    ['a page of ours', { ...FOREIGN, 'sec-fetch-site': 'same-origin' }],
    ['an address that was typed in', { ...FOREIGN, 'sec-fetch-site': 'none' }]
  ])('%s gets the form', async (_, headers) => {
    const reply = await browse('/', '', headers)
    expect([reply.status, reply.text.includes('type="password"')]).toEqual([401, true])
    expect(reply.text).not.toContain('http-equiv="refresh"')
  })
})

test('events for a token end soon after it was replaced', async () => {
  const clock = new ManualClock()
  const live = await teams.start({}, clock)
  const { token } = live.as('member')
  const headers = { authorization: `Bearer ${token}` }
  const events = await listen(live.service, '/events', '', headers)
  expect(events.response.statusCode).toBe(200)
  const closed = new Promise((resolve) => events.response.once('close', resolve))
  events.response.on('error', () => undefined)
  await clock.advance(30_000)
  expect(events.response.destroyed).toBe(false)
  live.users.rotate('member')
  await clock.advance(10_000)
  await closed
})

test('an open page ends soon after its session', async () => {
  const clock = new ManualClock()
  const live = await teams.start({}, clock)
  const cookie = cookieOf(await submit(live.service, '/login', { token: live.as('member').token }))
  const events = await listen(live.service, '/events', cookie)
  expect(events.response.statusCode).toBe(200)
  const closed = new Promise((resolve) => events.response.once('close', resolve))
  events.response.on('error', () => undefined)
  await clock.advance(30_000)
  expect(events.response.destroyed).toBe(false)
  live.users.rotate('member')
  await clock.advance(10_000)
  await closed
})

test('a database that cannot be read any more ends open pages, and nothing else', async () => {
  const clock = new ManualClock()
  const live = await teams.start({}, clock)
  const cookie = cookieOf(await submit(live.service, '/login', { token: live.as('member').token }))
  const events = await listen(live.service, '/events', cookie)
  const closed = new Promise((resolve) => events.response.once('close', resolve))
  events.response.on('error', () => undefined)
  live.database.exec('ALTER TABLE sessions RENAME TO away')
  // An error thrown in a timer would end the process; here it would come out of the clock.
  await clock.advance(10_000)
  await closed
  live.database.exec('ALTER TABLE away RENAME TO sessions')
  expect((await listen(live.service, '/events', cookie)).response.statusCode).toBe(200)
})

test('whoever is logged in does what they do under their own name, whatever token is beside the cookie', async () => {
  const live = await teams.start({}, new ManualClock())
  const id = await createRun(live.as('member'), runForm({ duration: '60' }))
  const cookie = cookieOf(await submit(live.service, '/login', { token: live.as('member').token }))
  // As a proxy with a login of its own adds; the last ones would be refused if they were guesses.
  for (let count = 0; count < 25; count++)
    expect(
      (await submit(live.service, `/runs/${id}/stop`, {}, { cookie, authorization: 'Bearer other' })).status
    ).toBe(204)
  const audited = live.audited().map(({ action, user, status }) => [action, user, status])
  expect(audited.slice(3)).toEqual(Array(25).fill(['run.stop', 'member', 204]))
  // In the API the cookie is worth nothing, and the token is a guess.
  expect(
    (await get(live.service, '/account', { headers: { cookie, authorization: 'Bearer other' } })).status
  ).toBe(401)
  expect(live.audited().at(-1)).toMatchObject({ action: 'login.failed', user: null })
})

test('a browser forgets the session at its logout, even if the service cannot', async () => {
  const live = await teams.start()
  const cookie = cookieOf(await submit(live.service, '/login', { token: live.as('member').token }))
  live.database.exec("CREATE TRIGGER full BEFORE DELETE ON sessions BEGIN SELECT raise(ABORT, 'full'); END")
  const reply = await submit(live.service, '/logout', {}, { cookie })
  expect(reply.status).toBe(503)
  expect(reply.headers['set-cookie']?.[0]).toMatch(/^loadgate-\d+=; .*Max-Age=0$/)
})

describe('after the login', () => {
  test.each(['/', '/?page=2', '/runs/abc', '/runs/abc?x=a%20b'])('%s is on this service', (path) => {
    expect(readNextPath(path)).toBe(path)
  })

  const HOSTILE = [
    '//evil.example',
    '/\\evil.example',
    '\\\\evil',
    'https://evil.example',
    'javascript:alert(1)'
  ]
  test.each([
    ...HOSTILE,
    ...[
      '/\t/evil.example',
      '/\n/evil',
      '/%0d%0aSet-Cookie:x',
      'evil',
      '',
      '/login?next=/x',
      ' //evil',
      '/.//evil'
    ],
    ...['/..//evil.example', '/x/..//evil', '/./\\evil', `/${'x'.repeat(3000)}`, '/\u2028/evil']
  ])('%j never leads away', (given) => {
    const next = readNextPath(given)
    const target = new URL(next, 'https://load.example')
    expect(target.origin).toBe('https://load.example')
    expect(next).toMatch(/^\/(?![/\\])[\x21-\x7e]*$/)
    expect(target.pathname).not.toBe('/login')
  })

  test.each(HOSTILE)('the browser is not sent to %j', async (next) => {
    const reply = await submit(team.service, '/login', { token: team.as('viewer').token, next })
    expect([reply.status, reply.headers.location]).toEqual([303, '/'])
  })
})

test('whoever goes on guessing is turned away, in the form and in the API; a right token never is', async () => {
  const clock = new ManualClock()
  const guessed = await teams.start({}, clock)
  const guess = { url: guessed.service.url, token: 'lg_guess' }
  for (let i = 0; i < 10; i++) {
    expect((await get(guess, '/account')).status).toBe(401)
    expect((await submit(guess, '/login', { token: 'x' })).status).toBe(401)
  }
  const refused = [await get(guess, '/account'), await submit(guess, '/login', { token: 'x' })]
  expect(refused.map(({ status }) => status)).toEqual([429, 429])
  expect(Number(refused[0]!.headers['retry-after'])).toBeGreaterThan(0)
  expect((await get(guessed.as('viewer'), '/account')).status).toBe(200)
  expect((await submit(guess, '/login', { token: guessed.as('viewer').token })).status).toBe(303)
  await clock.advance(60_000)
  const swallowed = guessed.audited().filter(({ status }) => status === 429)
  expect(swallowed).toMatchObject([{ action: 'login.failed', address: '127.0.0.1', more: 2 }])
})
