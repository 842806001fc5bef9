import type { GridSpec, UserReference } from '../../contract/records.js'

/** A grid that a run uses, or one that stands by itself. */
export interface GridUse {
  readonly spec: GridSpec
  /** Its nodes are those of the entry; else they belong to a standalone grid, which the run only works on. */
  readonly isOwn: boolean
}

/** A run that needs its nodes, or a standalone grid whose nodes stay for several runs. */
export interface Entry {
  readonly kind: 'run' | 'grid'
  readonly id: string
  readonly user: UserReference | undefined
  readonly grids: readonly GridUse[]
  /** It has its nodes already, from before this service started: it does not wait. */
  readonly isTakenUp: boolean
}

/** Another run that had work on this machine at the same time. */
export interface Sharing {
  readonly runId: string
  readonly sharedMs: number
}

/** The nodes of a run are at work. */
export interface Turn {
  /** Its load is over; returns what disturbed it. */
  endLoad(): readonly Sharing[]
  /** Its nodes are free again. */
  leave(): void
}

/** Limits how many nodes are at work at a time. */
export interface Queue {
  /** Why an entry with these grids could never start, if so. */
  check(entry: Pick<Entry, 'kind' | 'grids'>): string[]
  /** Waits until there are enough nodes, in the order of the calls; rejects with the reason of the signal, or why that is never. */
  enter(entry: Entry, signal: AbortSignal): Promise<Turn>
  /** From 1; null if the run or grid is not waiting. */
  positionOf(id: string): number | null
  /** Whether it has not had its turn yet. */
  isWaiting(id: string): boolean
  /** From now on nobody's turn comes: the service is about to end, or cannot be reached yet. */
  pause(): void
  resume(): void
}

/** The service inside a step: one gate, one run at a time, so nobody waits. */
export const noQueue: Queue = {
  check: () => [],
  enter: (_entry, signal) => {
    if (signal.aborted) return Promise.reject(signal.reason as Error)
    return Promise.resolve({ endLoad: () => [], leave: () => undefined })
  },
  positionOf: () => null,
  isWaiting: () => false,
  pause: () => undefined,
  resume: () => undefined
}

interface Load {
  readonly startedMs: number
  /** By the ids of the runs that have ended since. */
  readonly shared: Map<string, number>
}

/** Which runs generated load on this machine at the same time, and for how long. */
export class SharedMachine {
  readonly #loads = new Map<string, Load>()

  start(runId: string, atMs: number): void {
    this.#loads.set(runId, { startedMs: atMs, shared: new Map() })
  }

  /** Returns the others, whether they started before or after, ended or are still at it. */
  end(runId: string, atMs: number): Sharing[] {
    const load = this.#loads.get(runId)
    if (!load) return []
    this.#loads.delete(runId)
    for (const [otherId, other] of this.#loads) {
      const sharedMs = Math.max(0, atMs - Math.max(load.startedMs, other.startedMs))
      load.shared.set(otherId, sharedMs)
      other.shared.set(runId, sharedMs)
    }
    return [...load.shared].map(([id, sharedMs]) => ({ runId: id, sharedMs }))
  }
}
