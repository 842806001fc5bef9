import type { Measurements } from '../../results/figures/measurements.js'
import type { RunStatus } from '../store/records.js'

/** A page, and the Content-Security-Policy that it needs. */
export interface RenderedPage {
  readonly html: string
  readonly policy: string
}

/** What a run's page shows. */
export interface RunState {
  readonly id: string
  readonly name: string | undefined
  readonly status: RunStatus
  readonly tool: string
  readonly threads: number | undefined
  readonly durationSeconds: number | undefined
  readonly startedMs: number | undefined
  readonly stoppedMs: number | undefined
  readonly nowMs: number
  readonly apdexTargetMs: number | undefined
  readonly summary: string | undefined
  readonly problem: string | undefined
  readonly rehearsal: boolean
  readonly grids: readonly GridFacts[]
  /** So far, or of the whole run once it has ended. */
  readonly measurements: Measurements | undefined
}

export interface GridFacts {
  readonly gridId: string
  readonly region: string
  readonly nodeCount: number
  readonly bytes: number | undefined
  readonly problem: undefined
}

/** A run in the list. */
export interface RunLine {
  readonly path: string
  readonly id: string
  readonly name: string | undefined
  readonly status: RunStatus
  readonly apdex: string | undefined
  readonly createdMs: number
  readonly elapsedMs: number | undefined
  readonly samples: number | undefined
  /** 0 to 1. */
  readonly errorRate: number | undefined
  readonly rehearsal: boolean
  readonly problem: string | undefined
  readonly isLoadLost: boolean
}

/** One page of the list of runs, with links to the others. */
export interface RunListPage {
  readonly runs: readonly RunLine[]
  /** The position of the first of them in the whole list, from 1. */
  readonly first: number
  readonly total: number
  /** Absent if there are none. */
  readonly newestPath?: string
  readonly newerPath?: string
  readonly olderPath?: string
  readonly oldestPath?: string
}

export interface RunPagePaths {
  readonly eventsPath: string
  readonly stopPath: string
  readonly homePath: string
}

/** Renders the pages. The entry provides it: this folder knows what a run is, not how to show it. */
export interface PageArtist<Drawing extends object = object> {
  /** The data of a run's page; as JSON it also updates an open page. */
  describeRun(run: RunState): Drawing
  renderRunPage(drawing: Drawing, paths: RunPagePaths): RenderedPage
  renderListPage(list: RunListPage, eventsPath: string): RenderedPage
  renderRunList(list: RunListPage): string
}
