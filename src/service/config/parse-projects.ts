import { listOf, type Note, readMap, readText, within } from '../../contract/regions/read-parts.js'
import { PROJECT_NAME, PROJECT_NAME_WORDS } from '../../contract/vocabulary.js'
import type { ClaimsOfIssuer, ProjectConfig, ProjectUser, ServiceConfig } from './config.js'
import { Keys } from './keys.js'

export const PROJECT_KEYS = {
  members:
    'Users who see the runs of the project and create runs in it: names, in which `*` stands for any characters but `/`, or maps of claims that one issuer says of them: that of `iss`, else that of `login` if there are only `groups` and `sub`, else the first of `oidc`.',
  viewers: 'Users who see the runs of the project.'
} as const

/** Who can say something of users. */
export type Issuers = Readonly<Partial<Pick<ServiceConfig, 'login' | 'oidc'>>>

/** A map from the names of projects to their users. An empty one is a choice: then nobody but its creator and admins sees a private run. */
export function readProjects(
  value: unknown,
  note: Note,
  issuers: Issuers
): ReadonlyMap<string, ProjectConfig> | undefined {
  const given = readByProject(value, note)
  return (
    given &&
    new Map([...given].map(([name, users]) => [name, readProject(users, within(note, name), issuers)]))
  )
}

/** What there is for each project; no run can be in one with another name. */
export function readByProject(value: unknown, note: Note): Map<string, unknown> | undefined {
  const given = readMap(value, note)
  for (const name of given?.keys() ?? []) {
    const shown = `"${name.replace(/[^\x21-\x7e]/g, '?')}"`
    if (!PROJECT_NAME.test(name))
      note(`${shown} cannot be the name of a project: it must be ${PROJECT_NAME_WORDS}`)
    // It could be one; but whoever writes it means many.
    else if (name.includes('*'))
      note(
        `${shown} would be one project of just this name: name each project, as patterns are for users only`
      )
  }
  return given
}

function readProject(value: unknown, note: Note, issuers: Issuers): ProjectConfig {
  const keys = new Keys(value, PROJECT_KEYS, note)
  const readUsers = listOf((user, noteIt) => readUser(user, noteIt, issuers))
  return { members: keys.take('members', readUsers) ?? [], viewers: keys.take('viewers', readUsers) ?? [] }
}

function readUser(value: unknown, note: Note, issuers: Issuers): ProjectUser | undefined {
  if (typeof value !== 'object' || value === null) {
    const name = readText(value, note)
    if (name !== undefined) requireKnownPrefix(name, note, issuers)
    return name === undefined ? undefined : { name }
  }
  const given = readMap(value, note)
  if (given === undefined) return undefined
  if ([...given.keys()].every((claim) => claim === 'iss'))
    note('has no claim and would be everyone; add one, such as { repository: acme/shop } or { groups: perf }')
  const claims = [...given].flatMap(([claim, pattern]) => {
    const text = readText(pattern, within(note, claim))
    return text === undefined ? [] : [[claim, text] as const]
  })
  return claims.length === 0 ? undefined : claimsOfIssuer(new Map(claims), note, issuers)
}

/** Users of an issuer that has a name have it in front of theirs, to the letter, and nobody else has a colon there. */
function requireKnownPrefix(name: string, note: Note, { oidc = [] }: Issuers): void {
  const [prefix, rest] = name.split(':', 2)
  if (rest !== undefined && !oidc.some((one) => one.name === prefix))
    note(`${JSON.stringify(name)} is nobody: no issuer of oidc has the name ${JSON.stringify(prefix)}`)
}

/**
 * A claim means nothing without who says it. Unless `iss` names them, groups and subjects are those of people, if people can sign in, and all
 * else is said by the first issuer of `oidc`.
 */
function claimsOfIssuer(
  given: ReadonlyMap<string, string>,
  note: Note,
  { login, oidc = [] }: Issuers
): ClaimsOfIssuer {
  const isOfPerson = [...given.keys()].every((claim) => claim === 'groups' || claim === 'sub')
  const issuer = given.get('iss') ?? (login && isOfPerson ? login.issuer : oidc[0]?.issuer)
  const known = [login, ...oidc].flatMap((one) => one?.issuer ?? [])
  if (given.has('iss') && !known.includes(issuer ?? ''))
    note(`iss: ${JSON.stringify(issuer)} is not an issuer of login or oidc, exactly as it is written there`)
  if (issuer === undefined) note('is nobody: claims are what an issuer says, and there is none (oidc, login)')
  const isOfPeople = login !== undefined && issuer === login.issuer
  const claims = [...given].flatMap(([claim, pattern]) =>
    claim === 'iss' ? [] : [[isOfPeople && claim === 'groups' ? login.groupsClaim : claim, pattern] as const]
  )
  return { issuer, isOfPeople, claims }
}
