import { describe, expect, test } from '@jest/globals'
import { apdexTargetMs, checkApdexTarget, formatScore } from '../../../src/service/runs/run-report.js'
import { parseOverrideParameters } from '../../../src/service/engines/engine.js'

describe('a score', () => {
  test.each([
    [1, '1.0'],
    [0, '0.0'],
    [0.95, '0.95'],
    [0.57, '0.57'],
    [0.29, '0.29'],
    [2 / 3, '0.6666'],
    [0.84996, '0.8499'],
    [0.99999, '0.9999']
  ])('%d is %s, never rounded up', (score, text) => {
    expect(formatScore(score)).toBe(text)
  })
})

describe('the target', () => {
  const read = (value: string): ReturnType<typeof parseOverrideParameters>['properties'] =>
    parseOverrideParameters(`-Jjmeter.reportgenerator.apdex_satisfied_threshold=${value}`).properties

  test('is 500 ms unless it is overridden', () => {
    expect(apdexTargetMs([])).toBe(500)
    expect(apdexTargetMs(read('1200'))).toBe(1200)
    expect(checkApdexTarget(read('1200'))).toEqual([])
  })

  test.each(['0', '-5', '1.5', 'soon', ''])('cannot be "%s"', (value) => {
    expect(checkApdexTarget(read(value))).toHaveLength(1)
  })
})
