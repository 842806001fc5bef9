import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { copyFileSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import { requireAuthorities } from '../../../../src/service/accounts/oidc/fetch-json.js'
import { makeCertificate } from '../../../support/certificate.js'
import { until } from '../../support.js'
import { makeKey, TestIssuer } from './issuer.js'
import { createOpener, refusal } from './opener.js'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const opener = createOpener()
let issuer: TestIssuer
beforeEach(async () => {
  issuer = await TestIssuer.start(opener.folder())
})
afterEach(() => issuer.stop())
afterAll(() => opener.closeAll())

/** Ends long after everything else, so that only the keys count. */
const LATER = { exp: Math.floor(Date.now() / 1000) + 1000 * 3600 }
/** Of each its own, so that none is remembered. */
let count = 0
const fresh = (claims = {}, how = {}): Promise<string> =>
  issuer.sign({ ...LATER, jti: String(++count), ...claims }, how)

describe('an issuer that is down', () => {
  test('at the first token: 503 and when to try again; it is asked no more often, and let in once it is back', async () => {
    const { tokens, clock, lines } = opener.open(issuer)
    await issuer.stop()
    const failed = await refusal(tokens.admit(await fresh()))
    expect(failed).toMatchObject({
      statusCode: 503,
      retryAfterSec: 5,
      message: `the token cannot be checked: the keys of its issuer ${issuer.url} could not be fetched; the log of this service says why. Try again later`
    })
    expect(lines).toEqual([
      expect.stringMatching(
        /^the keys of the issuer https:.* cannot be fetched: .*ECONNREFUSED.*; its tokens are answered by 503$/
      )
    ])
    await issuer.resume()
    expect(await refusal(tokens.admit(await fresh()))).toMatchObject({ statusCode: 503 })
    expect(issuer.asked).toEqual([])
    await clock.advance(5000)
    expect(await tokens.admit(await fresh())).toMatchObject({ name: 'acme/shop' })
    expect(lines.slice(1)).toEqual([`the keys of the issuer ${issuer.url} could be fetched again`])
  })

  test('later: its known keys go on for a day, and a token by another one cannot be checked', async () => {
    const { tokens, clock, lines } = opener.open(issuer)
    await tokens.admit(await fresh())
    await issuer.stop()
    const stranger = await makeKey('stranger')
    for (let hours = 1; hours < 24; hours++) {
      await clock.advance(HOUR_MS)
      await tokens.admit(await fresh())
    }
    expect(await refusal(tokens.admit(await fresh({}, { key: stranger })))).toMatchObject({
      statusCode: 503,
      retryAfterSec: 30
    })
    // One line for all of it, with the time until which it goes on.
    expect(lines).toEqual([
      expect.stringMatching(/; tokens that were signed with its known keys are accepted until 20\S+Z$/)
    ])
    await clock.advance(HOUR_MS + MINUTE_MS)
    expect(await refusal(tokens.admit(await fresh()))).toMatchObject({ statusCode: 503 })
    await issuer.resume()
    await clock.advance(MINUTE_MS)
    expect(await tokens.admit(await fresh())).toMatchObject({ name: 'acme/shop' })
  })

  test('does not hold up tokens that were checked before', async () => {
    const { tokens, clock } = opener.open(issuer)
    const token = await fresh()
    await tokens.admit(token)
    await issuer.stop()
    await clock.advance(100 * HOUR_MS)
    expect(await tokens.admit(token)).toMatchObject({ name: 'acme/shop' })
  })
})

describe('keys', () => {
  test('that are new are found with the first token that names one', async () => {
    const { tokens, clock } = opener.open(issuer)
    await tokens.admit(await fresh())
    const [old] = issuer.keys
    const next = await makeKey('second')
    issuer.keys = [next]
    await clock.advance(30_000)
    expect(await tokens.admit(await fresh({}, { key: next }))).toMatchObject({ name: 'acme/shop' })
    // And the old one is gone.
    await clock.advance(30_000)
    expect(await refusal(tokens.admit(await fresh({}, { key: old! })))).toMatchObject({
      statusCode: 401,
      message: expect.stringContaining(`its key is not one of ${issuer.url}`)
    })
  })

  test('that were withdrawn end within an hour', async () => {
    const { tokens, clock } = opener.open(issuer)
    const [old] = issuer.keys
    await tokens.admit(await fresh())
    issuer.keys = [await makeKey('second')]
    expect(await tokens.admit(await fresh({}, { key: old! }))).toMatchObject({ name: 'acme/shop' })
    await clock.advance(HOUR_MS + 1000)
    expect(await refusal(tokens.admit(await fresh({}, { key: old! })))).toMatchObject({ statusCode: 401 })
  })

  test('that are new cannot be told from wrong ones until the issuer was asked again: 503, and then 401 or in', async () => {
    const { tokens, clock } = opener.open(issuer)
    await tokens.admit(await fresh())
    await clock.advance(1000)
    const [next, stranger] = [await makeKey('second'), await makeKey('stranger')]
    issuer.keys.push(next)
    for (const key of [next, stranger])
      expect(await refusal(tokens.admit(await fresh({}, { key })))).toMatchObject({
        statusCode: 503,
        retryAfterSec: 29,
        message: `the token cannot be checked: its key is a new one, and the issuer ${issuer.url} is asked for keys every 30 s at most. Try again later`
      })
    expect(issuer.fetches).toBe(1)
    await clock.advance(29_000)
    expect(await tokens.admit(await fresh({}, { key: next }))).toMatchObject({ name: 'acme/shop' })
    await clock.advance(30_000)
    expect(await refusal(tokens.admit(await fresh({}, { key: stranger })))).toMatchObject({
      statusCode: 401,
      message: expect.stringContaining(`its key is not one of ${issuer.url}`)
    })
  })

  test('that nobody has, a hundred of them, make the issuer be asked once in 30 s', async () => {
    const { tokens, clock } = opener.open(issuer)
    await tokens.admit(await fresh())
    await clock.advance(30_000)
    const { alg, privateKey, publicKey } = await makeKey('stranger')
    const flood = Array.from({ length: 100 }, (_, at) =>
      fresh({}, { key: { alg, privateKey, publicKey, kid: `kid-${at}` } })
    )
    const replies = await Promise.all(flood.map(async (token) => refusal(tokens.admit(await token))))
    expect(new Set(replies.map(({ statusCode }) => statusCode))).toEqual(new Set([401]))
    expect(issuer.fetches).toBe(2)
    expect(await tokens.admit(await fresh())).toMatchObject({ name: 'acme/shop' })
  })

  test('are fetched once for all who wait for them', async () => {
    const { tokens } = opener.open(issuer)
    await Promise.all(Array.from({ length: 50 }, async () => tokens.admit(await fresh())))
    expect(issuer.asked).toEqual(['/.well-known/openid-configuration', '/keys'])
  })

  test('without a name are used where there is one, and refused where there are several', async () => {
    const { tokens, clock } = opener.open(issuer)
    const unnamed = { header: { kid: undefined } }
    await tokens.admit(await fresh({}, unnamed))
    issuer.keys.push(await makeKey('second'))
    await clock.advance(2 * HOUR_MS)
    expect((await refusal(tokens.admit(await fresh({}, unnamed)))).message).toContain('by which key')
  })

  test('are none for a moment: known ones go on to count, and a token by another one cannot be checked', async () => {
    const { tokens, clock, lines } = opener.open(issuer)
    await tokens.admit(await fresh())
    const [known, next] = [issuer.keys[0]!, await makeKey('second')]
    issuer.keys = []
    await clock.advance(30_000)
    expect(await refusal(tokens.admit(await fresh({}, { key: next })))).toMatchObject({
      statusCode: 503,
      retryAfterSec: 30,
      message: expect.stringContaining('could not be fetched; the log of this service says why')
    })
    expect(issuer.fetches).toBe(2)
    expect(lines).toEqual([
      expect.stringMatching(
        /: its list of keys is empty; tokens that were signed with its known keys are accepted until 20\S+Z$/
      )
    ])
    // Also when it is time to fetch them again.
    await clock.advance(2 * HOUR_MS)
    expect(await tokens.admit(await fresh({}, { key: known }))).toMatchObject({ name: 'acme/shop' })
    expect(issuer.fetches).toBe(3)
    issuer.keys = [next]
    await clock.advance(30_000)
    expect(await tokens.admit(await fresh({}, { key: next }))).toMatchObject({ name: 'acme/shop' })
    expect(lines.slice(1)).toEqual([`the keys of the issuer ${issuer.url} could be fetched again`])
  })

  test('for something else, or that cannot be read, sign nothing', async () => {
    const { tokens } = opener.open(issuer)
    const reply = (keys: unknown): void => {
      issuer.answers['/keys'] = (_request, response) => response.end(JSON.stringify({ keys }))
    }
    reply([{ kty: 'RSA', kid: 'first', alg: 'RS256', n: 'AQAB', e: 'AQAB' }])
    expect(await refusal(tokens.admit(await fresh()))).toMatchObject({
      statusCode: 401,
      message: expect.stringMatching(/cannot be used|malformed/)
    })
  })
})

describe('an issuer whose documents are wrong counts as down:', () => {
  const cases: [string, (one: TestIssuer) => void, RegExp][] = [
    [
      'another issuer in the discovery document',
      (one) => (one.about = { issuer: 'https://evil.example' }),
      /discovery document is that of the issuer "https:\/\/evil.example"/
    ],
    [
      'keys over http',
      (one) => (one.about = { jwks_uri: one.url.replace('https', 'http') }),
      /no https address/
    ],
    ['no address of the keys', (one) => (one.about = { jwks_uri: 7 }), /no https address/],
    [
      'a discovery document that is no JSON',
      (one) =>
        (one.answers['/.well-known/openid-configuration'] = (_request, response) => response.end('<html>')),
      /is not JSON/
    ],
    [
      'a redirect',
      (one) =>
        (one.answers['/keys'] = (_request, response) =>
          response.writeHead(302, { location: `${one.url}/other` }).end()),
      /was answered by 302/
    ],
    [
      'no keys',
      (one) => (one.answers['/keys'] = (_request, response) => response.end('{"keys":7}')),
      /malformed/
    ],
    [
      'an empty list of keys',
      (one) => (one.answers['/keys'] = (_request, response) => response.end('{"keys":[]}')),
      /its list of keys is empty; its tokens are answered by 503/
    ],
    [
      'keys that are too large',
      (one) =>
        (one.answers['/keys'] = (_request, response) => {
          const more = (): void => {
            // Without an end: only the limit ends it.
            while (!response.destroyed && response.write(' '.repeat(10_000)));
            response.once('drain', more)
          }
          more()
        }),
      /is larger than 100000 bytes/
    ]
  ]
  test.each(cases)('%s', async (_, change, words) => {
    const { tokens, lines } = opener.open(issuer)
    change(issuer)
    expect(await refusal(tokens.admit(await fresh()))).toMatchObject({ statusCode: 503 })
    expect(lines.join('\n')).toMatch(words)
  })

  test('a certificate of somebody else', async () => {
    const other = makeCertificate(opener.folder(), 'other').certificate
    const { tokens, lines } = opener.open(issuer, { ca: other })
    expect(await refusal(tokens.admit(await fresh()))).toMatchObject({ statusCode: 503 })
    expect(lines.join('\n')).toMatch(/self-signed certificate|unable to verify/)
  })

  test('no answer in time; the connections are given up', async () => {
    const { tokens, lines } = opener.open(issuer, {}, { limits: { fetchMs: 300, bytes: 1000 } })
    let isGone = false
    issuer.answers['/.well-known/openid-configuration'] = (request, response) => {
      response.write('{')
      request.socket.once('close', () => (isGone = true))
    }
    expect(await refusal(tokens.admit(await fresh()))).toMatchObject({ statusCode: 503 })
    expect(lines.join('\n')).toContain('did not answer in time')
    await until(() => isGone)
  })
})

test('the file of the authorities is missing: the service does not start; a new one counts at once', async () => {
  const file = join(opener.folder(), 'ca.pem')
  const trusted = { issuer: issuer.url, userClaim: 'repository', audience: 'a', ca: file, allow: [] }
  await expect(requireAuthorities([trusted])).rejects.toMatchObject({
    name: 'ConfigProblem',
    message: expect.stringMatching(/^oidc: ca of https:.* cannot be read: .*ENOENT/)
  })
  writeFileSync(file, '')
  const { tokens, clock } = opener.open(issuer, { ca: file })
  expect(await refusal(tokens.admit(await fresh()))).toMatchObject({ statusCode: 503 })
  copyFileSync(issuer.ca, file)
  await clock.advance(5000)
  expect(await tokens.admit(await fresh())).toMatchObject({ name: 'acme/shop' })
})

describe('through a proxy of the environment', () => {
  let proxy: Server
  const tunnels: string[] = []
  beforeAll(async () => {
    proxy = createServer().on('connect', (request, socket, head: Buffer) => {
      tunnels.push(request.url ?? '')
      const other = connect(issuer.port, '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n')
        other.write(head)
        other.pipe(socket)
        socket.pipe(other)
      })
      for (const one of [other, socket]) one.on('error', () => one.destroy())
    })
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  })
  afterAll(async () => {
    proxy.closeAllConnections()
    await new Promise((resolve) => proxy.close(resolve))
  })

  test('an issuer elsewhere is reached, and one on this machine directly', async () => {
    const env = { HTTPS_PROXY: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` }
    await opener.open(issuer, {}, { env }).tokens.admit(await fresh())
    expect(tunnels).toEqual([])
    // The name is not that of the certificate, so that the handshake fails: behind the tunnel.
    const { tokens, lines } = opener.open(issuer, { issuer: 'https://issuer.example' }, { env })
    const iss = { iss: 'https://issuer.example' }
    expect(await refusal(tokens.admit(await fresh(iss)))).toMatchObject({ statusCode: 503 })
    expect(tunnels).toEqual(['issuer.example:443'])
    expect(lines.join('\n')).toMatch(/issuer\.example/)
  })
})
