import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { dirname } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { exportJWK, exportSPKI, SignJWT, UnsecuredJWT } from 'jose'
import { TeamAccounts } from '../../../../src/service/accounts/accounts.js'
import type { TrustedIssuer } from '../../../../src/service/config/config.js'
import { openDatabase } from '../../../../src/service/store/database.js'
import { AUDIENCE, makeKey, TestIssuer } from './issuer.js'
import { createOpener, type Opened, refusal } from './opener.js'

const HOUR_MS = 3_600_000
const opener = createOpener()
let issuer: TestIssuer
beforeAll(async () => {
  issuer = await TestIssuer.start(opener.folder())
})
afterAll(async () => {
  await issuer.stop()
  opener.closeAll()
})

const open = (change: Partial<TrustedIssuer> = {}): Opened => opener.open(issuer, change)

describe('a token that the issuer has signed', () => {
  test('lets its repository in, with the role of the highest rule and its plain claims', async () => {
    const { tokens } = open()
    const token = await issuer.sign({ groups: ['x'], run_attempt: 1 })
    expect(tokens.covers(token)).toBe(true)
    const user = await tokens.admit(token)
    expect(user).toMatchObject({ name: 'acme/shop', role: 'member' })
    expect(user.claims).toMatchObject({ repository: 'acme/shop', run_attempt: '1', iss: issuer.url })
    expect(user.claims).not.toHaveProperty('groups')
    const production = await tokens.admit(await issuer.sign({ environment: 'production' }))
    expect(production).toMatchObject({ id: user.id, role: 'admin' })
    // The role is that of the token, not that of the user's last request.
    expect(await tokens.admit(token)).toMatchObject({ id: user.id, role: 'member' })
    expect(tokens.find(token, undefined)).toEqual(user)
  })

  test('may have several audiences, and be an access token', async () => {
    const { tokens } = open()
    await tokens.admit(await issuer.sign({ aud: ['other', AUDIENCE] }))
    await tokens.admit(await issuer.sign({}, { header: { typ: 'at+jwt' } }))
  })

  test.each(['ES256', 'PS512', 'Ed25519'])('may be signed with %s', async (alg) => {
    const key = await makeKey(`of-${alg}`, alg)
    issuer.keys.push(key)
    try {
      expect(await open().tokens.admit(await issuer.sign({}, { key }))).toMatchObject({ name: 'acme/shop' })
    } finally {
      issuer.keys.pop()
    }
  })

  test('is checked once, and then until it ends', async () => {
    const { tokens, clock } = open()
    const before = issuer.fetches
    const token = await issuer.sign({ exp: Math.floor(clock.now() / 1000) + 300 })
    for (let i = 0; i < 20; i++) await tokens.admit(token)
    expect(issuer.fetches - before).toBe(1)
    await clock.advance(359_000)
    await tokens.admit(token)
    await clock.advance(2000)
    expect(tokens.find(token, undefined)).toBeUndefined()
    expect(await refusal(tokens.admit(token))).toMatchObject({
      statusCode: 401,
      message: expect.stringMatching(/^the token of an issuer is refused: it ended at 20.*Z$/)
    })
  })

  test('serves a request that began in time to its end, as long as there is the user', async () => {
    const { tokens, clock, database } = open()
    const token = await issuer.sign()
    const user = await tokens.admit(token)
    await clock.advance(2 * HOUR_MS)
    expect(tokens.find(token, user)).toBe(user)
    new TeamAccounts(database, clock).remove('acme/shop')
    expect(tokens.find(token, user)).toBeUndefined()
  })

  test('is still known to its issuer alone after 1,000 others', async () => {
    const { tokens } = open()
    const first = await issuer.sign({ jti: 'first' })
    await tokens.admit(first)
    for (let i = 0; i < 1000; i++) await tokens.admit(await issuer.sign({ jti: `${i}` }))
    expect(tokens.find(first, undefined)).toBeUndefined()
    expect(await tokens.admit(first)).toMatchObject({ name: 'acme/shop' })
  })
})

