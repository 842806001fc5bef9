import type { ServiceClient } from '../../client/client.js'
import type { Clock } from '../../contract/clock.js'
import type { Run } from '../../contract/api.js'
import { readRunList } from '../../client/run-list.js'
import { RETRY, retry } from '../../client/retry.js'

interface FindOptions {
  readonly clock: Clock
  readonly signal?: AbortSignal
  /** The pause before each search. */
  readonly pausesMs?: readonly number[]
}

const MOST_PAGES = 200
/** New runs are at the top of the list; if a service lists them elsewhere, none is found and none is touched. */
export const MOST_HEAD_PAGES = 3
/** The list may lag behind. */
const PATIENT_MS = [0, 1_000, 2_000, 4_000, 8_000]
/** Creating a run takes time, and may complete after the client has disconnected. */
export const VERY_PATIENT_MS = [...PATIENT_MS, 15_000, 15_000]

/** Allowed difference between this machine's clock and the service's. */
export const CLOCKS_DIFFER_MS = 5 * 60_000

/** The tag of any gate. */
const MARKER = /loadgate-[0-9a-f]{8}-[0-9a-f]{4}-/i

/** Added when a search finds nothing: that does not prove that nothing was created. */
export const MAY_BE_RUNNING = 'One may still be running: check the service.'

/**
 * Whether the run has tags but not the marker, however the service joins or writes them, and has a name other than the requested one, or
 * another gate's marker. Without tags there is no way to tell; and a service may add its own tags.
 */
export function isForeign({ tags, name }: Run, marker: string, ownName?: string): boolean {
  if (tags.length === 0 || isMarked({ tags }, marker)) return false
  return (
    tags.some((tag) => MARKER.test(tag)) || (ownName !== undefined && name !== undefined && name !== ownName)
  )
}

/** Whether the marker is among the tags, however the service joins or writes them. */
export function isMarked({ tags }: Pick<Run, 'tags'>, ...markers: readonly string[]): boolean {
  // Markers are letters, digits and hyphens.
  const isWhole = new RegExp(`(?<![a-z0-9])(?:${markers.join('|')})(?![a-z0-9])`, 'i')
  return tags.some((tag) => isWhole.test(tag))
}

/** Looks for the runs of a lost reply by their marker, in the order of the list, newest first. */
export async function findMarkedRuns(
  client: ServiceClient,
  marker: string,
  options: FindOptions
): Promise<Run[]> {
  const look = async (): Promise<Run[]> => {
    const { runs } = await readRunList(client, { signal: options.signal, mostPages: MOST_PAGES })
    return runs.filter((run) => isMarked(run, marker))
  }
  return findPatiently(look, options)
}

/** Searches several times: the list may lag, and the service may be down. */
export async function findPatiently(
  look: () => Promise<Run[]>,
  { clock, signal, pausesMs = PATIENT_MS }: FindOptions
): Promise<Run[]> {
  for (const pauseMs of pausesMs) {
    if (pauseMs > 0) await clock.sleep(pauseMs, signal)
    const found = await retry(look, RETRY.findRun, { clock, signal })
    if (found.length > 0) return found
  }
  return []
}
