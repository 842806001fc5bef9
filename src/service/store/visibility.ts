import type { GridRecord, RunRecord, UserReference } from '../../contract/records.js'

// Who sees what is decided here and nowhere else: by `sees` for a record, by `seenCondition` for the rows of a table. Which projects a
// user has is read from the config file in `accounts/project-access.ts`.

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
