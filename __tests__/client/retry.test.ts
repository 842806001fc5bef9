import { describe, expect, test } from '@jest/globals'
import { startDeadline } from '../../src/gate/deadline.js'
import {
  CertificateError,
  MalformedReplyError,
  RedirectError,
  RefusedError,
  UnreachableError
} from '../../src/client/errors.js'
import { RETRY, retry, upTo } from '../../src/client/retry.js'
import type { RetryPolicy } from '../../src/client/retry.js'
import { ManualClock } from '../support/manual-clock.js'

const refused = (
  status: number,
  more: { retryAfterMs?: number; isEarly?: boolean; isLoadgate?: boolean } = {}
): RefusedError =>
  new RefusedError('asking', { status, detail: 'so', requestId: undefined, retryAfterMs: undefined, ...more })
const away = new UnreachableError('asking', 'gone', { neverSent: false })

/** How long the same failure is borne by the policy, before it is thrown. */
async function borneMs(error: Error, policy: RetryPolicy, withinMs = 20 * 60_000): Promise<number> {
  const clock = new ManualClock()
  const deadline = startDeadline(clock, withinMs, { error: new Error('over') })
  const trying = retry(() => Promise.reject(error), policy, { clock, signal: deadline.signal })
  await expect(clock.run(trying.finally(() => deadline.release()))).rejects.toThrow()
  return clock.elapsedMs
}

describe('what is borne while results are collected', () => {
  test.each([
    ...[404, 408, 409, 423, 425, 429, 500, 502, 503].map((status) => refused(status)),
    new MalformedReplyError('asking', 'a page'),
    away
  ])('as long as there is time: %s', async (error) => {
    expect(await borneMs(error, RETRY.collect)).toBe(20 * 60_000)
  })

  test.each([
    ...[302, 303, 307, 400, 403, 405, 407, 413, 422].map((status) => refused(status)),
    new RedirectError('asking', 'to a sign-in page')
  ])('for a minute: %s', async (error) => {
    const ms = await borneMs(error, RETRY.collect)
    expect(ms).toBeGreaterThanOrEqual(60_000)
    expect(ms).toBeLessThan(70_000)
  })

  test.each([
    ...[401, 410, 451].map((status) => refused(status)),
    new CertificateError('asking', 'x'),
    new Error('x')
  ])('not at all: %s', async (error) => {
    expect(await borneMs(error, RETRY.collect)).toBe(0)
  })
})

describe('what is borne while a run is watched', () => {
  test.each([
    ['an outage', away, 5 * 60_000],
    ['a refusal', refused(404), 60_000],
    ["a firewall's or a proxy's page", refused(403), 60_000],
    ['a refusal of a proxy', refused(407), 60_000],
    ['a refusal of the token', refused(401), 0]
  ])('%s', async (_, error, ms) => {
    const borne = await borneMs(error, RETRY.watchRun)
    expect(borne).toBeGreaterThanOrEqual(ms)
    expect(borne).toBeLessThanOrEqual(ms + 25_000)
  })
})

test.each([401, 403, 404, 407])('a run that was never seen before is refused at once: %s', async (status) => {
  expect(await borneMs(refused(status), RETRY.showExistingRun)).toBe(0)
})

describe('retry', () => {
  test('gives what the attempt gives, and tells of what failed before', async () => {
    const clock = new ManualClock()
    const failures = [away, refused(503)]
    const told: unknown[] = []
    const attempt = (): Promise<string> => {
      const failure = failures.shift()
      return failure === undefined ? Promise.resolve('there') : Promise.reject(failure)
    }
    const onRetry = (error: unknown): void => void told.push(error)
    const trying = retry(attempt, RETRY.watchRun, { clock, signal: undefined, onRetry })
    expect(await clock.run(trying)).toBe('there')
    expect(told).toEqual([away, refused(503)])
  })

  test("the service's own pause is kept to", async () => {
    const clock = new ManualClock()
    const failures = [refused(503, { retryAfterMs: 40_000 })]
    const attempt = async (): Promise<void> => {
      const failure = failures.shift()
      if (failure !== undefined) throw failure
    }
    await clock.run(retry(attempt, RETRY.collect, { clock, signal: undefined }))
    expect(clock.sleeps).toEqual([40_000])
  })

  test("the end of the time is the signal's reason, or what is made of the last failure", async () => {
    const clock = new ManualClock()
    const signal = startDeadline(clock, 10_000, { error: new Error('over') }).signal
    const attempt = (): Promise<never> => Promise.reject(away)
    await expect(clock.run(retry(attempt, RETRY.collect, { clock, signal }))).rejects.toThrow(/^over$/)
    const overWith = (failure: unknown): Error => new Error(`last: ${String(failure)}`)
    await expect(retry(attempt, RETRY.collect, { clock, signal, overWith })).rejects.toThrow(/^last: .*gone/)
  })

  test('progress starts the time anew', async () => {
    const clock = new ManualClock()
    let attempts = 0
    const attempt = async (noteProgress: () => void): Promise<number> => {
      if (attempts++ >= 200) return attempts
      noteProgress()
      throw refused(404)
    }
    expect(await clock.run(retry(attempt, RETRY.watchRun, { clock, signal: undefined }))).toBe(201)
    expect(Math.max(...clock.sleeps)).toBeLessThan(1_000)
  })
})

