import { describe, expect, test } from '@jest/globals'
import {
  MalformedReplyError,
  RefusedError,
  UnreachableError,
  UploadError,
  isTransient,
  hadNoEffect
} from '../../src/service/errors.js'
import { CARE, pauseBefore, withCare } from '../../src/service/retries.js'
import { JumpingClock } from '../support/manual-clock.js'

const refused = (status: number, retryAfterMs?: number): RefusedError =>
  new RefusedError('asking', { status, detail: 'x', requestId: undefined, retryAfterMs })
const unreachable = (neverSent = false): UnreachableError =>
  new UnreachableError('asking', 'gone', { neverSent })

describe('the table of care', () => {
  test.each(['createGrid', 'createRun', 'repeatRun'] as const)('%s is sent once, with patience', (name) => {
    expect(CARE[name].attempts).toBe(1)
    expect(CARE[name].patienceMs).toBeGreaterThanOrEqual(10 * 60_000)
  })

  test.each(['showGrid', 'showRun', 'listRuns', 'account', 'head', 'stopRun', 'terminateGrid'] as const)(
    '%s is repeated',
    (name) => expect(CARE[name].attempts).toBeGreaterThanOrEqual(3)
  )

  test.each(['stopRun', 'terminateGrid'] as const)('%s is long-running', (name) =>
    expect(CARE[name].patienceMs).toBeGreaterThanOrEqual(60_000)
  )
})

describe('what passes by itself', () => {
  test.each([
    ['no answer', unreachable(), true],
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
    // A server that gave up waiting, a gateway, and what redirects may have passed the request on.
    ...[301, 302, 303, 307, 308, 408, 500, 502, 503, 504].map(
      (status) => [String(status), refused(status), false] as const
    )
  ])('%s', (_, error, nothing) => expect(hadNoEffect(error)).toBe(nothing))
})

describe('the pause', () => {
  test.each([
    [1, 500],
    [2, 1000],
    [3, 2000],
    [6, 16_000],
    [7, 20_000],
    [60, 20_000]
  ])('before attempt %i lies around %i ms', (attempt, pauseMs) => {
    expect(pauseBefore(attempt, unreachable(), () => 0)).toBe(pauseMs * 0.75)
    expect(pauseBefore(attempt, unreachable(), () => 0.999999)).toBeLessThanOrEqual(pauseMs * 1.25)
    expect(pauseBefore(attempt, unreachable(), () => 0.5)).toBe(pauseMs)
  })

  test('differs from job to job', () => {
    const pauses = Array.from({ length: 50 }, () => pauseBefore(3, unreachable()))
    expect(new Set(pauses).size).toBeGreaterThan(10)
  })

  test.each([
    ['as the service asks', 7000, 7000],
    ['but not for ever', 86_400_000, 120_000],
    ['and never none, or a loop would hammer', 0, 500]
  ])('is %s', (_, askedMs, pauseMs) => expect(pauseBefore(1, refused(503, askedMs))).toBe(pauseMs))
})

describe('an operation with care', () => {
  const care = { attempts: 3, patienceMs: 1000 }

  test('is repeated until it succeeds', async () => {
    const clock = new JumpingClock()
    const failures = [refused(503, 4000), unreachable()]
    const attempt = async (): Promise<string> => {
      const failure = failures.shift()
      if (failure) throw failure
      return 'done'
    }
    await expect(withCare(care, clock, { attempt })).resolves.toBe('done')
    expect(clock.sleeps).toEqual([4000, expect.any(Number)])
  })

  test('gives up after the attempts it has, with the last failure', async () => {
    const clock = new JumpingClock()
    let attempts = 0
    const attempt = async (): Promise<never> => {
      throw refused(500 + attempts++)
    }
    await expect(withCare(care, clock, { attempt })).rejects.toMatchObject({ status: 502 })
    expect([attempts, clock.sleeps.length]).toEqual([3, 2])
  })

  test('is not repeated when that cannot help', async () => {
    let attempts = 0
    const attempt = async (): Promise<never> => {
      attempts++
      throw refused(401)
    }
    await expect(withCare(care, new JumpingClock(), { attempt })).rejects.toMatchObject({ status: 401 })
    expect(attempts).toBe(1)
  })

  test('is not repeated after it was called off', async () => {
    const clock = new JumpingClock()
    const stop = new AbortController()
    const attempt = async (): Promise<never> => {
      stop.abort(new Error('enough'))
      throw unreachable()
    }
    await expect(withCare(care, clock, { attempt, signal: stop.signal })).rejects.toThrow()
    expect(clock.sleeps).toEqual([])
  })
})
