import { listOf, matching, type Note, readMap, readText, within } from '../../contract/regions/read-parts.js'
import { parseChoice, type Parsed, showAddress } from '../../contract/setting-values.js'
import { suggestName } from '../../contract/nearest.js'
import { isOnLoopback } from '../addresses.js'
import { type AllowRule, ROLES, type TrustedIssuer } from './config.js'
import { Keys, parsing, type Read } from './keys.js'

export const OIDC_KEYS = {
  issuer:
    'Address of the issuer, exactly as in the claim `iss` of its tokens. Its keys are found by its discovery document.',
  name: 'What its users are called by: with `gitlab` they are `gitlab:acme/shop`. All issuers but the first need one, each its own, and the first one too if its users are not repositories.',
  'user-claim':
    'The claim that is the user. Default: `repository` for GitHub, `project_path` for GitLab (a host that is gitlab.com or begins with `gitlab.`), `sub` for others.',
  audience: 'The claim `aud` of its tokens for this service, such as the address of the service.',
  ca: 'File with the certificates, in PEM format, that the https of the issuer is checked with, in place of those that the machine trusts.',
  allow:
    'Who is let in, and as what: each element has the role, and claims with their values. All claims of an element must match; of several that match, the highest role counts. `*` stands for any characters but `/`.'
} as const
const REQUIRED: readonly (keyof typeof OIDC_KEYS)[] = ['issuer', 'audience', 'allow']

/** Everyone's tokens have them, so that a rule with nothing else would let everyone in. */
export const CHECKED_CLAIMS = ['iss', 'aud'] as const

export function readOidc(value: unknown, note: Note, readPath: Read<string>): readonly TrustedIssuer[] {
  const issuers = listOf((given, noteIt) => readIssuer(given, noteIt, readPath))(value, note) ?? []
  if (Array.isArray(value) && value.length === 0) note('is an empty list; name at least one issuer')
  const names = issuers.map(({ issuer }) => issuer)
  for (const name of repeatedOf(names))
    note(`the issuer ${name} is there twice; write all of its rules in the allow of one element`)
  for (const name of repeatedOf(issuers.flatMap((one) => one.name ?? [])))
    note(`the name ${name} is there twice; users of two issuers must not have the same names`)
  for (const [at, { name, issuer, userClaim }] of issuers.entries())
    if (name === undefined && (at > 0 || !isRepositoryClaim(userClaim)))
      note(
        `${issuer} needs a name, such as name: ci: its users are called ci:<${userClaim}> then; only repositories of the first issuer go without`
      )
  return issuers
}

function repeatedOf(texts: readonly string[]): readonly string[] {
  return [...new Set(texts.filter((one, at) => texts.indexOf(one) !== at))]
}

/** Whose value is a repository, and so the project of its runs, too. */
export function isRepositoryClaim(claim: string): boolean {
  return claim === 'repository' || claim === 'project_path'
}

/** By what tokens say of these issuers, wherever they run. */
function userClaimOf(issuer: string): string {
  const { hostname, pathname } = new URL(issuer)
  // GitHub Enterprise Server, and Enterprise Cloud with data residency.
  const isGitHub = /^token\.actions\.(githubusercontent\.com|[\w-]+\.ghe\.com)$/.test(hostname)
  if (isGitHub || pathname === '/_services/token') return 'repository'
  return hostname.startsWith('gitlab.') ? 'project_path' : 'sub'
}

/** Colons end it, and slashes are in the names of repositories. */
const readName = matching(
  (text) => /^[a-z][a-z0-9-]{0,31}$/.test(text),
  'a name of 1 to 32 lower-case letters, digits and -, such as gitlab'
)

