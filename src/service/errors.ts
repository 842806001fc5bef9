import type { FastifyRequest } from 'fastify'
import { count, messageOf, shorten, when } from '../contract/text.js'

/** A request that gets this status and an `error` that says what is wrong. */
export class RequestError extends Error {
  override name = 'RequestError'
  readonly retryAfterSec: number | undefined
  constructor(
    readonly statusCode: number,
    message: string,
    options: { cause?: unknown; retryAfterSec?: number } = {}
  ) {
    super(message, options)
    this.retryAfterSec = options.retryAfterSec
  }
}

/** A request may be wrong in thousands of places. */
const MOST_PROBLEMS = 50
const LONGEST_PROBLEM = 1000

/** The same with every problem of the request, so that it can be fixed in one go. */
export function refuseAll(problems: readonly string[]): RequestError {
  const shown = problems.slice(0, MOST_PROBLEMS).map((problem) => shorten(problem, LONGEST_PROBLEM))
  const left = problems.length - shown.length
  return new RequestError(422, [...shown, ...when(left > 0, `and ${count(left, 'more problem')}`)].join('; '))
}

/** A restart takes less time, and a caller that is early tries again. */
const RETRY_AFTER_SEC = 15

/** The service is about to end, so that nothing new can be created; the next one can. */
export function refuseUntilRestart(reason: string): RequestError {
  return new RequestError(503, reason, { retryAfterSec: RETRY_AFTER_SEC })
}

/** A run whose files are not there any more: retention is deleting it, or has deleted it a moment ago. */
export function refuseDeleted<T extends Error>(thrown: T): T | RequestError {
  if ((thrown as NodeJS.ErrnoException).code !== 'ENOENT') return thrown
  return new RequestError(410, 'this run has been deleted with its files', { cause: thrown })
}

/** Does what may fail without harm; undefined if it did. */
export function attempt<T>(act: () => T): T | undefined {
  try {
    return act()
  } catch {
    return undefined
  }
}

/** A tool could not be found, installed or started; the message says what to do. */
export class ToolError extends Error {
  override name = 'ToolError'
}

/** Why a file with a secret cannot be read, without its path: what names no file may be the secret itself. */
export function whyUnread(thrown: unknown): string {
  const words = clauseOf(thrown).replace(/, \w+ '[^]*$/, '')
  return words.startsWith('ENOENT') || words.startsWith('ENAMETOOLONG')
    ? `${words}; it must be the path of a file, and the secret in that`
    : words
}

/** The message of anything that was thrown, to continue the sentence after it. */
export function clauseOf(thrown: unknown): string {
  return messageOf(thrown).replace(/\.$/, '')
}

export function readPageNumber(request: FastifyRequest): number {
  const { page } = request.query as { page?: unknown }
  if (page === undefined) return 1
  if (typeof page === 'string' && /^[1-9]\d{0,8}$/.test(page)) return Number(page)
  throw new RequestError(400, `page must be a whole number from 1, not ${JSON.stringify(page)}`)
}
