import { shorten } from '../../contract/text.js'
import type { Scope } from '../results/figures/measurements.js'

/** Text from a plan or a service inside a sentence. */
export function quote(text: string): string {
  return `"${shorten(text)}"`
}

/** ` of checkout in us-east-1 on grid g1`, or nothing for the whole run. */
export function describeScope(scope: Scope): string {
  const label = scope.label === undefined ? '' : ` of ${quoteIfNeeded(scope.label)}`
  const region = scope.region === undefined ? '' : ` in ${quoteIfNeeded(scope.region)}`
  const grid = scope.grid === undefined ? '' : ` on grid ${quoteIfNeeded(scope.grid)}`
  return label + region + grid
}

/** A name that reads as one word needs no quotes. */
export function quoteIfNeeded(text: string): string {
  return /^[^\s\p{Cc}"]+$/u.test(text) ? shorten(text) : quote(text)
}
