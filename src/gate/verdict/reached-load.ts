import { type RequestedLoad, sumThreads } from '../../analysis/evidence/reached-load.js'
import { listRemoteErrors } from '../../analysis/evidence/remote-errors.js'
import type { Run } from '../../contract/api.js'
import { isReference } from '../../client/documents/requests.js'
import type { Collection } from '../collect/collect.js'
import type { Settings } from '../settings/settings.js'
import type { Figures, Measurements } from '../../analysis/results/figures/measurements.js'
import { describeScope } from '../../analysis/thresholds/quoting.js'

export type LoadSettings = Pick<Settings, 'origin' | 'target' | 'tool' | 'threads' | 'durationSeconds'>

interface Load {
  readonly settings: LoadSettings
  readonly run: Run
  readonly collection: Collection
}

/** What the inputs or the run itself ask for. */
export function requestedLoad(load: Load): RequestedLoad {
  const { settings, run } = load
  // The CSV of a remote service may contain a count per node, of which the scanner keeps the largest.
  // If the service reports errors, the number of nodes that took part is unknown.
  const isOneCount = settings.target.kind !== 'remote' || listRemoteErrors(run.remoteErrors).length > 0
  return {
    seconds: requestedSeconds(load),
    threads: sumThreads(asInput(settings, settings.threads) ?? run.threads, requestedGrids(settings, run)),
    countedBy: isOneCount ? 1 : mostNodes(load),
    tool: settings.origin.kind === 'files' ? settings.tool : (run.tool ?? '')
  }
}

export function requestedSeconds({ settings, run }: Pick<Load, 'settings' | 'run'>): number | undefined {
  return asInput(settings, settings.durationSeconds) ?? run.durationSeconds
}

/** The inputs do not change an existing or repeated run. */
function asInput({ origin }: LoadSettings, value: number | undefined): number | undefined {
  return origin.kind === 'files' ? value : undefined
}

function requestedGrids({ origin }: LoadSettings, run: Run) {
  const specifications =
    origin.kind === 'files' ? origin.grids.flatMap((grid) => (isReference(grid) ? [] : [grid])) : []
  const isAllSpecified = origin.kind === 'files' && specifications.length === origin.grids.length
  return isAllSpecified ? specifications : run.grids
}

function mostNodes({ settings, run, collection }: Load): number {
  const counts = [...requestedGrids(settings, run), ...collection.grids].map(
    ({ nodeCount }) => nodeCount ?? 1
  )
  return Math.max(1, ...counts)
}

/** How the download contradicts the samples read during the run, which must be in it; undefined if it does not, or failed. */
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
  const places = new Map(later.valuesMs.map((value, at) => [value, at]))
  return earlier.valuesMs.filter((value, at) => {
    const found = places.get(value) ?? -1
    const isLess = (counts: 'counts' | 'failed'): boolean =>
      (later[counts][found] ?? 0) < (earlier[counts][at] ?? 0)
    return isLess('counts') || isLess('failed')
  })
}

function count(value: number): string {
  return value.toLocaleString('en-US')
}
