import type { GridRecord, RunRecord } from '../../../src/contract/records.js'
import type { User } from '../../../src/service/accounts/users.js'
import { ROLES } from '../../../src/service/config/config.js'
import { parseConfig } from '../../../src/service/config/parse-config.js'
import { makeRandom } from '../../support/data/seeded-random.js'
import { makeGrid, makeRun } from '../store/records.js'

type Entry = string | Readonly<Record<string, string>>
type Listed = Readonly<
  Record<string, { readonly members?: readonly Entry[]; readonly viewers?: readonly Entry[] }>
>

/** Some users, the projects of the config file if there are any, and runs with their grids. */
export interface World {
  readonly users: readonly User[]
  readonly listed: Listed | undefined
  /** Whether the config file has issuers, and single sign-on: without that, groups are claims of tokens, too. */
  readonly signsOn: boolean
  /** The same, read from the text of a config file. */
  readonly projects: NonNullable<ReturnType<typeof parseConfig>['config']>['projects']
  readonly runs: readonly RunRecord[]
  /** One of each run, and a few without a run. */
  readonly grids: readonly GridRecord[]
}

const GITHUB = 'https://token.actions.githubusercontent.com'
const GITLAB = 'https://gitlab.example.com'
const LOGIN = 'https://id.example.com'
/** The issuers of the worlds, of which the first one and `login` have what an entry does not say. */
const ISSUERS = {
  oidc: [
    { issuer: GITHUB, audience: 'x', allow: [{ repository: 'acme/*', role: 'member' }] },
    { issuer: GITLAB, name: 'gitlab', audience: 'x', allow: [{ project_path: '*/*', role: 'member' }] }
  ],
  'external-url': 'https://load.example.com',
  login: {
    ...{ issuer: LOGIN, 'client-id': 'x', 'client-secret-file': 'x', members: ['perf'] },
    'groups-claim': 'teams'
  }
}
/** Users with a token, of issuers (one of them has a name), and people of single sign-on, who may have chosen their names. */
const PEOPLE: readonly Pick<User, 'name' | 'claims'>[] = [
  { name: 'ann' },
  { name: 'Bob' },
  { name: 'acme/shop', claims: { iss: GITHUB, repository: 'acme/shop', environment: 'production' } },
  { name: 'acme/site', claims: { iss: GITHUB, repository: 'acme/site' } },
  {
    name: 'acme-evil/shop',
    claims: { iss: GITHUB, repository: 'acme-evil/shop', environment: 'production' }
  },
  {
    name: 'gitlab:acme/shop',
    claims: { iss: GITLAB, project_path: 'acme/shop', repository: 'acme/shop', environment: 'production' }
  },
  { name: 'gitlab:evil/evil', claims: { iss: GITLAB, groups: 'perf', teams: 'perf', sub: 'd1' } },
  { name: 'acme/fork', claims: { iss: GITHUB, groups: 'perf', teams: 'perf', sub: 'd1' } },
  { name: 'anna', claims: { sub: 'a1', teams: ['perf', 'ops'] } },
  { name: 'dee@example.com', claims: { teams: ['performers'], groups: ['perf'], sub: 'd1' } }
]
const ENTRIES: readonly Entry[] = [
  ...['ann', 'BOB', 'an*', '*', 'acme/*', 'acme/sh*p', 'ACME/sh*p', '*/shop', 'a*e/*o*', 'nobody', 'acme'],
  ...['gitlab:acme/*', 'gitlab:*/shop', 'gitlab:*'],
  ...[
    { repository: 'acme/shop' },
    { repository: 'acme/*', environment: 'production' },
    { repository: 'Acme/shop' }
  ],
  ...[{ groups: 'perf' }, { groups: 'p*' }, { groups: 'perf*', repository: 'acme/*' }, { constructor: '*' }],
  ...[{ sub: 'd1' }, { sub: '*', groups: 'perf*' }, { teams: 'perf' }, { iss: LOGIN, groups: 'perf' }],
  ...[
    { iss: GITLAB, repository: 'acme/*' },
    { iss: GITLAB, sub: 'd1' },
    { iss: GITHUB, groups: 'perf' }
  ]
]
const LISTED = ['shop', 'site', 'acme/shop']
const PROJECTS = [...LISTED, 'Shop', 'unlisted', null]

