import { basicAuthorization } from '../../client/http/http.js'
import type { GateInputs, SettingsSources } from './inputs.js'

/** What a step says to the service that it is: one of the two. */
export interface Credentials {
  /** The API token; empty if ID tokens are used. */
  readonly token: string
  readonly idToken?: IdTokenUse | undefined
}

export interface IdTokenUse {
  /** Whom they are for; undefined where somebody else has asked for them. */
  readonly audience: string | undefined
}

/** In place of an API token. */
const OIDC = 'oidc'

export function isOidc(token: string): boolean {
  return token.toLowerCase() === OIDC
}

export const NO_VARIABLE =
  "LOADGATE_TOKEN is not set; set it to the service's API token, or LOADGATE_ID_TOKEN_FILE to a file with an ID token"
const NO_SECRET =
  'is empty; set it to the API token, from a secret. Pull requests from forks get no secrets: set on-missing-token: skip to skip the gate there'
const NO_ID_TOKEN = `is oidc, but GitHub gives this job no ID token. Add to the job, beside its other permissions:
  permissions:
    id-token: write
  Pull requests from forks never get an ID token: set on-missing-token: skip to skip the gate there`

export const ID_TOKEN_FILE = 'LOADGATE_ID_TOKEN_FILE'
export const BOTH_VARIABLES = `LOADGATE_TOKEN and ${ID_TOKEN_FILE} are both set; remove one of the two`
export const OIDC_VARIABLE = `is oidc, which only the action understands; write the ID token into a file, set ${ID_TOKEN_FILE} to its path, and remove LOADGATE_TOKEN`

/** The sources that say what there is. */
type TokenSources = Pick<SettingsSources, 'environment' | 'offersIdTokens'>

/** Why the gate is skipped where `on-missing-token: skip` says so; undefined if there is a token. */
export function missingToken(
  inputs: GateInputs,
  { environment, offersIdTokens }: TokenSources
): string | undefined {
  const token = inputs.text('token')
  if (token === '' && environment?.idTokenFile === undefined)
    return 'no token was given (pull requests from forks get no secrets), and on-missing-token is skip'
  if (environment === undefined && isOidc(token) && offersIdTokens !== true)
    return 'GitHub gives this job no ID token (pull requests from forks get none, other jobs need `id-token: write` in their permissions), and on-missing-token is skip'
  return undefined
}

/** Of a gate that uses a service; the audience is the service's origin, if nothing else is given. */
export function readCredentials(inputs: GateInputs, sources: TokenSources, origin: string): Credentials {
  const token = inputs.text('token')
  const { environment } = sources
  if (environment !== undefined) return readVariables(inputs, token, environment)
  if (token === '') inputs.complain('token', NO_SECRET)
  return readGivenToken(inputs, token, { origin, offersIdTokens: sources.offersIdTokens === true })
}

function readVariables(
  inputs: GateInputs,
  token: string,
  { idTokenFile }: NonNullable<SettingsSources['environment']>
): Credentials {
  if (idTokenFile === undefined) {
    const problem = token === '' ? NO_VARIABLE : isOidc(token) ? OIDC_VARIABLE : tokenProblem(token)
    if (problem !== undefined) inputs.complain('token', problem)
    return { token }
  }
  if (token !== '') inputs.complain('token', BOTH_VARIABLES)
  if (idTokenFile.problem !== undefined) inputs.problems.push(`${ID_TOKEN_FILE}: ${idTokenFile.problem}`)
  return { token: '', idToken: { audience: undefined } }
}

/** What the inputs of a step say. */
export function readGivenToken(
  inputs: {
    text(name: 'oidc-audience'): string
    complain(name: 'token' | 'oidc-audience', problem: string): void
  },
  token: string,
  { origin, offersIdTokens }: { readonly origin: string; readonly offersIdTokens: boolean }
): Credentials {
  const audience = inputs.text('oidc-audience')
  if (isOidc(token)) {
    if (!offersIdTokens) inputs.complain('token', NO_ID_TOKEN)
    return { token: '', idToken: { audience: audience || origin } }
  }
  if (audience !== '')
    inputs.complain('oidc-audience', 'is for token: oidc only; set token to oidc, or remove oidc-audience')
  const problem = tokenProblem(token)
  if (problem !== undefined) inputs.complain('token', problem)
  return { token }
}

function tokenProblem(token: string): string | undefined {
  return /[\s:]/.test(token) ? 'must not contain whitespace or a colon' : undefined
}

/** The runner masks exact values only, so the encoded form in the Authorization header is masked as well. */
export function maskToken(ports: { mask(secret: string): void }, token: string): void {
  if (token === '' || isOidc(token)) return
  ports.mask(token)
  ports.mask(basicAuthorization(token).slice('Basic '.length))
}
