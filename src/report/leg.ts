const MOST_CHARACTERS = 100

/** The leg of a matrix as in the job's name, `eu, 20`; empty without a matrix. */
export function describeLeg(matrix: string): string {
  const words = leavesOf(readMatrix(matrix)).join(', ')
  const characters = Array.from(words)
  return characters.length > MOST_CHARACTERS ? `${characters.slice(0, MOST_CHARACTERS - 1).join('')}…` : words
}

/** The same text for the same leg, whatever the order of its keys. */
export function identifyLeg(matrix: string): string {
  const leg = readMatrix(matrix)
  return leg === undefined ? '' : JSON.stringify(Object.entries(leg).sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** Without a matrix the expression gives `null`; people may pass anything. */
function readMatrix(matrix: string): object | undefined {
  try {
    const leg: unknown = JSON.parse(matrix)
    return typeof leg === 'object' && leg !== null && Object.keys(leg).length > 0 ? leg : undefined
  } catch {
    return undefined
  }
}

function leavesOf(value: unknown): string[] {
  if (typeof value === 'object' && value !== null) return Object.values(value).flatMap(leavesOf)
  return value === null ? [] : [typeof value === 'string' ? value : JSON.stringify(value)]
}
