import { expect, test } from '@jest/globals'
import { VERDICT_SIGNS } from '../../src/report/headline.js'

test('no two verdicts share a sign', () => {
  const signs = Object.values(VERDICT_SIGNS)
  expect(signs).toHaveLength(8)
  expect(new Set(signs).size).toBe(8)
})
