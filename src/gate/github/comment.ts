import { randomUUID } from 'node:crypto'
import { messageOf } from '../../contract/text.js'
import type { CommentRequest, Log, Ports } from '../ports.js'
import { isCommentOf, readWriter, type CommentWriter } from '../../report/markdown/comment-marker.js'
import { readHistory } from '../../report/markdown/history.js'
import {
  OddReplyError,
  describeFailure,
  explainFailure,
  retryWithin,
  type Failure,
  type Standing
} from './comment-failure.js'
import {
  UNKNOWN_WRITER,
  chooseOrdinal,
  choosePlace,
  isOvertaken,
  keyOf,
  listSuperseded,
  titleOf,
  writerOf,
  type OwnComment
} from './comment-place.js'
import { connect, findPullRequest, readRepository, type Octokit, type PullRequest } from './pull-request.js'

class CommentError extends Error {
  override name = 'CommentError'
}

/** The login of the job's own token. */
const JOB_LOGIN = 'github-actions[bot]'
/** GraphQL's message for a missing permission. */
const REFUSALS = ['FORBIDDEN', 'INSUFFICIENT_SCOPES', 'NOT_FOUND', 'UNAUTHORIZED']
/** After this delay a list usually shows what was written, and a slower run has usually written if it ever will. */
const SETTLING_MS = 1500
/** Another gate may write over ours; a list that never shows what was written looks the same. */
const MOST_WRITES = 3

interface Task {
  readonly env: NodeJS.ProcessEnv
  readonly log: Log
  readonly clock: Ports['clock']
  readonly octokit: Octokit
  readonly request: CommentRequest
  readonly key: string
  readonly us: CommentWriter
  /** Comments that were deleted meanwhile. */
  readonly gone: Set<number>
  attempts: number
  login?: string
  pull?: PullRequest | undefined
  standing: Standing
}

/** Keeps one comment on the pull request: found by marker and author, and updated in place if it is certainly ours. */
export function createCommenter(
  env: NodeJS.ProcessEnv,
  log: Log,
  clock: Ports['clock']
): (request: CommentRequest) => Promise<void> {
  const gate = randomUUID().replaceAll('-', '')
  return async (request) => {
    const { signal, untilMs } = request
    const startMs = clock.now()
    const task: Task = {
      ...{ env, log, clock, request, gone: new Set(), attempts: 0, standing: 'unknown' },
      octokit: await connect(env, request),
      key: keyOf(env, request),
      us: writerOf(env, gate, request)
    }
    const failures: Failure[] = []
    const onFailure = (failure: Failure): void => {
      failures.push(failure)
      log.debug(`The comment, attempt ${failures.length}: ${failure.status ?? ''} ${failure.words}`)
    }
    try {
      await retryWithin(() => keepComment(task), { clock, signal, untilMs, onFailure })
    } catch (thrown) {
      // If nothing failed before, the time ran out or the job was cancelled.
      const words = messageOf(signal.aborted ? signal.reason : thrown)
      const explained = explainFailure({
        failure: failures.at(-1) ?? { kind: 'other', status: undefined, words, waitMs: undefined },
        failures: failures.length,
        isFromFork: task.pull?.isFromFork === true,
        standing: task.standing,
        longestMs: untilMs - startMs
      })
      throw new CommentError(explained, { cause: thrown })
    }
  }
}

/** One attempt, from the start: after a lost reply, what was written is found and not written again. */
async function keepComment(task: Task): Promise<void> {
  const { octokit, env, log } = task
  task.attempts++
  const pull = (task.pull ??= await findPullRequest(octokit, env))
  if (pull === undefined) {
    log.info('This workflow run has no open pull request: no comment.')
    return
  }
  let isSettled = false
  for (let writes = 0; writes < MOST_WRITES && !isSettled; writes++) isSettled = await write(task, pull)
}

/** Writes where it is safe, looks at what stands there then, and removes what it replaces. False to look for another place. */
async function write(task: Task, pull: PullRequest): Promise<boolean> {
  const { octokit, env, log, us } = task
  const comments = await listOwnComments(task, pull)
  const { comment, previous } = choosePlace(comments, us)
  if (comment === 'leave') {
    log.info(`The comment on pull request #${pull.number} is from a newer workflow run: left unchanged.`)
    return true
  }
  task.standing = previous === undefined ? 'none' : { verdict: readHistory(previous.body)[0]?.verdict }
  const ordinal = comment?.writer.ordinal ?? chooseOrdinal(comments, previous)
  const body = task.request.render({
    key: task.key,
    writer: { ...us, ordinal },
    title: titleOf(env, task.request) + (ordinal > 1 ? ` [${ordinal}]` : ''),
    commit: pull.commit,
    repositoryUrl: env.GITHUB_SERVER_URL && `${env.GITHUB_SERVER_URL}/${env.GITHUB_REPOSITORY ?? ''}`,
    previous: previous?.body
  })
  if (comment === undefined) await octokit.rest.issues.createComment({ ...issueOf(task, pull), body })
  else
    try {
      await octokit.rest.issues.updateComment({ ...readRepository(env), comment_id: comment.id, body })
    } catch (thrown) {
      if (statusOf(thrown) !== 404) throw thrown
      task.gone.add(comment.id)
      return false
    }
  const isInPlace = comment !== undefined && comment.writer.gate !== us.gate
  if (!(await settle(task, pull, isInPlace))) return false
  log.info(`Comment on pull request #${pull.number} ${comment === undefined ? 'written' : 'updated'}.`)
  return true
}

