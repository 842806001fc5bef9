import { expect, test } from '@jest/globals'
import { formatDuration } from '../../src/contract/text.js'

test.each([
  [-5, '0 s'],
  [0, '0 s'],
  [1_499, '1 s'],
  [90_000, '90 s'],
  [119_400, '119 s'],
  [120_000, '2 min'],
  [125_000, '2 min 5 s'],
  [720_000, '12 min'],
  [3_600_000, '1 h'],
  [3_900_000, '1 h 5 min'],
  [7_200_000, '2 h']
])('%d ms reads as %s', (ms, words) => {
  expect(formatDuration(ms)).toBe(words)
})
