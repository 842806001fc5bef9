import { X509Certificate } from 'node:crypto'
import * as library from 'openid-client'
import type {
  AuthorizationResponseError,
  ClientAuth,
  Configuration,
  IDToken,
  ResponseBodyError,
  TokenEndpointResponse
} from 'openid-client'
import { shorten } from '../../../contract/text.js'
import { ConfigProblem, type LoginConfig, ROLES } from '../../config/config.js'
import { clauseOf } from '../../errors.js'
import type { SessionTerms } from '../sessions.js'
import { type Person, roleOfGroups } from './people.js'
import { createProviderFetch, readLoginFile } from './provider-fetch.js'

/** A sign-in that did not work out. The message is for the person. */
export class SignOnError extends Error {
  override name = 'SignOnError'
  constructor(
    readonly statusCode: number,
    message: string,
    /** For the log and the audit log: what exactly was wrong. */
    readonly reason: string,
    options?: { cause?: unknown }
  ) {
    super(message, options)
  }
}

/** What a browser keeps between leaving for the provider and coming back. */
export interface Attempt {
  readonly state: string
  readonly nonce: string
  /** Of PKCE: a code is worth nothing without it. */
  readonly verifier: string
}

export interface SignedOn {
  readonly person: Person
  readonly terms: Required<Pick<SessionTerms, 'latestMs' | 'groups'>>
}

/** How long the provider may take for each reply. */
const TIMEOUT_SEC = 10
/** As clocks differ. */
const SLACK_SEC = 60
const MOST_GROUPS = 1000

/** The provider of single sign-on. It is asked for its description when somebody signs in, and again after a failure. */
export class Provider {
  readonly #redirectUri: string
  #found: Promise<Configuration> | undefined

  constructor(
    private readonly config: LoginConfig,
    externalUrl: string
  ) {
    this.#redirectUri = `${externalUrl}/login/callback`
  }

  /** For people: the name of its host. */
  get host(): string {
    return new URL(this.config.issuer).host
  }

  /** Throws if a file that `login` names cannot be used, so that the service says so when it starts. */
  async requireFiles(): Promise<void> {
    await this.#readSecret()
    await this.#readAuthorities()
  }

  /** Where to send the browser, and what it has to bring back. */
  async begin(): Promise<{ url: string; attempt: Attempt }> {
    const provider = await this.#find()
    const attempt = {
      state: library.randomState(),
      nonce: library.randomNonce(),
      verifier: library.randomPKCECodeVerifier()
    }
    const { groupsClaim, maxAgeSec } = this.config
    // Some providers only list groups if they are asked to; others refuse what they do not know.
    const hasScope = provider.serverMetadata().scopes_supported?.includes(groupsClaim) ?? false
    const url = library.buildAuthorizationUrl(provider, {
      redirect_uri: this.#redirectUri,
      scope: ['openid', 'profile', 'email', ...(hasScope ? [groupsClaim] : [])].join(' '),
      ...{ state: attempt.state, nonce: attempt.nonce, code_challenge_method: 'S256' },
      code_challenge: await library.calculatePKCECodeChallenge(attempt.verifier),
      ...(maxAgeSec !== undefined && { max_age: String(maxAgeSec) })
    })
    return { url: url.href, attempt }
  }

  /** Who it is, from the query with which the provider sent the browser back. */
  async finish(query: string, attempt: Attempt): Promise<SignedOn> {
    const provider = await this.#find()
    const checks = {
      ...{ expectedState: attempt.state, expectedNonce: attempt.nonce, pkceCodeVerifier: attempt.verifier },
      idTokenExpected: true,
      ...(this.config.maxAgeSec !== undefined && { maxAge: this.config.maxAgeSec })
    }
    try {
      const url = new URL(`${this.#redirectUri}?${new URLSearchParams(query).toString()}`)
      const tokens = await library.authorizationCodeGrant(provider, url, checks)
      const claims = tokens.claims()
      if (claims === undefined) throw new Error('the provider sent no ID token')
      return this.#read(claims, tokens, await this.#complete(provider, claims, tokens))
    } catch (thrown) {
      if (thrown instanceof SignOnError) throw thrown
      // It may have moved, or have other keys.
      if (!isRefusal(thrown)) this.#found = undefined
      throw this.#explain(thrown)
    }
  }

