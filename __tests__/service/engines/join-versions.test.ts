import { expect, test } from '@jest/globals'
import { joinVersions } from '../../../src/service/engines/engine.js'

test.each([
  [['5.6.3'], '5.6.3'],
  [['5.6.3', '5.6.3'], '5.6.3'],
  [['5.6.3', '5.5', '5.6.3'], '5.6.3 and 5.5'],
  [['5.6.3', '5.5', '5.4'], '5.6.3, 5.5 and 5.4']
])('%j are told as "%s"', (versions, told) => {
  expect(joinVersions(versions)).toBe(told)
})
