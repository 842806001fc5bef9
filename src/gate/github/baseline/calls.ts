import type { BaselineRequest, Ports } from '../../ports.js'
import { TRANSIENT, retryWithin, type Failure } from '../comment-failure.js'
import { readRepository, type Octokit } from '../pull-request.js'
import { readUpTo } from '../../../contract/files.js'
import { messageOf } from '../../../contract/text.js'
import { replaceControls } from '../../../report/escape.js'

/** A call to GitHub that failed for good. */
export class CallError extends Error {
  override name = 'CallError'
  constructor(
    readonly action: string,
    readonly failure: Failure,
    options: ErrorOptions
  ) {
    super(`${action}: ${failure.words}`, options)
  }
}

/** An artifact that cannot be a document. A retry does not help, an older one may. */
export class UnusableArtifactError extends Error {}

/** The storage, or the way to it, does not hand out an artifact that may be sound. */
export class RefusedDownloadError extends UnusableArtifactError {}

type CallOptions = Pick<Ports, 'clock'> & Pick<BaselineRequest, 'signal' | 'untilMs'>

const MOST_ATTEMPTS = 4

/** Calls to GitHub's API: retried a few times after an outage, and after a rate limit as soon as it allows. */
export class Calls {
  readonly repository: { readonly owner: string; readonly repo: string }

  constructor(
    readonly octokit: Octokit,
    env: NodeJS.ProcessEnv,
    readonly options: CallOptions
  ) {
    this.repository = readRepository(env)
  }

  /** `action` completes "GitHub could not …". */
  async make<T>(action: string, attempt: () => Promise<T>): Promise<T> {
    const { signal } = this.options
    let failure: Failure | undefined
    const onFailure = (last: Failure): void => void (failure = last)
    try {
      signal.throwIfAborted()
      return await retryWithin(attempt, { ...this.options, onFailure, mostAttempts: MOST_ATTEMPTS })
    } catch (thrown) {
      signal.throwIfAborted()
      if (failure === undefined || thrown instanceof UnusableArtifactError) throw thrown
      throw new CallError(action, failure, { cause: thrown })
    }
  }
}

export const PERMISSIONS =
  'add "permissions: { actions: read, contents: read }" to the job, beside the permissions that it has'

/** Why the recorded runs could not be read, in GitHub's words, and what to do about it. */
export function explain(thrown: unknown): string {
  if (!(thrown instanceof CallError)) return plain(messageOf(thrown))
  const { action, failure } = thrown
  const { kind, status, waitMs } = failure
  const words = `${status === undefined ? '' : `${status}: `}${plain(failure.words)}`
  const said = `the gate could not ${action} (${words})`
  switch (kind) {
    case 'rate-limit': {
      const wait = waitMs === undefined ? '' : `, and GitHub asks to wait ${Math.ceil(waitMs / 1000)} s`
      return `${said}: the rate limit of this token is used up${wait}; run the job again later, or give it its own github-token`
    }
    case 'token':
      return `${said}: the github-token is not valid`
    case 'refused':
      return `${said}; ${PERMISSIONS}`
    case 'network':
      return `${said}: GitHub could not be reached; run the job again`
    case 'server':
    case 'odd-reply':
      return `${said}: GitHub itself failed; see githubstatus.com, and run the job again`
    case 'locked':
    case 'archived':
    case 'other':
      return said
  }
}

/** Whether GitHub may answer the next time, without anything being changed. */
export function isOutage(thrown: unknown): boolean {
  return thrown instanceof CallError && TRANSIENT.includes(thrown.failure.kind)
}

/** All bytes; throws an error that it is given if there are more. */
export async function readAtMost(
  source: AsyncIterable<Uint8Array>,
  most: number,
  tooLarge: () => Error
): Promise<Buffer> {
  const { bytes, hasMore } = await readUpTo(source, most)
  if (hasMore) throw tooLarge()
  return bytes
}

/** What others wrote, on one line and without control characters. */
export function plain(text: string): string {
  return replaceControls(text).slice(0, 300)
}
