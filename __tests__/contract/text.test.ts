import { describe, expect, test } from '@jest/globals'
import { joinClauses, joinWords, shorten } from '../../src/contract/text.js'

test.each([
  [[], ''],
  [['one is missing.'], 'one is missing.'],
  [['one is missing.', 'two is cut', 'three is odd.'], 'one is missing; two is cut; three is odd.']
])('clauses %j are joined without a full stop in between', (clauses, joined) => {
  expect(joinClauses(clauses)).toBe(joined)
})

test.each([
  [[], ''],
  [['a'], 'a'],
  [['a', 'b'], 'a and b'],
  [['a', 'b', 'c'], 'a, b and c'],
  [['a', 'b', 'c', 'd'], 'a, b, c and 1 more'],
  [['a', 'b', 'c', 'd', 'e'], 'a, b, c and 2 more']
])('words %j are joined, three at most', (words, joined) => {
  expect(joinWords(words, 3)).toBe(joined)
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