describe('a token is refused', () => {
  let opened: Opened
  beforeEach(() => {
    opened = open()
  })
  const seconds = (): number => Math.floor(opened.clock.now() / 1000)
  const why = async (token: string): Promise<string> => {
    const { statusCode, message } = await refusal(opened.tokens.admit(token))
    expect(statusCode).toBe(401)
    expect(message).not.toContain(token.split('.')[1])
    expect(opened.database.prepare('SELECT * FROM users').all()).toEqual([])
    return message.replace('the token of an issuer is refused: ', '')
  }

  test('of another issuer', async () => {
    expect(await why(await issuer.sign({ iss: 'https://evil.example' }))).toBe(
      'its issuer "https://evil.example" is not one that this service trusts'
    )
    expect(await why(await issuer.sign({ iss: `${issuer.url}/` }))).toContain('is not one that')
    expect(await why(await issuer.sign({ iss: undefined }))).toContain('(iss)')
  })

  test('for another audience, or none', async () => {
    expect(await why(await issuer.sign({ aud: 'https://other.example' }))).toBe(
      `it is for the audience "https://other.example", and not for ${AUDIENCE}`
    )
    expect(await why(await issuer.sign({ aud: [`${AUDIENCE}/`, 'x'] }))).toContain('and not for')
    expect(await why(await issuer.sign({ aud: undefined }))).toBe('it has no aud')
  })

  test('signed with a key that is not one of the issuer, whatever key it names', async () => {
    const stranger = await makeKey('stranger')
    expect(await why(await issuer.sign({}, { key: stranger }))).toBe(`its key is not one of ${issuer.url}`)
    expect(await why(await issuer.sign({}, { key: { ...stranger, kid: 'first' } }))).toBe(
      `its signature is not that of ${issuer.url}`
    )
    const header = { jwk: await exportJWK(stranger.publicKey), jku: `${issuer.url}/other`, kid: 'first' }
    expect(await why(await issuer.sign({}, { key: stranger, header }))).toContain('signature')
    expect(issuer.asked).not.toContain('/other')
  })

  test('with a signature of another token, or claims of another', async () => {
    const [header, , signature] = (await issuer.sign()).split('.')
    const [, claims] = (await issuer.sign({ repository: 'acme/other' })).split('.')
    expect(await why(`${header}.${claims}.${signature}`)).toContain('signature')
    expect(await why(`${header}.${claims}.`)).toContain('signature')
  })

  test('without a signature, by the algorithm none', async () => {
    const none = new UnsecuredJWT({ repository: 'acme/shop' }).setIssuer(issuer.url).setAudience(AUDIENCE)
    expect(await why(none.setExpirationTime('5m').encode())).toContain('its algorithm is not one of')
  })

  test('with HS256 by the public key', async () => {
    const secret = new TextEncoder().encode(await exportSPKI(issuer.keys[0]!.publicKey))
    const forged = await new SignJWT({ repository: 'acme/shop' })
      .setProtectedHeader({ alg: 'HS256', kid: 'first' })
      .setIssuer(issuer.url)
      .setAudience(AUDIENCE)
      .setExpirationTime('5m')
      .sign(secret)
    expect(await why(forged)).toContain('its algorithm is not one of')
  })

  test('by an algorithm of its key that the issuer does not name', async () => {
    issuer.about = { id_token_signing_alg_values_supported: ['ES256'] }
    try {
      expect(await why(await issuer.sign())).toBe(`its algorithm is not one of ${issuer.url} (ES256)`)
    } finally {
      issuer.about = {}
    }
  })

  test('after its end and before its beginning, with a minute of slack', async () => {
    const { tokens } = opened
    expect(await why(await issuer.sign({ exp: seconds() - 61 }))).toMatch(/^it ended at 20.*Z$/)
    expect(await why(await issuer.sign({ nbf: seconds() + 62 }))).toMatch(/^it begins at 20.*Z$/)
    await tokens.admit(await issuer.sign({ exp: seconds() - 58 }))
    await tokens.admit(await issuer.sign({ nbf: seconds() + 58 }))
  })

  test('without an end, or with one that is no number', async () => {
    expect(await why(await issuer.sign({ exp: undefined }))).toBe('it has no exp')
    expect(await why(await issuer.sign({ exp: '9999999999' }))).toBe('its exp is not a number')
    expect(await why(await issuer.sign({ nbf: 'now' }))).toBe('its nbf is not a number')
  })

  test('of another type', async () => {
    expect(await why(await issuer.sign({}, { header: { typ: 'logout+jwt' } }))).toContain('"logout+jwt"')
  })

  test('that is not one: too long, cut off, not JSON', async () => {
    const asked = issuer.asked.length
    const long = `${'a'.repeat(16_384)}.b.c`
    expect(opened.tokens.covers(long)).toBe(true)
    expect(await why(long)).toBe('it is longer than 16384 characters')
    expect(await why('a.b.c')).toContain('(iss)')
    expect(await why(`${Buffer.from('{}').toString('base64url')}.bnVsbA.c`)).toContain('(iss)')
    expect(issuer.asked.length).toBe(asked)
    const [header, claims] = (await issuer.sign()).split('.')
    expect(await why(`x.${claims}.x`)).toContain('malformed')
    expect(await why(`${header}.${claims}.!`.replace('!', '_'))).toContain('signature')
    for (const own of ['', 'lg_0123456789ab_x', 'a.b', 'a.b.c.d', 'a b.c.d'])
      expect(opened.tokens.covers(own)).toBe(false)
  })
})

