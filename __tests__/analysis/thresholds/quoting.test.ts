import { describe, expect, test } from '@jest/globals'
import { describeScope, quote, shorten } from '../../../src/analysis/thresholds/quoting.js'

describe('shorten', () => {
  test.each([
    ['plain', 'plain'],
    [' a\r\n\tb\u0000c ', 'a b c'],
    ['x'.repeat(80), 'x'.repeat(80)],
    ['x'.repeat(81), `${'x'.repeat(79)}…`],
    ['🚀'.repeat(81), `${'🚀'.repeat(79)}…`]
  ])('%j', (text, expected) => {
    expect(shorten(text)).toBe(expected)
  })
})

test('quote puts one line in quotes', () => {
  expect(quote('a\nb')).toBe('"a b"')
})

describe('describeScope', () => {
  test.each([
    [{}, ''],
    [{ label: 'checkout' }, ' of checkout'],
    [{ label: 'GET /cart' }, ' of "GET /cart"'],
    [{ label: '' }, ' of ""'],
    [{ region: 'us-east-1' }, ' in us-east-1'],
    [{ grid: 'g1', region: 'r', label: 'l' }, ' of l in r on grid g1']
  ])('%j is %j', (scope, expected) => {
    expect(describeScope(scope)).toBe(expected)
  })
})
