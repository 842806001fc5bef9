import { readKeys, type Note, take } from '../../contract/regions/read-parts.js'
import { parseDurationSeconds, parseInteger, type Parsed } from '../../contract/setting-values.js'

/** Reads a value of the file; what is wrong with it is noted. */
export type Read<T> = (value: unknown, note: Note) => T | undefined

/** What a map of the file has, each value read with its key in front of what is wrong with it. */
export class Keys<const K extends string> {
  readonly #values: ReadonlyMap<K, unknown>

  constructor(
    value: unknown,
    keys: Readonly<Record<K, string>>,
    private readonly note: Note,
    required: readonly NoInfer<K>[] = []
  ) {
    this.#values = readKeys(value, namesOf(keys), note)
    for (const key of required) if (!this.has(key)) note(`${key} is missing: ${keys[key]}`)
  }

  has(key: K): boolean {
    return this.#values.has(key)
  }

  take<T>(key: K, read: Read<T>): T | undefined {
    if (!this.has(key)) return undefined
    return read(this.#values.get(key), (problem) => this.note(`${key}: ${problem}`))
  }
}

export function parsing<T>(parse: (text: string) => Parsed<T>): Read<T> {
  return (value, note) => take(value, parse, note)
}

export const atLeastOne = (text: string): Parsed<number> => parseInteger(text, { least: 1 })

export function readDuration(value: unknown, note: Note): number | undefined {
  const seconds = take(value, (text) => parseDurationSeconds(text, 0), note)
  return seconds === undefined ? undefined : seconds * 1000
}

/** As disks are sold, and as memory is counted. */
export const SIZE_UNITS: Readonly<Record<string, number>> = {
  KB: 1000,
  MB: 1000 ** 2,
  GB: 1000 ** 3,
  TB: 1000 ** 4,
  KiB: 1024,
  MiB: 1024 ** 2,
  GiB: 1024 ** 3,
  TiB: 1024 ** 4
}

/** The bytes of `50GB` or `1.5TiB`. */
export function parseSize(text: string): Parsed<number> {
  const [, digits = '', unit = ''] = /^(\d{1,9}(?:\.\d{1,3})?)\s?([A-Za-z]*)$/.exec(text) ?? []
  const bytes = Math.round(Number(digits) * (SIZE_UNITS[unit] ?? NaN))
  if (digits !== '' && bytes > 0) return { ok: true, value: bytes }
  const meant = Object.keys(SIZE_UNITS).find((known) =>
    [known, known.slice(0, -1)].some((word) => word.toLowerCase() === unit.toLowerCase())
  )
  const hint = Number(digits) > 0 && meant !== undefined ? `: did you mean ${digits}${meant}?` : ''
  return {
    ok: false,
    accepted: `a size above 0 with a unit (${Object.keys(SIZE_UNITS).join(', ')}), such as 50GB${hint}`
  }
}

export function namesOf<const K extends string>(keys: Readonly<Record<K, string>>): K[] {
  return Object.keys(keys) as K[]
}
