import { expect, test } from '@jest/globals'
import { Interruption } from '../../../src/service/runs/interruption.js'

test('what happened, when, and why', () => {
  const words = { what: 'grid g was cut off', why: 'by its stop_after of 1 min', atMs: 62_000 }
  expect(new Interruption(words).describe(50_000)).toBe(
    'grid g was cut off after 12 s by its stop_after of 1 min'
  )
  expect(new Interruption({ what: 'stopped by a caller', atMs: 1 }).describe(null)).toBe(
    'stopped by a caller before the run started'
  )
  expect(new Interruption({ what: 'It was closed.', atMs: 1 }).describe(0)).toBe('It was closed.')
})
