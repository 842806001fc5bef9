import { expect, test } from '@jest/globals'
import { joinClauses } from '../../src/contract/text.js'

test.each([
  [[], ''],
  [['one is missing.'], 'one is missing.'],
  [['one is missing.', 'two is cut', 'three is odd.'], 'one is missing; two is cut; three is odd.']
])('clauses %j are joined without a full stop in between', (clauses, joined) => {
  expect(joinClauses(clauses)).toBe(joined)
})
