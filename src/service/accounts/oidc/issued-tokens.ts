import { decodeJwt } from 'jose'
import type { DatabaseSync } from 'node:sqlite'
import type { TrustedIssuer } from '../../config/config.js'
import { attempt } from '../../errors.js'
import { hashSecret } from '../../secrets.js'
import { whenFree } from '../../store/when-free.js'
import { claimOf, type Claims, type IssuedTokens, repositoryOf, TokenError, type User } from '../users.js'
import { Issuer, type IssuerPorts, SLACK_MS } from './issuer.js'
import { IssuerUsers, type Subject } from './issuer-users.js'
import { describeClaims, findRole, isForEveryone, plainClaims, quote } from './rules.js'

/** Longer ones are not even taken apart. */
const MOST_CHARACTERS = 16 * 1024
/** Tokens that were checked, so that one is not checked for each of its requests. */
const MOST_REMEMBERED = 1000
const LONGEST_SUBJECT = 255
/** Three parts, as no token of a user has them. */
const SHAPE = /^[\w-]+\.[\w-]+\.[\w-]*$/

/** A token that was signed by its issuer; whether it lets anybody in is for the rules. */
interface Verified {
  readonly issuer: string
  readonly claims: Claims
  readonly untilMs: number
}

/** The ID tokens and access tokens of the issuers in the config file. */
export function openIssuers(
  trusted: readonly TrustedIssuer[],
  ports: IssuerPorts & { readonly database: DatabaseSync }
): IssuedTokens {
  for (const { issuer, allow } of trusted)
    for (const rule of allow.filter(isForEveryone))
      ports.log(
        `oidc: a rule for ${issuer} lets in everyone who gets a token of it, as ${rule.role}: its patterns are only * and /`
      )
  return new TokensOfIssuers(trusted, ports)
}

class TokensOfIssuers implements IssuedTokens {
  readonly #issuers: ReadonlyMap<string, Issuer>
  readonly #rules: ReadonlyMap<string, TrustedIssuer['allow']>
  readonly #users: IssuerUsers
  /** By the hash of the token. */
  readonly #verified = new Map<string, Verified>()

  constructor(
    trusted: readonly TrustedIssuer[],
    private readonly ports: IssuerPorts & { readonly database: DatabaseSync }
  ) {
    this.#issuers = new Map(trusted.map((one) => [one.issuer, new Issuer(one, ports)]))
    this.#rules = new Map(trusted.map(({ issuer, allow }) => [issuer, allow]))
    this.#users = new IssuerUsers(ports.database, ports.clock)
  }

  covers(token: string): boolean {
    return token.length > MOST_CHARACTERS || SHAPE.test(token)
  }

  async admit(token: string): Promise<User> {
    if (token.length > MOST_CHARACTERS) throw refuse(`it is longer than ${MOST_CHARACTERS} characters`)
    const verified = this.#remembered(token) ?? (await this.#verify(token))
    const known = this.#subjectOf(verified)
    const { id, name } = await whenFree(() => this.#users.require(known), this.ports.clock)
    return { id, name, role: known.role, claims: verified.claims }
  }

  find(token: string, admitted: User | undefined): User | undefined {
    // A request that began in time may end later; it has the role that it began with.
    if (admitted) return this.#users.has(admitted.id) ? admitted : undefined
    const verified = this.#remembered(token)
    if (!verified) return undefined
    const known = attempt(() => this.#subjectOf(verified))
    const user = known && this.#users.find(known)
    return user && { id: user.id, name: user.name, role: known.role, claims: verified.claims }
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
    const payload = await issuer.verify(token).catch((thrown: unknown) => {
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

  #subjectOf({ issuer, claims }: Verified): Subject {
    const rules = this.#rules.get(issuer) ?? []
    const role = findRole(rules, claims)
    if (role === undefined)
      throw new TokenError(
        403,
        `no rule of this service lets in the token of ${issuer} with ${describeClaims(rules, claims)}; an admin can add one to oidc in the config file of the service`
      )
    const subject = repositoryOf(claims) ?? claimOf(claims, 'sub') ?? ''
    if (subject === '' || subject.length > LONGEST_SUBJECT || /\p{C}/u.test(subject))
      throw new TokenError(
        403,
        `the token of ${issuer} does not say whose it is: repository, project_path or sub must be text of 1 to ${LONGEST_SUBJECT} characters`
      )
    return { issuer, subject, role }
  }
}

function refuse(why: string, cause?: unknown): TokenError {
  return new TokenError(401, `the token of an issuer is refused: ${why}`, { cause })
}

function keyOf(token: string): string {
  return Buffer.from(hashSecret(token)).toString('base64')
}
