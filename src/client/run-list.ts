import type { ServiceClient } from './client.js'
import type { Run, RunPage } from '../contract/api.js'

export type RunList = Awaited<ReturnType<typeof readRunList>>

/** The runs in the order of the list, each once. */
export async function readRunList(
  client: Pick<ServiceClient, 'listRuns'>,
  { signal, mostPages }: { signal?: AbortSignal | undefined; mostPages: number }
) {
  const runs: Run[] = []
  let total: number | undefined
  let pages = 0
  for await (const page of readRunPages((link) => client.listRuns(link, signal))) {
    runs.push(...page.runs)
    total = page.total ?? total
    if (page.next === undefined) break
    if (++pages === mostPages) return { runs, total, isWhole: false }
  }
  return { runs, total, isWhole: true }
}

/**
 * Reads the list page by page; the last page has no next one. Pages shift while they are read, so a run may appear twice, and comes once
 * here; links may lead back, or on without end: reading stops when a page has nothing new, or when its link was followed before.
 */
export async function* readRunPages(list: (link?: string) => Promise<RunPage>): AsyncGenerator<RunPage> {
  const known = new Set<string>()
  const followed = new Set<string>()
  for (let link: string | undefined; ;) {
    const page = await list(link)
    const runs = page.runs.filter(({ id }) => !known.has(id) && known.add(id))
    const isNew = runs.length > 0 || page.leftOut > 0
    const next = page.next === undefined || !isNew || followed.has(page.next) ? undefined : page.next
    yield { ...page, runs, next }
    if (next === undefined) return
    followed.add(next)
    link = next
  }
}
