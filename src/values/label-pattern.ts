/** Whether a value matches the literal pieces between the `*` of a pattern: without regular expressions, so no pattern can be slow. */
export function matchesPieces(pieces: readonly string[], value: string): boolean {
  const first = pieces[0] ?? ''
  if (pieces.length <= 1) return value === first

  const last = pieces[pieces.length - 1] ?? ''
  const middleEnd = value.length - last.length
  if (middleEnd < first.length || !value.startsWith(first) || !value.endsWith(last)) return false

  // The leftmost match of each piece leaves the most space for the next ones, so no backtracking is needed.
  let at = first.length
  for (const piece of pieces.slice(1, -1)) {
    const found = value.indexOf(piece, at)
    if (found < 0 || found + piece.length > middleEnd) return false
    at = found + piece.length
  }
  return true
}
