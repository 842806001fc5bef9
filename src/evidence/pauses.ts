import type { ScanResult } from '../results/counts/scan-result.js'
import { listBusy } from './busy.js'
import { findCore } from './stray-rows.js'

/** Pauses that take up a smaller share of the time are not typical of the plan. */
const LEAST_SHARE = 2 / 3

/**
 * The typical length of the pauses in which a grid had no request in progress, by its id: pauses at least this long take up most of the
 * time. 0 if the requests are dense, however long a single pause was; never longer than the actual pauses.
 */
export function pausesOf(scans: readonly ScanResult[]): Map<string, number> {
  const grids = [...new Set(scans.map(({ grid }) => grid))]
  return new Map(
    grids.map((grid) => {
      const own = scans.filter(({ grid: other, shape }) => other === grid && shape === 'samples')
      return [grid, typicalPauseMs(own)]
    })
  )
}

function typicalPauseMs(scans: readonly ScanResult[]): number {
  const core = findCore(scans)
  const busy = scans
    .flatMap(listBusy)
    .filter(({ fromMs, toMs }) => core !== undefined && fromMs >= core.fromMs && toMs <= core.toMs)
    .sort((one, other) => one.fromMs - other.fromMs)
  const bucketMs = Math.max(0, ...scans.flatMap(({ parts }) => parts.map(({ line }) => line.bucketMs)))
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
