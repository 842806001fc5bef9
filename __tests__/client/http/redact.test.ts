import { describe, expect, test } from '@jest/globals'
import { slice } from '../../support/slice.js'
import { buffer } from 'node:stream/consumers'
import { Readable } from 'node:stream'
import { Redactor } from '../../../src/client/http/redact.js'
import { makeRandom } from '../../support/data/seeded-random.js'
import { makeIdToken } from '../../support/step/id-token-endpoint.js'

const PLAIN = 'tk7Qx0123456789abcdef'
/** Every character that JSON, addresses, CSV or HTML write in another way. */
const ODD = 'p"q\\r/s+t=u&v<w>x y\'z-_.~!*()%é€'
/** As many services make theirs. */
const IN_BASE64 = 'tk7+Qx0/1234+abc/def=='

const base64 = (text: string): string => Buffer.from(text).toString('base64')
const percent = (text: string): string =>
  [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')
/** As an encoder does that leaves nothing but letters and digits. */
const strictly = (text: string): string => text.replace(/[^A-Za-z0-9]/gu, percent)

const escapeExcept = (plain: RegExp, text: string): string =>
  Array.from(text, (sign) => (plain.test(sign) ? sign : percent(sign).toUpperCase())).join('')

const FORMS: [string, (token: string) => string][] = [
  ['as it is', (token) => token],
  ['as the header', (token) => base64(`${token}:`)],
  ['as the header without padding', (token) => base64(`${token}:`).replace(/=+$/, '')],
  ['as the header for addresses', (token) => Buffer.from(`${token}:`).toString('base64url')],
  ['in base64 by itself', (token) => base64(token)],
  ['in an address', (token) => encodeURIComponent(token)],
  ['in an address, every sign of it', strictly],
  ['in an address, in capitals', (token) => strictly(token).replace(/%../g, (code) => code.toUpperCase())],
  ['in hex', (token) => Buffer.from(token).toString('hex')],
  ['in hex, in capitals', (token) => Buffer.from(token).toString('hex').toUpperCase()],
  ['in an address within an address', (token) => encodeURIComponent(strictly(token))],
  ['in a form', (token) => new URLSearchParams({ t: token }).toString().slice(2)],
  ['the header in an address', (token) => encodeURIComponent(base64(`${token}:`))],
  ['in JSON', (token) => JSON.stringify(token).slice(1, -1)],
  ['in JSON, slashes escaped', (token) => JSON.stringify(token).slice(1, -1).replace(/\//g, '\\/')],
  ['in JSON within JSON', (token) => JSON.stringify(JSON.stringify(token)).slice(3, -3)],
  [
    'in JSON, every sign escaped',
    (token) =>
      token.replace(/[^A-Za-z0-9]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`)
  ],
  ['in CSV', (token) => token.replaceAll('"', '""')],
  [
    'in HTML',
    (token) =>
      token
        .replaceAll('&', '&amp;')
        .replaceAll('<', '&lt;')
        .replaceAll('>', '&gt;')
        .replaceAll('"', '&quot;')
        .replaceAll("'", '&#39;')
  ],
  [
    'in JSON by Gson',
    (token) =>
      JSON.stringify(token)
        .slice(1, -1)
        .replace(/[<>&='é€]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`)
  ],
  ["in an address by Python's quote", (token) => escapeExcept(/[A-Za-z0-9_.~/-]/, token)],
  ["in an address by Go's PathEscape", (token) => escapeExcept(/[A-Za-z0-9_.~$&+=:@-]/, token)],
  [
    'in HTML by Mustache',
    (token) =>
      token.replace(
        /[&<>"'/`=]/g,
        (sign) =>
          ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' })[sign] ??
          `&#x${sign.charCodeAt(0).toString(16).toUpperCase()};`
      )
  ]
]

async function redactInPieces(token: string, pieces: readonly Buffer[]): Promise<string> {
  const redacted = new Redactor(token).stream(Readable.from(pieces, { objectMode: false }))
  const text = (await buffer(redacted)).toString('latin1')
  // Padding tells nothing: it may stay where the bytes are cut before it.
  return text.replace(/(?<=\*)(=|%3D){1,2}/g, (padding) => '*'.repeat(padding.length))
}

function cut(bytes: Buffer, random: () => number): Buffer[] {
  const pieces: Buffer[] = []
  for (let at = 0; at < bytes.length;) {
    const length = 1 + Math.floor(random() * 40)
    pieces.push(bytes.subarray(at, at + length))
    at += length
  }
  return pieces
}

describe.each([20, 21, 22, PLAIN, ODD, IN_BASE64])('the token %s', (given) => {
  const token = typeof given === 'number' ? 'x7+'.repeat(20).slice(0, given) : given

  test.each(FORMS)('%s is taken out of a text', (_, form) => {
    expect(new Redactor(token).text(`before ${form(token)},after ${form(token)}`)).toBe(
      'before ***,after ***'
    )
  })

  test.each(FORMS)(
    '%s is covered in bytes, wherever they are cut, and no length changes',
    async (_, form) => {
      const secret = Buffer.from(form(token))
      const rows = Buffer.from(`a,b\n${'1,x\n'.repeat(50)}`)
      const whole = Buffer.concat([rows, secret, Buffer.from(',y\n'), rows, secret])
      const covered = `${rows.toString()}${'*'.repeat(secret.length)},y\n${rows.toString()}${'*'.repeat(secret.length)}`
      const random = makeRandom(secret.length)
      for (let times = 0; times < slice(4, 20); times++)
        expect(await redactInPieces(token, cut(whole, random))).toBe(covered)
      expect(await redactInPieces(token, [whole])).toBe(covered)
    }
  )
})

describe('what is not the token', () => {
  test('stays as it is, in a text and in bytes', async () => {
    const text = `${PLAIN.slice(1)} ${PLAIN.slice(0, -1)} ${base64('another:')} %2B \\u002b "" é`
    expect(new Redactor(PLAIN).text(text)).toBe(text)
    const bytes = Buffer.from(text)
    expect(await redactInPieces(PLAIN, cut(bytes, makeRandom(3)))).toBe(bytes.toString('latin1'))
  })

  test.each(['', 'a', 'abc', 'short'])(
    'a token as short as "%s" is not: any text holds it',
    async (token) => {
      expect(new Redactor(token).text('a short abc')).toBe('a short abc')
      expect(await redactInPieces(token, [Buffer.from('a short abc')])).toBe('a short abc')
    }
  )

  test('the header of a short token is taken out all the same, where it is long enough to be known', () => {
    expect(new Redactor('short').text(base64('short:'))).toBe('***')
  })
})

describe('other secrets than the token', () => {
  test.each(FORMS)('%s are taken out of a text, and covered in bytes', async (_, form) => {
    const redactor = new Redactor(PLAIN, ['another', ODD])
    const text = `${form(ODD)},${PLAIN},another,short`
    expect(redactor.text(text)).toMatch(/^\*\*\*(?:\S{1,2}|[A-Za-z0-9+/=%-]{0,8}),\*\*\*,\*\*\*,short$/)
    const bytes = await buffer(redactor.stream(Readable.from([Buffer.from(text)], { objectMode: false })))
    expect(bytes).toHaveLength(Buffer.byteLength(text))
    expect(bytes.toString('latin1')).toMatch(/^\*+\S{0,8},\*{21},\*{7},short$/)
  })

  test.each(['al', 'ada', 'adam'])('as the password of %s in a header are taken out', (user) => {
    expect(new Redactor('', [PLAIN]).text(base64(`${user}:${PLAIN}`))).toMatch(/^.{2,8}\*\*\*.{0,3}$/)
  })

  test('that are short are left', () => {
    expect(new Redactor(PLAIN, ['true', '']).text(`true ${base64('true')}`)).toBe(`true ${base64('true')}`)
  })
})

test('the end of a part is held back where it may begin the token, and goes before the next part', async () => {
  const redactor = new Redactor(PLAIN)
  const [one, other] = [`a,${PLAIN.slice(0, 9)}`, `${PLAIN.slice(9)},z`]
  const streamOf = (text: string): Readable => Readable.from([Buffer.from(text)], { objectMode: false })
  const first = redactor.stream(streamOf(one), one.length + other.length)
  expect((await buffer(first)).toString()).toBe('a,')
  const second = redactor.stream(streamOf(other), other.length, first.held)
  expect((await buffer(second)).toString()).toBe(`${'*'.repeat(PLAIN.length)},z`)
  expect(second.held).toBeUndefined()
})

test('no part of the token gets out when the bytes break off within it', async () => {
  const source = Readable.from(
    (async function* () {
      yield Buffer.from(`${'x'.repeat(1000)}${PLAIN.slice(0, 15)}`)
      throw new Error('reset')
    })(),
    { objectMode: false }
  )
  const seen: Buffer[] = []
  const redacted = new Redactor(PLAIN).stream(source)
  const reading = (async () => {
    for await (const chunk of redacted as AsyncIterable<Buffer>) seen.push(chunk)
  })()
  await expect(reading).rejects.toThrow('reset')
  expect(Buffer.concat(seen).toString()).not.toContain(PLAIN.slice(0, 4))
})

test.each([
  ['every letter as in an address within an address', (token: string) => encodeURIComponent(percent(token))],
  ['every letter as in an address', percent],
  [
    'every letter as in an address, in capitals',
    (token: string) => percent(token).replace(/%../g, (code) => code.toUpperCase())
  ],
  ['some letters as in an address', (token: string) => token.replace(/[a-e]/g, percent)],
  [
    'letters escaped in JSON',
    (token: string) =>
      Array.from(token, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')
  ],
  [
    'entities with zeros before them',
    (token: string) => token.replaceAll("'", '&#039;').replaceAll('"', '&#034;')
  ],
  [
    'doubled quotes of a CSV within JSON',
    (token: string) => JSON.stringify(token.replaceAll('"', '""')).slice(1, -1)
  ],
  ['an apostrophe with a backslash', (token: string) => token.replaceAll("'", "\\'")]
])('in a text, %s', (_, write) => {
  for (const token of [PLAIN, `ab'cd"ef0123456789`])
    expect(new Redactor(token).text(`before ${write(token)} after`)).toBe('before *** after')
})

describe('ID tokens', () => {
  const [one, other] = [makeIdToken({ sub: 'one' }), makeIdToken({ sub: 'other', more: 'x'.repeat(900) })]

  function makeRedactor(): Redactor {
    const redactor = new Redactor('')
    redactor.learn(one)
    redactor.learn(other)
    return redactor
  }

  test.each([
    ...FORMS,
    ['every letter as in an address', percent] as [string, typeof percent],
    ['after other words in base64', (token: string) => base64(`${token}:`)] as [string, typeof percent]
  ])('are redacted %s', (_, form) => {
    expect(makeRedactor().text(`before ${form(one)},"${form(other)}" after`)).toBe('before ***,"***" after')
  })

  test('leave the parameters after them as they are', () => {
    expect(makeRedactor().text(`/runs?token=${one}&page=2`)).toBe('/runs?token=***&page=2')
  })

  test.each([1, 7, 100, 4096])('are redacted in bytes that come in pieces of %i', async (size) => {
    const text = `a,${one},b\n${strictly(other)},${base64(`x:${one}`)}\n${other}`
    const pieces = text.match(new RegExp(`[^]{1,${size}}`, 'g'))!.map((piece) => Buffer.from(piece))
    const redacted = makeRedactor().stream(Readable.from(pieces, { objectMode: false }))
    const bytes = await buffer(redacted)
    expect(bytes).toHaveLength(text.length)
    expect(bytes.toString().replace(/\*+/g, '*')).toMatch(/^a,\*,b\n\*,\w{0,4}\*\n\*$/)
  })

  test('are held back at the end of a part, as far as they go', async () => {
    const redactor = makeRedactor()
    const [first, second] = [`a,${one.slice(0, -20)}`, `${one.slice(-20)},z`]
    const streamOf = (text: string): Readable => Readable.from([Buffer.from(text)], { objectMode: false })
    const part = redactor.stream(streamOf(first), first.length + second.length)
    expect((await buffer(part)).toString()).toBe('a,')
    const rest = redactor.stream(streamOf(second), second.length, part.held)
    expect((await buffer(rest)).toString()).toBe(`${'*'.repeat(one.length)},z`)
  })

  test('that are opaque are redacted as other secrets are', () => {
    const redactor = new Redactor('')
    redactor.learn(PLAIN)
    expect(redactor.text(`a ${PLAIN} b`)).toBe('a *** b')
  })
})
