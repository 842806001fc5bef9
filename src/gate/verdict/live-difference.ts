import type { Figures, Measurements } from '../../results/figures/measurements.js'
import { describeScope } from '../../thresholds/quoting.js'
import type { Collection } from '../collect/collect.js'

/**
 * How the samples that were downloaded contradict those that were read during the run: the latter must be among the former. Undefined
 * if they do not, also where they could not be downloaded.
 */
export function describeDifference(live: Measurements, collection: Collection): string | undefined {
  const { measurements, grids } = collection
  if (measurements === undefined) return undefined
  const isDownloaded = (grid: string): boolean =>
    grids.some(({ gridId, problem }) => gridId === grid && problem === undefined)
  for (const grid of live.grids.filter(isDownloaded)) {
    for (const label of live.labels) {
      const scope = { grid, label }
      const before = live.figures(scope)
      const lack = before && lackOf(before, measurements.figures(scope))
      if (lack !== undefined) return `${lack}${describeScope(scope)}`
    }
  }
  return undefined
}

function lackOf(before: Figures, after: Figures | undefined): string | undefined {
  const [samples, failures] = [after?.samples ?? 0, after?.failures ?? 0]
  if (samples < before.samples)
    return `${count(samples)} samples instead of at least ${count(before.samples)}`
  if (failures < before.failures)
    return `${count(failures)} failures instead of at least ${count(before.failures)}`
  const [missing] = missingTimes(before, after)
  return missing === undefined ? undefined : `too few response times of ${count(missing)} ms`
}

/** Response times that fewer samples have than before. */
function missingTimes(before: Figures, after: Figures | undefined): number[] {
  const [earlier, later] = [before.countTimes(), after?.countTimes()]
  if (earlier === undefined || later === undefined) return []
  const found = new Map(
    later.valuesMs.map((value, at) => [
      value,
      { count: later.counts[at] ?? 0, failed: later.failed[at] ?? 0 }
    ])
  )
  return earlier.valuesMs.filter((value, at) => {
    const { count, failed } = found.get(value) ?? { count: 0, failed: 0 }
    return count < (earlier.counts[at] ?? 0) || failed < (earlier.failed[at] ?? 0)
  })
}

function count(value: number): string {
  return value.toLocaleString('en-US')
}
