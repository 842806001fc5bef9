import { describe, expect, test } from '@jest/globals'
import { redactLog, secretValues } from '../../../src/service/engines/redact-log.js'
import { makeRandom } from '../../support/data/seeded-random.js'

const SECRET = 'aGreatSecret/42'
const OTHER = 'hunter2hunter2'

describe('a log without secrets', () => {
  test.each([
    { name: 'as it is', text: `before ${SECRET} after`, expected: 'before *** after' },
    { name: 'twice', text: `${SECRET}${SECRET}`, expected: '******' },
    { name: 'percent-encoded', text: `/x/${encodeURIComponent(SECRET)}/y`, expected: '/x/***/y' },
    {
      name: 'in base64, as a user name without password',
      text: `sent ${Buffer.from(`${SECRET}:`).toString('base64')}`,
      expected: 'sent ***'
    }
  ])('one that is known: $name', ({ text, expected }) => {
    expect(redactLog(text, [SECRET])).toBe(expected)
  })

  test.each(['?pw=', 'path/', '#'])('one that a browser has put into an address: %s', (start) => {
    const secret = `S3cret "pä'ss|{w}#<rd> \\ 42%`
    const { href } = new URL(`http://shop.example/${start}${secret}`)
    expect(redactLog(`at ${href} now`, [secret])).toBe(`at http://shop.example/${start}*** now`)
  })

  test('one in UTF-8 that was read as ISO-8859-1', () => {
    expect(redactLog('bad pÃ¤ssword now', ['pässword'])).toBe('bad *** now')
  })

  test('one of several lines, each of them', () => {
    expect(redactLog('x first-line y\nsecond-line', ['first-line\nsecond-line'])).toBe('x *** y\n***')
  })

  test('one with control characters, as samples have it', () => {
    expect(redactLog('x alpha beta gamma y', ['alpha\tbeta\u0001gamma'])).toBe('x *** y')
  })

  test.each([
    { name: 'as it is', text: `a ${SECRET.slice(0, 6)}…`, expected: 'a ***…' },
    { name: 'all but its end', text: `a ${SECRET.slice(0, -1)}…`, expected: 'a ***…' },
    { name: 'in the middle', text: `a ${SECRET.slice(0, 9)}… (and more…)`, expected: 'a ***… (and more…)' },
    {
      name: 'percent-encoded',
      text: `/${encodeURIComponent(SECRET).slice(0, 14)}…`,
      expected: '/***…'
    },
    { name: 'too short to tell', text: `a ${SECRET.slice(0, 5)}…`, expected: 'a aGrea…' },
    { name: 'not cut', text: `a ${SECRET.slice(0, 9)}`, expected: 'a aGreatSec' }
  ])('one whose end was cut off with the line: $name', ({ text, expected }) => {
    expect(redactLog(text, [OTHER, SECRET])).toBe(expected)
  })

  test.each([
    { name: 'side by side', secrets: ['first-secret', 'secret-second'], text: 'a first-secret-second b' },
    { name: 'one in another', secrets: ['secret', 'my-secret-word'], text: 'a my-secret-word b' },
    {
      name: 'one that starts another',
      secrets: ['secret-one', 'secret-one-and-two'],
      text: 'a secret-one b'
    },
    { name: 'one that another one overlaps', secrets: ['aaaaaab', 'aaaaaaaaac'], text: 'a aaaaaaaab b' }
  ])('several that overlap are redacted completely: $name', ({ secrets, text }) => {
    const redacted = redactLog(text, secrets)
    expect(redacted).toMatch(/^a a{0,2}\*\*\* b$/)
  })

  test('whatever they are, nothing of them is left, and all else stays', () => {
    const random = makeRandom(29)
    const letters = (length: number, from: string): string =>
      Array.from({ length }, () => from[Math.floor(random() * from.length)]).join('')
    for (let round = 0; round < 100; round++) {
      const secrets = Array.from({ length: 1 + (round % 20) }, () =>
        letters(6 + Math.floor(random() * 8), 'ab')
      )
      const cut = secrets[0]!.slice(0, 6 + Math.floor(random() * (secrets[0]!.length - 5)))
      const text = `${letters(60, 'abc')}${secrets.at(-1)!}${letters(20, 'abc')}${cut}…${letters(20, 'abc…')}`
      const redacted = redactLog(text, secrets)
      for (const secret of secrets) expect(redacted).not.toContain(secret)
      const starts = secrets.flatMap((secret) =>
        Array.from({ length: secret.length - 5 }, (_, i) => `${secret.slice(0, i + 6)}…`)
      )
      for (const start of starts) expect(redacted).not.toContain(start)
      // What is shown is in the text, in this order.
      let at = 0
      for (const piece of redacted.split('***')) {
        const found = text.indexOf(piece, at)
        expect(found).toBeGreaterThanOrEqual(at)
        at = found + piece.length
      }
    }
  })

  test.each([
    { name: 'as its plan prints it', line: (secret: string) => `${secret.slice(0, 9)}…` },
    { name: 'of nothing but starts of secrets', line: (secret: string) => secret.slice(0, -1) }
  ])('takes no longer for many secrets and a log $name', ({ line }) => {
    const secrets = Array.from({ length: 1000 }, (_, i) => `secret "${i * 7919}" <of the/plan> & more`)
    const words = secrets.map(line).join('')
    const before = process.cpuUsage()
    for (let i = 0; i < 200; i++) redactLog(words.slice(i * 10, i * 10 + 8192), secrets)
    const { user, system } = process.cpuUsage(before)
    expect((user + system) / 1e6).toBeLessThan(10)
  })

  const nested = (end: string): string[] =>
    Array.from({ length: 334 }, (_, i) => `${'a'.repeat(i + 6)}${end}`)
  test.each([
    { name: 'each the start of the next', secrets: nested('') },
    { name: 'alike but for their ends', secrets: nested('A') },
    { name: 'of one very long one', secrets: [`${'a'.repeat(60_000)}A`] }
  ])('nor for those that are $name', ({ secrets }) => {
    const before = process.cpuUsage()
    const redacted = redactLog('a'.repeat(1_000_000), secrets)
    const { user, system } = process.cpuUsage(before)
    expect((user + system) / 1e6).toBeLessThan(5)
    expect(redacted).toHaveLength(secrets[0] === 'aaaaaa' ? 3 : 1_000_000)
  })

  test('a log of nothing but names takes no longer than another one', () => {
    const before = process.cpuUsage()
    redactLog(' property: '.repeat(2_000_000), [])
    const { user, system } = process.cpuUsage(before)
    expect((user + system) / 1e6).toBeLessThan(1.5)
  })

  test.each([
    {
      text: 'INFO o.a.j.JMeter: Setting JMeter property: shop.password=hunter2',
      expected: 'INFO o.a.j.JMeter: Setting JMeter property: shop.password=***'
    },
    { text: 'Setting JMeter property: userPin=1234', expected: 'Setting JMeter property: userPin=***' },
    { text: 'Setting System property: api.key=1', expected: 'Setting System property: api.key=***' },
    { text: 'Authorization: Bearer abc.def', expected: 'Authorization: ***' },
    { text: 'proxy-authorization: Digest x', expected: 'proxy-authorization: ***' },
    { text: '"Cookie": "a=b; c=d"', expected: '"Cookie": ***' },
    { text: `with Basic ${Buffer.from('user:pw').toString('base64')}.`, expected: 'with Basic ***' },
    { text: 'GET https://user:pw@host/x', expected: 'GET https://***@host/x' },
    { text: 'GET /x?a=1&access_token=abc&b=2', expected: 'GET /x?a=1&access_token=***&b=2' },
    { text: '{"user":"ada","password" : "pw"}', expected: '{"user":"ada","password" : "***"}' }
  ])('what looks like one: $text', ({ text, expected }) => {
    expect(redactLog(text, [])).toBe(expected)
  })

  test.each([
    'INFO o.a.j.JMeter: Setting JMeter property: threads=5',
    'INFO o.a.j.JMeter: Setting JMeter property: spinner=5',
    'ERROR o.a.j.t.JMeterThread: Test failed!\njava.lang.IllegalArgumentException: File users.csv must exist',
    'GET http://127.0.0.1:8080/search?q=tokens',
    'WARN o.a.j.p.h.c.CookieManager: no cookies'
  ])('everything else stays: %s', (text) => {
    expect(redactLog(text, ['true', ''])).toBe(text)
  })

  test('takes no longer for a hostile line', () => {
    const text = `"${'pass'.repeat(500_000)} ?${'token'.repeat(400_000)} x property: ${'key '.repeat(100_000)}`
    expect(redactLog(text, [OTHER])).toHaveLength(text.length)
  })
})

test('properties are secret by their names', () => {
  const properties = [
    { kind: 'J', name: 'shop.password', value: 'one' },
    { kind: 'D', name: 'API_KEY', value: 'two' },
    { kind: 'J', name: 'auth.token', value: 'three' },
    { kind: 'J', name: 'threads', value: '5' }
  ] as const
  expect(secretValues(properties)).toEqual(['one', 'two', 'three'])
})
