import { describe, expect, test } from '@jest/globals'
import { errorRows, topErrors } from '../../src/report/rows.js'
import { makeMeasurements } from '../analysis/thresholds/make-evidence.js'
import type { ErrorCount } from '../../src/analysis/results/figures/measurements.js'

const measured = (errors: readonly ErrorCount[]) => makeMeasurements([], { errors: () => errors })
const REST = { label: undefined, code: '', message: 'other errors' }

describe('error rows', () => {
  const errors = [
    { label: 'pay', code: '500', message: 'Server Error', count: 6 },
    { label: '', code: '', message: '', count: 3 },
    { ...REST, count: 3 }
  ]

  test('have their share of all failures, and words for what is empty', () => {
    expect(errorRows(measured(errors), 5)).toEqual([
      { count: 6, share: 0.5, code: '500', message: 'Server Error', label: 'pay' },
      { count: 3, share: 0.25, code: '', message: 'no message', label: '(no name)' },
      { count: 3, share: 0.25, code: '', message: 'other errors', label: '' }
    ])
  })

  test('are at most the requested number, and the rest combined', () => {
    expect(topErrors(measured(errors), 1)).toEqual([errors[0], { ...REST, count: 6 }])
    expect(topErrors(measured(errors), 2)).toEqual(errors)
    expect(topErrors(measured(errors.slice(0, 2)), 1)).toEqual([errors[0], { ...REST, count: 3 }])
    expect(topErrors(measured(errors.slice(0, 2)), 2)).toEqual(errors.slice(0, 2))
  })

  test('are none where nothing failed, or nothing was measured', () => {
    expect(errorRows(measured([]), 5)).toEqual([])
    expect(errorRows(undefined, 5)).toEqual([])
  })
})
