import { randomUUID } from 'node:crypto'
import { messageOf } from '../gate/errors.js'
import type { CommentRequest, Log, Ports } from '../gate/ports.js'
import { isCommentOf, readWriter } from '../report/markdown/comment-marker.js'
import type { CommentWriter } from '../report/markdown/comment-marker.js'
import { readHistory } from '../report/markdown/history.js'
import { explainFailure } from './comment-advice.js'
import type { Standing } from './comment-advice.js'
import { OddReplyError, describeFailure, retryWithin } from './comment-failure.js'
import type { Failure } from './comment-failure.js'
import {
  chooseOrdinal,
  choosePlace,
  compareAge,
  isOvertaken,
  keyOf,
  listDoubles,
  listSuperseded,
  titleOf,
  writerOf
} from './comment-place.js'
import type { OwnComment } from './comment-place.js'
import { connect } from './connect.js'
import { findPullRequest, readRepository } from './pull-request.js'
import type { Octokit, PullRequest } from './pull-request.js'

class CommentError extends Error {
  override name = 'CommentError'
}

/** The login of the job's own token. */
const JOB_LOGIN = 'github-actions[bot]'
/** GraphQL's message for a missing permission. */
const REFUSALS = ['FORBIDDEN', 'INSUFFICIENT_SCOPES', 'NOT_FOUND', 'UNAUTHORIZED']
/** After this delay a list usually shows what was written, and a slower run has usually written if it ever will. */
const SETTLING_MS = 1500

interface CommentPorts {
  readonly env: NodeJS.ProcessEnv
  readonly log: Log
  readonly clock: Ports['clock']
}

/** What is known so far; a retry continues from it. */
interface Task extends CommentPorts {
  readonly octokit: Octokit
  readonly request: CommentRequest
  readonly key: string
  readonly us: CommentWriter | undefined
  /** Comments that were deleted meanwhile. */
  readonly gone: Set<number>
  attempts: number
  login: string | undefined
  pull: PullRequest | undefined
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
    const startMs = clock.now()
    const task = await openTask({ env, log, clock }, gate, request)
    const failures: Failure[] = []
    try {
      const { signal, untilMs } = request
      const onFailure = (failure: Failure): void => {
        failures.push(failure)
        log.debug(`The comment, attempt ${failures.length}: ${failure.status ?? ''} ${failure.words}`)
      }
      await retryWithin(() => keepComment(task), { clock, signal, untilMs, onFailure })
    } catch (thrown) {
      const failure = failures.at(-1) ?? describeEnd(request.signal, thrown)
      const comment = {
        failure,
        failures: failures.length,
        isFromFork: task.pull?.isFromFork === true,
        standing: task.standing,
        longestMs: request.untilMs - startMs
      }
      throw new CommentError(explainFailure(comment), { cause: thrown })
    }
  }
}

/** If nothing failed before, the time ran out or the job was cancelled. */
function describeEnd({ aborted, reason }: AbortSignal, thrown: unknown): Failure {
  const words = messageOf(aborted ? reason : thrown)
  return { kind: 'other', status: undefined, words, waitMs: undefined }
}

async function openTask(ports: CommentPorts, gate: string, request: CommentRequest): Promise<Task> {
  return {
    ...ports,
    request,
    octokit: await connect(ports.env, request),
    key: keyOf(ports.env, request),
    us: writerOf(ports.env, gate, request),
    gone: new Set(),
    attempts: 0,
    login: undefined,
    pull: undefined,
    standing: 'unknown'
  }
}

/** One attempt, from the start: after a lost reply, what was written is found and not written again. */
async function keepComment(task: Task): Promise<void> {
  const { octokit, env, log, us } = task
  task.attempts++
  const pull = (task.pull ??= await findPullRequest(octokit, env))
  if (pull === undefined) {
    log.info('This workflow run has no open pull request: no comment.')
    return
  }
  const comments = await listOwnComments(task, pull)
  const choice = choosePlace(comments, us)
  if (choice.kind === 'leave') {
    log.info(`The comment on pull request #${pull.number} is from a newer workflow run: left unchanged.`)
    return
  }
  if (choice.kind === 'create') {
    task.standing = standingOf(choice.replaces)
    await createComment(task, pull, { comments, replaces: choice.replaces })
  } else {
    task.standing = standingOf(choice.comment)
    const isWritten = await updateComment(task, pull, { comments, comment: choice.comment })
    if (!isWritten) return keepComment(task)
  }
  log.info(`Comment on pull request #${pull.number} ${choice.kind === 'create' ? 'written' : 'updated'}.`)
}

function standingOf(comment: OwnComment | undefined): Standing {
  return comment === undefined ? 'none' : { verdict: readHistory(comment.body)[0]?.verdict }
}

