import { createHash } from 'node:crypto'
import type { CommentRequest, Log } from '../gate/workbench.js'
import { isCommentOf } from '../report/comment.js'
import { describeLeg, identifyLeg } from '../report/leg.js'
import { findPullRequest, readRepository } from './pull-request.js'
import type { Octokit, PullRequest } from './pull-request.js'

export class CommentError extends Error {
  override name = 'CommentError'
}

interface Comment {
  readonly id: number
  readonly body: string
}

/** Who the job's own token speaks as. */
const JOB_LOGIN = 'github-actions[bot]'
const MOST_QUOTED = 300
const ignore = (): void => undefined
/** Octokit would print what a server says about its API, and the runner reads what is printed. */
const SILENT = { debug: ignore, info: ignore, warn: ignore, error: ignore }

/** Keeps one comment on the pull request: found again by marker and author, and updated in place. */
export function createCommenter(
  env: NodeJS.ProcessEnv,
  log: Log
): (request: CommentRequest) => Promise<void> {
  return async (request) => {
    let pull: PullRequest | undefined
    try {
      const octokit = await connect(env, request)
      pull = await findPullRequest(octokit, env)
      if (pull === undefined) log.info('This workflow run belongs to no open pull request: no comment.')
      else await keepComment(octokit, { env, log, request, pull })
    } catch (thrown) {
      throw new CommentError(explain(thrown, pull), { cause: thrown })
    }
  }
}

async function connect(env: NodeJS.ProcessEnv, { token, signal }: CommentRequest): Promise<Octokit> {
  const { getOctokit } = await import('@actions/github')
  const octokit = getOctokit(token, {
    log: SILENT,
    ...(env.GITHUB_API_URL && { baseUrl: env.GITHUB_API_URL })
  })
  // Handed to single calls, it would not reach the further pages of a list.
  octokit.hook.before('request', (options) => {
    options.request = { ...options.request, signal }
  })
  return octokit
}

interface Task {
  readonly env: NodeJS.ProcessEnv
  readonly log: Log
  readonly request: CommentRequest
  readonly pull: PullRequest
}

async function keepComment(octokit: Octokit, { env, log, request, pull }: Task): Promise<void> {
  const key = keyOf(env, request)
  const repository = readRepository(env)
  const issue = { ...repository, issue_number: pull.number }
  const current = await findComment(octokit, issue, key)
  const body = request.render({
    key,
    title: titleOf(env, request),
    commit: pull.commit,
    repositoryUrl: env.GITHUB_SERVER_URL && `${env.GITHUB_SERVER_URL}/${env.GITHUB_REPOSITORY ?? ''}`,
    previous: current?.body
  })
  if (current === undefined) await octokit.rest.issues.createComment({ ...issue, body })
  else await octokit.rest.issues.updateComment({ ...repository, comment_id: current.id, body })
  log.info(`Comment on pull request #${pull.number} ${current === undefined ? 'written' : 'updated'}.`)
}

interface Issue {
  readonly owner: string
  readonly repo: string
  readonly issue_number: number
}

/** A marker alone proves nothing: anybody can write one. */
async function findComment(octokit: Octokit, issue: Issue, key: string): Promise<Comment | undefined> {
  const login = await readLogin(octokit)
  const pages = octokit.paginate.iterator(octokit.rest.issues.listComments, { ...issue, per_page: 100 })
  for await (const { data } of pages)
    for (const { id, body, user } of data) {
      // GraphQL leaves out the ending of an app's login that REST has.
      const isOwn = user?.login === login || (user?.type === 'Bot' && user.login === `${login}[bot]`)
      if (isOwn && body !== undefined && isCommentOf(body, key)) return { id, body }
    }
  return undefined
}

async function readLogin(octokit: Octokit): Promise<string> {
  try {
    const { viewer } = await octokit.graphql<{ viewer: { login: string } }>('query { viewer { login } }')
    return viewer.login
  } catch (thrown) {
    if (isRefused(thrown) || (thrown instanceof Error && thrown.name === 'GraphqlResponseError'))
      return JOB_LOGIN
    throw thrown
  }
}

/** One comment for each workflow, job, leg of a matrix, and name that was given. */
function keyOf(env: NodeJS.ProcessEnv, { matrix, name }: CommentRequest): string {
  // The file's path without the ref: several workflows may have the same name.
  const workflow = env.GITHUB_WORKFLOW_REF?.split('@')[0] ?? env.GITHUB_WORKFLOW ?? ''
  const identity = JSON.stringify([workflow, env.GITHUB_JOB ?? '', identifyLeg(matrix), name ?? ''])
  return createHash('sha256').update(identity).digest('hex').slice(0, 32)
}

function titleOf(
  { GITHUB_WORKFLOW = '', GITHUB_JOB = '' }: NodeJS.ProcessEnv,
  { matrix, name = '' }: CommentRequest
): string {
  const leg = describeLeg(matrix)
  const job = GITHUB_JOB + (leg === '' ? '' : ` (${leg})`)
  return [GITHUB_WORKFLOW, job, name].filter((part) => part !== '').join(' / ')
}

function isRefused(thrown: unknown): boolean {
  return [401, 403, 404].includes(statusOf(thrown))
}

function statusOf(thrown: unknown): number {
  return Number((thrown as { status?: unknown } | null)?.status)
}

function explain(thrown: unknown, pull: PullRequest | undefined): string {
  const words = (thrown instanceof Error ? thrown.message : String(thrown)).slice(0, MOST_QUOTED)
  if (!isRefused(thrown)) return words
  const status = statusOf(thrown)
  return `${status}: ${words}. ${cureOf(status, pull?.isFromFork === true)} The job summary holds everything`
}

function cureOf(status: number, isFromFork: boolean): string {
  if (status === 401) return 'The github-token is not valid.'
  if (isFromFork)
    return 'A pull request from a fork has a token that can only read, even where the job has "permissions: pull-requests: write".'
  return 'Give the job "permissions: pull-requests: write".'
}
