/**
 * Which of several findings are significant, so that on average at most a share of `level` of those called so are chance
 * (Benjamini and Hochberg, 1995). In the order given.
 */
export function benjaminiHochberg(ps: readonly number[], level: number): boolean[] {
  const sorted = [...ps].sort((a, b) => a - b)
  const last = sorted.findLastIndex((p, index) => p <= ((index + 1) / ps.length) * level)
  const most = sorted[last]
  return ps.map((p) => most !== undefined && p <= most)
}
