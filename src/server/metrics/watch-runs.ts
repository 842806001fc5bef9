import { hasEnded, isSettled, type RunRecord } from '../store/records.js'
import type { Store } from '../store/store.js'

interface Watcher {
  /** Something of it was saved. */
  readonly onSave: (run: RunRecord) => void
  /** Once for each. */
  readonly onEnd: (run: RunRecord) => void
  /** Nothing more will be told of it. */
  readonly onSettled: (run: RunRecord) => void
}

/** Calls back with what is saved of runs that were created or at work since the start; others are history. */
export function watchRuns(store: Store, { onSave, onEnd, onSettled }: Watcher): void {
  const known = new Set(store.unsettledRuns().map(({ id }) => id))
  const ended = new Set(store.unsettledRuns().flatMap((run) => (hasEnded(run) ? run.id : [])))
  const create = store.create.bind(store)
  store.create = (records) => {
    create(records)
    if (records.run) known.add(records.run.id)
  }
  const saveRun = store.saveRun.bind(store)
  store.saveRun = (run) => {
    saveRun(run)
    if (!known.has(run.id)) return
    onSave(run)
    if (hasEnded(run) && !ended.has(run.id)) {
      ended.add(run.id)
      onEnd(run)
    }
    if (!isSettled(run)) return
    // A service lives for months: what has settled is not remembered.
    known.delete(run.id)
    ended.delete(run.id)
    onSettled(run)
  }
}
