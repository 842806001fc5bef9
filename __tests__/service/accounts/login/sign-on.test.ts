import { afterEach, describe, expect, jest, test } from '@jest/globals'
import { copyFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../../../../src/contract/clock.js'
import { TeamAccounts } from '../../../../src/service/accounts/accounts.js'
import { AccountError } from '../../../../src/service/accounts/users.js'
import { openUsers } from '../../../../src/service/accounts/open-users.js'
import { parseConfig } from '../../../../src/service/config/parse-config.js'
import { serve } from '../../../../src/service/serve.js'
import { startService } from '../../../../src/service/server.js'
import type { LoginConfig } from '../../../../src/service/config/config.js'
import { openDatabase } from '../../../../src/service/store/database.js'
import { WITH_PAGES } from '../../pages/page-support.js'
import { createFolders, until } from '../../support.js'
import { CLIENT } from './identity-provider.js'
import { createWorlds, sit, type World } from './sign-on-world.js'
import type { WebBrowser } from './web-browser.js'
import { type Page, SERVICE } from './web-browser.js'

const folders = createFolders()
const worlds = createWorlds()
const { start } = worlds
afterEach(async () => {
  await worlds.closeAll()
  folders.remove()
})

const HOUR_MS = 3_600_000

const SESSION = '__Host-loadgate'
const cookieOf = (browser: WebBrowser, name = SESSION): string | undefined =>
  browser.cookies.get('load.example.com')?.get(name)?.value
/** The sign-ins that are under way in it. */
const attemptsOf = (browser: WebBrowser) =>
  [...(browser.cookies.get('load.example.com') ?? [])].filter(([name]) =>
    name.startsWith(`${SESSION}-login-`)
  )
const visitorOf = ({ text }: Page): string | undefined => /class="visitor-name">([^<]*)</.exec(text)?.[1]
const isCallback = (url: string): boolean => url.startsWith(`${SERVICE}/login/callback`)
const alertOf = ({ text }: Page): string => /role="alert">([^<]*)</.exec(text)?.[1] ?? ''

/** Refused, and nobody is logged in. */
function expectRefused(browser: WebBrowser, page: Page, status: number, words: string): void {
  expect([page.status, alertOf(page)]).toEqual([status, expect.stringContaining(words)])
  expect(cookieOf(browser)).toBeUndefined()
  // A token still works, and another try is offered.
  expect(page.text).toContain('type="password"')
  expect(page.text).toMatch(/<a class="way" href="\/login\/start/)
}

test('a person signs in with what the provider says, comes to where they wanted to go, and logs out everywhere', async () => {
  const world = await start()
  sit(world, 'sub-ada', { preferred_username: 'ada', groups: ['dev', 'other'] })
  const browser = world.browser()
  const form = await browser.open('/?status=finished')
  expect(form.status).toBe(401)
  const [, way = ''] = /<a class="way" href="([^"]*)"/.exec(form.text) ?? []
  expect(way).toBe('/login/start?next=%2F%3Fstatus%3Dfinished')

  const atCallback = await browser.open(way, { until: isCallback })
  const [[name, kept] = []] = attemptsOf(browser)
  expect(kept?.attributes).toBe('; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=600')
  expect(kept?.value).not.toContain('finished')
  const list = await browser.open(atCallback.url, { isForeign: true })
  expect([list.status, list.url, visitorOf(list)]).toEqual([200, `${SERVICE}/?status=finished`, 'ada'])
  expect(browser.cookies.get('load.example.com')?.get(SESSION)?.attributes).toBe(
    '; Path=/; Secure; HttpOnly; SameSite=Strict'
  )
  expect(name).toMatch(/^__Host-loadgate-login-[\da-f]{16}$/)
  expect(attemptsOf(browser)).toEqual([])
  // The groups are only in what the provider says to whoever asks again.
  expect(world.idp.asked).toContain('GET /me')

  const out = await browser.send(`${SERVICE}/logout`, { form: {} })
  expect([out.status, cookieOf(browser), cookieOf(browser, `${SESSION}-sso`)]).toEqual([
    200,
    undefined,
    undefined
  ])
  const end = new URL(/url=([^"]*)"/.exec(out.text)![1]!.replaceAll('&#38;', '&'))
  expect(end.origin + end.pathname).toBe(`${world.idp.issuer}/session/end`)
  expect(Object.fromEntries(end.searchParams)).toEqual({
    client_id: CLIENT.id,
    post_logout_redirect_uri: `${SERVICE}/login`
  })
  // The provider takes it, and asks.
  expect((await browser.send(end.href)).status).toBe(200)
  expect((await browser.open('/')).status).toBe(401)

  expect(world.audited()).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ action: 'login', user: 'ada', role: 'member' }),
      expect.objectContaining({ action: 'logout', user: 'ada' })
    ])
  )
  const said = JSON.stringify([world.lines, world.audited()])
  for (const secret of [CLIENT.secret, new URL(atCallback.url).searchParams.get('code')!])
    expect(said).not.toContain(secret)
})

