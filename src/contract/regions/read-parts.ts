import { describeUnknownKeys } from '../nearest.js'
import { shorten } from '../text.js'
import { parseBoolean, parseChoice, parseDurationSeconds, type Parsed } from '../setting-values.js'

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
  return `"${shorten(typeof value === 'string' ? value : JSON.stringify(value), LONGEST_QUOTE)}"`
}

/** A name of Kubernetes: a DNS subdomain. */
const NAME = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/

const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/

export function isName(text: string): boolean {
  return NAME.test(text)
}

/** Undefined, and noted, if there is no text. */
export function readText(value: unknown, note: Note): string | undefined {
  const text = typeof value === 'string' ? value.trim() : ''
  if (text !== '') return text
  note(`must be text, found ${describe(value)}`)
  return undefined
}

export function readName(value: unknown, note: Note): string | undefined {
  const text = readText(value, note)
  if (text === undefined || isName(text)) return text
  note(`${describe(text)} is not a name in Kubernetes: lowercase letters, digits, - and .`)
  return undefined
}

export function readNamespace(value: unknown, note: Note): string | undefined {
  const text = readText(value, note)
  if (text === undefined || LABEL.test(text)) return text
  note(`${describe(text)} is not the name of a namespace: at most 63 lowercase letters, digits and -`)
  return undefined
}

export function readFlag(value: unknown, note: Note): boolean | undefined {
  return take(value, parseBoolean, note)
}

export function readChoice<const T extends string>(
  value: unknown,
  choices: readonly T[],
  note: Note
): T | undefined {
  return take(value, (text) => parseChoice(text, choices), note)
}

export function readDurationMs(value: unknown, note: Note): number | undefined {
  const seconds = take(value, (text) => parseDurationSeconds(text, 1), note)
  return seconds === undefined ? undefined : seconds * 1000
}

export function take<T>(value: unknown, parse: (text: string) => Parsed<T>, note: Note): T | undefined {
  const text = readText(value, note)
  if (text === undefined) return undefined
  const parsed = parse(text)
  if (parsed.ok) return parsed.value
  note(`${describe(parsed.shown ?? text)} is invalid; expected ${parsed.accepted}`)
  return undefined
}
