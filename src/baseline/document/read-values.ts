import { BaselineDocumentError } from './baseline-document.js'

export const ADVICE = 'Remove it, and the next run on the branch records a new one.'

/** Says where in the document something is wrong. Its values are not quoted: anybody may have written them. */
export function fail(where: string, what: string): never {
  throw new BaselineDocumentError(`The baseline document is damaged or was changed: ${where} ${what}.`, {
    advice: ADVICE
  })
}

/** The fields of an object by name; a map, because names such as `__proto__` mean something in objects. */
export function readFields(value: unknown, where: string): ReadonlyMap<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return fail(where, 'is not an object')
  return new Map(Object.entries(value))
}

export function readList(value: unknown, where: string, most: number): readonly unknown[] {
  if (!Array.isArray(value)) return fail(where, 'is not a list')
  if (value.length > most) return fail(where, `has more than ${most} entries`)
  return value
}

export function readText(value: unknown, where: string, longest: number): string {
  if (typeof value !== 'string') return fail(where, 'is not a text')
  if (value.length > longest) return fail(where, `is longer than ${longest} characters`)
  return value
}

export function readNumber(value: unknown, where: string, most = Number.MAX_SAFE_INTEGER): number {
  if (typeof value !== 'number' || !Number.isFinite(value)) return fail(where, 'is not a number')
  if (value < 0 || value > most) return fail(where, 'is impossible')
  return value
}

export function orNull<T>(value: unknown, read: (value: unknown) => T): T | null {
  return value === null ? null : read(value)
}