function readIssuer(value: unknown, note: Note, readPath: Read<string>): TrustedIssuer | undefined {
  const keys = new Keys(value, OIDC_KEYS, note, REQUIRED)
  const issuer = keys.take('issuer', parsing(parseIssuer))
  const name = keys.take('name', readName)
  const userClaim = keys.take('user-claim', readText)
  const audience = keys.take('audience', readText)
  const ca = keys.take('ca', readPath)
  const isPublic = issuer !== undefined && PUBLIC_ISSUERS.includes(issuer)
  const allow = keys.take('allow', (given, noteIt) => readRules(given, noteIt, isPublic))
  if (issuer === undefined || audience === undefined || allow === undefined) return undefined
  if (name === undefined && keys.has('name')) return undefined
  return {
    ...{ issuer, ...(name !== undefined && { name }), userClaim: userClaim ?? userClaimOf(issuer) },
    ...{ audience, ...(ca !== undefined && { ca }), allow }
  }
}

/** As written: it is compared with what tokens say, to the last character. */
function parseIssuer(text: string): Parsed<string> {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isPlain = url?.username === '' && url.password === '' && !/[?#\s]/.test(text)
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isOnLoopback(url))
  if (isPlain && isSafe) return { ok: true, value: text }
  return {
    ok: false,
    accepted:
      'an https address without user name and query, such as https://token.actions.githubusercontent.com',
    shown: showAddress(text)
  }
}

/** Anybody in the world gets tokens of theirs. */
const PUBLIC_ISSUERS = ['https://token.actions.githubusercontent.com', 'https://gitlab.com']
/** Claims that say whose a token is, by what is before their first slash. Not `sub`: each repository chooses what its own says. */
const OWNER_CLAIMS = [
  ...['repository', 'repository_id', 'repository_owner', 'repository_owner_id', 'workflow_ref'],
  ...['enterprise', 'enterprise_id', 'project_path', 'project_id', 'namespace_path', 'namespace_id'],
  ...['user_login', 'user_id']
]

function namesOwner({ claims }: AllowRule): boolean {
  return claims.some(([name, pattern]) => OWNER_CLAIMS.includes(name) && /^[^*/]+(?:\/|$)/.test(pattern))
}

function readRules(value: unknown, note: Note, isPublic: boolean): readonly AllowRule[] {
  if (Array.isArray(value) && value.length === 0)
    note('is an empty list; without a rule nobody is let in, so remove the issuer or add a rule')
  return listOf((given, noteIt) => readRule(given, noteIt, isPublic))(value, note) ?? []
}

function readRule(value: unknown, note: Note, isPublic: boolean): AllowRule | undefined {
  const given = readMap(value, note)
  if (given === undefined) return undefined
  const { role: givenRole, ...others } = Object.fromEntries(given)
  const names = Object.keys(others)
  const role = given.has('role')
    ? parsing((text) => parseChoice(text, ROLES))(givenRole, within(note, 'role'))
    : undefined
  if (!given.has('role')) note(`role is missing: ${ROLES.join(', ')}${describeMeant(names)}`)
  if (names.length === 0)
    note(
      'has no claim and would let in everyone who has a token of this issuer; add one, such as repository: acme/*'
    )
  for (const name of CHECKED_CLAIMS.filter((one) => names.includes(one)))
    note(`${name} is the same in all tokens and is checked already; use a claim that says who it is`)
  const claims = Object.entries(others).flatMap(([name, pattern]) => {
    const text = readText(pattern, within(note, name))
    return text === undefined ? [] : [[name, text] as const]
  })
  if (role === undefined || claims.length === 0) return undefined
  const rule = { role, claims }
  if (!isPublic || namesOwner(rule)) return rule
  note(
    'lets in strangers, as everybody gets tokens of this issuer; say whose, without * before the first slash, such as repository: acme/* or repository_owner_id: 12345'
  )
  return undefined
}

/** Any other key is a claim, a misspelt `role` too. */
function describeMeant(names: readonly string[]): string {
  const meant = names.find((name) => suggestName(name, ['role']) !== undefined)
  return meant === undefined ? '' : `; did you mean role where it says ${meant}?`
}