/** The same world for the same seed. Ids and names of runs and grids begin with their marks. */
export function makeWorld(seed: number, { runs: count = 12 } = {}): World {
  const random = makeRandom(seed)
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)]!
  const some = <T>(values: readonly T[], share: number): T[] => values.filter(() => random() < share)
  const users = PEOPLE.map((person, at) => ({
    ...person,
    id: at + 1,
    role: pick([...ROLES, 'member'] as const)
  }))
  const signsOn = random() < 0.8
  const { oidc, ...login } = ISSUERS
  const entries = ENTRIES.filter((entry) => signsOn || typeof entry === 'string' || entry.iss !== LOGIN)
  const issuers = { oidc, ...(signsOn && login) }
  const listed =
    random() < 0.1
      ? undefined
      : Object.fromEntries(
          some(LISTED, 0.7).map((name) => [
            name,
            { members: some(entries, 0.1), viewers: some(entries, 0.06) }
          ])
        )
  const file = JSON.stringify({
    listen: '127.0.0.1:0',
    data: 'd',
    ...issuers,
    ...(listed && { projects: listed })
  })
  const { config, problems } = parseConfig(file, '/')
  if (!config) throw new Error(problems.join('\n'))
  const grids: GridRecord[] = []
  const runs = Array.from({ length: count }, (_, at): RunRecord => {
    const creator = random() < 0.9 ? pick(users) : undefined
    const user = creator && { user: { id: creator.id, name: creator.name } }
    const request = {
      project: pick(PROJECTS),
      privacy: random() < 0.25 ? ('public' as const) : ('private' as const)
    }
    const mark = markOf(seed, at)
    const run = makeRun({
      ...{
        id: `${mark}id`,
        batchId: `${mark}batch`,
        gridIds: [`${mark}grid`],
        sequence: at + 1,
        createdMs: at + 1
      },
      ...{ status: random() < 0.8 ? 'finished' : 'problem', startedMs: at, stoppedMs: at + 1, ...user },
      request: { ...request, name: `${mark}name`, tags: [pick(['slow', 'nightly'])] }
    })
    grids.push(
      makeGrid({ id: `${mark}grid`, batchId: run.batchId, status: 'stopped', createdFor: request, ...user })
    )
    return run
  })
  for (const at of [0, 1]) {
    const { id, name } = pick(users)
    grids.push(makeGrid({ id: `${markOf(seed, count + at)}alone`, status: 'stopped', user: { id, name } }))
  }
  return { users, listed, signsOn, projects: config.projects, runs, grids }
}

/** Nothing else has it. */
export function markOf(seed: number, at: number): string {
  return `q${seed}z${at}x`
}

type Owned = Pick<RunRecord | GridRecord, 'user'>

/** The rule, written down a second time. */
export function maySee({ listed, signsOn }: World, user: User, run: RunRecord | GridRecord): boolean {
  const { project, privacy } =
    'request' in run ? run.request : (run.createdFor ?? { project: null, privacy: 'private' })
  if (listed === undefined || user.role === 'admin' || privacy === 'public') return true
  if ((run as Owned).user?.id === user.id) return true
  const { members = [], viewers = [] } = (project === null ? undefined : listed[project]) ?? {}
  return [...members, ...viewers].some((entry) => isUser(entry, user, signsOn))
}

export function mayCreate({ listed, signsOn }: World, user: User, project: string): boolean {
  if (user.role === 'viewer') return false
  const members = listed?.[project]?.members ?? (listed?.[project] ? [] : undefined)
  return (
    members === undefined || user.role === 'admin' || members.some((entry) => isUser(entry, user, signsOn))
  )
}

function isUser(entry: Entry, { name, claims = {} }: User, signsOn: boolean): boolean {
  if (typeof entry === 'string') {
    const ofIssuer = claims.iss !== undefined
    if (!ofIssuer) return Object.keys(claims).length === 0 && expressionOf(entry, 'i').test(name)
    return entry.startsWith('gitlab:') === (claims.iss === GITLAB) && expressionOf(entry, '').test(name)
  }
  const { iss, ...said } = entry
  const keys = Object.keys(said).join()
  const isOfPeople = signsOn && ['groups', 'sub', 'sub,groups', 'groups,sub'].includes(keys)
  const issuer = iss ?? (isOfPeople ? LOGIN : GITHUB)
  if (issuer !== (claims.iss ?? LOGIN)) return false
  return Object.entries(said).every(([key, pattern]) => {
    const named = issuer === LOGIN && key === 'groups' ? 'teams' : key
    const value = Object.entries(claims).find(([claim]) => claim === named)?.[1] ?? []
    return [value].flat().some((one) => expressionOf(pattern, '').test(one))
  })
}

function expressionOf(pattern: string, flags: string): RegExp {
  return new RegExp(`^${pattern.replace(/[.+@]/g, '\\$&').replaceAll('*', '[^/]*')}$`, flags)
}
