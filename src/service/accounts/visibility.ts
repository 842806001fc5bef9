import type { GridRecord, RunRecord, UserReference } from '../../contract/records.js'
import type { ProjectConfig, ProjectUser } from '../config/config.js'
import { RequestError } from '../errors.js'
import { foldName, matchesPattern } from './name-patterns.js'
import type { User } from './users.js'

// Who sees what is decided here and nowhere else: by `sees` for a record, by `seenCondition` for the rows of a table.

/** What somebody sees: everything; or what is public, what they created, and what is of these projects. */
export type Visibility = 'all' | { readonly userId: number; readonly projects: readonly string[] }

/** What decides who sees a run or a grid. */
interface Owned {
  readonly user?: UserReference
  readonly project: string | null
  readonly privacy: 'public' | 'private'
}

export function seesRun(visibility: Visibility, run: RunRecord): boolean {
  return sees(visibility, ownedOf(run))
}

/** A grid that was created with a run is seen as the run is; any other one by its creator and admins. */
export function seesGrid(visibility: Visibility, grid: GridRecord): boolean {
  return sees(visibility, ownedOfGrid(grid))
}

function sees(visibility: Visibility, { user, project, privacy }: Owned): boolean {
  if (visibility === 'all' || privacy === 'public') return true
  const { userId, projects } = visibility
  return user?.id === userId || (project !== null && projects.includes(project))
}

/** The same rule for a table with the columns of `columnsOf`; undefined if all rows are seen. */
export function seenCondition(visibility: Visibility, table: 'runs' | 'grids') {
  if (visibility === 'all') return undefined
  const { userId, projects } = visibility
  return {
    condition: `(${table}.is_public = 1 OR ${table}.user_id = :seenBy OR ${table}.project IN (SELECT value FROM json_each(:seenProjects)))`,
    values: { seenBy: userId, seenProjects: JSON.stringify(projects) }
  }
}

export function columnsOf({ user, project, privacy }: Owned) {
  return { userId: user?.id ?? null, isPublic: privacy === 'public' ? 1 : 0, project }
}

export function ownedOf({ user, request: { project, privacy } }: RunRecord): Owned {
  return { ...(user && { user }), project, privacy }
}

export function ownedOfGrid({ user, createdFor }: GridRecord): Owned {
  return { ...(user && { user }), ...(createdFor ?? { project: null, privacy: 'private' }) }
}

/** What is left of it where only one project is looked at: the same for all users of that project. */
export function within(visibility: Visibility, project: string | null): Visibility {
  if (visibility === 'all' || (project !== null && visibility.projects.includes(project))) return 'all'
  return { userId: visibility.userId, projects: [] }
}

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