describe('a sign-in is refused', () => {
  async function begin(change: (url: URL) => unknown = () => undefined) {
    const world = await start()
    sit(world, 'ada', { groups: ['dev'] })
    const browser = world.browser()
    const toProvider = await browser.open('/login/start', {
      until: (url) => url.startsWith(world.idp.issuer)
    })
    const url = new URL(toProvider.url)
    expect(url.searchParams.get('code_challenge_method')).toBe('S256')
    change(url)
    return { world, browser, url: url.href }
  }
  const reasonsOf = (world: World): unknown[] =>
    world.audited().flatMap(({ action, reason }) => (action === 'login.failed' ? [reason] : []))

  test.each<[string, (url: URL) => unknown, number, string]>([
    ['another nonce', (url) => url.searchParams.set('nonce', 'x'.repeat(43)), 502, 'nonce'],
    [
      'another code challenge',
      (url) => url.searchParams.set('code_challenge', 'x'.repeat(43)),
      403,
      'invalid_grant'
    ],
    ['no code challenge', (url) => url.searchParams.delete('code_challenge'), 403, 'invalid_request'],
    ['another state', (url) => url.searchParams.set('state', 'x'.repeat(43)), 400, 'no sign-in under way']
  ])('by %s', async (_, change, status, reason) => {
    const { world, browser, url } = await begin(change)
    const page = await browser.open(url)
    expectRefused(browser, page, status, 'ign')
    await until(() => reasonsOf(world).length === 1)
    expect(reasonsOf(world)).toEqual([expect.stringContaining(reason)])
  })

  test('in a browser that did not start it: nobody can be logged in as somebody else', async () => {
    const { world, browser, url } = await begin()
    const { url: callback } = await browser.open(url, { until: isCallback })
    const victim = world.browser()
    expectRefused(
      victim,
      await victim.open(callback, { isForeign: true }),
      400,
      'not started in this browser'
    )
    // Nor with a sign-in of their own under way.
    await victim.open('/login/start', { until: (to) => to.startsWith(world.idp.issuer) })
    expectRefused(
      victim,
      await victim.open(callback, { isForeign: true }),
      400,
      'not started in this browser'
    )
    expect(world.idp.asked).not.toContain('POST /token')
  })

  test('by a stolen code', async () => {
    const { world, browser, url } = await begin()
    const code = new URL((await browser.open(url, { until: isCallback })).url).searchParams.get('code')!
    const thief = world.browser()
    const own = new URL((await thief.open('/login/start', { until: isCallback })).url)
    own.searchParams.set('code', code)
    const lines = world.lines.length
    world.idp.asked.length = 0
    expectRefused(thief, await thief.open(own.href), 403, 'could not sign you in: invalid_grant')
    expect(reasonsOf(world)).toEqual([expect.stringContaining('invalid_grant')])
    // Whoever makes up codes fills no log with that, and the provider is not asked for its description again.
    expect(world.lines.slice(lines).filter(({ msg }) => String(msg).startsWith('single sign-on'))).toEqual([])
    expect(visitorOf(await world.browser().open('/login/start'))).toBe('ada')
    expect(world.idp.asked).not.toContain('GET /.well-known/openid-configuration')
  })

  test('by very many from one network, before the provider is asked', async () => {
    const { world, browser, url } = await begin()
    const { url: callback } = await browser.open(url, { until: isCallback })
    const own = new URL(callback)
    own.searchParams.set('code', 'x')
    own.searchParams.delete('iss')
    // All of them with the cookie of the sign-in, which the first reply deletes.
    const tries = await Promise.all(Array.from({ length: 201 }, () => browser.send(own.href)))
    expect(tries.filter(({ status }) => status === 429)).toHaveLength(1)
    const late = world.browser()
    const right = await late.open('/login/start')
    expect([right.status, right.headers['retry-after'], cookieOf(late)]).toEqual([
      429,
      expect.stringMatching(/^\d+$/),
      undefined
    ])
    expect(world.idp.asked).not.toContain('POST /token')
  })

  test('however often in browsers that began none, and people still sign in from that network', async () => {
    const { world } = await begin()
    const stranger = world.browser()
    const lured = `${SERVICE}/login/callback?code=x&state=y`
    const tries = await Promise.all(Array.from({ length: 250 }, () => stranger.send(lured)))
    expect(new Set(tries.map(({ status }) => status))).toEqual(new Set([400]))
    expect(visitorOf(await world.browser().open('/login/start'))).toBe('ada')
  })

  test('where it was not begun, and the browser still knows that its person signs in there', async () => {
    const { world, browser, url } = await begin()
    expect(visitorOf(await browser.open(url))).toBe('ada')
    const kept = cookieOf(browser, `${SESSION}-sso`)
    expect(kept).toBe('1')
    const lured = await browser.open('/login/callback?code=x&state=y', { isForeign: true })
    expect([lured.status, alertOf(lured)]).toEqual([
      400,
      expect.stringContaining('not started in this browser')
    ])
    expect(cookieOf(browser, `${SESSION}-sso`)).toBe(kept)
    // So the next visit goes there by itself, once the session has ended.
    world.aheadMs = 24 * HOUR_MS
    expect(visitorOf(await browser.open('/'))).toBe('ada')
  })

  test('the second time', async () => {
    const { world, browser, url } = await begin()
    const { url: callback } = await browser.open(url, { until: isCallback })
    const before = new Map(browser.cookies.get('load.example.com'))
    expect(visitorOf(await browser.open(callback, { isForeign: true }))).toBe('ada')
    const again = await world.browser().open(callback)
    expect([again.status, alertOf(again)]).toEqual([400, expect.stringContaining('already used')])
    // Not even with the cookies of then.
    const restored = world.browser()
    restored.cookies.set('load.example.com', before)
    expectRefused(restored, await restored.open(callback), 403, 'could not sign you in')
  })

  test('after ten minutes', async () => {
    const { world, browser, url } = await begin()
    const { url: callback } = await browser.open(url, { until: isCallback })
    world.aheadMs = 600_000
    expectRefused(browser, await browser.open(callback, { isForeign: true }), 400, 'took too long')
  })

  test('by the person, in plain words and as plain text', async () => {
    const { world, browser, url } = await begin()
    world.idp.atBrowser = undefined
    const page = await browser.open(url)
    expect(page.status).toBe(403)
    expect(alertOf(page)).toContain(
      'was cancelled or refused: access_denied (End-User &#60;b&#62;aborted&#60;/b&#62;'
    )
    expect(cookieOf(browser)).toBeUndefined()
  })

  test('to whoever is in none of the groups, who learns whom to ask', async () => {
    const world = await start()
    sit(world, 'eve', { groups: ['develop', 'OPS'] })
    const browser = world.browser()
    const page = await browser.open('/login/start')
    expectRefused(browser, page, 403, 'eve is signed in at localhost')
    expect(page.text).toContain('ops, dev, all. Ask whoever manages the groups, or an admin of this service')
    expect(reasonsOf(world)).toEqual(['eve is in none of the groups'])
    expect(openUsersOf(world)).toEqual([])
  })
})

