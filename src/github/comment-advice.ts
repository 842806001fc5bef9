import type { Failure, FailureKind } from './comment-failure.js'

/** What is known of the comment that stands there. */
export type Standing = { readonly verdict: string | undefined } | 'none' | 'unknown'

export interface CommentTrouble {
  readonly failure: Failure
  readonly failures: number
  readonly isFromFork: boolean
  readonly standing: Standing
  /** How long the comment had. */
  readonly longestMs: number
}

const CURES: Readonly<Partial<Record<FailureKind, string>>> = {
  network: 'GitHub could not be reached.',
  token: 'The github-token is not valid.',
  locked: 'The conversation is locked: unlock it, or set "comment: off".',
  archived: 'The repository is archived and can only be read: set "comment: off".'
}

/** What GitHub said, what to do about it, and what the pull request shows in the meantime. */
export function explainTrouble(trouble: CommentTrouble): string {
  const { failure, standing } = trouble
  const words = failure.status === undefined ? failure.words : `${failure.status}: ${failure.words}`
  return [endSentence(words), cureOf(trouble), describeStanding(standing), 'The job summary holds everything']
    .filter((part) => part !== '')
    .join(' ')
}

function cureOf({ failure, failures, isFromFork, longestMs }: CommentTrouble): string {
  const { kind, waitMs } = failure
  if (kind === 'rate-limit') {
    const wait = waitMs === undefined ? '' : ` GitHub asks to wait ${Math.ceil(waitMs / 1000)} s,`
    const time = ` a comment has ${Math.round(longestMs / 1000)} s.`
    return `This is a rate limit:${wait || ' of the calls with this token;'}${time} Run the job again later, or give it a github-token of its own.`
  }
  if (kind === 'server' || kind === 'odd-reply') {
    const times = failures > 1 ? `, ${failures} times` : ''
    return `GitHub itself failed${times}; see githubstatus.com, and run the job again to update the comment.`
  }
  if (kind !== 'refused') return CURES[kind] ?? ''
  if (isFromFork)
    return 'A pull request from a fork has a token that can only read, even where the job has "permissions: pull-requests: write".'
  return 'Give the job "permissions: pull-requests: write".'
}

/** Nobody must take an older verdict for this one. */
function describeStanding(standing: Standing): string {
  if (standing === 'none') return ''
  if (standing === 'unknown')
    return 'A comment of an earlier run, if there is one, still shows its older verdict.'
  const { verdict } = standing
  return `The comment there still shows the older verdict${verdict === undefined ? '' : ` (${verdict})`}.`
}

function endSentence(words: string): string {
  return /[.!?]$/.test(words) ? words : `${words}.`
}
