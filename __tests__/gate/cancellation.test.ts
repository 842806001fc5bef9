import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { listenForSignals, CancelledError } from '../../src/gate/errors.js'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const
let endings: number
let signal: AbortSignal

beforeEach(() => {
  endings = 0
  signal = listenForSignals(() => endings++)
})

afterEach(() => {
  for (const name of SIGNALS) process.removeAllListeners(name)
})

test.each(SIGNALS)('the first %s cancels, with its name as the reason', (name) => {
  expect(signal.aborted).toBe(false)
  process.emit(name)
  expect(signal.reason).toBeInstanceOf(CancelledError)
  expect(signal.reason).toMatchObject({ signal: name })
  expect(endings).toBe(0)
})

test.each([
  ['SIGINT', 'SIGTERM'],
  ['SIGINT', 'SIGINT'],
  ['SIGTERM', 'SIGINT'],
  ['SIGHUP', 'SIGTERM'],
  ['SIGINT', 'SIGQUIT'],
  ['SIGQUIT', 'SIGQUIT']
] as const)('%s, then %s: the second ends the process at once', (first, second) => {
  process.emit(first)
  process.emit(second)
  expect(endings).toBe(1)
  expect(signal.reason).toMatchObject({ signal: first })
})

test.each(['SIGHUP', 'SIGTERM'] as const)(
  'SIGHUP after %s is not impatience: a terminal sends it twice',
  (first) => {
    process.emit(first)
    process.emit('SIGHUP')
    process.emit('SIGHUP')
    expect(endings).toBe(0)
    expect(signal.reason).toMatchObject({ signal: first })
  }
)
