import { describe, expect, test } from '@jest/globals'
import { compareToLimit, holds, measureRoom } from '../../../../src/analysis/thresholds/judge/judgement.js'
import { parseAbsolute } from '../../../support/data/parse-absolute.js'
import type { AbsoluteThreshold } from '../../../../src/analysis/thresholds/grammar/threshold.js'

function parse(line: string): AbsoluteThreshold {
  return parseAbsolute(line).thresholds[0]!
}

describe('holds', () => {
  test.each([
    ['<', true, false, false],
    ['<=', true, true, false],
    ['>', false, false, true],
    ['>=', false, true, true],
    ['==', false, true, false]
  ])('%s below, at and above the limit', (operator, below, at, above) => {
    const threshold = parse(`p95 ${operator} 800ms`)
    expect([799, 800, 801].map((value) => holds(value, threshold))).toEqual([below, at, above])
  })
  test.each([
    ['1 failure in 100', 'error_rate == 1%', 1 / 100],
    ['7 failures in 1000', 'error_rate <= 0.7%', 7 / 1000],
    ['a rate over a span with decimals', 'throughput == 30/s', 0.3 / 0.1 / 0.1],
    ['a rate in minutes', 'throughput >= 100/min', 5 / 3],
    ['a mean of means', 'mean <= 300ms', (0.1 + 0.2) * 1000],
    ['nothing at all', 'failures == 0', 0]
  ])('%s is equal except for rounding noise', (_, line, value) => {
    expect(holds(value, parse(line))).toBe(true)
  })
  test.each([
    ['p95 <= 800ms', 800.0001],
    ['error_rate <= 1%', 10_001 / 1_000_000],
    ['failures <= 0', 1e-9],
    ['samples == 1000000', 1_000_001],
    ['apdex >= 0.85', 0.8499999]
  ])('%s does not hold for %d', (line, value) => {
    expect(holds(value, parse(line))).toBe(false)
  })
  test.each(['<', '<=', '>', '>=', '=='])('not-a-number never holds with %s', (operator) => {
    expect(holds(NaN, parse(`p95 ${operator} 800ms`))).toBe(false)
  })
})

describe('measureRoom', () => {
  test.each([
    ['p95 < 800ms', 600, 200],
    ['p95 <= 800ms', 1240, -440],
    ['throughput > 50/s', 40, -10],
    ['throughput >= 50/s', 65, 15],
    ['samples == 10', 12, -2],
    ['samples == 10', 7, -3],
    ['samples == 10', 10, 0],
    ['p95 < 800ms', 800, 0]
  ])('%s and %d: %d', (line, value, room) => {
    expect(measureRoom(value, parse(line))).toBe(room)
  })
})

test('compareToLimit keeps the sign of a real difference', () => {
  expect(compareToLimit(800.000001, 800)).toBeGreaterThan(0)
  expect(compareToLimit(0, 1e-300)).toBeLessThan(0)
  expect(compareToLimit(0.1 + 0.2, 0.3)).toBe(0)
})