describe('a limited number of attempts', () => {
  test('is retried until one succeeds', async () => {
    const clock = new ManualClock()
    const failures = [refused(503, { retryAfterMs: 4000 }), away]
    const attempt = async (): Promise<string> => {
      const failure = failures.shift()
      if (failure) throw failure
      return 'done'
    }
    expect(await clock.run(retry(attempt, upTo(3), { clock, signal: undefined }))).toBe('done')
    expect(clock.sleeps).toEqual([4000, expect.any(Number)])
  })

  test('ends with the last failure', async () => {
    const clock = new ManualClock()
    let attempts = 0
    const attempt = async (): Promise<never> => {
      throw refused(500 + attempts++)
    }
    const trying = retry(attempt, upTo(3), { clock, signal: undefined })
    await expect(clock.run(trying)).rejects.toMatchObject({ status: 502 })
    expect([attempts, clock.sleeps.length]).toEqual([3, 2])
  })

  test.each([401, 404, 422])('is not used up where a retry cannot help: %i', async (status) => {
    let attempts = 0
    const attempt = async (): Promise<never> => {
      attempts++
      throw refused(status)
    }
    const trying = retry(attempt, upTo(3), { clock: new ManualClock(), signal: undefined })
    await expect(trying).rejects.toMatchObject({ status })
    expect(attempts).toBe(1)
  })

  test('ends when it is cancelled', async () => {
    const clock = new ManualClock()
    const stop = new AbortController()
    const attempt = async (): Promise<never> => {
      stop.abort(new Error('enough'))
      throw away
    }
    await expect(retry(attempt, upTo(3), { clock, signal: stop.signal })).rejects.toThrow()
    expect(clock.sleeps).toEqual([])
  })

  test('waits as the policy says, where it has a pause of its own', async () => {
    const clock = new ManualClock()
    const attempt = (): Promise<never> => Promise.reject(away)
    const policy = { ...upTo(4), pauseMs: (failures: number) => 1000 * failures }
    await expect(clock.run(retry(attempt, policy, { clock, signal: undefined }))).rejects.toBe(away)
    expect(clock.sleeps).toEqual([1000, 2000, 3000])
  })
})

describe('creating something', () => {
  const neverSent = new UnreachableError('creating', 'refused', { neverSent: true })

  test.each<[string, Error, number]>([
    ['without a connection', neverSent, 5],
    ['after a rate limit', refused(429), 5],
    ['after a lost connection', away, 1],
    ['after a 502 within the upload', refused(502, { isEarly: true }), 1],
    ["after a loadgate's database was locked", refused(503, { isLoadgate: true }), 5],
    ['after a full disk', refused(507, { isLoadgate: true }), 1],
    ['after a certificate that is not trusted', new CertificateError('creating', 'x'), 1],
    ...[404, 408, 422, 500, 503].map((status): [string, Error, number] => [
      `after ${status}`,
      refused(status),
      1
    ])
  ])('%s is sent as often as is safe', async (_, error, times) => {
    const clock = new ManualClock()
    let attempts = 0
    const attempt = (): Promise<never> => {
      attempts++
      return Promise.reject(error)
    }
    await expect(clock.run(retry(attempt, RETRY.create, { clock, signal: undefined }))).rejects.toBe(error)
    expect(attempts).toBe(times)
  })
})
