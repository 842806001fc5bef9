import { isObject, type Parsed } from '../setting-values.js'
import { describeUnknownKeys } from '../nearest.js'

/** Receives a problem. */
export type Note = (problem: string) => void

/** Undefined, and noted, if the value is not as expected. */
export type Read<T> = (value: unknown, note: Note) => T | undefined

export function within(note: Note, place: string | number): Note {
  return (problem) => note(`${place}: ${problem}`)
}

export function readMap(value: unknown, note: Note): Map<string, unknown> | undefined {
  if (isObject(value)) return new Map(Object.entries(value))
  note(`must be a map, found ${describe(value)}`)
  return undefined
}

/** The entries of a map whose keys are known; any other key is noted, with the known ones. */
export function readKeys<const K extends string>(
  value: unknown,
  known: readonly K[],
  note: Note
): Map<K, unknown> {
  const given = readMap(value, note) ?? new Map<string, unknown>()
  const unknown = [...given.keys()].filter((name) => !(known as readonly string[]).includes(name))
  if (unknown.length > 0) note(describeUnknownKeys(unknown, known))
  return new Map(known.filter((key) => given.has(key)).map((key) => [key, given.get(key)]))
}

/** The same, with each value read. */
export function readFields<R extends Readonly<Record<string, Read<unknown>>>>(
  value: unknown,
  readers: R,
  note: Note
): { readonly [K in keyof R]?: ReturnType<R[K]> } {
  const given = readKeys(value, Object.keys(readers), note)
  const read = [...given].map(([key, field]) => [key, readers[key]?.(field, within(note, key))] as const)
  return Object.fromEntries(read.filter(([, field]) => field !== undefined)) as {
    [K in keyof R]?: ReturnType<R[K]>
  }
}

export function readList(value: unknown, note: Note): unknown[] {
  if (Array.isArray(value)) return value as unknown[]
  note(`must be a list, found ${describe(value)}`)
  return []
}

export function listOf<T>(read: Read<T>): Read<T[]> {
  return (value, note) =>
    readList(value, note).flatMap((element, at) => read(element, within(note, `element ${at + 1}`)) ?? [])
}

/** Only of what kind it is: where something else is expected, the value may be a secret that belongs in another place. */
export function describe(value: unknown): string {
  if (value === null || value === undefined || value === '') return 'nothing'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'a map'
  return typeof value === 'string' ? 'text' : `a ${typeof value}`
}

/** A number, perhaps with a unit, or a range of addresses. */
const NUMBER_LIKE = /^[-+]?\d[\d.,/]{0,17}\s?[A-Za-z%]{0,3}$/

function quote(text: string): string {
  return NUMBER_LIKE.test(text) ? `"${text}"` : 'this text'
}

export function readText(value: unknown, note: Note): string | undefined {
  const text = typeof value === 'string' ? value.trim() : ''
  if (text !== '') return text
  note(`must be text, found ${describe(value)}`)
  return undefined
}

/** Text of a kind, which `what` names. */
export function matching(isValid: (text: string) => boolean, what: string): Read<string> {
  return (value, note) => {
    const text = readText(value, note)
    if (text === undefined || isValid(text)) return text
    note(`${quote(text)} is not ${what}`)
    return undefined
  }
}

export function take<T>(value: unknown, parse: (text: string) => Parsed<T>, note: Note): T | undefined {
  const text = readText(value, note)
  if (text === undefined) return undefined
  const parsed = parse(text)
  if (parsed.ok) return parsed.value
  const { shown } = parsed
  note(`${shown === undefined ? quote(text) : `"${shown}"`} is invalid; expected ${parsed.accepted}`)
  return undefined
}

export function parsing<T>(parse: (text: string) => Parsed<T>): Read<T> {
  return (value, note) => take(value, parse, note)
}
