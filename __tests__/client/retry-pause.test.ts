import { describe, expect, test } from '@jest/globals'
import { RefusedError, UnreachableError } from '../../src/client/errors.js'
import { pauseBefore } from '../../src/client/retry.js'

const refused = (status: number, retryAfterMs?: number): RefusedError =>
  new RefusedError('asking', { status, detail: 'x', requestId: undefined, retryAfterMs })
const unreachable = (): UnreachableError => new UnreachableError('asking', 'gone', { neverSent: false })

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
