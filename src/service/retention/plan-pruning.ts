import type { Retention } from '../config/config.js'

export const MS_A_DAY = 24 * 60 * 60 * 1000

/** What a limit needs to know of a run. */
export interface KeptRun {
  readonly id: string
  readonly sequence: number
  /** Runs without one count as those of one project. */
  readonly project: string | null
  readonly createdMs: number
  readonly bytes: number
  /** It has ended, and its results are complete; no other run is deleted. */
  readonly isSettled: boolean
}

export interface Pruning {
  readonly run: KeptRun
  /** Which limit it is beyond. */
  readonly why: string
}

/** Which runs are beyond the limits, oldest first. Runs that cannot be deleted count for the limits nevertheless. */
export function planPruning(runs: readonly KeptRun[], retention: Retention, nowMs: number): Pruning[] {
  const { days = Infinity, runsPerProject = Infinity, bytes: most = Infinity } = retention
  const newestFirst = [...runs].sort((a, b) => b.sequence - a.sequence)
  const counts = new Map<string | null, number>()
  const reasons = new Map<KeptRun, string>()
  for (const run of newestFirst) {
    const count = (counts.get(run.project) ?? 0) + 1
    counts.set(run.project, count)
    if (!run.isSettled) continue
    if (run.createdMs < nowMs - days * MS_A_DAY) reasons.set(run, `it is older than ${days} days`)
    else if (count > runsPerProject) reasons.set(run, `${nameProject(run)} more than ${runsPerProject} runs`)
  }
  const left = newestFirst.filter((run) => !reasons.has(run)).reverse()
  let total = left.reduce((sum, { bytes }) => sum + bytes, 0)
  // The oldest ones that can be deleted, until the rest is small enough.
  for (const run of left) {
    if (total <= most) break
    if (!run.isSettled) continue
    total -= run.bytes
    reasons.set(run, 'all runs together are larger than the limit')
  }
  return newestFirst.reverse().flatMap((run) => {
    const why = reasons.get(run)
    return why === undefined ? [] : { run, why }
  })
}

function nameProject({ project }: KeptRun): string {
  return project === null ? 'there are, without a project,' : `project ${JSON.stringify(project)} has`
}
