import { asSentence } from '../gate/errors.js'
import type { Failure, FailureKind } from './comment-failure.js'

/** What is known about the existing comment. */
export type Standing = { readonly verdict: string | undefined } | 'none' | 'unknown'

export interface CommentFailure {
  readonly failure: Failure
  readonly failures: number
  readonly isFromFork: boolean
  readonly standing: Standing
  /** The time limit for the comment. */
  readonly longestMs: number
}

const ADVICE: Readonly<Partial<Record<FailureKind, string>>> = {
  network: 'GitHub could not be reached.',
  token: 'The github-token is not valid.',
  locked: 'The conversation is locked: unlock it, or set "comment: off".',
  archived: 'The repository is archived and read-only: set "comment: off".'
}

/** What GitHub said, what to do about it, and what the pull request shows meanwhile. */
export function explainFailure(comment: CommentFailure): string {
  const { failure, standing } = comment
  const words = failure.status === undefined ? failure.words : `${failure.status}: ${failure.words}`
  return [asSentence(words), adviseOn(comment), describeStanding(standing), 'The job summary has everything']
    .filter((part) => part !== '')
    .join(' ')
}

function adviseOn({ failure, failures, isFromFork, longestMs }: CommentFailure): string {
  const { kind, waitMs } = failure
  if (kind === 'rate-limit') {
    const why =
      waitMs === undefined
        ? 'too many calls with this token'
        : `GitHub asks to wait ${Math.ceil(waitMs / 1000)} s`
    const limit = `a comment may only take ${Math.round(longestMs / 1000)} s`
    return `This is a rate limit: ${why}, and ${limit}. Run the job again later, or give it its own github-token.`
  }
  if (kind === 'server' || kind === 'odd-reply') {
    const times = failures > 1 ? `, ${failures} times` : ''
    return `GitHub itself failed${times}; see githubstatus.com, and run the job again to update the comment.`
  }
  if (kind !== 'refused') return ADVICE[kind] ?? ''
  if (isFromFork)
    return 'A pull request from a fork gets a read-only token, even if the job has "permissions: pull-requests: write".'
  return 'Give the job "permissions: pull-requests: write".'
}

/** An older verdict must not be mistaken for this one. */
function describeStanding(standing: Standing): string {
  if (standing === 'none') return ''
  if (standing === 'unknown')
    return 'If there is a comment from an earlier run, it still shows the older verdict.'
  const { verdict } = standing
  return `The existing comment still shows the older verdict${verdict === undefined ? '' : ` (${verdict})`}.`
}