describe('no rule lets in', () => {
  test('a fork, by its own name; the reply says what the token has', async () => {
    const { tokens, database } = open()
    const fork = await issuer.sign({ repository: 'mallory/shop', repository_owner: 'mallory' })
    expect(await refusal(tokens.admit(fork))).toEqual(
      expect.objectContaining({
        statusCode: 403,
        message: `no rule of this service lets in the token of ${issuer.url} with repository "mallory/shop", no environment; an admin can add one to oidc in the config file of the service`
      })
    )
    expect(tokens.find(fork, undefined)).toBeUndefined()
    expect(database.prepare('SELECT * FROM users').all()).toEqual([])
  })

  test.each([
    ['a list', ['acme/shop']],
    ['an object', { x: 'acme/shop' }],
    ['a longer path', 'acme/shop/x'],
    ['another case', 'Acme/shop'],
    ['nothing', undefined]
  ])('a repository that is %s', async (_, repository) => {
    expect(await refusal(open().tokens.admit(await issuer.sign({ repository })))).toMatchObject({
      statusCode: 403
    })
  })

  test('anyone who has no name, or one that cannot be shown', async () => {
    const allow = [{ role: 'member', claims: [['ref', 'refs/heads/*']] }] as const
    const { tokens } = open({ allow })
    for (const repository of [undefined, '', 'a/\u202eb', 'a/\nb', `a/${'x'.repeat(254)}`, ['acme/shop']])
      expect(await refusal(tokens.admit(await issuer.sign({ repository })))).toMatchObject({
        statusCode: 403,
        message: expect.stringContaining('does not say whose it is')
      })
    // Neither is what others are called: users with a token, people, users of issuers with names.
    for (const repository of ['ci', 'ada', 'gitlab:acme/shop', 'a b/c', 'acme/', '/shop'])
      expect(await refusal(tokens.admit(await issuer.sign({ repository })))).toMatchObject({
        statusCode: 403,
        message: expect.stringContaining('repository must be a repository, such as acme/shop,')
      })
  })
})

