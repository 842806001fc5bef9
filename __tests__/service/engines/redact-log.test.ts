import { describe, expect, test } from '@jest/globals'
import { redactLog, secretValues } from '../../../src/service/engines/redact-log.js'

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
