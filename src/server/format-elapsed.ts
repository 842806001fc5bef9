const MS_PER_SECOND = 1000
const MS_PER_MINUTE = 60_000

/** A human-readable duration: `12 s`, `2 min 5 s`, `1 h 30 min`. */
export function formatElapsed(elapsedMs: number): string {
  const seconds = Math.max(0, Math.round(elapsedMs / MS_PER_SECOND))
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return joinUnits([minutes, 'min'], [seconds % 60, 's'])
  return joinUnits([Math.floor(minutes / 60), 'h'], [minutes % 60, 'min'])
}

export function formatMinutes(minutes: number): string {
  return formatElapsed(minutes * MS_PER_MINUTE)
}

function joinUnits(large: readonly [number, string], small: readonly [number, string]): string {
  const units = small[0] === 0 ? [large] : [large, small]
  return units.map(([count, unit]) => `${count} ${unit}`).join(' ')
}
