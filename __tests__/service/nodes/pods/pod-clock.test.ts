import { expect, test } from '@jest/globals'
import { systemClock } from '../../../../src/contract/clock.js'
import {
  driftOf,
  offsetOf,
  readPodClock,
  readTimeMs,
  readTurnState,
  throttledShare
} from '../../../../src/service/nodes/pods/work/pod-record.js'

/** A pod whose clock is ahead; each trip takes so long there and so long back. */
async function measure(aheadMs: number, trips: readonly (readonly [number, number])[], isExact = true) {
  let nowMs = 1_700_000_000_000
  let trip = 0
  const clock = { ...systemClock, now: () => nowMs }
  return readPodClock(clock, async () => {
    const [there, back] = trips[trip++ % trips.length]!
    nowMs += there
    const time = nowMs + aheadMs
    nowMs += back
    return isExact ? `${time}000000` : String(Math.floor(time / 1000))
  })
}

test('the quickest round trip counts, the slow ones waited somewhere', async () => {
  const slow = [200, 2] as const
  const reading = await measure(250, [slow, slow, slow, [3, 3], slow])
  expect(reading).toEqual({ offsetMs: 250, errorMs: 3.5 })
  expect(offsetOf([reading])).toBe(250)
})

test('what is within half the round trip is no difference', async () => {
  expect(offsetOf([await measure(0, [[10, 0]])])).toBe(0)
  expect(offsetOf([await measure(-40, [[50, 50]])])).toBe(0)
})

test('an image that only knows seconds is measured to half a second', async () => {
  expect(offsetOf([await measure(300, [[1, 1]], false)])).toBe(0)
  expect(Math.abs(offsetOf([await measure(-5000, [[1, 1]], false)]) + 5000)).toBeLessThan(502)
})

test('a clock that moved is right in the middle of the run', () => {
  const readings = [
    { offsetMs: 0, errorMs: 2 },
    { offsetMs: 3000, errorMs: 4 }
  ]
  expect(driftOf(readings)).toBe(3000)
  expect(offsetOf(readings)).toBe(1500)
})

test('times and figures as the pod writes them', () => {
  expect(readTimeMs('1794778655155258020')).toEqual({ ms: 1794778655155.258, isWholeSecond: false })
  expect(readTimeMs('1794778655')).toEqual({ ms: 1794778655000, isWholeSecond: true })
  const state = readTurnState('1794778655155258020 100 5 0', '137 1794778665155258020 300 105 1')
  expect(state.ended).toEqual({
    code: 137,
    atMs: 1794778665155.258,
    figures: { periods: 300, throttledPeriods: 105, oomKills: 1 },
    diskProblem: ''
  })
  expect(throttledShare(state.started!.figures, state.ended!.figures)).toBe(0.5)
  const unknown = readTurnState('1794778655 - - -', '').started!.figures
  expect(throttledShare(unknown, unknown)).toBeNull()
})
