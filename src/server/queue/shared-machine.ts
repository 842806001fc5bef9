import type { Sharing } from './queue.js'

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
