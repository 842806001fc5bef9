import type { ServiceClient } from '../../service/client.js'
import type { Run } from '../../service/documents/documents.js'
import { MalformedReplyError } from '../../service/errors.js'

/** Reads the run; a reply about another run is an error. A grid that is listed twice counts once. */
export async function showRun(client: ServiceClient, id: string, signal: AbortSignal): Promise<Run> {
  const run = await client.showRun(id, signal)
  const grids = new Map(run.grids.map((grid) => [grid.id, grid]))
  if (run.id === id) return { ...run, grids: [...grids.values()] }
  throw new MalformedReplyError(`reading run ${id}`, `the reply is about another run, ${run.id}`)
}
