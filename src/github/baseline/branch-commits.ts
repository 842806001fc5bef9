import { compareCommits, listAncestors } from './base-commit.js'
import type { Ancestors } from './base-commit.js'
import { CallError } from './calls.js'
import type { Calls } from './calls.js'
import { shaOf } from './trigger.js'

/** Commits that are not among the newest hundred of the branch are compared one by one, but not many. */
const MOST_COMPARED = 5

/** Which commits are on the branch, by the repository's history. The name says nothing: a tag may have it too. */
export class BranchCommits {
  readonly #calls: Calls
  readonly #onBranch: Map<string, boolean>
  #compared = 0

  private constructor(
    calls: Calls,
    readonly tip: string,
    /** The newest ones, from the tip on. */
    readonly newest: Ancestors
  ) {
    this.#calls = calls
    this.#onBranch = new Map(newest.commits.map((sha) => [sha, true]))
  }

  static async read(calls: Calls, branch: string): Promise<BranchCommits> {
    const ref = `heads/${branch}`
    const { data } = await calls
      .make(`read the branch ${branch}`, () => calls.octokit.rest.git.getRef({ ...calls.repository, ref }))
      .catch((thrown: unknown) => {
        if (!isNotFound(thrown)) throw thrown
        throw new Error(
          `GitHub knows no branch ${branch} (404); if there is one, add "permissions: { actions: read, contents: read }" to the job, beside the permissions that it has`,
          { cause: thrown }
        )
      })
    const tip = shaOf((data as { object?: { sha?: unknown } }).object?.sha)
    if (tip === '') throw new Error(`GitHub did not say which commit the branch ${branch} is at`)
    return new BranchCommits(calls, tip, await listAncestors(calls, tip))
  }

  async has(sha: string): Promise<boolean> {
    const known = this.#onBranch.get(sha)
    if (known !== undefined) return known
    if (sha === '' || !this.newest.isCut || this.#compared === MOST_COMPARED) return false
    this.#compared++
    const isOn = await this.#isBehindTip(sha)
    this.#onBranch.set(sha, isOn)
    return isOn
  }

  async #isBehindTip(sha: string): Promise<boolean> {
    try {
      return (await compareCommits(this.#calls, this.tip, sha)).aheadBy === 0
    } catch (thrown) {
      // After a force push it may be gone.
      if (isNotFound(thrown)) return false
      throw thrown
    }
  }
}

function isNotFound(thrown: unknown): boolean {
  return thrown instanceof CallError && thrown.failure.status === 404
}