describe('the user', () => {
  test('is the claim that the config file names, whatever else the token says', async () => {
    const claims = { repository: 'acme/shop', project_path: 'acme/cart', sub: 'ci' }
    const token = await issuer.sign(claims)
    for (const [userClaim, name, project] of [
      ['repository', 'ci:acme/shop', 'ci:acme/shop'],
      ['project_path', 'ci:acme/cart', 'ci:acme/cart'],
      ['sub', 'ci:ci', undefined]
    ] as const) {
      const user = await open({ name: 'ci', userClaim }).tokens.admit(token)
      expect([user.name, user.project]).toEqual([name, project])
    }
    const { tokens } = open({ name: 'ci', userClaim: 'project_path' })
    expect(await refusal(tokens.admit(await issuer.sign({ sub: 'acme/shop' })))).toMatchObject({
      statusCode: 403,
      message: expect.stringContaining('project_path must be text')
    })
  })

  test('whose name differs from that of another in case alone has it, too; lists tell them apart', async () => {
    const { tokens, database, clock } = open({ name: 'ci' })
    const [one, other] = [await issuer.sign(), await issuer.sign({ repository: 'acme/Shop' })]
    const [first, second] = [await tokens.admit(one), await tokens.admit(other)]
    expect([first.name, second.name]).toEqual(['ci:acme/shop', 'ci:acme/Shop'])
    expect(second.id).not.toBe(first.id)
    const accounts = new TeamAccounts(database, clock)
    expect(accounts.users().map(({ name }) => name)).toEqual(['ci:acme/shop', 'ci:acme/Shop (2)'])
    // A command changes none but the one that is meant.
    const change = (name: string) => () => accounts.remove(name)
    const meant = 'did you mean "ci:acme/shop" or "ci:acme/Shop (2)"?'
    expect(change('ci:acme/Shop')).toThrow(`there is no user "ci:acme/Shop"; ${meant}`)
    expect(change('CI:acme')).toThrow(`there is no user "CI:acme"; ${meant}`)
    expect(accounts.remove('ci:acme/Shop (2)')).toMatchObject({ id: second.id })
    expect(accounts.remove('ci:acme/shop')).toMatchObject({ id: first.id })
  })

  test('from before there were names has the one of today, and keeps its runs', async () => {
    const { database, clock, reopen } = open()
    const insert = database.prepare(
      "INSERT INTO users (name, role, token_id, token_hash, created_ms, issuer, subject) VALUES (?, 'member', ?, x'00', 0, ?, ?)"
    )
    const gitlab = 'https://gitlab.example'
    // GitLab's came first, and got the name; another one's issuer is not in the config file any more.
    insert.run('acme/shop', 'a', gitlab, 'acme/shop')
    insert.run(`acme/shop@localhost:${issuer.port}`, 'b', issuer.url, 'acme/shop')
    insert.run('acme/cart', 'c', 'https://gone.example', 'acme/cart')
    insert.run('ada', 'd', 'https://id.example', 'sub-ada')
    // Named by the provider, and known to it by what the name begins with.
    insert.run('bob', 'e', 'https://people.example', 'bo')
    const { tokens } = reopen(
      [
        { issuer: gitlab, name: 'gitlab', userClaim: 'project_path' },
        { issuer: 'https://people.example', name: 'people', userClaim: 'sub' }
      ],
      { login: { issuer: 'https://people.example' } }
    )
    const names = database.prepare('SELECT id, name FROM users ORDER BY id').all()
    expect(names.map(({ name }) => name)).toEqual([
      'gitlab:acme/shop',
      'acme/shop',
      'acme/cart@https://gone.example',
      'ada',
      'bob'
    ])
    const today = { id: 2, name: 'acme/shop', role: 'member' }
    const admitted = await tokens.admit(await issuer.sign())
    expect(admitted).toMatchObject(today)
    // Whatever the creator of a run was called then.
    const accounts = new TeamAccounts(database, clock, tokens)
    expect(accounts.findCreator({ ...admitted, name: 'another' })).toMatchObject(today)
    expect(await tokens.admit(await issuer.sign({ repository: 'acme/cart' }))).toMatchObject({ id: 6 })
  })

  test('has no token of its own, and is made again after it was removed', async () => {
    const { tokens, database, clock } = open()
    const users = new TeamAccounts(database, clock, tokens)
    const token = await issuer.sign({ environment: 'production' })
    const { id } = (await users.admit(token))!
    expect(() => users.rotate('acme/shop')).toThrow(
      `acme/shop has no token here: ${issuer.url} says who that is`
    )
    expect(() => users.openSession({ id, name: 'acme/shop', role: 'admin' }, token)).toThrow(/no session/)
    const { token: own } = users.add('ops', 'admin')
    // An admin by a rule is none who could let others in again.
    expect(() => users.remove('ops')).toThrow(/last admin/)
    expect(users.remove('acme/shop')).toMatchObject({ issuer: issuer.url, role: 'admin' })
    expect(users.findByToken(token)).toBeUndefined()
    expect((await users.admit(token))!.id).not.toBe(id)
    expect(await users.admit(own)).toMatchObject({ name: 'ops' })
    expect(await users.admit(`${own}x`)).toBeUndefined()
  })

  test('is counted once an hour, with the role that it had then', async () => {
    const { tokens, database, clock } = open()
    const users = new TeamAccounts(database, clock)
    const exp = Math.floor(clock.now() / 1000) + 100 * 3600
    const [member, admin] = [
      await issuer.sign({ exp }),
      await issuer.sign({ exp, environment: 'production' })
    ]
    const own = () => users.users()[0]
    for (const token of [member, admin, member]) await tokens.admit(token)
    expect(own()).toMatchObject({ signIns: 1, role: 'member', issuer: issuer.url })
    await clock.advance(HOUR_MS)
    await tokens.admit(admin)
    expect(own()).toMatchObject({ signIns: 2, role: 'admin' })
  })

  test('is refused as long as it cannot be written down, and let in once it is', async () => {
    const { tokens, database } = open()
    const token = await issuer.sign()
    database.exec('PRAGMA query_only = ON')
    expect(await refusal(tokens.admit(token))).toMatchObject({
      statusCode: 503,
      message: expect.stringMatching(/^acme\/shop cannot be added to the users: .*read-only/)
    })
    database.exec('PRAGMA query_only = OFF')
    const user = await tokens.admit(token)
    database.exec('PRAGMA query_only = ON')
    // A second process would not remember that it was counted.
    expect(await tokens.admit(token)).toEqual(user)
    expect(await tokens.admit(await issuer.sign({ jti: '2' }))).toMatchObject({ id: user.id })
  })
})

test('a locked database lets in those who were there before, and tells others to try again', async () => {
  const { tokens, database, clock } = open()
  const user = await tokens.admit(await issuer.sign())
  database.exec('PRAGMA busy_timeout = 0')
  const file = String(database.prepare('PRAGMA database_list').get()?.file)
  const other = openDatabase(dirname(file))
  await clock.advance(HOUR_MS)
  const exp = Math.floor(clock.now() / 1000) + 1000 * 3600
  try {
    other.exec('BEGIN IMMEDIATE')
    expect(await tokens.admit(await issuer.sign({ exp }))).toMatchObject({ id: user.id })
    const refused = refusal(tokens.admit(await issuer.sign({ exp, repository: 'acme/new' })))
    const state = { isDone: false }
    void refused.then(() => (state.isDone = true))
    // It waits for the other process, but not for ever.
    while (!state.isDone) {
      await clock.advance(100)
      await setImmediate()
    }
    expect(await refused).toMatchObject({
      statusCode: 503,
      message: expect.stringContaining('another process is writing')
    })
    other.exec('ROLLBACK')
  } finally {
    other.close()
  }
  expect(await tokens.admit(await issuer.sign({ exp, repository: 'acme/new' }))).toMatchObject({
    name: 'acme/new'
  })
})
