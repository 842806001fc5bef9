import { parseBoolean, parseChoice, parseDurationSeconds } from '../values/setting-values.js'
import type { Parsed } from '../values/setting-values.js'
import { describe } from './read-parts.js'
import type { Note } from './read-parts.js'

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
