import type { Calls } from './calls.js'
import { shaOf, type Trigger } from './trigger.js'

export interface Base {
  /** Undefined on the branch itself: any earlier run of it will do. */
  readonly baseCommit: string | undefined
  /** From here on back, runs count as earlier ones. */
  readonly newest: string
}

/** The commit that the change is based on. Never simply the tip of the branch, which may have moved on. */
export async function findBase(
  calls: Calls,
  options: { trigger: Trigger; branch: string; tip: string; checkedOut: string | undefined }
): Promise<Base> {
  const { trigger, branch, tip, checkedOut } = options
  const { commit, pull, group } = trigger
  const isHeadTested = pull !== undefined && pull.head !== '' && checkedOut === pull.head
  if (group?.baseBranch === branch && group.base !== '') return at(group.base)
  if (pull?.baseBranch === branch && trigger.isMerge && !isHeadTested) {
    const parent = await readFirstParent(calls, commit)
    if (parent !== undefined) return at(parent)
  }
  if (trigger.branch === branch && !isHeadTested) return { baseCommit: undefined, newest: commit }
  const from = (pull?.baseBranch === branch && pull.base) || tip
  const { mergeBase } = await compareCommits(calls, from, isHeadTested ? pull.head : commit)
  if (mergeBase === '')
    throw new Error(`GitHub did not say which commit ${branch} and this one have in common`)
  return at(mergeBase)
}

function at(sha: string): Base {
  return { baseCommit: sha, newest: sha }
}

async function readFirstParent(calls: Calls, sha: string): Promise<string | undefined> {
  const { data } = await calls.make('read the merge commit', () =>
    calls.octokit.rest.git.getCommit({ ...calls.repository, commit_sha: sha })
  )
  const parents: unknown = data.parents
  if (!Array.isArray(parents) || parents.length < 2) return undefined
  return shaOf((parents[0] as { sha?: unknown } | null)?.sha) || undefined
}

/** What two commits have in common, and how many commits the second one has that the first one has not. */
export async function compareCommits(
  calls: Calls,
  from: string,
  to: string
): Promise<{ readonly mergeBase: string; readonly aheadBy: unknown }> {
  const { data } = await calls.make(`compare ${from} with ${to}`, () =>
    calls.octokit.rest.repos.compareCommitsWithBasehead({
      ...calls.repository,
      basehead: `${from}...${to}`,
      per_page: 1
    })
  )
  const { merge_base_commit: common, ahead_by: aheadBy } = data as {
    readonly merge_base_commit?: { readonly sha?: unknown }
    readonly ahead_by?: unknown
  }
  return { mergeBase: shaOf(common?.sha), aheadBy }
}

/** GitHub's largest. */
const PAGE = 100
/** Runs that are older than these are not waited for. */
const MOST_PAGES = 5

/** The commit and those before it, newest first. */
interface Ancestors {
  readonly commits: readonly string[]
  /** There are more. */
  readonly isCut: boolean
}

/** Up to 100 of them. */
export async function listAncestors(calls: Calls, sha: string): Promise<Ancestors> {
  const { commits, isCut } = await listCommits(calls, { sha, page: 1 })
  return { commits: [...new Set([sha, ...commits])], isCut }
}

/** Up to 500 of them, until one is among those that are looked for. */
export async function listFurther(
  calls: Calls,
  { sha, ancestors, wanted }: { sha: string; ancestors: Ancestors; wanted: ReadonlySet<string> }
): Promise<Ancestors> {
  let { commits, isCut } = ancestors
  for (let page = 2; page <= MOST_PAGES && isCut && !commits.some((each) => wanted.has(each)); page++) {
    const further = await listCommits(calls, { sha, page })
    commits = [...new Set([...commits, ...further.commits])]
    isCut = further.isCut
  }
  return { commits, isCut }
}

async function listCommits(calls: Calls, { sha, page }: { sha: string; page: number }): Promise<Ancestors> {
  const query = { ...calls.repository, sha, per_page: PAGE, ...(page > 1 && { page }) }
  const { data } = await calls.make('list the commits before this one', () =>
    calls.octokit.rest.repos.listCommits(query)
  )
  const listed: unknown[] = Array.isArray(data) ? data : []
  const commits = listed.map((entry) => shaOf((entry as { sha?: unknown } | null)?.sha))
  return { commits: commits.filter((each) => each !== ''), isCut: listed.length >= PAGE }
}
