/** Beyond this length only prefixes are compared: 10,000 long labels stay affordable. */
const COMPARED_LENGTH = 64

/** The candidate that a misspelt word probably means. */
export function suggestWord(word: string, candidates: readonly string[]): string | undefined {
  if (word.length > COMPARED_LENGTH) return undefined
  let best: string | undefined
  let bestDistance = Infinity
  for (const candidate of candidates) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase())
    const longer = Math.max(word.length, candidate.length)
    // A word that has nothing in common with the candidate is not a misspelling of it, however short both are.
    const isClose = distance <= Math.max(1, Math.floor(longer / 3)) && distance < longer
    if (isClose && distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

/** The same for a name of several words: `baseUrl` and `base_url` mean `base-url`. */
export function suggestName(name: string, candidates: readonly string[]): string | undefined {
  const squeezed = squeeze(name)
  return candidates.find((candidate) => squeeze(candidate) === squeezed) ?? suggestWord(name, candidates)
}

function squeeze(name: string): string {
  return name.replace(/[\s_-]/g, '').toLowerCase()
}

/** What is wrong with unknown keys, and which ones were probably meant. */
export function describeUnknownKeys(unknown: readonly string[], known: readonly string[]): string {
  const names = unknown.map((name) => {
    const meant = suggestName(name, known)
    return meant === undefined ? name : `${name} (did you mean ${meant}?)`
  })
  const others = known.length === 0 ? 'it takes none' : `known keys are ${known.join(', ')}`
  return `unknown key ${names.join(', ')}; ${others}`
}

/** The candidates most similar to a text, best first; one that contains the text comes before any other. */
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

/** Insertions, deletions, replacements and swaps of neighbours that turn one text into the other. */
export function editDistance(from: string, to: string): number {
  const width = to.length + 1
  // One flat table: with 10,000 calls, nested arrays took seconds.
  const costs = new Uint16Array((from.length + 1) * width)
  const costAt = (row: number, column: number): number => costs[row * width + column] ?? 0
  for (let column = 0; column < width; column++) costs[column] = column
  for (let row = 1; row <= from.length; row++) {
    costs[row * width] = row
    for (let column = 1; column < width; column++) {
      const isSame = from.charCodeAt(row - 1) === to.charCodeAt(column - 1)
      const replaced = costAt(row - 1, column - 1) + (isSame ? 0 : 1)
      const resized = 1 + Math.min(costAt(row - 1, column), costAt(row, column - 1))
      const isSwap = row > 1 && column > 1 && isSwapped(from, row, to, column)
      const swapped = isSwap ? costAt(row - 2, column - 2) + 1 : replaced
      costs[row * width + column] = Math.min(replaced, resized, swapped)
    }
  }
  return costAt(from.length, to.length)
}

function isSwapped(from: string, row: number, to: string, column: number): boolean {
  return (
    from.charCodeAt(row - 1) === to.charCodeAt(column - 2) &&
    from.charCodeAt(row - 2) === to.charCodeAt(column - 1)
  )
}
