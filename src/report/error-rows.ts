import type { ErrorCount, Measurements } from '../results/figures/measurements.js'

/** One reason why samples failed, for display. */
export interface ErrorRow {
  readonly count: number
  /** Of all failed samples, 0 to 1. */
  readonly share: number
  readonly code: string
  readonly message: string
  /** Empty if several labels are combined. */
  readonly label: string
}

/** The most frequent errors; the rest, if any, as the last row. */
export function errorRows(measurements: Measurements | undefined, mostRows: number): ErrorRow[] {
  const errors = topErrors(measurements, mostRows)
  const failures = errors.reduce((sum, { count }) => sum + count, 0)
  return errors.map(({ label, code, message, count }) => ({
    ...{ count, share: count / failures, code },
    message: message || 'no message',
    label: label === undefined ? '' : label || '(no name)'
  }))
}

/** At most the given number of errors, plus one row for all the others. */
export function topErrors(measurements: Measurements | undefined, most: number): readonly ErrorCount[] {
  const all = measurements?.errors({}) ?? []
  const named = all.filter(({ label }) => label !== undefined)
  if (named.length <= most) return all
  const shown = named.slice(0, most)
  const sum = (errors: readonly ErrorCount[]): number => errors.reduce((total, { count }) => total + count, 0)
  return [...shown, { label: undefined, code: '', message: 'other errors', count: sum(all) - sum(shown) }]
}
