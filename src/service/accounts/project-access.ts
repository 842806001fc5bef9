import type { RunRecord } from '../../contract/records.js'
import type { ClaimsOfIssuer, ProjectConfig, ProjectUser } from '../config/config.js'
import { RequestError } from '../errors.js'
import { ownedOf, seesRun, type Visibility } from '../store/visibility.js'
import { claimOf, valuesOf } from './claims.js'
import { foldName, matchesPattern } from './name-patterns.js'
import type { Creator, User } from './users.js'

/** The projects of the config file and their users. Without them, everyone who is signed in sees everything. */
export class ProjectAccess {
  constructor(private readonly projects: ReadonlyMap<string, ProjectConfig> | undefined) {}

  visibilityOf(user: User): Visibility {
    if (this.projects === undefined || user.role === 'admin') return 'all'
    const own = [...this.projects].filter(([, { members, viewers }]) =>
      isOneOf(user, [...members, ...viewers])
    )
    return { userId: user.id, projects: own.map(([name]) => name) }
  }

  canSee(user: User, run: RunRecord): boolean {
    return seesRun(this.visibilityOf(user), run)
  }

  /** Whether everyone who sees one run sees the other one too, so that it may be named there. */
  isSeenAlike(run: RunRecord, other: RunRecord | undefined): boolean {
    if (this.projects === undefined) return true
    if (other === undefined) return false
    const [one, two] = [ownedOf(run), ownedOf(other)]
    const isSame = one.user?.id === two.user?.id && one.project === two.project
    return two.privacy === 'public' || (one.privacy === 'private' && isSame)
  }

  /** In a project of the config file, its members and admins create runs. */
  requireMayCreate(user: User, project: string | null): void {
    const listed = project === null ? undefined : this.projects?.get(project)
    if (listed === undefined || user.role === 'admin' || isOneOf(user, listed.members)) return
    throw new RequestError(
      403,
      `${user.name} is not a member of the project ${project ?? ''} and cannot create runs in it; whoever operates the service adds members in its config file (projects, ${project ?? ''}, members)`
    )
  }

  /** Who sees a run, for people. */
  describe({ request: { project, privacy } }: RunRecord): string {
    if (this.projects === undefined) return 'everyone who is signed in'
    if (privacy === 'public') return 'everyone who is signed in (public)'
    return project !== null && this.projects.has(project)
      ? `its creator, the users of the project ${project}, and admins (private)`
      : 'its creator and admins (private)'
  }
}

function isOneOf(user: User, entries: readonly ProjectUser[]): boolean {
  return entries.some((entry) => ('name' in entry ? hasName(user, entry.name) : hasClaims(user, entry)))
}

function hasClaims({ claims = {} }: User, entry: ClaimsOfIssuer): boolean {
  // Of people, nothing but single sign-on says anything.
  const issuer = claimOf(claims, 'iss')
  const isSaidByIt = issuer === undefined ? entry.isOfPeople : issuer === entry.issuer
  return (
    isSaidByIt &&
    entry.claims.every(([claim, pattern]) =>
      valuesOf(claims, claim).some((one) => matchesPattern(one, pattern))
    )
  )
}

/** What a name in the config file means. Of a user with a token, or of an issuer's tokens as they write it. People may choose their names at some providers: only their claims count. */
export function hasName({ name, claims }: Creator, pattern: string): boolean {
  if (claims === undefined) return matchesPattern(foldName(name), foldName(pattern))
  // No pattern without the name of an issuer is for the users of one that has a name.
  const isOfSameIssuer = prefixOf(name) === prefixOf(pattern)
  return claimOf(claims, 'iss') !== undefined && isOfSameIssuer && matchesPattern(name, pattern)
}

function prefixOf(name: string): string {
  return name.slice(0, name.indexOf(':') + 1)
}
