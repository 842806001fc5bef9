import { expect, test } from '@jest/globals'
import { CancelledError, DeadlineError, failureOf } from '../../src/gate/errors.js'
import { messageOf } from '../../src/contract/text.js'

test.each([
  ['a deadline', new DeadlineError('late'), { kind: 'timed-out', message: 'late' }],
  ['a signal', new CancelledError('SIGINT'), { kind: 'cancelled', message: 'cancelled by SIGINT' }],
  ['any error', new TypeError('odd'), { kind: 'error', message: 'odd' }],
  ['a text', 'odd', { kind: 'error', message: 'odd' }],
  ['nothing', undefined, { kind: 'error', message: 'undefined' }],
  [
    'what has no text',
    Object.create(null) as unknown,
    { kind: 'error', message: 'an error without a message was thrown' }
  ]
])('%s', (_, thrown, failure) => {
  expect(failureOf(thrown)).toEqual(failure)
  expect(messageOf(thrown)).toBe(failure.message)
})
