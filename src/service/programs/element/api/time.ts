/** Timers do not count further; more than three weeks. */
export const MAX_MS = 2 ** 31 - 1

const UNITS: readonly (readonly [RegExp, number])[] = [
  [/^ms$/, 1],
  [/^s(ec(ond)?s?)?$/, 1000],
  [/^m(in(ute)?s?)?$/, 60_000],
  [/^h(ours?)?$/, 3_600_000]
]

/**
 * A time as scripts write it, in ms: a string with a unit, or a number. Element's first versions count in seconds and later ones
 * in milliseconds, and scripts for both are around: nobody means less than a second by 1000, or a quarter of an hour of think
 * time by 999.
 */
export function toMs(value: unknown): number {
  return Math.min(readMs(value), MAX_MS)
}

function readMs(value: unknown): number {
  if (typeof value === 'number' && value >= 0) return value < 1000 ? value * 1000 : value
  if (typeof value === 'string') {
    const [, amount, unit] = /^\s*(\d+(?:\.\d+)?|\.\d+)\s*([a-z]*)\s*$/i.exec(value) ?? []
    const [, factor] = UNITS.find(([name]) => name.test(unit?.toLowerCase() ?? '')) ?? []
    if (amount !== undefined && factor !== undefined) return Number(amount) * factor
    if (amount !== undefined && unit === '') return readMs(Number(amount))
  }
  throw new Error(
    `${describe(value)} is not a time: use seconds, or a string with a unit such as '500ms' or '2s'`
  )
}

function describe(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : String(value)
}
