import { decodeJwt } from 'jose'
import type { DatabaseSync } from 'node:sqlite'
import type { TrustedIssuer } from '../../config/config.js'
import { isRepositoryClaim } from '../../config/parse-oidc.js'
import { attempt } from '../../errors.js'
import { hashSecret } from '../../secrets.js'
import { whenFree } from '../../store/when-free.js'
import { claimOf, type Claims } from '../claims.js'
import { type IssuedTokens, TokenError, type User } from '../users.js'
import { Issuer, type IssuerPorts, SLACK_MS } from './issuer.js'
import { IssuerUsers, LONGEST_SUBJECT, nameOf, type Subject } from './issuer-users.js'
import { describeClaims, findRole, plainClaims, quote } from './rules.js'

/** Longer ones are not even taken apart. */
const MOST_CHARACTERS = 16 * 1024
/** Tokens that were checked, so that one is not checked for each of its requests. */
const MOST_REMEMBERED = 1000
/** Three parts, as no token of a user has them. */
const SHAPE = /^[\w-]+\.[\w-]+\.[\w-]*$/

/** A token that was signed by its issuer; whether it lets anybody in is for the rules. */
interface Verified {
  readonly issuer: string
  readonly claims: Claims
  readonly untilMs: number
}

interface TokenPorts extends IssuerPorts {
  readonly database: DatabaseSync
}

/** The ID tokens and access tokens of the issuers in the config file. */
export function openIssuers(trusted: readonly TrustedIssuer[], ports: TokenPorts): IssuedTokens {
  return new TokensOfIssuers(trusted, ports)
}

class TokensOfIssuers implements IssuedTokens {
  readonly #issuers: ReadonlyMap<string, TrustedIssuer & { readonly keys: Issuer }>
  readonly #users: IssuerUsers
  /** By the hash of the token. */
  readonly #verified = new Map<string, Verified>()

  constructor(
    trusted: readonly TrustedIssuer[],
    private readonly ports: TokenPorts
  ) {
    this.#issuers = new Map(trusted.map((one) => [one.issuer, { ...one, keys: new Issuer(one, ports) }]))
    this.#users = new IssuerUsers(ports.database, ports.clock)
  }

  covers(token: string): boolean {
    return token.length > MOST_CHARACTERS || SHAPE.test(token)
  }

  async admit(token: string): Promise<User> {
    if (token.length > MOST_CHARACTERS) throw refuse(`it is longer than ${MOST_CHARACTERS} characters`)
    const verified = this.#remembered(token) ?? (await this.#verify(token))
    const known = this.#subjectOf(verified)
    const id = await whenFree(() => this.#users.require(known), this.ports.clock)
    return userOf(id, known, verified)
  }

  find(token: string, admitted: User | undefined): User | undefined {
    // A request that began in time may end later; it has the role that it began with.
    if (admitted) return this.#users.has(admitted.id) ? admitted : undefined
    const verified = this.#remembered(token)
    if (!verified) return undefined
    const known = attempt(() => this.#subjectOf(verified))
    const id = known && this.#users.find(known)
    return id === undefined || known === undefined ? undefined : userOf(id, known, verified)
  }

  describe(id: number, issuer: string, claims: Claims): User | undefined {
    const known = attempt(() => this.#subjectOf({ issuer, claims }))
    return known && userOf(id, known, { claims })
  }

  #remembered(token: string): Verified | undefined {
    const found = this.#verified.get(keyOf(token))
    return found && this.ports.clock.now() < found.untilMs ? found : undefined
  }

  async #verify(token: string): Promise<Verified> {
    const named = attempt(() => decodeJwt(token).iss)
    if (typeof named !== 'string') throw refuse('it does not say who issued it (iss)')
    const issuer = this.#issuers.get(named)
    if (!issuer) throw refuse(`its issuer ${quote(named)} is not one that this service trusts`)
    const payload = await issuer.keys.verify(token).catch((thrown: unknown) => {
      throw thrown instanceof TokenError && thrown.statusCode === 401
        ? refuse(thrown.message, thrown.cause)
        : thrown
    })
    const untilMs = (payload.exp ?? 0) * 1000 + SLACK_MS
    const verified = { issuer: named, claims: plainClaims(payload), untilMs }
    this.#remember(token, verified)
    return verified
  }

  #remember(token: string, verified: Verified): void {
    const nowMs = this.ports.clock.now()
    if (this.#verified.size >= MOST_REMEMBERED)
      for (const [key, { untilMs }] of this.#verified) if (untilMs <= nowMs) this.#verified.delete(key)
    // The oldest one is checked again if it comes back.
    const [oldest] = this.#verified.keys()
    if (this.#verified.size >= MOST_REMEMBERED && oldest !== undefined) this.#verified.delete(oldest)
    this.#verified.set(keyOf(token), verified)
  }

  #subjectOf({ issuer, claims }: Pick<Verified, 'issuer' | 'claims'>): Subject {
    const trusted = this.#issuers.get(issuer)
    const rules = trusted?.allow ?? []
    const role = findRole(rules, claims)
    if (trusted === undefined || role === undefined)
      throw new TokenError(
        403,
        `no rule of this service lets in the token of ${issuer} with ${describeClaims(rules, claims)}; an admin can add one to oidc in the config file of the service`
      )
    const subject = claimOf(claims, trusted.userClaim) ?? ''
    const name = nameOf(trusted, subject)
    if (name === undefined)
      throw new TokenError(
        403,
        `the token of ${issuer} does not say whose it is: ${trusted.userClaim} must be ${trusted.name === undefined ? 'a repository, such as acme/shop,' : 'text'} of 1 to ${LONGEST_SUBJECT} characters; an admin can name another claim in user-claim of the config file of the service`
      )
    const project = isRepositoryClaim(trusted.userClaim) ? name : undefined
    return { issuer, subject, name, role, project }
  }
}

function userOf(id: number, { name, role, project }: Subject, { claims }: Pick<Verified, 'claims'>): User {
  return { id, name, role, claims, ...(project !== undefined && { project }) }
}

function refuse(why: string, cause?: unknown): TokenError {
  return new TokenError(401, `the token of an issuer is refused: ${why}`, { cause })
}

function keyOf(token: string): string {
  return Buffer.from(hashSecret(token)).toString('base64')
}
