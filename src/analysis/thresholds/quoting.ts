import type { Scope } from '../results/figures/measurements.js'

const SHOWN_LENGTH = 80

/** Text from a plan or a service inside a sentence: one line of limited length. */
export function shorten(text: string, length = SHOWN_LENGTH): string {
  const oneLine = text.replace(/[\p{Cc}\s]+/gu, ' ').trim()
  const characters = Array.from(oneLine)
  return characters.length > length ? `${characters.slice(0, length - 1).join('')}…` : oneLine
}

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
