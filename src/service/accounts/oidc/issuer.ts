import { createLocalJWKSet, errors, jwtVerify, type JSONWebKeySet, type JWTPayload } from 'jose'
import { type Clock, steadyNow } from '../../../contract/clock.js'
import { isObject } from '../../../contract/setting-values.js'
import { shorten } from '../../../contract/text.js'
import { isOnLoopback } from '../../addresses.js'
import type { TrustedIssuer } from '../../config/config.js'
import { clauseOf } from '../../errors.js'
import { TokenError } from '../users.js'
import { fetchJson } from './fetch-json.js'
import { quote } from './rules.js'

/** A minute, for clocks that differ. */
export const SLACK_MS = 60_000
/** After this time the keys are fetched again, with the next token. */
const FRESH_MS = 3_600_000
/** Known keys count for so long while the issuer cannot be reached. */
const STALE_MS = 24 * 3_600_000
/** Anybody can send a token with an unknown key, or while the issuer is down: it is asked no more often than this. */
const AGAIN_MS = 30_000
/** The same while there are no keys at all, when everyone waits for it. */
const FIRST_AGAIN_MS = 5000

/** Signatures that nobody can make who knows no more than the issuer's public keys. */
const ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519']
]
/** Of ID tokens and of access tokens (RFC 9068); other things that an issuer signs are not meant as a proof of who calls. */
const TYPES = ['jwt', 'at+jwt', 'application/at+jwt']

export interface IssuerLimits {
  /** For the discovery document and the keys together. */
  readonly fetchMs: number
  readonly bytes: number
}

const ISSUER_LIMITS: IssuerLimits = { fetchMs: 10_000, bytes: 512 * 1024 }

export interface IssuerPorts {
  readonly clock: Clock
  readonly log: (line: string) => void
  readonly env: NodeJS.ProcessEnv
  readonly limits?: IssuerLimits | undefined
}

interface Keys {
  /** When the issuer was asked for them. */
  readonly askedMs: number
  readonly find: ReturnType<typeof createLocalJWKSet>
  readonly algorithms: string[]
  readonly fetchedMs: number
}

/** Checks tokens with the issuer's public keys, which are fetched with the first token and kept. */
export class Issuer {
  #keys: Keys | undefined
  #triedMs = -Infinity
  #isFailing = false
  #fetching: Promise<void> | undefined

  constructor(
    private readonly trusted: TrustedIssuer,
    private readonly ports: IssuerPorts
  ) {}

  /** The claims of a token that this issuer has signed for this service and that is valid now; throws a TokenError otherwise. */
  async verify(token: string): Promise<JWTPayload> {
    const arrivedMs = steadyNow(this.ports.clock)
    const keys = await this.#currentKeys()
    try {
      return await this.#check(token, keys)
    } catch (thrown) {
      if (!(thrown instanceof errors.JWKSNoMatchingKey)) throw this.#refusalOf(thrown, keys)
    }
    // The issuer may have a new key.
    await this.#fetchAgain()
    const latest = this.#keys ?? keys
    try {
      return await this.#check(token, latest)
    } catch (thrown) {
      // Only an issuer that was asked since the token is here can say that the key is not one of its own.
      throw thrown instanceof errors.JWKSNoMatchingKey && latest.askedMs < arrivedMs
        ? this.#cannotTell()
        : this.#refusalOf(thrown, latest)
    }
  }

