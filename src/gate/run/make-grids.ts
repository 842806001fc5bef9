import type { Grid } from '../../contract/api.js'
import { MalformedReplyError, UnreachableError, hadNoEffect, isAboutToRestart } from '../../client/errors.js'
import {
  isReference,
  placeOf,
  type GridChoice,
  type GridReference,
  type GridSpecification
} from '../../client/documents/requests.js'
import type { ServiceClient } from '../../client/client.js'
import { gridPhaseOf } from './run-status.js'
import { nextPollMs } from './watch-run.js'
import { RETRY, retry, type RetryPolicy } from '../../client/retry.js'
import { asSentence, count, messageOf } from '../../contract/text.js'
import { REQUIRED_GRID_KEYS } from '../../contract/vocabulary.js'
import { hasMoreToCheck, type AskedGrid, type SavedState } from '../saved-state.js'
import type { Ports } from '../ports.js'
import type { Settings } from '../settings/settings.js'

const LONGEST_LOOK_MS = 10_000

/** What creating grids takes: a gate has all of it. */
interface GridMaker {
  readonly client: ServiceClient
  readonly saved: SavedState
  readonly ports: Pick<Ports, 'log' | 'clock'>
  readonly settings: Pick<Settings, 'pollIntervalMs'>
}

interface SettleOptions {
  readonly areShared?: boolean
  /** Ends a request that creates a grid; by default the signal that ends everything else. */
  readonly createSignal?: AbortSignal
  /** Called with each status of a created grid, beginning with the one at its creation. */
  readonly onStatus?: (id: string, status: string) => void
}

/**
 * A run's body can contain references or specifications, not both, and specifications with the same keys: for a mixed list, the specified
 * grids are created first, so that only references remain. The same if several runs share the grids. Each created grid is noted in the saved state, so that it is terminated
 * whatever happens next.
 */
export async function settleGrids(
  gate: GridMaker,
  grids: readonly GridChoice[],
  signal: AbortSignal,
  options: SettleOptions = {}
): Promise<readonly GridChoice[]> {
  const findApi = (): Promise<void> => gate.client.findApi('reading the account', signal)
  await requireKeys(gate.client, grids, () => createSafely(gate, findApi, signal))
  const isMixed = new Set(grids.map(formOf)).size > 1
  if (!isMixed && !options.areShared) return grids
  const { createSignal = signal, onStatus } = options
  const given = grids.filter(isReference).map(({ id }) => id)
  const settled: GridReference[] = []
  for (const grid of grids) {
    if (isReference(grid)) {
      settled.push(grid)
      continue
    }
    signal.throwIfAborted()
    const { id, status } = await makeGrid(gate, grid, { signal, createSignal, given })
    onStatus?.(id, status)
    settled.push({ id })
  }
  await Promise.all(
    settled
      .filter(({ id }) => gate.saved.state.madeGrids.includes(id))
      .map(({ id }) => awaitStart(gate, id, signal, options))
  )
  return settled
}

/** By which keys it is sent. */
function formOf(grid: GridChoice): string {
  return isReference(grid) ? 'uuid' : `${grid.region === ''} ${grid.instanceType === ''}`
}

/** Asks who the service is only where keys were left out. Throws before anything is created. */
export async function requireKeys(
  client: ServiceClient,
  grids: readonly GridChoice[],
  findApi: () => Promise<void>
): Promise<void> {
  const incomplete = grids.flatMap((grid, index) =>
    isReference(grid) || grid.leftOut === undefined
      ? []
      : [`element ${index + 1}: missing ${grid.leftOut.join(', ')}`]
  )
  if (incomplete.length === 0) return
  await findApi()
  if (client.isLoadgate) return
  throw new Error(
    `grids: ${incomplete.join('; ')}. Nothing was created. This service needs ${REQUIRED_GRID_KEYS.join(', ')} of each grid; ` +
      "only loadgate's own service has defaults for them."
  )
}

