import { describe, expect, test } from '@jest/globals'
import {
  CertificateError,
  MalformedReplyError,
  RefusedError,
  UnreachableError,
  UploadError,
  isTransient,
  hadNoEffect
} from '../../src/client/errors.js'

const refused = (status: number, more: { isLoadgate?: boolean; isEarly?: boolean } = {}): RefusedError =>
  new RefusedError('asking', { status, detail: 'no', requestId: undefined, retryAfterMs: undefined, ...more })
const unreachable = (neverSent: boolean): UnreachableError =>
  new UnreachableError('asking', 'gone', { neverSent })

test.each<[string, unknown, { passing: boolean; nothing: boolean }]>([
  ['no connection', unreachable(true), { passing: true, nothing: true }],
  ['a lost reply', unreachable(false), { passing: true, nothing: false }],
  [
    'a certificate that is not trusted',
    new CertificateError('asking', 'no'),
    { passing: false, nothing: true }
  ],
  ['a file that has changed', new UploadError('asking', 'no'), { passing: false, nothing: true }],
  ['a reply that makes no sense', new MalformedReplyError('asking', 'no'), { passing: true, nothing: false }],
  ['200', refused(200), { passing: false, nothing: false }],
  ['302', refused(302), { passing: false, nothing: false }],
  ['303', refused(303), { passing: false, nothing: false }],
  ['307', refused(307), { passing: false, nothing: false }],
  ['499, which only proxies say', refused(499), { passing: false, nothing: false }],
  ['401', refused(401), { passing: false, nothing: true }],
  ['408', refused(408), { passing: true, nothing: false }],
  ['422', refused(422), { passing: false, nothing: true }],
  ['425', refused(425), { passing: true, nothing: true }],
  ['429', refused(429), { passing: true, nothing: true }],
  ['500', refused(500), { passing: true, nothing: false }],
  ['503', refused(503), { passing: true, nothing: false }],
  ['anything else', new Error('no'), { passing: false, nothing: false }]
])('%s: whether it may pass, and whether it certainly made nothing', (_, error, { passing, nothing }) => {
  expect(isTransient(error)).toBe(passing)
  expect(hadNoEffect(error)).toBe(nothing)
})

describe('what passes by itself', () => {
  test.each([
    ['no answer', unreachable(false), true],
    ['an answer of the wrong shape', new MalformedReplyError('asking', 'x'), true],
    ['a changed file', new UploadError('asking', 'x'), false],
    ['something else', new Error('x'), false],
    ...[408, 425, 429, 500, 502, 503, 504].map((status) => [String(status), refused(status), true] as const),
    ...[301, 400, 401, 403, 404, 409, 422].map((status) => [String(status), refused(status), false] as const)
  ])('%s: %#', (_, error, passing) => expect(isTransient(error)).toBe(passing))
})

describe('what certainly made nothing', () => {
  test.each([
    ['no connection', unreachable(true), true],
    ['a connection that was lost', unreachable(false), false],
    ['a changed file', new UploadError('asking', 'x'), true],
    ['an answer of the wrong shape', new MalformedReplyError('asking', 'x'), false],
    ['anything else', new Error('x'), false],
    ...[401, 404, 422, 429].map((status) => [String(status), refused(status), true] as const),
    ...[503, 507].map(
      (status) => [`${status} of a loadgate`, refused(status, { isLoadgate: true }), true] as const
    ),
    ['500 of a loadgate', refused(500, { isLoadgate: true }), false],
    ['507 of anybody else', refused(507), false],
    ['502 before the request was sent to its end', refused(502, { isEarly: true }), false],
    // A server that gave up waiting, a gateway, and what redirects may have passed the request on.
    ...[301, 302, 303, 307, 308, 408, 500, 502, 503, 504].map(
      (status) => [String(status), refused(status), false] as const
    )
  ])('%s', (_, error, nothing) => expect(hadNoEffect(error)).toBe(nothing))
})

test('a refused ID token: what the issuer, the audience and the rules must be, and where each is set', () => {
  const parts = { status: 401, detail: 'no', requestId: undefined, retryAfterMs: undefined }
  expect(new RefusedError('reading run a', { ...parts, idToken: 'the ID token (issuer i)' }).message).toBe(
    'reading run a: the service answered 401: no. The service does not accept the ID token (issuer i). Check oidc in its service.yml: issuer and audience must be those of the token (a step asks for the audience in oidc-audience, or the origin of base-url), and a line of allow must match its claims; where a token from LOADGATE_ID_TOKEN_FILE has ended, write a new one into that file'
  )
})

test('a hint follows the words of the service with one full stop', () => {
  const detail = 'Sorry, we cannot find that resource.'
  const parts = { status: 404, detail, requestId: undefined, retryAfterMs: undefined }
  expect(new RefusedError('reading run a', parts).message).toBe(
    'reading run a: the service answered 404: Sorry, we cannot find that resource. Check the id and base-url'
  )
})
