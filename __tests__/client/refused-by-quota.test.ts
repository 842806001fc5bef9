import { expect, test } from '@jest/globals'
import { hadNoEffect, RefusedError } from '../../src/client/errors.js'
import { RETRY } from '../../src/client/retry.js'

const refused = (status: number, isLoadgate = true): RefusedError =>
  new RefusedError('creating the run', {
    ...{ status, detail: 'user shop has 20 waiting runs, and may have 20', requestId: undefined },
    ...{ isLoadgate, retryAfterMs: status === 429 ? 30_000 : undefined }
  })

test.each([
  [429, true],
  [413, false],
  [422, false],
  [507, false]
])(
  'a loadgate that refuses a run for a quota with %i has created nothing; whether to try again: %p',
  (status, again) => {
    expect(hadNoEffect(refused(status))).toBe(true)
    expect(RETRY.create.isTransient(refused(status))).toBe(again)
    expect(RETRY.outlastRestart.isTransient(refused(status))).toBe(false)
  }
)

test('the words of the service stand alone: it is no limit of requests', () => {
  expect(refused(429).message).toBe(
    'creating the run: the service answered 429: user shop has 20 waiting runs, and may have 20'
  )
  expect(refused(429, false).message).toContain('rate limiting requests')
})