  /** Where a browser ends its session with the provider; undefined if it cannot. */
  async endUrl(returnTo: string): Promise<string | undefined> {
    try {
      const provider = await this.#find()
      if (provider.serverMetadata().end_session_endpoint === undefined) return undefined
      return library.buildEndSessionUrl(provider, { post_logout_redirect_uri: returnTo }).href
    } catch {
      // The session here has ended all the same.
      return undefined
    }
  }

  async #find(): Promise<Configuration> {
    const found = (this.#found ??= this.#discover())
    try {
      return await found
    } catch (thrown) {
      if (this.#found === found) this.#found = undefined
      if (thrown instanceof SignOnError) throw thrown
      const reason = `the provider cannot be used: ${describe(thrown)}`
      throw new SignOnError(
        503,
        `Single sign-on at ${this.host} is not reachable now. Try again later, or log in with a token.`,
        reason,
        { cause: thrown }
      )
    }
  }

  async #discover(): Promise<Configuration> {
    const metadata = { [library.clockTolerance]: SLACK_SEC }
    // What a registration has unless it says otherwise; not every provider offers it.
    const authenticate = async (...[server, client, body, headers]: Parameters<ClientAuth>) => {
      const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
      const use = methods.includes('client_secret_basic')
        ? library.ClientSecretBasic
        : library.ClientSecretPost
      // Read for each sign-in: a secret is replaced while the service runs.
      use(await this.#readSecret())(server, client, body, headers)
    }
    const { issuer, clientId } = this.config
    // The library waits for it, which its types do not say.
    // eslint-disable-next-line @typescript-eslint/no-misused-promises
    const found = await library.discovery(new URL(issuer), clientId, metadata, authenticate, {
      [library.customFetch]: createProviderFetch(() => this.#readAuthorities()),
      timeout: TIMEOUT_SEC,
      // The ID token comes straight from the provider; its signature is checked all the same.
      execute: [library.enableNonRepudiationChecks]
    })
    this.#requireSame(found.serverMetadata().issuer)
    return found
  }

  /** To the last character, as people are known by it; the library accepts another slash at its end. */
  #requireSame(written: string): void {
    const { issuer } = this.config
    if (written === issuer) return
    const reason = `login.issuer in the config file is ${issuer}, and the provider calls itself ${shorten(written, LONGEST_REASON)}`
    throw new SignOnError(
      503,
      `Single sign-on cannot be used: ${reason}. An admin of this service writes it as the provider does. Until then, log in with a token.`,
      reason
    )
  }

  #readSecret(): Promise<string> {
    return readLoginFile(this.config.clientSecretFile, 'client-secret-file')
  }