/** Looks again. False if our comment is gone: deleted, taken by another gate of the run for its own, or overwritten by a slower run. */
async function settle(task: Task, pull: PullRequest, isInPlace: boolean): Promise<boolean> {
  const { log, clock, request, us } = task
  try {
    if (isInPlace || task.attempts > 1) await clock.sleep(SETTLING_MS, request.signal)
    const comments = await listOwnComments(task, pull)
    const ours = comments.filter(({ writer }) => writer.gate === us.gate)
    if (isOvertaken(comments, us)) {
      log.info(`A newer workflow run has commented on pull request #${pull.number}: left unchanged.`)
      await removeComments(task, ours)
      return true
    }
    // A new comment may be missing in a list that lags.
    if (isInPlace && ours.length === 0) return false
    await removeComments(task, [...ours.slice(1), ...listSuperseded(comments, us, { isInPlace })])
  } catch (thrown) {
    log.debug(`Could not look at the comment once more: ${messageOf(thrown)}`)
  }
  return true
}

/** Best effort: what remains is found and removed by the next run. */
async function removeComments({ octokit, env, log }: Task, comments: readonly OwnComment[]): Promise<void> {
  for (const { id } of comments)
    try {
      await octokit.rest.issues.deleteComment({ ...readRepository(env), comment_id: id })
    } catch (thrown) {
      if (statusOf(thrown) !== 404) log.info(`Could not remove an older comment: ${messageOf(thrown)}`)
    }
}

function issueOf({ env }: Task, pull: PullRequest): { owner: string; repo: string; issue_number: number } {
  return { ...readRepository(env), issue_number: pull.number }
}

interface ListedComment {
  readonly id?: unknown
  readonly body?: unknown
  readonly user?: { readonly login?: unknown; readonly type?: unknown } | null
}

/** A marker alone proves nothing: anyone can write one. */
async function listOwnComments(task: Task, pull: PullRequest): Promise<OwnComment[]> {
  const { octokit, key, gone } = task
  const login = (task.login ??= await readLogin(octokit))
  const { listComments } = octokit.rest.issues
  const pages = octokit.paginate.iterator(listComments, { ...issueOf(task, pull), per_page: 100 })
  const found: OwnComment[] = []
  const seen = new Set<unknown>()
  for await (const { data } of pages) {
    const entries = readList(data).filter(({ id }) => !seen.has(id))
    // A list whose next page is the page itself would never end.
    if (entries.length === 0) break
    for (const { id, body, user } of entries) {
      seen.add(id)
      if (typeof id !== 'number' || typeof body !== 'string' || gone.has(id)) continue
      // GraphQL omits the suffix of an app's login that REST has.
      const isOurs = user?.login === login || (user?.type === 'Bot' && user.login === `${login}[bot]`)
      if (!isOurs || !isCommentOf(body, key)) continue
      found.push({ id, body, writer: readWriter(body) ?? UNKNOWN_WRITER })
    }
  }
  return found
}

/** A reply that is not a list would look like no comment and lead to a second one. */
function readList(data: unknown): ListedComment[] {
  if (!Array.isArray(data)) throw new OddReplyError("GitHub's reply is not a list of comments")
  return data.filter((entry) => typeof entry === 'object' && entry !== null) as ListedComment[]
}

async function readLogin(octokit: Octokit): Promise<string> {
  try {
    const data = await octokit.graphql<{ viewer?: { login?: unknown } } | null>('query { viewer { login } }')
    const login = data?.viewer?.login
    if (typeof login === 'string') return login
  } catch (thrown) {
    if (isRefusal(thrown)) return JOB_LOGIN
    if (!(thrown instanceof Error && thrown.name === 'GraphqlResponseError')) throw thrown
    throw new OddReplyError(thrown.message, { cause: thrown })
  }
  throw new OddReplyError('GitHub did not say whose github-token this is')
}

/** The token is not allowed to ask; a rate limit is a different answer. */
function isRefusal(thrown: unknown): boolean {
  const { errors } = (thrown ?? {}) as { errors?: unknown }
  const typeOf = (error: unknown): string => String((error as { type?: unknown }).type)
  if (Array.isArray(errors))
    return errors.length > 0 && errors.every((error) => REFUSALS.includes(typeOf(error)))
  return ['refused', 'token'].includes(describeFailure(thrown, 0).kind)
}

function statusOf(thrown: unknown): number {
  return Number((thrown as { status?: unknown } | null)?.status)
}
