/** Beyond this many characters two texts are compared by their beginnings: 10,000 long labels stay affordable. */
const COMPARED_LENGTH = 64

/** The candidate that a misspelt word was probably meant to be. */
export function suggestWord(word: string, candidates: readonly string[]): string | undefined {
  let best: string | undefined
  let bestDistance = Infinity
  for (const candidate of candidates) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase())
    const longer = Math.max(word.length, candidate.length)
    // A word that shares nothing with the candidate is no misspelling of it, however short both are.
    const isClose = distance <= Math.max(1, Math.floor(longer / 3)) && distance < longer
    if (isClose && distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

/** The candidates most like a text, best first; one that contains the text comes before any other. */
export function rankNearest(text: string, candidates: readonly string[], count: number): string[] {
  const wanted = text.slice(0, COMPARED_LENGTH).toLowerCase()
  const ranked = candidates.map((candidate) => {
    const have = candidate.slice(0, COMPARED_LENGTH).toLowerCase()
    return { candidate, distance: wanted && have.includes(wanted) ? 0 : editDistance(wanted, have) }
  })
  return ranked
    .sort((a, b) => a.distance - b.distance)
    .slice(0, count)
    .map(({ candidate }) => candidate)
}

/** Insertions, deletions and replacements that turn one text into the other. */
export function editDistance(from: string, to: string): number {
  let previous = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (let row = 1; row <= from.length; row++) {
    const current = [row]
    for (let column = 1; column <= to.length; column++) {
      const replaced = (previous[column - 1] ?? 0) + (from[row - 1] === to[column - 1] ? 0 : 1)
      const deleted = (previous[column] ?? 0) + 1
      const inserted = (current[column - 1] ?? 0) + 1
      current.push(Math.min(replaced, deleted, inserted))
    }
    previous = current
  }
  return previous[to.length] ?? 0
}
