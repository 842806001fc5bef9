import { expect, test } from '@jest/globals'
import { formatApdex, formatElapsed, formatNumber, formatPercent } from '../../../src/report/page/numbers.js'

test.each<[number | null, string]>([
  [null, '–'],
  [0, '0'],
  [2.754, '2.75'],
  [55.34, '55.3'],
  [1240.4, '1,240']
])('the number %p reads %s', (value, text) => {
  expect(formatNumber(value)).toBe(text)
})

test.each<[number | null, string]>([
  [null, '–'],
  [0, '0 %'],
  [0.00001, '< 0.01 %'],
  [0.0105, '1.05 %'],
  [1, '100 %']
])('the share %p reads %s', (share, text) => {
  expect(formatPercent(share)).toBe(text)
})

test.each<[number | null, string]>([
  [null, '–'],
  [0.84999, '0.849'],
  [0.85, '0.85'],
  [1, '1']
])('the apdex %p reads %s', (score, text) => {
  expect(formatApdex(score)).toBe(text)
})

test.each<[number, string]>([
  [0, '0:00'],
  [5.5, '0:05.5'],
  [59.96, '1:00'],
  [750, '12:30'],
  [3723, '1:02:03']
])('%p seconds read %s', (seconds, text) => {
  expect(formatElapsed(seconds)).toBe(text)
})
