import type { ServiceClient } from '../../client/client.js'
import type { Clock } from '../../contract/clock.js'
import type { Run, RunPage } from '../../contract/api.js'
import { RETRY, retry, upTo } from '../../client/retry.js'
import { readRunPages } from '../../client/run-list.js'
import { formatDuration, messageOf } from '../../contract/text.js'
import { withDeadline } from '../deadline.js'
import type { StepState } from '../step-state.js'
import { CLOCKS_DIFFER_MS, isMarked } from './find-run.js'
import { hasEnded } from './run-status.js'

/** The runs of a step, and their markers. */
export type MarkedRuns = Pick<StepState, 'runId' | 'marker' | 'askedMs' | 'earlier'>

export interface Twin {
  readonly run: Run
  /** The run that it duplicates, if it is known. */
  readonly runId: string | undefined
}

interface FoundTwins {
  readonly twins: readonly Twin[]
  /** Why the list was not read to its end: there may be more. */
  readonly unread?: Error
}

const MOST_PAGES = 50
const LONGEST_LOOK_MS = 10_000
/** No other look follows. */
const LONGEST_LAST_LOOK_MS = 60_000

/** A proxy may have sent a create request twice: the other runs that have a marker of the step, on any page of the list. */
export async function findTwins(
  { runId, marker, askedMs, earlier = [] }: MarkedRuns,
  options: { client: ServiceClient; clock: Clock; signal: AbortSignal; isLast?: boolean | undefined }
): Promise<FoundTwins> {
  const own = marker === undefined ? earlier : [...earlier, { marker, runId, askedMs }]
  if (own.length === 0) return { twins: [] }
  const { client, clock, isLast = false } = options
  const longestMs = isLast ? LONGEST_LAST_LOOK_MS : LONGEST_LOOK_MS
  const error = new Error(`it took more than ${formatDuration(longestMs)}`)
  // The verdict does not depend on it: what the client's own attempts do not get is left to the last look.
  const policy = isLast ? RETRY.findTwins : upTo(1)
  const twins: Twin[] = []
  const known = new Set(own.map((each) => each.runId))
  const markers = own.map((each) => each.marker)
  const notBeforeMs = Math.min(...own.map((each) => each.askedMs ?? -Infinity)) - CLOCKS_DIFFER_MS
  const read = async (signal: AbortSignal): Promise<FoundTwins> => {
    let pages = 0
    const list = (link?: string): Promise<RunPage> =>
      retry(() => client.listRuns(link, signal), policy, { clock, signal })
    for await (const { runs, next } of readRunPages(list)) {
      for (const run of runs)
        if (!known.has(run.id) && isMarked(run, ...markers))
          twins.push({ run, runId: own.find((each) => isMarked(run, each.marker))?.runId })
      if (next === undefined || isOlder(runs, notBeforeMs)) break
      if (++pages === MOST_PAGES) throw new Error(`it has more than ${MOST_PAGES} pages`)
    }
    return { twins }
  }
  return withDeadline(clock, longestMs, { error, others: [options.signal] }, read).catch(
    (thrown: unknown) => ({
      twins,
      unread: thrown instanceof Error ? thrown : new Error(messageOf(thrown))
    })
  )
}

/** Whether a page of a list that has the newest on top is older than the runs of the step, and so is all that follows. */
function isOlder(page: readonly Run[], notBeforeMs: number): boolean {
  // What ended without a start generated no load.
  const startsMs = page
    .filter(({ startedMs, status }) => startedMs !== undefined || !hasEnded(status))
    .map(({ startedMs }) => startedMs ?? Infinity)
  const [first = 0, last = 0] = [startsMs[0], startsMs.at(-1)]
  const isFalling = first > last && startsMs.every((ms, at) => at === 0 || ms <= (startsMs[at - 1] ?? ms))
  return isFalling && first < notBeforeMs
}
