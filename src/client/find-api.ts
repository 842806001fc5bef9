import type { Clock } from '../contract/clock.js'
import { isObject } from '../contract/setting-values.js'
import type { ServiceError } from './errors.js'
import { MalformedReplyError, RefusedError, UnreachableError, isTransient } from './errors.js'
import { type Address, candidatesOf, redirectedAddress } from './http/address.js'
import { retry } from './retry.js'

/** Redirects included: they must end somewhere. */
const MOST_CANDIDATES = 5
/** For the whole reply: something that sends a byte now and then is not waited for. */
const LONGEST_LOOK_MS = 15_000

interface Look {
  /** What needs to know. */
  readonly operation: string
  /** Ask again what says no for the moment: what creates something is sent once, and must not be sent to a wrong address because of it. */
  readonly isPatient: boolean
  readonly clock: Clock
  readonly signal: AbortSignal
  /** The JSON at an address; throws as any other request does. */
  readonly read: (url: URL, signal: AbortSignal) => Promise<unknown>
}

/** What an address answered that is not an account. */
interface Answer {
  readonly words: string
  readonly failure: ServiceError
  readonly status?: number
  readonly location?: string | undefined
}

/**
 * Reads the account at each address where the API may be: the next one only where this one is not the API, or does not say whether it is
 * (403). What is down or asks to come again may well be the API, so nothing else is tried instead. Returns the address that answers, or
 * what was answered instead. Throws what no other address can help: no connection, a wrong token, or redirects to other hosts alone.
 */
export async function findApi(
  address: Address,
  look: Look
): Promise<{ readonly found: Address } | { readonly doubt: string }> {
  const candidates = candidatesOf(address)
  const answers: Answer[] = []
  // A redirect adds one while they are tried.
  for (const candidate of candidates) {
    const answer = await askPatiently(candidate, look)
    if (answer === undefined) return { found: candidate }
    answers.push(answer)
    if (answer.status === 401 && answers.every(({ status }) => status !== 403)) throw answer.failure
    const target = redirectedAddress(candidate, answer.location)
    const isNew = candidates.every(({ api }) => api !== target?.api)
    if (target !== undefined && isNew && candidates.length < MOST_CANDIDATES)
      candidates.splice(answers.length, 0, target)
    if (isRefusedForNow(answer.failure) || answer.failure instanceof UnreachableError) break
  }
  const [first] = answers
  if (first && answers.every(({ location }, index) => isElsewhere(candidates[index], location)))
    throw first.failure
  const doubt = answers.map(({ words }, index) => `${candidates[index]?.api ?? ''}/account ${words}`)
  return { doubt: doubt.join(', ') }
}

async function askPatiently(address: Address, look: Look): Promise<Answer | undefined> {
  const { isPatient, clock, signal } = look
  const attempt = async (): Promise<Answer | undefined> => {
    const answer = await askForAccount(address, look)
    if (isPatient && answer !== undefined && isRefusedForNow(answer.failure)) throw answer.failure
    return answer
  }
  const policy = {
    attempts: 4,
    isTransient: (thrown: unknown) => isRefusedForNow(thrown) && !isRefusedByLoadgate(thrown)
  }
  return retry(attempt, policy, { clock, signal }).catch((thrown: unknown) => {
    if (isRefusedForNow(thrown) && !isRefusedByLoadgate(thrown)) return answerOf(thrown)
    throw thrown
  })
}

/** Undefined if this is the API; otherwise what was answered. */
async function askForAccount({ api }: Address, { operation, read }: Look): Promise<Answer | undefined> {
  const signal = AbortSignal.timeout(LONGEST_LOOK_MS)
  try {
    if (isAccount(await read(new URL(`${api}/account`), signal))) return undefined
    return { words: 'is no account', failure: new MalformedReplyError(operation, 'it is not an account') }
  } catch (thrown) {
    const words = `${api}/account was not answered within ${LONGEST_LOOK_MS / 1000} s`
    const late = new UnreachableError(operation, words, { cause: thrown, neverSent: false })
    const answer = answerOf(signal.aborted ? late : thrown)
    if (answer === undefined || isRefusedByLoadgate(answer.failure)) throw thrown
    return answer
  }
}

/** 429, 503 and the like: it may be the API, which says no for the moment. */
function isRefusedForNow(failure: unknown): boolean {
  return failure instanceof RefusedError && isTransient(failure)
}

/** A loadgate that refuses the caller, or cannot tell now: it says why, at any of its paths, and no other address helps. */
function isRefusedByLoadgate(failure: unknown): boolean {
  if (!(failure instanceof RefusedError) || !failure.isLoadgate) return false
  return [401, 403].includes(failure.status) || isTransient(failure)
}

/** Undefined if there was no answer at all, as without a connection. */
function answerOf(thrown: unknown): Answer | undefined {
  if (thrown instanceof RefusedError) {
    const { status, location } = thrown
    return { words: `answered ${status}`, failure: thrown, status, location }
  }
  if (thrown instanceof MalformedReplyError) return { words: 'is not JSON', failure: thrown }
  if (thrown instanceof UnreachableError && !thrown.neverSent)
    return { words: 'gave no reply', failure: thrown }
  return undefined
}

/** Requests are not redirected to other hosts, so that nothing could be done there. */
function isElsewhere(address: Address | undefined, location: string | undefined): boolean {
  if (address === undefined || location === undefined) return false
  return URL.canParse(location, address.api) && new URL(location, address.api).origin !== address.origin
}

/** Something in front of a service may answer everything with JSON. */
function isAccount(document: unknown): boolean {
  return isObject(document) && ['_links', '_embedded', 'email'].some((key) => key in document)
}
