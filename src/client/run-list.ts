import type { ServiceClient } from './client.js'
import type { Run } from '../contract/api.js'

export interface RunList {
  /** In the order of the list, each once. */
  readonly runs: readonly Run[]
  readonly total: number | undefined
  /** False if there were more pages than requested. */
  readonly isWhole: boolean
}

/**
 * Reads the list, up to that many pages of it. Pages shift while they are read, so a run may appear twice, and comes once here; links may
 * lead back, or on without end: reading stops when a page has nothing new, or when its link was followed before.
 */
export async function readRunList(
  client: Pick<ServiceClient, 'listRuns'>,
  { signal, mostPages }: { signal?: AbortSignal | undefined; mostPages: number }
): Promise<RunList> {
  const runs = new Map<string, Run>()
  const followed = new Set<string | undefined>()
  let total: number | undefined
  let link: string | undefined
  for (let pages = 0; pages < mostPages; pages++) {
    followed.add(link)
    const known = runs.size
    const page = await client.listRuns(link, signal)
    for (const run of page.runs) if (!runs.has(run.id)) runs.set(run.id, run)
    total = page.total ?? total
    link = page.next
    const isNew = runs.size > known || page.leftOut > 0
    if (link === undefined || !isNew || followed.has(link))
      return { runs: [...runs.values()], total, isWhole: true }
  }
  return { runs: [...runs.values()], total, isWhole: false }
}
