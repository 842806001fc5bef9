import { describe, expect, test } from '@jest/globals'
import { setTimeout as pause } from 'node:timers/promises'
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

test.each([2 ** 31, 600 * 3600_000, Infinity])('%d ms are not over at once', async (ms) => {
  let isOver = false
  const cancel = systemClock.after(ms, () => (isOver = true))
  await pause(20)
  cancel()
  expect(isOver).toBe(false)
})
