import { expect, test } from '@jest/globals'
import { setTimeout as pause } from 'node:timers/promises'
import { systemClock } from '../../src/service/clock.js'

test.each([2 ** 31, 600 * 3600_000, Infinity])('%d ms are not over at once', async (ms) => {
  let isOver = false
  const cancel = systemClock.after(ms, () => (isOver = true))
  await pause(20)
  cancel()
  expect(isOver).toBe(false)
})
