import { listOf, type Note, readMap, readText, within } from '../../contract/regions/read-parts.js'
import { parseChoice, type Parsed } from '../../contract/setting-values.js'
import { suggestName } from '../../contract/nearest.js'
import { isOnLoopback } from '../addresses.js'
import { type AllowRule, ROLES, type TrustedIssuer } from './config.js'
import { Keys, parsing, type Read } from './keys.js'

export const OIDC_KEYS = {
  issuer:
    'Address of the issuer, exactly as in the claim `iss` of its tokens. Its keys are found by its discovery document.',
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
  for (const name of new Set(names.filter((one, at) => names.indexOf(one) !== at)))
    note(`the issuer ${name} is there twice; write all of its rules in the allow of one element`)
  return issuers
}

function readIssuer(value: unknown, note: Note, readPath: Read<string>): TrustedIssuer | undefined {
  const keys = new Keys(value, OIDC_KEYS, note, REQUIRED)
  const issuer = keys.take('issuer', parsing(parseIssuer))
  const audience = keys.take('audience', readText)
  const ca = keys.take('ca', readPath)
  const allow = keys.take('allow', readRules)
  if (issuer === undefined || audience === undefined || allow === undefined) return undefined
  return { issuer, audience, ...(ca !== undefined && { ca }), allow }
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
    ...(text.includes('@') && { shown: text.replace(/\/\/.*@/, '//…@') })
  }
}

function readRules(value: unknown, note: Note): readonly AllowRule[] {
  if (Array.isArray(value) && value.length === 0)
    note('is an empty list; without a rule nobody is let in, so remove the issuer or add a rule')
  return listOf(readRule)(value, note) ?? []
}

function readRule(value: unknown, note: Note): AllowRule | undefined {
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
  return role === undefined || claims.length === 0 ? undefined : { role, claims }
}

/** Any other key is a claim, a misspelt `role` too. */
function describeMeant(names: readonly string[]): string {
  const meant = names.find((name) => suggestName(name, ['role']) !== undefined)
  return meant === undefined ? '' : `; did you mean role where it says ${meant}?`
}
