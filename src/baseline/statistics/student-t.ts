import jstat from 'jstat'

const quantiles = new Map<string, number>()

/** The value that Student's t does not exceed with the given probability. */
export function tQuantile(probability: number, dof: number): number {
  if (probability === 0.5) return 0
  const key = `${probability} ${dof}`
  const known = quantiles.get(key) ?? jstat.studentt.inv(probability, dof)
  // Few levels and few degrees of freedom are used, but thousands of times.
  if (quantiles.size < 10_000) quantiles.set(key, known)
  return known
}

/** P(T > t). By the tail itself: one minus the rest would lose the digits of a small probability. */
export function tTail(t: number, dof: number): number {
  const beyond = t === 0 ? 0.5 : jstat.ibeta(dof / (dof + t * t), dof / 2, 0.5) / 2
  return t < 0 ? 1 - beyond : beyond
}
