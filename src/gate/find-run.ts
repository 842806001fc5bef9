import type { ServiceClient } from '../service/client.js'
import type { Clock } from '../service/clock.js'
import type { Run } from '../service/documents.js'

const MOST_PAGES = 200
/** The list may lag behind: looked at again after each of these. */
const PATIENCE_MS = [0, 1_000, 2_000, 4_000, 8_000]

/** The runs that carry the marker right now, newest first as the list has them. */
export async function listMarked(
  client: ServiceClient,
  marker: string,
  signal?: AbortSignal
): Promise<Run[]> {
  const found: Run[] = []
  let page: string | undefined
  for (let pages = 0; pages < MOST_PAGES; pages++) {
    const { runs, next } = await client.listRuns(page, signal)
    found.push(...runs.filter((run) => run.tags.includes(marker)))
    if (next === undefined || next === page || runs.length === 0) break
    page = next
  }
  return found
}

/** Looks for the runs of a lost reply, with patience for a list that lags. */
export async function findMarkedRuns(
  client: ServiceClient,
  marker: string,
  options: { clock: Clock; signal?: AbortSignal }
): Promise<Run[]> {
  for (const pauseMs of PATIENCE_MS) {
    if (pauseMs > 0) await options.clock.sleep(pauseMs, options.signal)
    const found = await listMarked(client, marker, options.signal)
    if (found.length > 0) return found
  }
  return []
}
