import type { Pattern } from './threshold.js'

/** Says whether a value fits a pattern, piece by piece: no regular expression, so no pattern can make it slow. */
export function matchesPattern(pattern: Pattern, value: string): boolean {
  const { pieces } = pattern
  const first = pieces[0] ?? ''
  if (pieces.length <= 1) return value === first

  const last = pieces[pieces.length - 1] ?? ''
  const middleEnd = value.length - last.length
  if (middleEnd < first.length || !value.startsWith(first) || !value.endsWith(last)) return false

  // The leftmost place for each piece leaves the most room for the next ones, so there is nothing to take back.
  let at = first.length
  for (const piece of pieces.slice(1, -1)) {
    const found = value.indexOf(piece, at)
    if (found < 0 || found + piece.length > middleEnd) return false
    at = found + piece.length
  }
  return true
}
