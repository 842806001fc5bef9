import type { ServiceClient } from '../../client/client.js'
import type { Clock } from '../../contract/clock.js'
import type { Run } from '../../contract/api.js'
import { MalformedReplyError, RefusedError, hadNoEffect } from '../../client/errors.js'
import { type RunList, readRunList } from '../../client/run-list.js'
import { CLOCKS_DIFFER_MS, MAY_BE_RUNNING, MOST_HEAD_PAGES, findPatiently } from './find-run.js'
import type { Gate } from '../gate.js'
import { RETRY, retry } from '../../client/retry.js'
import type { RepeatAttempt } from '../saved-state.js'
import { messageOf } from '../../contract/text.js'
import { outlastRestart } from './outlast-restart.js'

/**
 * Repeats a run; the request is never sent again unless nothing was created. A repeat cannot be tagged, so after a lost reply it is
 * identified by what it must be: a run that was not in the list before, is like the repeated one, and did not start before the request.
 * It could be someone else's only if they repeated the very same run within these seconds and ours was never created; if there are two,
 * neither is touched.
 */
export async function repeatRun(gate: Gate, id: string, signal: AbortSignal): Promise<Run> {
  const { client, saved, ports } = gate
  const attempt = await lookBefore(gate, id, signal)
  saved.note({ repeat: attempt, cleanupDue: attempt !== undefined })
  try {
    const run = await outlastRestart(ports, () => client.repeatRun(id, signal), signal)
    assertNew(run, id, attempt)
    saved.noteDone({ runId: run.id, cleanupDue: true })
    return run
  } catch (thrown) {
    if (hadNoEffect(thrown)) saved.noteDone({ repeat: undefined, cleanupDue: false })
    if (hadNoEffect(thrown) || signal.aborted) throw thrown
    ports.log.warning(`${messageOf(thrown)}. Not retrying; looking for the run it may have created.`)
    const run = await adoptRun(gate, attempt, { signal, cause: thrown })
    saved.noteDone({ runId: run.id, cleanupDue: true })
    return run
  }
}

/** A repeat is a GET, and a proxy may answer it from a cache: a run that already existed is not the new one. */
function assertNew(run: Run, id: string, attempt: RepeatAttempt | undefined): void {
  const words = `the service answered with run ${run.id}, which already existed`
  if (attempt?.knownIds.includes(run.id)) throw new MalformedReplyError(`repeating run ${id}`, words)
}

/** What the list contains before the repeat; undefined if it cannot be read, which does not prevent the repeat. An unknown run does: it is a wrong id. */
async function lookBefore(
  { client, ports: { clock } }: Gate,
  id: string,
  signal: AbortSignal
): Promise<RepeatAttempt | undefined> {
  const list = (): Promise<RunList> => readRunList(client, { signal, mostPages: MOST_HEAD_PAGES })
  try {
    const shown = await retry(() => client.showRun(id, signal), RETRY.showRepeatedRun, { clock, signal })
    const { name, tool, threads, rampupSeconds, durationSeconds } = shown
    const runs = await retry(list, RETRY.findRun, { clock, signal }).then(
      (listed) => listed.runs,
      () => undefined
    )
    signal.throwIfAborted()
    return (
      runs && {
        runId: id,
        likeness: { name, tool, threads, rampupSeconds, durationSeconds },
        knownIds: runs.map((run) => run.id),
        askedMs: clock.now()
      }
    )
  } catch (thrown) {
    signal.throwIfAborted()
    if (thrown instanceof RefusedError && thrown.status === 404) throw thrown
    return undefined
  }
}

async function adoptRun(
  { client, ports }: Gate,
  attempt: RepeatAttempt | undefined,
  { signal, cause }: { signal: AbortSignal; cause: unknown }
): Promise<Run> {
  const give = (words: string): Error => new Error(`${messageOf(cause)}. ${words}`, { cause })
  if (attempt === undefined)
    throw give(
      'The run may have been repeated, but the list of runs could not be read beforehand, so the new run cannot be identified. Check the service.'
    )
  const found = await findRepeats(client, attempt, { clock: ports.clock, signal })
  const [only] = found
  if (only === undefined) throw give(`No new run like ${attempt.runId} was found. ${MAY_BE_RUNNING}`)
  if (found.length > 1)
    throw give(
      `Several new runs look like ${attempt.runId} (${idsOf(found)}), and it is unclear which one belongs to this step; none was touched.`
    )
  ports.log.info(`Found new run ${only.id} like ${attempt.runId}; continuing with it.`)
  return only
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
  return (
    isSameName(run.name, likeness.name) &&
    isSameTool(run.tool ?? '', likeness.tool ?? '') &&
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

/** One of them may have a version after its name. */
function isSameTool(one: string, other: string): boolean {
  return one === other || one.startsWith(`${other}-`) || other.startsWith(`${one}-`)
}