  async #check(token: string, { find, algorithms }: Keys): Promise<JWTPayload> {
    const { issuer, audience } = this.trusted
    const { payload, protectedHeader } = await jwtVerify(token, find, {
      ...{ issuer, audience, algorithms, requiredClaims: ['exp'] },
      ...{ clockTolerance: SLACK_MS / 1000, currentDate: new Date(this.ports.clock.now()) }
    })
    const { typ } = protectedHeader
    if (typ !== undefined && !TYPES.includes(typ.toLowerCase()))
      throw new TokenError(
        401,
        `its type ${quote(typ)} is neither that of an ID token nor of an access token`
      )
    return payload
  }

  async #currentKeys(): Promise<Keys> {
    const { clock } = this.ports
    const ageOf = (keys: Keys): number => steadyNow(clock) - keys.fetchedMs
    if (!this.#keys || ageOf(this.#keys) > FRESH_MS) await this.#fetchAgain()
    if (!this.#keys || ageOf(this.#keys) > STALE_MS) throw this.#cannotTell()
    return this.#keys
  }

  /** All callers wait for the same fetch; what it brings is in `#keys`. */
  async #fetchAgain(): Promise<void> {
    if (this.#fetching) return this.#fetching
    const nowMs = steadyNow(this.ports.clock)
    if (nowMs - this.#triedMs < (this.#keys ? AGAIN_MS : FIRST_AGAIN_MS)) return
    this.#triedMs = nowMs
    this.#fetching = this.#fetch().finally(() => (this.#fetching = undefined))
    return this.#fetching
  }

  async #fetch(): Promise<void> {
    const { log, clock } = this.ports
    const { issuer } = this.trusted
    try {
      this.#keys = await this.#fetchKeys()
      if (this.#isFailing) log(`the keys of the issuer ${issuer} could be fetched again`)
      this.#isFailing = false
    } catch (thrown) {
      const until = this.#keys && new Date(clock.now() + STALE_MS - (steadyNow(clock) - this.#keys.fetchedMs))
      const effect = until
        ? `tokens that were signed with its known keys are accepted until ${until.toISOString()}`
        : 'its tokens are answered by 503'
      if (!this.#isFailing)
        log(
          `the keys of the issuer ${issuer} cannot be fetched: ${shorten(describe(thrown), 300)}; ${effect}`
        )
      this.#isFailing = true
    }
  }

  async #fetchKeys(): Promise<Keys> {
    const { issuer, ca } = this.trusted
    const { clock, env, limits = ISSUER_LIMITS } = this.ports
    const askedMs = steadyNow(clock)
    const options = { ca, env, mostBytes: limits.bytes, signal: AbortSignal.timeout(limits.fetchMs) }
    const found = await fetchJson(
      new URL(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`),
      options
    )
    const about = isObject(found) ? found : {}
    if (about.issuer !== issuer)
      throw new Error(`its discovery document is that of the issuer ${quote(String(about.issuer))}`)
    const given = about.jwks_uri
    const address = typeof given === 'string' && URL.canParse(given) ? new URL(given) : undefined
    if (
      address?.protocol !== 'https:' &&
      !(address && isOnLoopback(address) && new URL(issuer).protocol === 'http:')
    )
      throw new Error('its discovery document has no https address of its keys (jwks_uri)')
    const keys = (await fetchJson(address, options)) as JSONWebKeySet
    // Known keys are better than none, as while an issuer is being deployed.
    if (Array.isArray(keys.keys) && keys.keys.length === 0) throw new Error('its list of keys is empty')
    const named: unknown = about.id_token_signing_alg_values_supported
    const algorithms = ALGORITHMS.filter((one) => !Array.isArray(named) || named.includes(one))
    return { find: createLocalJWKSet(keys), algorithms, askedMs, fetchedMs: steadyNow(clock) }
  }

  #cannotTell(): TokenError {
    const { issuer } = this.trusted
    const againMs = this.#keys ? AGAIN_MS : FIRST_AGAIN_MS
    const leftMs = this.#triedMs + againMs - steadyNow(this.ports.clock)
    const why = this.#isFailing
      ? `the keys of its issuer ${issuer} could not be fetched; the log of this service says why`
      : `its key is a new one, and the issuer ${issuer} is asked for keys every ${AGAIN_MS / 1000} s at most`
    return new TokenError(503, `the token cannot be checked: ${why}. Try again later`, {
      retryAfterSec: Math.max(1, Math.ceil(leftMs / 1000))
    })
  }

  #refusalOf(thrown: unknown, { algorithms }: Keys): unknown {
    if (thrown instanceof TokenError) return thrown
    return new TokenError(401, this.#whyNot(thrown, algorithms), { cause: thrown })
  }

  #whyNot(thrown: unknown, algorithms: readonly string[]): string {
    const { issuer, audience } = this.trusted
    const { JWTClaimValidationFailed, JWTExpired } = errors
    const isOfTime = thrown instanceof JWTExpired || thrown instanceof JWTClaimValidationFailed
    if (isOfTime && thrown.reason === 'missing') return `it has no ${thrown.claim}`
    if (isOfTime && thrown.reason === 'invalid') return `its ${thrown.claim} is not a number`
    if (isOfTime && thrown.claim === 'exp') return `it ended at ${timeOf(thrown.payload.exp)}`
    if (isOfTime && thrown.claim === 'nbf') return `it begins at ${timeOf(thrown.payload.nbf)}`
    if (isOfTime && thrown.claim === 'aud')
      return `it is for the audience ${quote([thrown.payload.aud].flat().join(', '))}, and not for ${audience}`
    if (thrown instanceof errors.JWKSNoMatchingKey) return `its key is not one of ${issuer}`
    if (thrown instanceof errors.JWKSMultipleMatchingKeys)
      return `it does not say by which key of ${issuer} it was signed (kid)`
    if (thrown instanceof errors.JOSEAlgNotAllowed)
      return `its algorithm is not one of ${issuer} (${algorithms.join(', ')})`
    if (thrown instanceof errors.JWSSignatureVerificationFailed)
      return `its signature is not that of ${issuer}`
    if (thrown instanceof errors.JOSEError) return `it is malformed (${shorten(clauseOf(thrown))})`
    return `the key of ${issuer} that it names cannot be used (${shorten(clauseOf(thrown))})`
  }
}

/** A name with several addresses has an error for each, and no message. */
function describe(thrown: unknown): string {
  const first: unknown = thrown instanceof AggregateError ? thrown.errors[0] : thrown
  return clauseOf(first)
}

function timeOf(seconds: number | undefined): string {
  const at = new Date((seconds ?? NaN) * 1000)
  return Number.isNaN(at.getTime()) ? String(seconds) : at.toISOString()
}
