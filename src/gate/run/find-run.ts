import type { ServiceClient } from '../../client/client.js'
import type { Clock } from '../../contract/clock.js'
import type { Run, RunPage } from '../../contract/api.js'
import { MARKER } from '../../contract/api/run-source.js'
import { readRunList, readRunPages } from '../../client/run-list.js'
import { RETRY, retry, upTo } from '../../client/retry.js'
import { formatDuration, messageOf } from '../../contract/text.js'
import { withDeadline } from '../deadline.js'
import type { RepeatAttempt, StepState } from '../saved-state.js'
import { hasEnded } from './run-status.js'

interface FindOptions {
  readonly clock: Clock
  readonly signal?: AbortSignal
  readonly pausesMs?: readonly number[]
}

const MOST_SEARCHED_PAGES = 200
/** New runs are at the top of the list; if a service lists them elsewhere, none is found and none is touched. */
export const MOST_HEAD_PAGES = 3
/** The list may lag behind. */
const PATIENT_MS = [0, 1_000, 2_000, 4_000, 8_000]
/** Creating a run takes time, and may complete after the client has disconnected. */
export const VERY_PATIENT_MS = [...PATIENT_MS, 15_000, 15_000]

/** Allowed difference between this machine's clock and the service's. */
const CLOCKS_DIFFER_MS = 5 * 60_000

/** Added when a search finds nothing: that does not prove that nothing was created. */
export const MAY_BE_RUNNING = 'One may still be running: check the service.'

/** Whether the tags lack our marker, and have another gate's or the name differs. Without tags that is unknown; services may add some. */
export function isForeign({ tags, name }: Run, marker: string, ownName?: string): boolean {
  if (tags.length === 0 || isMarked({ tags }, marker)) return false
  return (
    tags.some((tag) => MARKER.test(tag)) || (ownName !== undefined && name !== undefined && name !== ownName)
  )
}

/** Whether the marker is among the tags, however the service joins or writes them. */
function isMarked({ tags }: Pick<Run, 'tags'>, ...markers: readonly string[]): boolean {
  // Markers are letters, digits and hyphens.
  const isWhole = new RegExp(`(?<![a-z0-9])(?:${markers.join('|')})(?![a-z0-9])`, 'i')
  return tags.some((tag) => isWhole.test(tag))
}

/** Looks for the runs of a lost reply by their marker, in the order of the list, newest first. */
export async function findMarkedRuns(
  client: ServiceClient,
  marker: string,
  options: FindOptions
): Promise<Run[]> {
  const look = async (): Promise<Run[]> => {
    const { runs } = await readRunList(client, { signal: options.signal, mostPages: MOST_SEARCHED_PAGES })
    return runs.filter((run) => isMarked(run, marker))
  }
  return findPatiently(look, options)
}

/** Searches several times: the list may lag, and the service may be down. */
async function findPatiently(
  look: () => Promise<Run[]>,
  { clock, signal, pausesMs = PATIENT_MS }: FindOptions
): Promise<Run[]> {
  for (const pauseMs of pausesMs) {
    if (pauseMs > 0) await clock.sleep(pauseMs, signal)
    const found = await retry(look, RETRY.findRun, { clock, signal })
    if (found.length > 0) return found
  }
  return []
}

export type MarkedRuns = Pick<StepState, 'runId' | 'marker' | 'askedMs' | 'earlier'>

export interface Twin {
  readonly run: Run
  /** The run that it duplicates, if it is known. */
  readonly runId: string | undefined
}

const MOST_TWIN_PAGES = 50
const LONGEST_LOOK_MS = 10_000
/** No other look follows. */
const LONGEST_LAST_LOOK_MS = 60_000

/** Other runs with the markers of the step: a proxy may send a create twice. `unread`: why the list was not read to its end. */
export async function findTwins(
  { runId, marker, askedMs, earlier = [] }: MarkedRuns,
  options: { client: ServiceClient; clock: Clock; signal: AbortSignal; isLast?: boolean | undefined }
): Promise<{ readonly twins: readonly Twin[]; readonly unread?: Error }> {
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
  const read = async (signal: AbortSignal): Promise<{ twins: Twin[] }> => {
    let pages = 0
    const list = (link?: string): Promise<RunPage> =>
      retry(() => client.listRuns(link, signal), policy, { clock, signal })
    for await (const { runs, next } of readRunPages(list)) {
      for (const run of runs)
        if (!known.has(run.id) && isMarked(run, ...markers))
          twins.push({ run, runId: own.find((each) => isMarked(run, each.marker))?.runId })
      if (next === undefined || isOlder(runs, notBeforeMs)) break
      if (++pages === MOST_TWIN_PAGES) throw new Error(`it has more than ${MOST_TWIN_PAGES} pages`)
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

/** The runs that a lost repeat may have created. Only a single one may be considered ours. */
export async function findRepeats(
  client: ServiceClient,
  { likeness, knownIds, askedMs }: RepeatAttempt,
  options: { clock: Clock; signal: AbortSignal; pausesMs?: readonly number[] }
): Promise<Run[]> {
  const known = new Set(knownIds)
  const isOurs = (run: Run): boolean =>
    !known.has(run.id) &&
    isAlike(run, likeness) &&
    (run.startedMs === undefined || run.startedMs > askedMs - CLOCKS_DIFFER_MS)
  const look = async (): Promise<Run[]> => {
    const { runs } = await readRunList(client, { signal: options.signal, mostPages: MOST_HEAD_PAGES })
    return runs.filter(isOurs)
  }
  return findPatiently(look, options)
}

export function idsOf(runs: readonly Run[]): string {
  return runs.map(({ id }) => id).join(', ')
}

function isAlike(run: Run, likeness: RepeatAttempt['likeness']): boolean {
  const [one, other] = [run.tool ?? '', likeness.tool ?? '']
  return (
    isSameName(run.name, likeness.name) &&
    // One of them may have a version after its name.
    (one === other || one.startsWith(`${other}-`) || other.startsWith(`${one}-`)) &&
    run.threads === likeness.threads &&
    run.rampupSeconds === likeness.rampupSeconds &&
    run.durationSeconds === likeness.durationSeconds
  )
}

/** A service may number its repeats: "Nightly 2" is one of "Nightly", "Nightlybuild" is another test. */
function isSameName(name: string | undefined, original: string | undefined): boolean {
  if (name === original) return true
  if (!name || !original?.trim()) return false
  return name.startsWith(original) && !/^\p{L}/u.test(name.slice(original.length))
}
