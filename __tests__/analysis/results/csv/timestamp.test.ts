import { describe, expect, test } from '@jest/globals'
import { readDate, readDigits } from '../../../../src/analysis/results/csv/timestamp.js'

describe('digits', () => {
  test.each([
    ['0', 0],
    ['007', 7],
    ['123456789', 123_456_789],
    ['1234567890', 1_234_567_890],
    ['1700000000123', 1_700_000_000_123],
    ['999999999999999', 999_999_999_999_999],
    ['1000000000000000', -1],
    ['', -1],
    ['-1', -1],
    ['1.5', -1],
    ['1 ', -1],
    ['170000000012x', -1],
    ['x700000000123', -1]
  ])('%j', (text, value) => {
    const bytes = new TextEncoder().encode(`9${text}9`)
    expect(readDigits(bytes, 1, bytes.length - 1)).toBe(value)
  })
})

describe('dates', () => {
  const noon = Date.UTC(2024, 1, 29, 12)
  test.each([
    ['2024-02-29 12:00:00', noon],
    ['2024/02/29 12:00', noon],
    ['2024.2.29 12:00:00.000', noon],
    ['2024-02-29T12:00:00.5Z', noon + 500],
    ['2024-02-29T12:00:00,123456789', noon + 123],
    ['2024-02-29 14:00:00 +0200', noon],
    ['2024-02-29T06:30:00-05:30', noon],
    ['2024-02-29 12:00:00 UTC', noon],
    ['2024-02-29', noon - 12 * 3_600_000],
    ['2023-02-29 12:00:00', undefined],
    ['2024-13-01 12:00:00', undefined],
    ['2024-02-29 24:00:00', undefined],
    ['2024-02-29 12:60:00', undefined],
    ['29.02.2024 12:00:00', undefined],
    ['noon', undefined]
  ])('%j', (text, ms) => {
    expect(readDate(text)).toBe(ms)
  })
})
