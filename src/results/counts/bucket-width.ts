/** How long a bucket of a tidy CSV lasts, unless it has shorter ones. */
const LONGEST_BUCKET_MS = 15_000

/** The duration of the buckets that start at these times. */
export function bucketWidthMs(timesMs: Iterable<number>): number {
  const times = [...new Set(timesMs)].sort((one, other) => one - other)
  return times.reduce(
    (width, atMs, i) => Math.min(width, atMs - (times[i - 1] ?? -Infinity)),
    LONGEST_BUCKET_MS
  )
}
