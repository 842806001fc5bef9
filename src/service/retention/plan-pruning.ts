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
  const newestFirst = [...runs].sort((a, b) => b.sequence - a.sequence)
  const reasons = new Map<KeptRun, string>()
  const add = (run: KeptRun, why: string): void => {
    if (run.isSettled && !reasons.has(run)) reasons.set(run, why)
  }
  for (const run of tooOld(newestFirst, retention, nowMs)) add(run, `it is older than ${retention.days} days`)
  for (const run of tooMany(newestFirst, retention))
    add(run, `${nameProject(run)} more than ${retention.runsPerProject} runs`)
  const left = newestFirst.filter((run) => !reasons.has(run))
  for (const run of tooLarge(left, retention)) add(run, 'all runs together are larger than the limit')
  return newestFirst
    .flatMap((run) => ({ run, why: reasons.get(run) ?? '' }))
    .filter(({ why }) => why !== '')
    .reverse()
}

function nameProject({ project }: KeptRun): string {
  return project === null ? 'there are, without a project,' : `project ${JSON.stringify(project)} has`
}

function tooOld(runs: readonly KeptRun[], { days }: Retention, nowMs: number): KeptRun[] {
  if (days === undefined) return []
  return runs.filter(({ createdMs }) => createdMs < nowMs - days * MS_A_DAY)
}

function tooMany(newestFirst: readonly KeptRun[], { runsPerProject: most }: Retention): KeptRun[] {
  if (most === undefined) return []
  const counts = new Map<string | null, number>()
  return newestFirst.filter(({ project }) => {
    const count = (counts.get(project) ?? 0) + 1
    counts.set(project, count)
    return count > most
  })
}

/** The oldest ones that can be deleted, until the rest is small enough. */
function tooLarge(newestFirst: readonly KeptRun[], { bytes: most }: Retention): KeptRun[] {
  if (most === undefined) return []
  let total = newestFirst.reduce((sum, { bytes }) => sum + bytes, 0)
  const found: KeptRun[] = []
  for (const run of newestFirst.filter(({ isSettled }) => isSettled).reverse()) {
    if (total <= most) break
    total -= run.bytes
    found.push(run)
  }
  return found
}
