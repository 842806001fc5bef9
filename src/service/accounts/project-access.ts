import type { RunRecord } from '../../contract/records.js'
import type { ProjectConfig, ProjectUser } from '../config/config.js'
import { RequestError } from '../errors.js'
import { ownedOf, seesRun, type Visibility } from '../store/visibility.js'
import { foldName, matchesPattern } from './name-patterns.js'
import type { User } from './users.js'

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
  return entries.some((entry) =>
    'name' in entry
      ? matchesPattern(foldName(user.name), foldName(entry.name))
      : entry.claims.every(([claim, pattern]) =>
          valuesOf(user, claim).some((one) => matchesPattern(one, pattern))
        )
  )
}

/** A claim such as `groups` has several values. */
function valuesOf({ claims = {} }: User, name: string): readonly string[] {
  const value = Object.hasOwn(claims, name) ? claims[name] : undefined
  return value === undefined ? [] : [value].flat()
}
