import { describe, expect, test } from '@jest/globals'
import { describeScope, quote } from '../../../src/analysis/thresholds/quoting.js'

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
