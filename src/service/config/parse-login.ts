import { type Note, readList, readText } from '../../contract/regions/read-parts.js'
import { parseDurationSeconds, type Parsed, showAddress } from '../../contract/setting-values.js'
import type { LoginConfig } from './config.js'
import { Keys, parsing, type Read } from './keys.js'

export const LOGIN_KEYS = {
  issuer:
    'Address of the OpenID Connect provider, such as `https://id.example.com/realms/acme`; `/.well-known/openid-configuration` below it describes it.',
  'client-id': 'The name under which the service is registered with the provider.',
  'client-secret-file': 'File with the secret of that registration. It is read again when somebody signs in.',
  admins: 'Groups whose members are admins.',
  members: 'Groups whose members have the role `member`.',
  viewers: 'Groups whose members have the role `viewer`. Whoever is in none of the groups is refused.',
  'groups-claim': 'The claim in which the provider lists the groups of a person.',
  'max-age':
    'A session ends so long after the person signed in at the provider, such as `10h`; the provider asks for the password again by then. Default: when the provider says that its own session or token ends.',
  ca: 'File with the certificates of the authorities that signed the certificate of the provider, in PEM format. Default: those that Node knows.'
} as const
export const REQUIRED_LOGIN_KEYS = ['issuer', 'client-id', 'client-secret-file'] as const
export const GROUP_KEYS = ['admins', 'members', 'viewers'] as const
export const DEFAULT_GROUPS_CLAIM = 'groups'
/** Shorter ones would end while a page is being read. */
export const LEAST_MAX_AGE_SEC = 300

export function readLogin(value: unknown, note: Note, readPath: Read<string>): LoginConfig | undefined {
  const keys = new Keys(value, LOGIN_KEYS, note, REQUIRED_LOGIN_KEYS)
  const issuer = keys.take('issuer', parsing(parseIssuer))
  const clientId = keys.take('client-id', readText)
  const clientSecretFile = keys.take('client-secret-file', readPath)
  const [admin = [], member = [], viewer = []] = GROUP_KEYS.map((key) => keys.take(key, readGroups))
  if (!GROUP_KEYS.some((key) => keys.has(key)))
    note('must have admins, members or viewers: the groups that may use the service')
  const groupsClaim = keys.has('groups-claim') ? keys.take('groups-claim', readText) : DEFAULT_GROUPS_CLAIM
  const maxAgeSec = keys.take(
    'max-age',
    parsing((text) => parseDurationSeconds(text, LEAST_MAX_AGE_SEC))
  )
  const caFile = keys.take('ca', readPath)
  if (issuer === undefined || clientId === undefined || clientSecretFile === undefined) return undefined
  if (groupsClaim === undefined) return undefined
  return {
    ...{ issuer, clientId, clientSecretFile, groupsClaim, maxAgeSec, caFile },
    groups: { admin, member, viewer }
  }
}

/** Exactly as the provider writes it: issuers are compared as text, with or without a slash at the end. */
function parseIssuer(text: string): Parsed<string> {
  const isPlain = /^https:\/\/[^/\s?#@]+(\/[^\s?#]*)?$/i.test(text) && URL.canParse(text)
  if (isPlain && !text.includes('/.well-known/')) return { ok: true, value: text }
  return {
    ok: false,
    accepted: 'an https address without user name and query, such as https://id.example.com',
    shown: showAddress(text)
  }
}

function readGroups(value: unknown, note: Note): readonly string[] {
  const groups = readList(value, note)
  if (Array.isArray(value) && groups.length === 0) note('is an empty list; name at least one group')
  return groups.flatMap(
    (element, index) => readText(element, (problem) => note(`element ${index + 1}: ${problem}`)) ?? []
  )
}
