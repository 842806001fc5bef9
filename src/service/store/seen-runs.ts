import { type GridRecord, hasEnded, type RunRecord } from '../../contract/records.js'
import { seesGrid, seesRun, type Visibility, within } from './visibility.js'
import type { LikeRequest, Project, RunListRequest, RunPage, Slice, Store } from './store.js'

/** The runs and grids that a user sees. What a request asks for is found here and nowhere else. */
export class SeenRuns {
  constructor(
    private readonly store: Store,
    private readonly seenBy: Visibility
  ) {}

  /** The same for those who see the same, in one project if that is given. */
  keyIn(project?: string | null): string {
    return JSON.stringify(project === undefined ? this.seenBy : within(this.seenBy, project))
  }

  run(id: string): RunRecord | undefined {
    const run = this.store.run(id)
    return run && seesRun(this.seenBy, run) ? run : undefined
  }

  /** Those of a user that have not ended, oldest first. */
  unendedOf(userId: number): readonly RunRecord[] {
    const runs = this.store.unsettledRuns().filter((run) => !hasEnded(run) && run.user?.id === userId)
    return runs.filter((run) => seesRun(this.seenBy, run))
  }

  grid(id: string): GridRecord | undefined {
    const grid = this.store.grid(id)
    return grid && seesGrid(this.seenBy, grid) ? grid : undefined
  }

  listRuns(request: Omit<RunListRequest, 'seenBy'>): RunPage {
    const { project } = request.filter ?? {}
    const seenBy = project === undefined ? this.seenBy : within(this.seenBy, project)
    return this.store.listRuns({ ...request, seenBy })
  }

  listGrids(slice: Slice): { grids: readonly GridRecord[]; total: number } {
    return this.store.listGrids({ ...slice, seenBy: this.seenBy })
  }

  listProjects(slice: Slice): { projects: readonly Project[]; total: number } {
    return this.store.listProjects({ ...slice, seenBy: this.seenBy })
  }

  runsLike(run: RunRecord, request: Omit<LikeRequest, 'seenBy'>): readonly RunRecord[] {
    return this.store.runsLike(run, { ...request, seenBy: within(this.seenBy, run.request.project) })
  }
}
