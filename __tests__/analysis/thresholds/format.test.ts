import { describe, expect, test } from '@jest/globals'
import { compareToLimit } from '../../../src/analysis/thresholds/judge/judgement.js'
import {
  formatActual,
  formatLimit,
  formatMargin,
  formatValue
} from '../../../src/analysis/thresholds/format.js'
import { parseAbsolute } from '../../support/data/parse-absolute.js'
import type { AbsoluteThreshold } from '../../../src/analysis/thresholds/grammar/threshold.js'
import type { Metric } from '../../../src/analysis/thresholds/metrics.js'

function parse(line: string): AbsoluteThreshold {
  return parseAbsolute(line).thresholds[0]!
}

describe('formatValue', () => {
  test.each<[Metric, number, string]>([
    ['percentile', 1240, '1,240 ms'],
    ['mean', 312.7, '313 ms'],
    ['mean', 31.27, '31.3 ms'],
    ['mean', 3.127, '3.13 ms'],
    ['min', 0, '0 ms'],
    ['min', 0.00123, '0.0012 ms'],
    ['max', 3_600_000, '3,600,000 ms'],
    ['error_rate', 0.025, '2.5 %'],
    ['error_rate', 0.07, '7 %'],
    ['error_rate', 0.000_012, '0.0012 %'],
    ['error_rate', 1, '100 %'],
    ['throughput', 55.3, '55.3/s'],
    ['throughput', 1234.5, '1,235/s'],
    ['apdex', 0.85, '0.85'],
    ['apdex', 0.853_61, '0.854'],
    ['apdex', 1, '1'],
    ['samples', 1_234_567, '1,234,567'],
    ['concurrency', 12.5, '12.5']
  ])('%s %d is %s', (metric, value, text) => {
    expect(formatValue(metric, value)).toBe(text)
  })
})

describe('formatLimit is exact', () => {
  test.each([
    ['p95 < 800ms', '800 ms'],
    ['p95 < 1.5s', '1,500 ms'],
    ['p95 < 800.125ms', '800.125 ms'],
    ['p95 < 12345.6789ms', '12,345.6789 ms'],
    ['error_rate < 0.7%', '0.7 %'],
    ['error_rate < 0.00001%', '0.00001 %'],
    ['throughput > 100/min', '100/min'],
    ['throughput > 50/s', '50/s'],
    ['apdex >= 0.8765', '0.8765'],
    ['samples >= 1000000', '1,000,000']
  ])('%s: %s', (line, text) => {
    expect(formatLimit(parse(line))).toBe(text)
  })
})

describe('formatActual never contradicts the verdict', () => {
  test.each([
    ['p95 <= 800ms', 800.4, '800.4 ms'],
    ['p95 <= 800ms', 800.000_04, '800.00004 ms'],
    ['p95 < 800ms', 799.96, '799.96 ms'],
    ['p95 < 800ms', 800, '800 ms'],
    ['p95 < 800ms', 1240.4, '1,240 ms'],
    ['apdex >= 0.85', 0.849_99, '0.84999'],
    ['apdex >= 0.85', 0.853_61, '0.854'],
    ['error_rate <= 1%', 0.010_000_1, '1.00001 %'],
    ['error_rate < 1%', 0.01, '1 %'],
    ['failures <= 0', 1, '1'],
    ['throughput >= 100/min', 1.65, '99/min'],
    ['throughput >= 100/min', 99.999 / 60, '99.999/min'],
    ['mean < 0.5ms', 0.499_999, '0.499999 ms']
  ])('%s with %d: %s', (line, actual, text) => {
    expect(formatActual({ threshold: parse(line), actual })).toBe(text)
  })

  test('over values ever nearer to the limit', () => {
    const contradictions: string[] = []
    for (const line of [
      'p95 < 800ms',
      'error_rate < 0.3%',
      'apdex > 0.85',
      'throughput > 70/min',
      'samples > 3'
    ]) {
      const threshold = parse(line)
      for (let exponent = 0; exponent <= 10; exponent++) {
        for (const sign of [1, -1]) {
          const actual = threshold.value * (1 + sign * 10 ** -exponent)
          const shown = Number(formatActual({ threshold, actual }).replace(/[^\d.]/gu, ''))
          const limit = Number(formatLimit(threshold).replace(/[^\d.]/gu, ''))
          if (Math.sign(compareToLimit(shown, limit)) !== sign) contradictions.push(`${line}: ${actual}`)
        }
      }
    }
    expect(contradictions).toEqual([])
  })

  test('is empty without a value', () => {
    expect(formatActual({ threshold: parse('p95 < 1s'), actual: undefined })).toBe('')
  })
})

describe('formatMargin', () => {
  test.each([
    ['p95 < 800ms', 1240, '55 % over'],
    ['p95 < 800ms', 704, '12 % below the limit'],
    ['p95 < 800ms', 800, 'exactly at the limit'],
    ['p95 < 800ms', 820, '2.5 % over'],
    ['p95 < 800ms', 800.4, '0.05 % over'],
    ['p95 < 800ms', 800.000_4, 'less than 0.01 % over'],
    ['p95 < 800ms', 7990, '899 % over'],
    ['p95 < 800ms', 8000, '10 times the limit'],
    ['p95 < 800ms', 20_104, '25 times the limit'],
    ['p95 < 800ms', 1e9, '1,250,000 times the limit'],
    ['throughput >= 50/s', 600, '12 times the limit'],
    ['error_rate < 1%', 0.4, '40 times the limit'],
    ['samples == 10', 250, '25 times the required value'],
    ['p95 < 800ms', 0, '100 % below the limit'],
    ['p95 < 800ms', 0.001, '99.99 % below the limit'],
    ['throughput >= 50/s', 44, '12 % short'],
    ['throughput >= 50/s', 60, '20 % above the limit'],
    ['throughput >= 60/min', 0.5, '50 % short'],
    ['apdex >= 0.85', 0.68, '20 % short'],
    ['error_rate < 1%', 0.015, '50 % over'],
    ['samples == 10', 12, '20 % above the required value'],
    ['samples == 10', 5, '50 % below the required value'],
    ['samples == 10', 10, 'exactly at the limit'],
    ['failures <= 0', 3, '3 over'],
    ['failures == 0', 3, '3 above the required value'],
    ['failures <= 0', 0, 'exactly at the limit'],
    ['samples >= 0', 30, '30 above the limit'],
    ['p95 <= 0ms', 12, '12 ms over'],
    ['error_rate <= 0%', 0.02, '2 % over'],
    ['apdex > 0', 0.5, '0.5 above the limit']
  ])('%s with %d: %s', (line, actual, text) => {
    expect(formatMargin({ threshold: parse(line), actual })).toBe(text)
  })
  test('is empty without a value', () => {
    expect(formatMargin({ threshold: parse('p95 < 1s'), actual: undefined })).toBe('')
  })
})
