import type { SamplePart, ScanResult } from '../results/counts/scan-result.js'

/** Pauses that take up a smaller share of the time are not typical of the plan. */
const LEAST_SHARE = 2 / 3

interface Stretch {
  readonly fromMs: number
  readonly toMs: number
}

/**
 * The typical length of the pauses in which a grid had no request in progress, by its id: pauses at least this long take up most of the
 * time. 0 if the requests are dense, however long a single pause was; never longer than the actual pauses.
 */
export function pausesOf(scans: readonly ScanResult[]): Map<string, number> {
  const grids = [...new Set(scans.map(({ grid }) => grid))]
  return new Map(
    grids.map((grid) => {
      const parts = scans.filter((scan) => scan.grid === grid).flatMap((scan) => scan.parts)
      return [grid, typicalPauseMs(parts)]
    })
  )
}

function typicalPauseMs(parts: readonly SamplePart[]): number {
  const busy = parts.flatMap(busyStretches).sort((one, other) => one.fromMs - other.fromMs)
  const bucketMs = Math.max(0, ...parts.map(({ line }) => line.bucketMs))
  const pauses: number[] = []
  let untilMs = busy[0]?.toMs ?? 0
  for (const { fromMs, toMs } of busy) {
    if (fromMs > untilMs) pauses.push(fromMs - untilMs)
    untilMs = Math.max(untilMs, toMs)
  }
  const wholeMs = untilMs - (busy[0]?.fromMs ?? 0)
  let paused = 0
  for (const pauseMs of pauses.sort((one, other) => other - one)) {
    // A request counts for its whole bucket here, which it hardly ever fills.
    paused += pauseMs + bucketMs
    if (paused >= wholeMs * LEAST_SHARE) return pauseMs
  }
  return 0
}

/** From the start of the slowest request to the end of the bucket in which it ended. */
export function busyStretches({ line: { bucketMs, buckets, times } }: SamplePart): Stretch[] {
  return Array.from(buckets, (bucket, index) => {
    const slowestMs = times.values[(times.offsets[index + 1] ?? 0) - 1] ?? 0
    return { fromMs: bucket * bucketMs - slowestMs, toMs: (bucket + 1) * bucketMs }
  })
}
