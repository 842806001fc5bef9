import type { Clock } from '../../clock.js'
import type { Cluster } from '../kubernetes/cluster.js'
import { isUnclear } from './is-unclear.js'
import { kubectlDelete } from '../../../regions/kubectl-delete.js'
import { deleteJobs } from './leftovers.js'
import { pause } from './pause.js'
import { capital, clauseOf } from './sentences.js'

const RETRY_EVERY_MS = 2000
const GIVE_UP_AFTER_MS = 60_000

export interface JobsToRemove {
  readonly cluster: Cluster
  readonly selector: string
  readonly clock: Clock
  readonly log: (line: string) => void
  /** Whether a Job may still be about to appear, because nobody knows if it was created. */
  readonly isUnclear: boolean
}

/** Deletes the Jobs of a grid, and tries for a minute where the cluster does not answer. Never throws: it tells what to do instead. */
export async function removeJobs(jobs: JobsToRemove): Promise<void> {
  const untilMs = jobs.clock.now() + GIVE_UP_AFTER_MS
  let looksLeft = jobs.isUnclear ? 2 : 1
  for (;;) {
    try {
      looksLeft -= 1
      if ((await deleteJobs(jobs.cluster, jobs.selector)) > 0 || looksLeft <= 0) return
    } catch (error) {
      if (!isUnclear(error) || jobs.clock.now() >= untilMs) {
        tellHowTo(jobs, error)
        return
      }
      looksLeft += 1
    }
    await pause(jobs.clock, RETRY_EVERY_MS)
  }
}

function tellHowTo({ cluster, selector, log }: JobsToRemove, error: unknown): void {
  log(
    `${capital(cluster.name)}: the pods could not be deleted: ${clauseOf(error)}. They end at the deadline of their Job; ` +
      `to delete them now, run: ${kubectlDelete(cluster.address, selector)}`
  )
}
