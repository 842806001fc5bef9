import { RefusedError } from '../../client/errors.js'
import { Http } from '../../client/http/http.js'
import { RenewedTokens, type TokenSource } from '../../client/http/id-tokens.js'
import type { Clock } from '../../contract/clock.js'
import { isObject } from '../../contract/setting-values.js'
import { messageOf } from '../../contract/text.js'

const OPERATION = 'asking GitHub for an ID token'
/** Somebody waits for it: a request to the service, perhaps the one that stops a run. */
const LONGEST_MS = 10_000

/** Whether the job may get ID tokens: it has `id-token: write`, and is not for a fork's pull request. */
export function offersIdTokens(env: NodeJS.ProcessEnv): boolean {
  const { ACTIONS_ID_TOKEN_REQUEST_URL: url = '', ACTIONS_ID_TOKEN_REQUEST_TOKEN: token = '' } = env
  return url !== '' && token !== ''
}

/** ID tokens of the job for an audience. They live for five minutes, so that a step asks for many. */
export function createIdTokens(
  env: NodeJS.ProcessEnv,
  audience: string | undefined,
  {
    onToken,
    clock
  }: { readonly onToken: (token: string) => void; readonly clock: Pick<Clock, 'now' | 'after'> }
): TokenSource {
  return new RenewedTokens({ request: () => requestIdToken(env, audience), onToken, clock })
}

/**
 * The same request as `getIDToken` of the toolkit, which would bring a second HTTP client into the file that every step loads, cannot be
 * given a time limit, and hides what was answered.
 */
async function requestIdToken(env: NodeJS.ProcessEnv, audience: string | undefined): Promise<string> {
  const { ACTIONS_ID_TOKEN_REQUEST_URL: address = '', ACTIONS_ID_TOKEN_REQUEST_TOKEN: token = '' } = env
  if (!URL.canParse(address)) throw new Error('GitHub gives this step no ID token: it does not say where')
  const url = new URL(address)
  if (audience !== undefined) url.searchParams.set('audience', audience)
  const http = new Http({ token, mediaType: 'application/json', origin: url.origin })
  const signal = AbortSignal.timeout(LONGEST_MS)
  const headers = { authorization: `Bearer ${token}` }
  const call = {
    operation: OPERATION,
    method: 'GET',
    url,
    headers,
    responseTimeoutMs: LONGEST_MS,
    signal
  } as const
  try {
    const reply: unknown = JSON.parse(await (await http.call(call)).text())
    const value = isObject(reply) ? reply.value : undefined
    // It goes into a header.
    if (typeof value === 'string' && /^[\w.~+/=-]+$/.test(value)) return value
    throw new Error('the reply has no token')
  } catch (cause) {
    const words = signal.aborted ? `no answer within ${LONGEST_MS / 1000} s` : describe(cause)
    throw new Error(`GitHub gave no ID token: ${url.host}: ${words}`, { cause })
  } finally {
    await http.close()
  }
}

/** The client's own words are about the service that is tested with. */
function describe(thrown: unknown): string {
  if (thrown instanceof RefusedError) return `it answered ${thrown.status}: ${thrown.detail}`
  if (thrown instanceof SyntaxError) return 'the reply is not JSON'
  const { code } = Object(thrown instanceof Error ? thrown.cause : undefined) as NodeJS.ErrnoException
  return code === undefined ? messageOf(thrown) : `the request failed (${code})`
}
