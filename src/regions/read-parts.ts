import { describeUnknownKeys } from '../values/nearest.js'

/** Receives a problem. */
export type Note = (problem: string) => void

/** Undefined, and noted, if it is not a map. */
export function readMap(value: unknown, note: Note): Map<string, unknown> | undefined {
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return new Map(Object.entries(value as Record<string, unknown>))
  note(`must be a map, found ${describe(value)}`)
  return undefined
}

/** The entries of a map whose keys are known; any other key is noted, with the known ones. */
export function readKeys<const K extends string>(
  value: unknown,
  known: readonly K[],
  note: Note
): Map<K, unknown> {
  const found = new Map<K, unknown>()
  const unknown: string[] = []
  for (const [name, inner] of readMap(value, note) ?? []) {
    const key = known.find((each) => each === name)
    if (key === undefined) unknown.push(name)
    else found.set(key, inner)
  }
  if (unknown.length > 0) note(describeUnknownKeys(unknown, known))
  return found
}

export function readList(value: unknown, note: Note): unknown[] {
  if (Array.isArray(value)) return value as unknown[]
  note(`must be a list, found ${describe(value)}`)
  return []
}

const LONGEST_QUOTE = 60

export function describe(value: unknown): string {
  if (value === null || value === undefined || value === '') return 'nothing'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'a map'
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > LONGEST_QUOTE ? `"${text.slice(0, LONGEST_QUOTE)}…"` : `"${text}"`
}
