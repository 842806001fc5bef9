import { expect, test } from '@jest/globals'
import { delayAbort, startDeadline } from '../../src/gate/deadline.js'
import { ManualClock } from '../support/manual-clock.js'

const error = new Error('too late')

test('the signal is aborted with the error when the time is over, and not before', async () => {
  const clock = new ManualClock()
  const { signal } = startDeadline(clock, 1000, { error })
  await clock.advance(999)
  expect(signal.aborted).toBe(false)
  await clock.advance(1)
  expect(signal.reason).toBe(error)
})

test('an error that depends on what has happened is created when the time is over', async () => {
  const clock = new ManualClock()
  let state = 'fine'
  const { signal } = startDeadline(clock, 1000, { error: () => new Error(state) })
  state = 'down'
  await clock.advance(1000)
  expect(signal.reason).toEqual(new Error('down'))
})

test('another signal brings its own reason', async () => {
  const other = new AbortController()
  const clock = new ManualClock()
  const { signal } = startDeadline(clock, 1000, { error, others: [other.signal] })
  const reason = new Error('cancelled')
  other.abort(reason)
  expect(signal.reason).toBe(reason)
  await clock.advance(2000)
  expect(signal.reason).toBe(reason)
})

test('one that was aborted before counts', () => {
  const { signal } = startDeadline(new ManualClock(), 1000, { error, others: [AbortSignal.abort(error)] })
  expect(signal.aborted).toBe(true)
})

test('once released, it never comes and holds no timer', async () => {
  const clock = new ManualClock()
  const deadline = startDeadline(clock, 1000, { error })
  deadline.release()
  await clock.advance(0)
  expect(clock.pendingCount).toBe(0)
  await clock.advance(5000)
  expect(deadline.signal.aborted).toBe(false)
})

test('a delayed signal is aborted a while after the other one, with its reason', async () => {
  const clock = new ManualClock()
  const other = new AbortController()
  const signal = delayAbort(clock, other.signal, 2_000)
  await clock.advance(5_000)
  other.abort(error)
  await clock.advance(1_999)
  expect(signal.aborted).toBe(false)
  await clock.advance(1)
  expect(signal.reason).toBe(error)
})

test('so is one whose other signal is aborted already', async () => {
  const clock = new ManualClock()
  const signal = delayAbort(clock, AbortSignal.abort(error), 2_000)
  expect(signal.aborted).toBe(false)
  await clock.advance(2_000)
  expect(signal.reason).toBe(error)
})
