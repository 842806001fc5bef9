import { type RequestedLoad, sumThreads } from '../../evidence/reached-load.js'
import { listRemoteErrors } from '../../evidence/remote-errors.js'
import type { Run } from '../../service/documents/documents.js'
import { isReference } from '../../service/documents/requests.js'
import type { Collection } from '../collect/collect.js'
import type { Settings } from '../settings/settings.js'

interface Load {
  readonly settings: Settings
  readonly run: Run
  readonly collection: Collection
}

/** What the inputs or the run itself ask for. */
export function requestedLoad(load: Load): RequestedLoad {
  const { settings, run } = load
  // The CSV of a remote service may contain a count per node, of which the scanner keeps the largest.
  // If the service reports errors, the number of nodes that took part is unknown.
  const isOneCount = settings.target.kind === 'local' || hasErrors(run)
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
function asInput({ origin }: Settings, value: number | undefined): number | undefined {
  return origin.kind === 'files' ? value : undefined
}

interface Nodes {
  readonly infrastructure: string | undefined
  readonly nodeCount: number | undefined
}

function requestedGrids({ origin }: Settings, run: Run): readonly Nodes[] {
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

function hasErrors({ remoteErrors }: Run): boolean {
  return listRemoteErrors(remoteErrors).length > 0
}
