import type { ServiceClient } from './client.js'
import type { Run } from './documents/documents.js'

export interface RunList {
  /** In the order of the list, each once. */
  readonly runs: readonly Run[]
  readonly total: number | undefined
  /** False if there were more pages than requested. */
  readonly isWhole: boolean
}

/**
 * Reads the list page by page. Pages shift while they are read, so a run may appear twice; links may lead back, or on without end:
 * reading stops when a page has nothing new, when its link was followed before, or after the maximum number of pages.
 */
export async function readRunList(
  client: Pick<ServiceClient, 'listRuns'>,
  options: { signal?: AbortSignal | undefined; mostPages: number }
): Promise<RunList> {
  const runs = new Map<string, Run>()
  const followed = new Set<string>()
  let total: number | undefined
  let page: string | undefined
  for (let pages = 0; pages < options.mostPages; pages++) {
    const listed = await client.listRuns(page, options.signal)
    const known = runs.size
    for (const run of listed.runs) if (!runs.has(run.id)) runs.set(run.id, run)
    total = listed.total ?? total
    const isNew = runs.size > known || listed.leftOut > 0
    if (listed.next === undefined || !isNew || followed.has(listed.next))
      return { runs: [...runs.values()], total, isWhole: true }
    followed.add(listed.next)
    page = listed.next
  }
  return { runs: [...runs.values()], total, isWhole: false }
}
