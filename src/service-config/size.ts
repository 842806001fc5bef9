import type { Parsed } from '../values/setting-values.js'

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

/** Such as `50GB` or `1.5TiB`, in bytes. */
export function parseSize(text: string): Parsed<number> {
  const [, digits = '', unit = ''] = /^(\d{1,9}(?:\.\d{1,3})?)\s?([A-Za-z]*)$/.exec(text) ?? []
  const bytes = Math.round(Number(digits) * (SIZE_UNITS[unit] ?? NaN))
  if (digits !== '' && bytes > 0) return { ok: true, value: bytes }
  const meant = Object.keys(SIZE_UNITS).find((known) => looksLike(unit, known))
  const hint = Number(digits) > 0 && meant !== undefined ? `: did you mean ${digits}${meant}?` : ''
  return {
    ok: false,
    accepted: `a size above 0 with a unit (${Object.keys(SIZE_UNITS).join(', ')}), such as 50GB${hint}`
  }
}

function looksLike(unit: string, known: string): boolean {
  const written = unit.toLowerCase()
  return written !== '' && [known.toLowerCase(), known.slice(0, -1).toLowerCase()].includes(written)
}