test('tabs that sign in at once do not disturb each other, and leave only so many cookies', async () => {
  const world = await start()
  sit(world, 'ada', { groups: ['dev'] })
  const browser = world.browser()
  const begin = (name: string) =>
    browser.open(`/login/start?next=${encodeURIComponent(`/?project=${name}`)}`, { until: isCallback })
  const tabs = [await begin('a'), await begin('b')]
  for (const { url } of tabs) expect(visitorOf(await browser.open(url, { isForeign: true }))).toBe('ada')
  const [first, second] = browser.trail.filter((url) => url === `${SERVICE}/`)
  expect([first, second]).toEqual([`${SERVICE}/`, `${SERVICE}/`])
  const many: Page[] = []
  for (let count = 0; count < 25; count++) {
    many.push(await begin(`c${count}`))
    expect(attemptsOf(browser)).toHaveLength(Math.min(count + 1, 10))
  }
  const ended = await browser.open(many[14]!.url, { isForeign: true })
  expect([ended.status, alertOf(ended)]).toEqual([
    400,
    expect.stringContaining('not started in this browser')
  ])
  for (const [at, { url }] of many.slice(15).entries()) {
    const page = await browser.open(url, { isForeign: true })
    expect([page.url, visitorOf(page)]).toEqual([`${SERVICE}/?project=c${at + 15}`, 'ada'])
  }
  expect(attemptsOf(browser)).toEqual([])
})