  async #readAuthorities(): Promise<string | undefined> {
    const { caFile } = this.config
    if (caFile === undefined) return undefined
    const ca = await readLoginFile(caFile, 'ca')
    try {
      new X509Certificate(ca)
    } catch (thrown) {
      throw new ConfigProblem(`login.ca: ${caFile} is not a certificate in PEM format: ${clauseOf(thrown)}`, {
        cause: thrown
      })
    }
    return ca
  }

  /** Not every provider puts the groups, or a name, into the ID token. */
  async #complete(provider: Configuration, claims: IDToken, tokens: TokenEndpointResponse): Promise<Claims> {
    const isComplete = claims[this.config.groupsClaim] !== undefined
    if (isComplete || provider.serverMetadata().userinfo_endpoint === undefined) return claims
    return { ...(await library.fetchUserInfo(provider, tokens.access_token, claims.sub)), ...claims }
  }

  #read(token: IDToken, tokens: TokenEndpointResponse, claims: Claims): SignedOn {
    const { groupsClaim } = this.config
    const named = [claims[groupsClaim]].flat().filter(isName)
    const ofRoles = ROLES.flatMap((one) => this.config.groups[one])
    // Those that give a role are kept, however many there are.
    const known = named.filter((one) => ofRoles.includes(one))
    const groups = { [groupsClaim]: [...new Set([...known, ...named])].slice(0, MOST_GROUPS) }
    const name = [claims.preferred_username, claims.email].find(isName) ?? token.sub
    const role = roleOfGroups(this.config, groups)
    if (role === undefined)
      throw new SignOnError(
        403,
        `${shorten(name, 100)} is signed in at ${this.host}, but is in none of the groups that may use this service: ${ofRoles.join(', ')}. Ask whoever manages the groups, or an admin of this service, to add you to one of them, and sign in again.`,
        `${shorten(name, 100)} is in none of the groups`
      )
    const { iss: issuer, sub: subject } = token
    const latestMs = latestOf(token, tokens, this.config.maxAgeSec)
    return { person: { issuer, subject, name, role }, terms: { latestMs, groups } }
  }

  #explain(thrown: unknown): SignOnError {
    const options = { cause: thrown }
    if (isRefusal(thrown)) {
      const said = describeRefusal(thrown)
      return new SignOnError(
        403,
        thrown.error === 'access_denied'
          ? `The sign-in at ${this.host} was cancelled or refused: ${said}. Sign in again, or ask whoever manages ${this.host}.`
          : `${this.host} could not sign you in: ${said}. Try again; if it stays, ask an admin of this service.`,
        `the provider answered ${said}`,
        options
      )
    }
    return new SignOnError(
      502,
      `The sign-in at ${this.host} could not be completed. Sign in again; if it stays, ask an admin of this service, whose log says why.`,
      `the sign-in could not be completed: ${describe(thrown)}`,
      options
    )
  }
}

type Claims = Readonly<Record<string, unknown>> & Pick<IDToken, 'sub'>

/** A session here ends no later than that of the provider, as far as the provider says when that is. */
function latestOf(token: IDToken, tokens: TokenEndpointResponse, maxAgeSec: number | undefined): number {
  if (maxAgeSec !== undefined && token.auth_time !== undefined) return (token.auth_time + maxAgeSec) * 1000
  const { refresh_expires_in: lastsSec } = tokens
  const isStated = typeof lastsSec === 'number' && Number.isFinite(lastsSec) && lastsSec > 0
  return (isStated ? token.iat + lastsSec : token.exp) * 1000
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '' && value.length <= 255
}

const LONGEST_REASON = 200

/** The provider is as it was, and does not accept this sign-in: it said so to the browser, or of the code. */
function isRefusal(thrown: unknown): thrown is AuthorizationResponseError | ResponseBodyError {
  if (thrown instanceof library.ResponseBodyError) return thrown.error === 'invalid_grant'
  return thrown instanceof library.AuthorizationResponseError
}

/** The provider's own words, which may be anything. */
function describeRefusal({ error, error_description: words }: { error: string; error_description?: string }) {
  return shorten(words === undefined || words === '' ? error : `${error} (${words})`, LONGEST_REASON)
}

/** Of what caused it, only what the system says: the others quote replies, which may hold tokens. */
function describe(thrown: unknown): string {
  const { code, error, cause } = thrown as Record<'code' | 'error' | 'cause', unknown>
  for (const one of [thrown, cause]) if (one instanceof ConfigProblem) return one.message
  if (typeof error === 'string') return describeRefusal(thrown as Parameters<typeof describeRefusal>[0])
  const inner = (cause ?? {}) as Record<'code' | 'message', unknown>
  const isOfSystem = typeof inner.code === 'string' && typeof inner.message === 'string'
  if (inner.code === 'ABORT_ERR') return `it did not answer within ${TIMEOUT_SEC} seconds`
  if (isOfSystem) return shorten(`${inner.message as string} (${inner.code as string})`, LONGEST_REASON)
  return shorten(`${clauseOf(thrown)}${typeof code === 'string' ? ` (${code})` : ''}`, LONGEST_REASON)
}
