/** How long a shop for comparisons takes, in terms of the quick one: long enough for what a busy machine adds to be a small part. */
const FACTOR = 20
/** The standard deviation of the logarithm of its times, from request to request. */
const SPREAD = 0.2

/** A service time of a shop that is slower by the given share: never twice the same, like that of a real server. */
export function comparedDelayMs(quickMs: number, slowerBy: number, random = Math.random): number {
  return quickMs * FACTOR * (1 + slowerBy) * Math.exp(SPREAD * normal(random))
}

/** Standard normal, by Box and Muller. */
function normal(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
}