test.each<[string, (issuer: string) => string]>([
  ['a slash', (issuer) => `${issuer}/`],
  ['the case of its host', (issuer) => issuer.replace('localhost', 'LOCALHOST')]
])('a provider that the config file names but for %s is refused, with both', async (_, change) => {
  const world = await start()
  sit(world, 'ada', { groups: ['ops'] })
  const browser = world.browser()
  expect(visitorOf(await browser.open('/login/start'))).toBe('ada')
  const { issuer } = world.idp
  await world.restart('admins: [ops]', change(issuer))
  const page = await browser.open('/')
  const words = `login.issuer in the config file is ${change(issuer)}, and the provider calls itself ${issuer}`
  expect([page.status, alertOf(page)]).toEqual([503, expect.stringContaining(words)])
  expect(page.text).toContain('type="password"')
  expect(world.lines.map(({ msg }) => msg)).toContainEqual(`single sign-on: ${words}`)
})

test('somebody whom the service does not let in comes to the form, and not there and back for a month', async () => {
  const world = await start()
  sit(world, 'ada', { groups: ['ops'] })
  const browser = world.browser()
  await browser.open('/login/start')
  browser.cookies.get('load.example.com')?.delete(SESSION)
  const refused = jest.spyOn(TeamAccounts.prototype, 'signIn').mockImplementation(() => {
    throw new AccountError('ada has just been removed; log in again')
  })
  const page = await browser.open('/')
  refused.mockRestore()
  expectRefused(browser, page, 403, 'Ada has just been removed; log in again.')
  expect(cookieOf(browser, `${SESSION}-sso`)).toBeUndefined()
  expect(world.audited()).toContainEqual(
    expect.objectContaining({ action: 'login.failed', reason: 'ada has just been removed; log in again' })
  )
})

function openUsersOf({ dataDir }: World) {
  const users = openUsers(dataDir, () => undefined)
  const all = users.users().map(({ name, role, issuer }) => ({ name, role, issuer }))
  users.close()
  return all
}

test.each([
  '//evil.example/',
  '/\\evil.example',
  'https://evil.example/',
  '/login/callback?code=x',
  '/login'
])('a sign-in never leads to %s', async (next) => {
  const world = await start()
  sit(world, 'ada', { groups: ['dev'] })
  const page = await world.browser().open(`/login/start?next=${encodeURIComponent(next)}`)
  expect([page.status, page.url]).toEqual([200, `${SERVICE}/`])
})

describe('a provider that is down', () => {
  test('keeps neither the service from starting nor tokens from working, and is asked again', async () => {
    const world = await start({}, (idp) => idp.stop())
    sit(world, 'ada', { groups: ['dev'] })
    const browser = world.browser()
    expectRefused(
      browser,
      await browser.open('/login/start?next=%2F%3Fpage%3D1'),
      503,
      'is not reachable now'
    )
    expect(world.lines.map(({ msg }) => msg)).toContainEqual(
      expect.stringMatching(/^single sign-on: the provider cannot be used: .*ECONNREFUSED/)
    )
    const users = openUsers(world.dataDir, () => undefined)
    const { token } = users.add('ops', 'admin')
    users.close()
    await browser.send(`${SERVICE}/login`, { form: { token, next: '/' } })
    expect(visitorOf(await browser.open('/'))).toBe('ops')
    await world.idp.start()
    expect(visitorOf(await world.browser().open('/login/start'))).toBe('ada')
    // Known by now; then it is the token that cannot be fetched.
    const late = world.browser()
    const { url } = await late.open('/login/start', { until: isCallback })
    await world.idp.stop()
    expectRefused(late, await late.open(url), 502, 'could not be completed')
    await world.idp.start()
    expect(visitorOf(await late.open('/login/start'))).toBe('ada')
  })

  test('is one whose certificate nobody has signed', async () => {
    const other = await start()
    const world = await start({ keys: `members: [dev]` })
    expect(other.idp.issuer).not.toBe(world.idp.issuer)
    copyFileSync(other.idp.tls.certificate, world.idp.tls.certificate)
    expectRefused(world.browser(), await world.browser().open('/login/start'), 503, 'is not reachable now')
    expect(world.lines.map(({ msg }) => msg)).toContainEqual(expect.stringMatching(/self-signed certificate/))
  })
})

