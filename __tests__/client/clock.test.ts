import { describe, expect, test } from '@jest/globals'
import { reasonOf, systemClock } from '../../src/contract/clock.js'

describe('the real clock', () => {
  test('sleeps', async () => {
    const before = systemClock.now()
    await systemClock.sleep(20)
    expect(systemClock.now() - before).toBeGreaterThanOrEqual(15)
  })

  test.each([
    ['before it began', true],
    ['while it lasts', false]
  ])('wakes with the reason when called off %s', async (_, early) => {
    const stop = new AbortController()
    const reason = new Error('cancelled by SIGINT')
    if (early) stop.abort(reason)
    const slept = systemClock.sleep(60_000, stop.signal)
    stop.abort(reason)
    await expect(slept).rejects.toBe(reason)
  })
})

test('a reason that is no error becomes one', () => {
  expect(reasonOf(AbortSignal.abort('enough'))).toMatchObject({ message: 'aborted', cause: 'enough' })
})
