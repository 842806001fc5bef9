import { describe, expect, test } from '@jest/globals'
import { joinClauses, shorten } from '../../src/contract/text.js'

test.each([
  [[], ''],
  [['one is missing.'], 'one is missing.'],
  [['one is missing.', 'two is cut', 'three is odd.'], 'one is missing; two is cut; three is odd.']
])('clauses %j are joined without a full stop in between', (clauses, joined) => {
  expect(joinClauses(clauses)).toBe(joined)
})

describe('shorten', () => {
  test.each([
    ['plain', 'plain'],
    [' a\r\n\tb\u0000c ', 'a b c'],
    ['x'.repeat(80), 'x'.repeat(80)],
    ['x'.repeat(81), `${'x'.repeat(79)}…`],
    ['🚀'.repeat(41), `${'🚀'.repeat(39)}…`]
  ])('%j', (text, expected) => {
    expect(shorten(text)).toBe(expected)
  })
})