test('the secret of the client is read for each sign-in: it may be replaced while the service runs', async () => {
  const world = await start()
  sit(world, 'ada', { groups: ['dev'] })
  expect(visitorOf(await world.browser().open('/login/start'))).toBe('ada')
  writeFileSync(world.secretFile, 'another secret, which the provider does not know')
  expectRefused(...(await visit(world)), 502, 'could not be completed')
  writeFileSync(world.secretFile, CLIENT.secret)
  expect(visitorOf(await world.browser().open('/login/start'))).toBe('ada')
  // Also where nothing has failed in between: the provider is asked with the secret of now.
  rmSync(world.secretFile)
  expectRefused(...(await visit(world)), 502, 'could not be completed')
  expect(world.lines.map(({ msg }) => msg)).toContainEqual(
    expect.stringContaining('login.client-secret-file cannot be read')
  )
})

async function visit(world: World): Promise<[WebBrowser, Page]> {
  const browser = world.browser()
  return [browser, await browser.open('/login/start')]
}

describe('who a person is', () => {
  test('is never somebody else of the same name', async () => {
    const world = await start()
    const users = openUsers(world.dataDir, () => undefined)
    users.add('Ada', 'admin')
    sit(world, 'one', { preferred_username: 'ada', groups: ['dev'] })
    expect(visitorOf(await world.browser().open('/login/start'))).toBe('ada-2')
    sit(world, 'two', { preferred_username: 'ada', groups: ['all'] })
    expect(visitorOf(await world.browser().open('/login/start'))).toBe('ada-3')
    // The subject counts, whatever the name is by now.
    sit(world, 'one', { preferred_username: 'ada.lovelace', groups: ['dev'] })
    expect(visitorOf(await world.browser().open('/login/start'))).toBe('ada-2')
    sit(world, 'three', { preferred_username: undefined, email: 'Zoë <x>@example.com', groups: ['dev'] })
    expect(visitorOf(await world.browser().open('/login/start'))).toBe('Zoe-x-@example.com')
    sit(world, 'sub/4', { preferred_username: undefined, groups: 'dev' })
    expect(visitorOf(await world.browser().open('/login/start'))).toBe('sub-4')
    expect(() => users.rotate('ada-2')).toThrow(
      `ada-2 has no token here: ${world.idp.issuer} says who that is`
    )
    expect(() => users.add('ada-3', 'admin')).toThrow('choose another name')
    users.close()
  })

  test('decides at each login what they may do; a person in several groups has the highest role', async () => {
    const world = await start()
    const roles = async (groups: string[]): Promise<unknown> => {
      sit(world, 'ada', { groups })
      const page = await world.browser().open('/login/start')
      return page.status === 200 ? openUsersOf(world)[0]?.role : page.status
    }
    expect(await roles(['all'])).toBe('viewer')
    expect(await roles(['all', 'ops', 'dev'])).toBe('admin')
    expect(await roles(['dev'])).toBe('member')
    expect(await roles([])).toBe(403)
    // An admin of the provider is not the last admin of the service.
    const users = openUsers(world.dataDir, () => undefined)
    users.add('root', 'admin')
    await roles(['ops'])
    expect(() => users.remove('root')).toThrow('root is the last admin')
    expect(users.remove('ada')).toMatchObject({ name: 'ada', issuer: world.idp.issuer })
    users.close()
  })

  test('is in a group that gives a role, though it is the last of 1,200', async () => {
    const world = await start()
    const others = Array.from({ length: 1200 }, (_, at) => `team-${at}`)
    sit(world, 'ada', { groups: [...others.slice(1), 'ops'] })
    const browser = world.browser()
    expect(visitorOf(await browser.open('/login/start'))).toBe('ada')
    expect(openUsersOf(world)).toMatchObject([{ name: 'ada', role: 'admin' }])
    // And in the session, of which the config file of another day says who they are.
    await world.restart('admins: [root], members: [ops]')
    expect((await browser.send(`${SERVICE}/`)).status).toBe(200)
    await browser.send(`${SERVICE}/logout`, { form: {} })
    expect(world.audited()).toContainEqual(expect.objectContaining({ action: 'logout', role: 'member' }))
    sit(world, 'eve', { groups: others })
    expect((await world.browser().open('/login/start')).status).toBe(403)
  })

  test('is asked in the claim that the config file names, and in the ID token', async () => {
    const world = await start({
      keys: 'members: [dev], groups-claim: teams',
      provider: {
        conformIdTokenClaims: false,
        claims: { openid: ['sub', 'teams'], profile: ['preferred_username'] }
      }
    })
    sit(world, 'ada', { groups: ['ops'], teams: ['dev'] })
    expect(visitorOf(await world.browser().open('/login/start'))).toBe('ada')
    expect(openUsersOf(world)).toMatchObject([{ role: 'member' }])
    expect(world.idp.asked).not.toContain('GET /me')
  })
})

