import { getOctokit } from '@actions/github'
import { OddReplyError } from './comment-failure.js'
import { readEvent, type Head } from './event.js'

export type Octokit = ReturnType<typeof getOctokit>

const ignore = (): void => undefined
/** Octokit would print a server's notices about its API, and the runner reads what is printed. */
const SILENT = { debug: ignore, info: ignore, warn: ignore, error: ignore }

/** A client of GitHub's API. */
export async function connect(
  env: NodeJS.ProcessEnv,
  { token, signal }: { token: string; signal: AbortSignal }
): Promise<Octokit> {
  // The toolkit reads the event when it is loaded, and its error names neither the file nor what to do.
  if (env.GITHUB_EVENT_PATH) await readEvent(env.GITHUB_EVENT_PATH)
  const octokit = getOctokit(token, {
    log: SILENT,
    ...(env.GITHUB_API_URL && { baseUrl: env.GITHUB_API_URL })
  })
  // Passed to single calls, it would not reach the further pages of a list.
  octokit.hook.before('request', (options) => {
    options.request = { ...options.request, signal }
  })
  // Invalid or truncated JSON arrives as text with a successful status: a proxy's page, for example.
  octokit.hook.after('request', ({ status, data }) => {
    // A redirect and an empty reply have no document.
    const hasDocument = status < 300 && status !== 204
    if (hasDocument && typeof data === 'string') throw new OddReplyError("GitHub's reply is not JSON")
  })
  return octokit
}

export interface PullRequest {
  readonly number: number
  /** Its head, not the merge commit that a workflow checks out. */
  readonly commit: string
  readonly isFromFork: boolean
}

/** Branch events, which carry no pull request. */
const BRANCH_EVENTS = ['push', 'workflow_dispatch']
const BRANCH = /^refs\/heads\/(.+)$/

/** The pull request of the workflow run: from its event, or the open one of its branch; undefined if there is none. */
export async function findPullRequest(
  octokit: Octokit,
  env: NodeJS.ProcessEnv
): Promise<PullRequest | undefined> {
  return (await ofEvent(env)) ?? (await ofBranch(octokit, env))
}

async function ofEvent(env: NodeJS.ProcessEnv): Promise<PullRequest | undefined> {
  const { GITHUB_EVENT_PATH = '', GITHUB_REPOSITORY } = env
  if (GITHUB_EVENT_PATH === '') return undefined
  const event = await readEvent(GITHUB_EVENT_PATH)
  const { number, head } = event?.pull_request ?? {}
  if (!Number.isSafeInteger(number) || typeof head?.sha !== 'string') return undefined
  // The repository is null if the fork has been deleted.
  return { number: Number(number), commit: head.sha, isFromFork: head.repo?.full_name !== GITHUB_REPOSITORY }
}

async function ofBranch(octokit: Octokit, env: NodeJS.ProcessEnv): Promise<PullRequest | undefined> {
  const { GITHUB_EVENT_NAME = '', GITHUB_REF = '', GITHUB_SHA = '', GITHUB_REPOSITORY = '' } = env
  const [, branch] = BRANCH.exec(GITHUB_REF) ?? []
  if (branch === undefined || !BRANCH_EVENTS.includes(GITHUB_EVENT_NAME)) return undefined
  const place = readRepository(env)
  const head = `${place.owner}:${branch}`
  const { data } = await octokit.rest.pulls.list({ ...place, head, state: 'open', per_page: 100 })
  // A server that does not know the filter returns all: ignore those of other branches.
  const ours = data.filter(
    ({ head }) => head.ref === branch && (head.repo as Head['repo'])?.full_name === GITHUB_REPOSITORY
  )
  const found = ours.find(({ head }) => head.sha === GITHUB_SHA) ?? ours[0]
  return found && { number: found.number, commit: GITHUB_SHA, isFromFork: false }
}

export function readRepository({ GITHUB_REPOSITORY = '' }: NodeJS.ProcessEnv): {
  owner: string
  repo: string
} {
  const [owner = '', repo = ''] = GITHUB_REPOSITORY.split('/')
  return { owner, repo }
}
