import { describe, expect, test } from '@jest/globals'
import { OPERATIONS } from '../../src/client/retry.js'

describe('how operations are sent', () => {
  test.each(['createGrid', 'createRun', 'repeatRun'] as const)(
    '%s once, with a long response timeout',
    (name) => {
      expect(OPERATIONS[name]).not.toHaveProperty('retry')
      expect(OPERATIONS[name].responseTimeoutMs).toBeGreaterThanOrEqual(10 * 60_000)
    }
  )

  test('thresholds are handed over once, and quickly', () => {
    expect(OPERATIONS.setThresholds).not.toHaveProperty('retry')
    expect(OPERATIONS.setThresholds.responseTimeoutMs).toBeLessThanOrEqual(5_000)
  })

  test.each(['showGrid', 'showRun', 'listRuns', 'account', 'stopRun', 'terminateGrid'] as const)(
    '%s is retried',
    (name) => expect(OPERATIONS[name].retry.attempts).toBeGreaterThanOrEqual(3)
  )

  test.each(['stopRun', 'terminateGrid'] as const)('%s may take long', (name) =>
    expect(OPERATIONS[name].responseTimeoutMs).toBeGreaterThanOrEqual(60_000)
  )
})