describe('a session', () => {
  const stay = async (browser: WebBrowser): Promise<boolean> =>
    (await browser.send(`${SERVICE}/`)).status === 200

  test('ends with the ID token, and goes on by itself as long as the provider lets the person in', async () => {
    const world = await start({ provider: { ttl: { IdToken: 3600 } } })
    sit(world, 'ada', { groups: ['dev'] })
    const browser = world.browser()
    await browser.open('/login/start')
    world.aheadMs = HOUR_MS - 60_000
    expect(await stay(browser)).toBe(true)
    world.aheadMs = HOUR_MS + 1000
    expect(await stay(browser)).toBe(false)
    // The provider still knows the browser: nobody types anything.
    world.idp.asked.length = 0
    const first = cookieOf(browser)
    const page = await browser.open('/?page=1')
    expect([page.url, visitorOf(page)]).toEqual([`${SERVICE}/?page=1`, 'ada'])
    expect(cookieOf(browser)).not.toBe(first)
    expect(world.idp.asked.filter((asked) => asked.includes('/interaction/'))).toEqual([])
    // From a link of another site too.
    world.aheadMs += 2 * HOUR_MS
    expect(visitorOf(await browser.open('/', { isForeign: true }))).toBe('ada')
    // Out of the groups, they are out with the next ID token.
    sit(world, 'ada', { groups: [] })
    world.aheadMs += 2 * HOUR_MS
    expect((await browser.open('/')).status).toBe(403)
    expect((await browser.open('/')).status).toBe(401)
  })

  test('ends with that of the provider, where the provider says so', async () => {
    const world = await start({ provider: { ttl: { IdToken: 300 } } })
    world.idp.inTokenReply = { refresh_expires_in: 1800 }
    sit(world, 'ada', { groups: ['dev'] })
    const browser = world.browser()
    await browser.open('/login/start')
    world.aheadMs = HOUR_MS / 2 - 60_000
    expect(await stay(browser)).toBe(true)
    world.aheadMs = HOUR_MS / 2 + 1000
    expect(await stay(browser)).toBe(false)
  })

  test('ends so long after the password as max-age says', async () => {
    const world = await start({ keys: 'members: [dev], max-age: 10h', provider: { ttl: { IdToken: 60 } } })
    sit(world, 'ada', { groups: ['dev'] })
    const browser = world.browser()
    await browser.open('/login/start')
    world.aheadMs = 10 * HOUR_MS - 60_000
    expect(await stay(browser)).toBe(true)
    world.aheadMs = 10 * HOUR_MS + 1000
    expect(await stay(browser)).toBe(false)
  })

  test('ends at once when the person is removed, who is another user when they come back', async () => {
    const world = await start()
    sit(world, 'ada', { groups: ['dev'] })
    const browser = world.browser()
    await browser.open('/login/start')
    const users = openUsers(world.dataDir, () => undefined)
    const { id } = users.remove('ada')
    expect(await stay(browser)).toBe(false)
    expect(visitorOf(await browser.open('/'))).toBe('ada')
    expect(users.users().map((user) => user.id)).not.toContain(id)
    users.close()
  })

  test('says which groups the person is in; what they may do is for the config file of today', () => {
    const database = openDatabase(folders.create())
    const issuer = 'https://id.example'
    const byFile = (groups: LoginConfig['groups'], of = issuer, groupsClaim = 'teams') =>
      new TeamAccounts(database, systemClock, undefined, { issuer: of, groups, groupsClaim })
    const accounts = byFile({ admin: [], member: ['a'], viewer: ['b'] })
    const person = { issuer, subject: '1', name: 'ada', role: 'member' } as const
    const first = accounts.signIn(person, { groups: { teams: ['a', 'b'] } })
    const second = accounts.signIn({ ...person, role: 'viewer' }, { groups: { teams: ['b', 'c'] } })
    const rolesBy = (file: TeamAccounts) =>
      [first, second].map(({ cookie }) => file.findBySession(cookie)?.role)
    expect(accounts.findBySession(first.cookie)).toEqual({
      ...{ id: 1, name: 'ada', role: 'member', claims: { sub: '1', teams: ['a', 'b'] } }
    })
    expect(rolesBy(accounts)).toEqual(['member', 'viewer'])
    expect(rolesBy(byFile({ admin: ['c'], member: [], viewer: ['b'] }))).toEqual(['viewer', 'admin'])
    expect(rolesBy(byFile({ admin: ['a'], member: [], viewer: [] }))).toEqual(['admin', undefined])
    expect(rolesBy(byFile({ admin: ['a'], member: [], viewer: [] }, 'https://other.example'))).toEqual([
      ...[undefined, undefined]
    ])
    expect(rolesBy(new TeamAccounts(database, systemClock))).toEqual([undefined, undefined])
    // What another claim says is nothing of this one, in sessions and for waiting runs.
    const other = byFile({ admin: ['a'], member: ['b'], viewer: [] }, issuer, 'roles')
    expect(rolesBy(other)).toEqual([undefined, undefined])
    const creator = accounts.findBySession(first.cookie)!
    expect(accounts.findCreator(creator)).toMatchObject({ name: 'ada', role: 'member' })
    expect(other.findCreator(creator)).toBeUndefined()
    expect(accounts.users()).toMatchObject([{ id: 1, name: 'ada', role: 'viewer' }])
    database.close()
  })

  test('has the role of the config file that the service was started with, and ends where that has none', async () => {
    const world = await start({ keys: 'admins: [ops], members: [dev]' })
    sit(world, 'ada', { groups: ['ops', 'dev'] })
    const browsers = [world.browser(), world.browser(), world.browser()] as const
    const [browser, ...others] = browsers
    for (const one of browsers) await one.open('/login/start')
    const logOut = async (one: WebBrowser): Promise<unknown> => {
      await one.send(`${SERVICE}/logout`, { form: {} })
      return world.audited().findLast(({ action }) => action === 'logout')?.role
    }
    expect(await logOut(others[0])).toBe('admin')
    await world.restart('admins: [root], members: [dev]')
    expect([await stay(browser), await logOut(others[1])]).toEqual([true, 'member'])
    await world.restart('admins: [root], members: [dev], groups-claim: roles')
    expect(await stay(browser)).toBe(false)
    await world.restart('admins: [root], members: [dev]')
    expect(await stay(browser)).toBe(true)
    await world.restart('admins: [root], members: [others]')
    expect(await stay(browser)).toBe(false)
    // They come back as the provider lets them in, and are told why they are out.
    const page = await browser.open('/')
    expect([page.status, alertOf(page)]).toEqual([403, expect.stringContaining('root, others')])
  })

  test('opens no API', async () => {
    const world = await start()
    sit(world, 'ada', { groups: ['ops'] })
    const browser = world.browser()
    await browser.open('/login/start')
    expect((await browser.send(`${SERVICE}/users`)).status).toBe(401)
  })
})

test.each([
  ['secret', 'login.client-secret-file cannot be read'],
  ['certificate', 'login.ca']
])('a %s that cannot be read is said at the start', async (which, words) => {
  const folder = folders.create()
  writeFileSync(join(folder, 'secret'), 'secret')
  writeFileSync(join(folder, 'ca'), 'no certificate')
  const files = which === 'secret' ? 'client-secret-file: nowhere' : 'client-secret-file: secret, ca: ca'
  const text = `listen: 127.0.0.1:0\ndata: data\nexternal-url: https://a.example\nbehind-proxy: { trusted: [127.0.0.1] }\nlogin: { issuer: "https://id.example", client-id: x, admins: [a], ${files} }\n`
  const { config } = parseConfig(text, folder)
  const request = { setUp: config!, rehearse: true, serviceName: undefined, log: () => undefined }
  const started = serve(
    { ...request, signal: new AbortController().signal },
    { start: startService, pages: WITH_PAGES.pages! }
  )
  await expect(started).rejects.toThrow(words)
})
