import { describe, expect, test } from '@jest/globals'
import { parseThresholds } from '../../../../src/analysis/thresholds/grammar/grammar.js'
import { matchesPattern } from '../../../../src/analysis/thresholds/judge/scopes.js'
import type { Pattern } from '../../../../src/analysis/thresholds/grammar/threshold.js'
import { startCpuTimer } from '../../../support/cpu-time.js'

function makePattern(text: string): Pattern {
  return parseThresholds(`p95{label="${text}"} < 1s`).thresholds[0]!.selector.label!
}

describe('matchesPattern', () => {
  test.each([
    ['checkout', 'checkout', true],
    ['checkout', 'Checkout', false],
    ['checkout', 'checkout ', false],
    ['checkout', 'my checkout', false],
    ['', '', true],
    ['', 'a', false],
    ['*', '', true],
    ['*', 'line\nbreak', true],
    ['us-*', 'us-east-1', true],
    ['us-*', 'us-', true],
    ['us-*', 'eu-us-1', false],
    ['*-1', 'us-east-1', true],
    ['*-1', 'us-east-12', false],
    ['a*a', 'a', false],
    ['a*a', 'aa', true],
    ['ab*ba', 'aba', false],
    ['*a*b*', 'xxaxxbxx', true],
    ['*a*b*', 'xxbxxaxx', false],
    ['a*bc*bc', 'abcbc', true],
    ['a*bc*bc', 'abc', false],
    ['a**b', 'ab', true],
    ['GET /a.b', 'GET /aXb', false],
    ['[x]+', '[x]+', true],
    ['\\*', '*', true],
    ['\\*', 'anything', false],
    ['\\**', '*anything', true],
    ['\\\\*', '\\anything', true]
  ])('%s against %j: %s', (text, value, expected) => {
    expect(matchesPattern(makePattern(text), value)).toBe(expected)
  })

  test('stays fast where a backtracking match would not end', () => {
    const pattern = makePattern('*a'.repeat(200) + '*b')
    const cpuMs = startCpuTimer()
    expect(matchesPattern(pattern, 'a'.repeat(100_000))).toBe(false)
    expect(matchesPattern(pattern, 'a'.repeat(100_000) + 'b')).toBe(true)
    expect(cpuMs()).toBeLessThan(1000)
  })
})
