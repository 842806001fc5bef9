import { clauseOf } from '../../../errors.js'
import type { Clock } from '../../../../contract/clock.js'
import { type Cluster, isUnclear } from '../../kubernetes/cluster.js'
import { kubectlDelete } from '../../../../contract/regions/regions.js'
import { deleteJobs } from './pod-view.js'
import { MARKER_LABEL, selectorOf } from './job-manifest.js'
import { capitalize } from '../../../../contract/text.js'

const RETRY_EVERY_MS = 2000
const GIVE_UP_AFTER_MS = 60_000
/** The post step has a minute; the cluster's last words should be told before it is over. */
const POST_STEP_MS = 50_000

export interface JobsToDelete {
  readonly cluster: Cluster
  readonly selector: string
  readonly clock: Clock
  /** Whether a Job may still be about to appear, because nobody knows if it was created. */
  readonly isUnclear: boolean
  readonly signal?: AbortSignal
  /** From then on, the next failure is the last. */
  readonly giveUpAfterMs?: number
}

export interface JobsToRemove extends JobsToDelete {
  /** Called with what to do where they could not be deleted. */
  readonly onLeft: (words: string) => void
}

/** Deletes the Jobs, and tries for a minute where the cluster does not answer. Never throws: it tells what to do instead. Returns whether they are deleted. */
export async function removeJobs(jobs: JobsToRemove): Promise<boolean> {
  try {
    await deleteSurely(jobs)
    return true
  } catch (error) {
    tellHowTo(jobs, error)
    return false
  }
}

/** Deletes what carries a marker, from another process than the one that created it. Returns how many Jobs there were. */
export function deleteMarked(
  marker: string,
  jobs: Omit<JobsToDelete, 'selector' | 'giveUpAfterMs'>
): Promise<number> {
  return deleteSurely({
    ...jobs,
    selector: selectorOf({ [MARKER_LABEL]: marker }),
    giveUpAfterMs: POST_STEP_MS
  })
}

/** A failure that may pass is no reason to leave pods running: it tries again. Throws the last one. */
async function deleteSurely(jobs: JobsToDelete): Promise<number> {
  const { cluster, selector, clock, signal, giveUpAfterMs = GIVE_UP_AFTER_MS } = jobs
  const untilMs = clock.now() + giveUpAfterMs
  let looksLeft = jobs.isUnclear ? 2 : 1
  for (;;) {
    try {
      looksLeft -= 1
      const count = await deleteJobs(cluster, selector, signal)
      if (count > 0 || looksLeft <= 0) return count
    } catch (error) {
      if (!isUnclear(error) || clock.now() >= untilMs) throw error
      looksLeft += 1
    }
    await clock.sleep(RETRY_EVERY_MS, signal)
  }
}

function tellHowTo({ cluster, selector, onLeft }: JobsToRemove, error: unknown): void {
  onLeft(
    `${capitalize(cluster.name)}: the pods could not be deleted: ${clauseOf(error)}. They end at the deadline of their Job; ` +
      `to delete them now, run: ${kubectlDelete(cluster.address, selector)}`
  )
}
