import type { GridRecord, RunRecord } from '../../contract/records.js'
import type { LikeRequest, Project, RunListRequest, RunPage, Slice, Store } from './store.js'

/** The runs and grids that a user sees. What a request asks for is found here and nowhere else. */
export class SeenRuns {
  constructor(private readonly store: Store) {}

  run(id: string): RunRecord | undefined {
    return this.store.run(id)
  }

  grid(id: string): GridRecord | undefined {
    return this.store.grid(id)
  }

  listRuns(request: RunListRequest): RunPage {
    return this.store.listRuns(request)
  }

  listGrids(slice: Slice): { grids: readonly GridRecord[]; total: number } {
    return this.store.listGrids(slice)
  }

  listProjects(slice: Slice): { projects: readonly Project[]; total: number } {
    return this.store.listProjects(slice)
  }

  runsLike(run: RunRecord, request: LikeRequest): readonly RunRecord[] {
    return this.store.runsLike(run, request)
  }
}
