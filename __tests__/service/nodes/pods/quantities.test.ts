import { expect, test } from '@jest/globals'
import { parseQuantity } from '../../../../src/service/nodes/pods/pod-place.js'

test.each([
  ['500m', 0.5],
  ['4', 4],
  ['0.1', 0.1],
  ['8Gi', 8 * 2 ** 30],
  ['64Mi', 64 * 2 ** 20],
  ['1.5Gi', 1.5 * 2 ** 30],
  ['100M', 1e8],
  ['1e3', 1000],
  ['12E', 12e18],
  ['', undefined],
  ['Gi', undefined],
  ['4 cores', undefined]
])('%s', (text, number) => {
  expect(parseQuantity(text)).toBe(number)
})
