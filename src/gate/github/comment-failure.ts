import { readRetryAfter } from '../../client/http/http.js'
import { asSentence, messageOf } from '../../contract/text.js'
import type { CommentRequest, Ports } from '../ports.js'

type FailureKind =
  'rate-limit' | 'server' | 'network' | 'odd-reply' | 'token' | 'locked' | 'archived' | 'refused' | 'other'

export interface Failure {
  readonly kind: FailureKind
  readonly status: number | undefined
  readonly words: string
  readonly waitMs: number | undefined
}

/** A successful status with the wrong content: a proxy's page, or a truncated document. */
export class OddReplyError extends Error {}

/** Whether a retry can help. */
export const TRANSIENT: readonly FailureKind[] = ['rate-limit', 'server', 'network', 'odd-reply']
const RATE_LIMIT_WORDS = /rate limit|abuse detection|too many requests/i
const FIRST_PAUSE_MS = 1000
/** GitHub asks clients to wait after a rate limit, even if it gives no time. */
const FIRST_RATE_LIMIT_PAUSE_MS = 5000
const LONGEST_PAUSE_MS = 10_000
const MOST_QUOTED = 300

interface RetryOptions extends Pick<Ports, 'clock'>, Pick<CommentRequest, 'signal' | 'untilMs'> {
  readonly onFailure: (failure: Failure) => void
  readonly mostAttempts?: number
}

/** Retries transient failures while there is time. Each attempt must check first what is already there. */
export async function retryWithin<T>(attempt: () => Promise<T>, options: RetryOptions): Promise<T> {
  const { clock, signal, untilMs, onFailure, mostAttempts = Infinity } = options
  for (let failures = 1; ; failures++) {
    try {
      return await attempt()
    } catch (thrown) {
      if (signal.aborted) throw thrown
      const failure = describeFailure(thrown, clock.now())
      onFailure(failure)
      // A server that asks for no wait at all is still not hammered.
      const pauseMs = Math.max(failure.waitMs ?? pauseAfter(failures, failure.kind), FIRST_PAUSE_MS)
      const isOver = failures >= mostAttempts || clock.now() + pauseMs >= untilMs
      if (isOver || !TRANSIENT.includes(failure.kind)) throw thrown
      await clock.sleep(pauseMs, signal)
    }
  }
}

function pauseAfter(failures: number, kind: FailureKind): number {
  const first = kind === 'rate-limit' ? FIRST_RATE_LIMIT_PAUSE_MS : FIRST_PAUSE_MS
  return Math.round(Math.min(first * 2 ** (failures - 1), LONGEST_PAUSE_MS) * (0.75 + Math.random() / 2))
}

type Headers = Readonly<Record<string, string | number | undefined>>

interface Thrown {
  readonly status?: unknown
  readonly response?: { readonly headers?: Headers } | undefined
}

export function describeFailure(thrown: unknown, nowMs: number): Failure {
  const words = messageOf(thrown).slice(0, MOST_QUOTED)
  const { status, response } = (thrown ?? {}) as Thrown
  const without = { status: undefined, words, waitMs: undefined }
  if (thrown instanceof OddReplyError)
    return { ...without, kind: RATE_LIMIT_WORDS.test(words) ? 'rate-limit' : 'odd-reply' }
  if (typeof status !== 'number') return { ...without, kind: 'other' }
  // Octokit reports a broken connection as status 500 without a response.
  if (response === undefined) return { ...without, kind: 'network' }
  const headers = response.headers ?? {}
  const kind = kindOf(status, headers, words)
  return { kind, status, words, waitMs: TRANSIENT.includes(kind) ? readWait(headers, nowMs) : undefined }
}

/** Rate limits come as 429, or as 403 with a header or message that says so. */
function kindOf(status: number, headers: Headers, words: string): FailureKind {
  const isExhausted = headers['retry-after'] !== undefined || headers['x-ratelimit-remaining'] === '0'
  if (status === 429 || (status === 403 && (isExhausted || RATE_LIMIT_WORDS.test(words)))) return 'rate-limit'
  if (status >= 500 || status === 408) return 'server'
  if (status === 401) return 'token'
  if (status === 403 && /\blocked\b/i.test(words)) return 'locked'
  if (status === 403 && /\barchived\b/i.test(words)) return 'archived'
  return status === 403 || status === 404 ? 'refused' : 'other'
}

/** `Retry-After` in seconds or as a date; else the time at which the limit resets. */
function readWait(headers: Headers, nowMs: number): number | undefined {
  const askedMs = readRetryAfter(String(headers['retry-after'] ?? ''), nowMs)
  if (askedMs !== undefined) return askedMs
  const reset = String(headers['x-ratelimit-reset'] ?? '')
  if (headers['x-ratelimit-remaining'] !== '0' || !/^\d{1,12}$/.test(reset)) return undefined
  return Math.max(0, Number(reset) * 1000 - nowMs)
}

export type Standing = { readonly verdict: string | undefined } | 'none' | 'unknown'

interface CommentFailure {
  readonly failure: Failure
  readonly failures: number
  readonly isFromFork: boolean
  readonly standing: Standing
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
    const asked = `GitHub asks to wait ${Math.ceil((waitMs ?? 0) / 1000)} s`
    const why = waitMs === undefined ? 'too many calls with this token' : asked
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
