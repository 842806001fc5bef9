import type { BaselineFacts } from '../../baseline/baseline-facts.js'

const MOST_CHARACTERS = 1000
const MOST_RUNS = 1000

/** The output `baseline`. */
export function baselineOutput({ state, kind, branch, commit, runs, reason, notes }: BaselineFacts): string {
  return JSON.stringify({
    state,
    kind,
    branch: branch ?? null,
    commit: commit ?? null,
    runs: runs.slice(-MOST_RUNS),
    reason: reason?.slice(0, MOST_CHARACTERS) ?? null,
    notes: notes.slice(0, 10).map((note) => note.slice(0, MOST_CHARACTERS))
  })
}
