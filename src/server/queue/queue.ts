import type { GridRecord, GridWish, RunRecord } from '../store/records.js'

/** A run that needs its nodes. */
export interface Entry {
  readonly run: RunRecord
  readonly grids: readonly GridRecord[]
  /** It has its nodes already, from before this service started: it does not wait. */
  readonly isTakenUp: boolean
}

/** The nodes of a run are at work. */
export interface Turn {
  /** They are free again. */
  leave(): void
}

/** Limits how many nodes are at work at a time. */
export interface Queue {
  /** Why a run with these grids could never start, if so. */
  check(grids: readonly GridWish[]): string[]
  /** Waits until there are enough nodes; rejects with the reason of the signal. */
  enter(entry: Entry, signal: AbortSignal): Promise<Turn>
  /** From 1; null if the run is not waiting. */
  positionOf(runId: string): number | null
}

/** The service inside a step: one gate, one run at a time, so nobody waits. */
export const noQueue: Queue = {
  check: () => [],
  enter: (_entry, signal) => {
    if (signal.aborted) return Promise.reject(signal.reason as Error)
    return Promise.resolve({ leave: () => undefined })
  },
  positionOf: () => null
}