async function createComment(
  task: Task,
  pull: PullRequest,
  { comments, replaces }: { comments: readonly OwnComment[]; replaces: OwnComment | undefined }
): Promise<void> {
  const body = renderBody(task, pull, {
    ordinal: chooseOrdinal(comments, replaces),
    previous: replaces?.body
  })
  await task.octokit.rest.issues.createComment({ ...issueOf(task, pull), body })
  if (task.us !== undefined) await removeOthers(task, pull, task.us)
}

/**
 * What the new comment replaces, as far as it is visible now: others have written too. An earlier attempt may have
 * written one that the list did not show yet, which would otherwise be left behind forever.
 */
async function removeOthers(task: Task, pull: PullRequest, us: CommentWriter): Promise<void> {
  const { log, clock, request } = task
  try {
    if (task.attempts > 1) await clock.sleep(SETTLING_MS, request.signal)
    const comments = await listOwnComments(task, pull)
    const ours = comments.filter(({ writer }) => writer?.gate === us.gate)
    if (isOvertaken(comments, us)) {
      log.info(`A newer workflow run has commented on pull request #${pull.number}: left unchanged.`)
      await removeComments(task, ours)
    } else await removeComments(task, [...ours.slice(1), ...listSuperseded(comments, us)])
  } catch (thrown) {
    log.debug(`Could not look for older comments: ${messageOf(thrown)}`)
  }
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

/** False if it was deleted or another gate has written there: then look for another place. */
async function updateComment(
  task: Task,
  pull: PullRequest,
  { comments, comment }: { comments: readonly OwnComment[]; comment: OwnComment }
): Promise<boolean> {
  const { octokit, us } = task
  const body = renderBody(task, pull, {
    ordinal: comment.writer?.ordinal ?? chooseOrdinal(comments, comment),
    previous: comment.body
  })
  const place = { ...readRepository(task.env), comment_id: comment.id }
  const write = async (): Promise<unknown> => octokit.rest.issues.updateComment({ ...place, body })
  try {
    await write()
    if (us === undefined) return true
    if (comment.writer?.gate === us.gate) {
      await removeOthers(task, pull, us)
      return true
    }
    const writer = await readWriterLater(task, comment.id)
    // A slower run has written after us, or GitHub's data is stale: in both cases write once more.
    if (writer !== undefined && compareAge(writer, us) < 0) await write()
    // Never the same job; if two jobs look the same after all, neither verdict is lost.
    if (writer !== undefined && writer.gate !== us.gate && compareAge(writer, us) === 0) return false
  } catch (thrown) {
    if (statusOf(thrown) !== 404) throw thrown
    task.gone.add(comment.id)
    return false
  }
  await removeComments(task, listDoubles(comments, us, comment))
  return true
}

/** Who wrote the comment as it is a little later; undefined if that cannot be read. */
async function readWriterLater(
  { octokit, env, clock, request }: Task,
  id: number
): Promise<CommentWriter | undefined> {
  try {
    await clock.sleep(SETTLING_MS, request.signal)
    const { data } = await octokit.rest.issues.getComment({ ...readRepository(env), comment_id: id })
    return readWriter(data.body ?? '')
  } catch (thrown) {
    if (statusOf(thrown) === 404) throw thrown
    return undefined // It is written; whether it stays cannot be verified.
  }
}

function renderBody(
  { env, request, key, us }: Task,
  pull: PullRequest,
  { ordinal, previous }: { ordinal: number; previous: string | undefined }
): string {
  return request.render({
    key,
    writer: us && { ...us, ordinal },
    title: titleOf(env, request) + (ordinal > 1 ? ` [${ordinal}]` : ''),
    commit: pull.commit,
    repositoryUrl: env.GITHUB_SERVER_URL && `${env.GITHUB_SERVER_URL}/${env.GITHUB_REPOSITORY ?? ''}`,
    previous
  })
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
  const { octokit, key, us, gone } = task
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
      if (!isBy(login, user) || !isCommentOf(body, key)) continue
      found.push({ id, body, writer: readWriter(body) })
      // Without a run to tell gates apart there is one comment.
      if (task.attempts === 1 && us === undefined) return found
    }
  }
  return found
}

/** A reply that is not a list would look like no comment and lead to a second one. */
function readList(data: unknown): ListedComment[] {
  if (!Array.isArray(data)) throw new OddReplyError("GitHub's reply is not a list of comments")
  return data.filter((entry) => typeof entry === 'object' && entry !== null) as ListedComment[]
}

function isBy(login: string, user: ListedComment['user']): boolean {
  // GraphQL omits the suffix of an app's login that REST has.
  return user?.login === login || (user?.type === 'Bot' && user.login === `${login}[bot]`)
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
  if (Array.isArray(errors))
    return (
      errors.length > 0 &&
      errors.every((error) => REFUSALS.includes(String((error as { type?: unknown }).type)))
    )
  return ['refused', 'token'].includes(describeFailure(thrown, 0).kind)
}

function statusOf(thrown: unknown): number {
  return Number((thrown as { status?: unknown } | null)?.status)
}