/** `given` are the ids of grids that exist already. */
async function makeGrid(
  gate: GridMaker,
  grid: GridSpecification,
  {
    signal,
    createSignal,
    given
  }: { signal: AbortSignal; createSignal: AbortSignal; given: readonly string[] }
): Promise<Grid> {
  const { client, saved, ports } = gate
  const { region, nodeCount: nodes, instanceType, stopAfterMinutes } = grid
  const where = placeOf(grid)
  const asked = { region, nodes, instanceType, stopAfterMinutes }
  const findApi = (): Promise<void> => client.findApi(`creating a grid in ${where}`, createSignal)
  await createSafely(gate, findApi, signal)
  // A step that is killed before the reply has no id: the post step can only report what was requested.
  saved.note({ askedGrids: [asked], cleanupDue: true })
  try {
    const made = await createSafely(gate, () => client.createGrid(grid, createSignal), signal)
    const { id } = made
    if ([...saved.state.madeGrids, ...given].includes(id))
      throw new MalformedReplyError(
        `creating a grid in ${where}`,
        `the service answered with the id of another grid, ${id}, so there are fewer grids than requested`
      )
    saved.noteDone({ madeGrids: [...saved.state.madeGrids, id], askedGrids: [] })
    ports.log.info(`Creating grid ${id} in ${where} (${describeNodes(asked)})`)
    return made
  } catch (thrown) {
    // Grids have no list and no tags: there is no way to check on this one, and a retry might create a second.
    if (!hadNoEffect(thrown)) ports.log.warning(`${mayHaveBeenCreated(asked)} (${messageOf(thrown)})`)
    saved.noteDone({ askedGrids: [], cleanupDue: hasMoreToCheck(saved.state) })
    throw thrown
  }
}

/** The warning about a grid whose reply was lost. */
export function mayHaveBeenCreated(asked: AskedGrid): string {
  return (
    `A grid may have been created: ${placeOf(asked)}, ${describeNodes(asked)}. ` +
    `If so, it ends by itself after ${asked.stopAfterMinutes} min (stop_after), or terminate it manually.`
  )
}

function describeNodes({ nodes, instanceType }: AskedGrid): string {
  return instanceType === '' ? count(nodes, 'node') : `${nodes} × ${instanceType}`
}

async function awaitStart(
  { client, ports, settings }: GridMaker,
  id: string,
  signal: AbortSignal,
  { onStatus }: SettleOptions
): Promise<void> {
  const sinceMs = ports.clock.now()
  let status = ''
  for (;;) {
    const show = (): Promise<Grid> => client.showGrid(id, signal)
    const grid = await retry(show, RETRY.awaitGrid, { clock: ports.clock, signal })
    if (grid.status !== status) ports.log.info(`Grid ${id} is ${grid.status}`)
    status = grid.status
    onStatus?.(id, status)
    if (gridPhaseOf(status) === 'usable') return
    if (gridPhaseOf(status) === 'ended')
      throw new Error(`Grid ${id} ended with status "${status}" before a run could use it`)
    const longestMs = Math.min(settings.pollIntervalMs, LONGEST_LOOK_MS)
    const pauseMs = nextPollMs({ elapsedMs: ports.clock.now() - sinceMs, untilEndMs: undefined, longestMs })
    await ports.clock.sleep(pauseMs, signal)
  }
}

/** Repeats a creating request that a service about to restart has refused, also while it is gone: neither case creates anything. */
export function outlastRestart<T>(
  { log, clock }: Pick<Ports, 'log' | 'clock'>,
  create: () => Promise<T>,
  signal: AbortSignal
): Promise<T> {
  let isAnnounced = false
  const isTransient: RetryPolicy['isTransient'] = (thrown) =>
    isAboutToRestart(thrown) || (isAnnounced && thrown instanceof UnreachableError && thrown.neverSent)
  const onRetry = (thrown: unknown): void => {
    if (!isAnnounced)
      log.info(`${asSentence(messageOf(thrown))} Nothing was created; waiting until the service is ready.`)
    isAnnounced = true
  }
  return retry(create, { ...RETRY.outlastRestart, isTransient }, { clock, signal, onRetry })
}

/** Sends a request that creates something; it is retried only if nothing can have been created: no connection, 429, or a restart. */
export function createSafely<T>(
  { ports }: { readonly ports: Pick<Ports, 'log' | 'clock'> },
  create: () => Promise<T>,
  signal: AbortSignal
): Promise<T> {
  const onRetry = (thrown: unknown): void =>
    ports.log.info(`${asSentence(messageOf(thrown))} Nothing was created; retrying.`)
  const createOnce = (): Promise<T> => retry(create, RETRY.create, { clock: ports.clock, signal, onRetry })
  return outlastRestart(ports, createOnce, signal)
}
