import { isObject } from '../../contract/setting-values.js'

export type JsonObject = Readonly<Record<string, unknown>>

export function textIn(value: unknown, key: string): string {
  const text = fieldIn(value, key)
  return typeof text === 'string' ? text : ''
}

/** Only what the document itself says: `constructor` is a fine name for a path. */
export function fieldIn(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? (value as JsonObject)[key]
    : undefined
}

export function listIn(value: unknown, key: string): readonly unknown[] {
  const list = fieldIn(value, key)
  return Array.isArray(list) ? list : []
}

/** The fields of an object that is a field itself. */
export function entriesIn(value: unknown, key: string): [string, unknown][] {
  const field = fieldIn(value, key)
  return isObject(field) ? Object.entries(field) : []
}
