import { expect, test } from '@jest/globals'
import { hasEnded, phaseOf } from '../../../src/gate/run/run-status.js'

test.each([
  ['queued', 'waiting', false],
  ['starting', 'waiting', false],
  ['started', 'running', false],
  ['running', 'running', false],
  ['stopping', 'running', false],
  ['finished', 'ended well', true],
  ['stopped', 'ended abnormally', true],
  ['problem', 'ended abnormally', true],
  ['warming up', 'unknown', false],
  ['failed', 'ended abnormally', true],
  ['error', 'ended abnormally', true],
  ['errored', 'ended abnormally', true],
  ['aborted', 'ended abnormally', true],
  ['cancelled', 'ended abnormally', true],
  ['canceled', 'ended abnormally', true],
  ['Finished', 'ended well', true],
  ['RUNNING', 'running', false],
  ['Canceled', 'ended abnormally', true],
  [' FINISHED\n', 'ended well', true],
  ['unfinished', 'unknown', false],
  ['', 'unknown', false]
])('"%s" is %s', (status, phase, ended) => {
  expect(phaseOf(status)).toBe(phase)
  expect(hasEnded(status)).toBe(ended)
})

test.each(['constructor', 'toString', '__proto__', 'hasOwnProperty'])(
  '"%s" is a status that is not known, like any other',
  (status) => {
    expect(phaseOf(status)).toBe('unknown')
    expect(hasEnded(status)).toBe(false)
  }
)
