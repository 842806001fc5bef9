import type { Calls } from './calls.js'
import { shaOf } from './trigger.js'
import type { Trigger } from './trigger.js'

export interface Base {
  /** Undefined on the branch itself: any earlier run of it will do. */
  readonly baseCommit: string | undefined
  /** From here on back, runs count as earlier ones. */
  readonly newest: string
}

interface Options {
  readonly trigger: Trigger
  readonly branch: string
  /** The commit in the workspace, if known. */
  readonly checkedOut: string | undefined
}

/** The commit that the change is based on. Never simply the tip of the branch, which may have moved on. */
export async function findBase(calls: Calls, { trigger, branch, checkedOut }: Options): Promise<Base> {
  const { commit, pull, group } = trigger
  const isHeadTested = pull !== undefined && pull.head !== '' && checkedOut === pull.head
  if (group?.baseBranch === branch && group.base !== '') return at(group.base)
  if (pull?.baseBranch === branch && trigger.isMerge && !isHeadTested) {
    const parent = await readFirstParent(calls, commit)
    if (parent !== undefined) return at(parent)
  }
  if (trigger.branch === branch && !isHeadTested) return { baseCommit: undefined, newest: commit }
  const from = (pull?.baseBranch === branch && pull.base) || branch
  return at(await readMergeBase(calls, from, isHeadTested ? pull.head : commit))
}

function at(sha: string): Base {
  return { baseCommit: sha, newest: sha }
}

/** Undefined if the commit is not a merge. */
async function readFirstParent(calls: Calls, sha: string): Promise<string | undefined> {
  const { data } = await calls.make('read the merge commit', () =>
    calls.octokit.rest.git.getCommit({ ...calls.repository, commit_sha: sha })
  )
  const parents: unknown = data.parents
  if (!Array.isArray(parents) || parents.length < 2) return undefined
  return shaOf((parents[0] as { sha?: unknown } | null)?.sha) || undefined
}

async function readMergeBase(calls: Calls, from: string, to: string): Promise<string> {
  const { data } = await calls.make(`compare ${from} with this commit`, () =>
    calls.octokit.rest.repos.compareCommitsWithBasehead({
      ...calls.repository,
      basehead: `${from}...${to}`,
      per_page: 1
    })
  )
  const sha = shaOf((data.merge_base_commit as { sha?: unknown } | undefined)?.sha)
  if (sha === '') throw new Error(`GitHub did not say which commit ${from} and this one have in common`)
  return sha
}

/** The commit and up to 99 before it, newest first. */
export async function listAncestors(calls: Calls, sha: string): Promise<string[]> {
  const { data } = await calls.make('list the commits before this one', () =>
    calls.octokit.rest.repos.listCommits({ ...calls.repository, sha, per_page: 100 })
  )
  const commits: unknown = data
  const listed = Array.isArray(commits)
    ? commits.map((entry: { sha?: unknown } | null) => shaOf(entry?.sha))
    : []
  return [...new Set([sha, ...listed.filter((each) => each !== '')])]
}
