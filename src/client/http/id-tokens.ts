import { orAborted, type Clock } from '../../contract/clock.js'
import { isObject } from '../../contract/setting-values.js'
import { shorten } from '../../contract/text.js'

/** Where tokens come from that end before the work does, such as ID tokens of a CI system. They are sent as `Bearer`. */
export interface TokenSource {
  /** A token to send now. With `refused`, the service has just refused that one: another one, if there is one. */
  take(request?: {
    readonly refused?: string | undefined
    readonly signal?: AbortSignal | undefined
  }): Promise<string>
}

const RENEWED_BEFORE_END_MS = 60_000
/** For a renewal while there is a valid token: a run may have to be stopped within seconds. */
const LONGEST_WAIT_MS = 2_000

interface Latest {
  readonly text: string
  readonly renewMs: number
  readonly endMs: number
}

interface Renewal {
  /** Asks for another one; must end by itself. */
  readonly request: () => Promise<string>
  /** Told of each token before it is used, so that it can be masked. */
  readonly onToken: (token: string) => void
  readonly clock: Pick<Clock, 'now' | 'after'>
}

/** Tokens that are renewed before they end. Requests at the same time share a renewal; one that fails is repeated by the next request. */
export class RenewedTokens implements TokenSource {
  #latest: Latest | undefined
  #renewal: Promise<string> | undefined

  constructor(private readonly options: Renewal) {}

  async take({ refused, signal }: Parameters<TokenSource['take']>[0] = {}): Promise<string> {
    const { clock } = this.options
    const latest = this.#latest?.text === refused ? undefined : this.#latest
    if (latest !== undefined && clock.now() < latest.renewMs) return latest.text
    const renewal = (this.#renewal ??= this.#renew().finally(() => (this.#renewal = undefined)))
    if (latest === undefined) return orAborted(renewal, signal)
    const limit = new AbortController()
    const cancel = clock.after(LONGEST_WAIT_MS, () => limit.abort())
    return orAborted(renewal, AbortSignal.any([limit.signal, ...(signal ? [signal] : [])]))
      .catch(() =>
        clock.now() < latest.endMs && !signal?.aborted ? latest.text : orAborted(renewal, signal)
      )
      .finally(cancel)
  }

  async #renew(): Promise<string> {
    const text = await this.options.request()
    this.options.onToken(text)
    const nowMs = this.options.clock.now()
    const lifetimeMs = lifetimeOf(text, nowMs)
    // One that lives for less than two minutes is used for half its life.
    const renewMs = nowMs + lifetimeMs - Math.min(RENEWED_BEFORE_END_MS, lifetimeMs / 2)
    this.#latest = { text, renewMs, endMs: nowMs + lifetimeMs }
    return text
  }
}

/** From issue to end, both by the issuer's clock: this machine's may differ. Without an end, until it is refused. */
function lifetimeOf(token: string, nowMs: number): number {
  const { exp, iat = nowMs / 1000 } = claimsOf(token)
  return typeof exp === 'number' && typeof iat === 'number' ? Math.max(0, exp - iat) * 1000 : Infinity
}

/** What a token says about itself, unverified: the service verifies it. Empty if it is not a JWT. */
function claimsOf(token: string): Readonly<Record<string, unknown>> {
  try {
    const claims: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
    return isObject(claims) ? claims : {}
  } catch {
    return {}
  }
}

const SHOWN = { issuer: 'iss', audience: 'aud', subject: 'sub' }

/** What a service decides by, for a message: its issuer, audience and subject are no secrets. */
export function describeIdToken(token: string): string {
  const claims = claimsOf(token)
  const facts = Object.entries(SHOWN).flatMap(([name, claim]) => {
    const value = [claims[claim]].flat().join(', ')
    return value === '' ? [] : [`${name} ${shorten(value, 200)}`]
  })
  return facts.length === 0 ? 'the ID token' : `the ID token (${facts.join(', ')})`
}
