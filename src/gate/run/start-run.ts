import { randomUUID } from 'node:crypto'
import type { Run } from '../../contract/api.js'
import { MalformedReplyError, RefusedError, brokeOff, hadNoEffect } from '../../client/errors.js'
import { type GridChoice, type RunRequest, isReference } from '../../client/documents/requests.js'
import { MAY_BE_RUNNING, MOST_HEAD_PAGES, findMarkedRuns, findRepeats, idsOf, isForeign } from './find-run.js'
import { type RunList, readRunList } from '../../client/run-list.js'
import type { Gate } from '../gate.js'
import { createSafely, outlastRestart, settleGrids } from './make-grids.js'
import { RETRY, retry } from '../../client/retry.js'
import { APDEX_PROPERTY, overlayParameters, withoutMarks } from '../settings/override-parameters.js'
import { markedNames } from '../settings/secret-parameters.js'
import type { Origin } from '../settings/settings.js'
import { hasMoreToCheck, type RepeatAttempt } from '../saved-state.js'
import { DEFAULT_APDEX_TARGET_MS } from '../../contract/setting-values.js'
import { asSentence, messageOf } from '../../contract/text.js'

/** The run to watch: created from files, repeated, or an existing one. `grids` are the ones to request, if they exist already. */
export async function startRun(gate: Gate, signal: AbortSignal, grids?: readonly GridChoice[]): Promise<Run> {
  const { origin } = gate.settings
  switch (origin.kind) {
    case 'existing':
      return retry(() => gate.client.showRun(origin.runId, signal), RETRY.showExistingRun, {
        clock: gate.ports.clock,
        signal
      })
    case 'repeat':
      return repeatRun(gate, origin.runId, signal)
    case 'files':
      return createRun(gate, { ...origin, grids: grids ?? origin.grids }, signal)
    case 'results':
      throw new Error('results of another step have no run to start')
  }
}

async function createRun(
  gate: Gate,
  origin: Extract<Origin, { kind: 'files' }>,
  signal: AbortSignal
): Promise<Run> {
  const { settings, saved, ports } = gate
  const grids = await settleGrids(gate, origin.grids, signal)
  // Workflow, run, job and step are the same in all jobs of a matrix, so the marker is random.
  const marker = `loadgate-${randomUUID()}`
  const findApi = (): Promise<void> => gate.client.findApi('creating the run', signal)
  await createSafely(gate, findApi, signal)
  const givenGrids = grids.flatMap((grid) => (isReference(grid) ? [grid.id] : []))
  saved.note({ marker, givenGrids, askedMs: ports.clock.now(), cleanupDue: true })
  const overrideParameters = withApdexTarget(settings)
  const request: RunRequest = {
    ...{ ...settings, files: origin.paths, grids, tags: [...settings.tags, marker] },
    project: settings.project ?? defaultProject(gate),
    overrideParameters: overrideParameters && withoutMarks(overrideParameters),
    secretParameters: markedNames(overrideParameters)
  }
  const run = await createOrFind(gate, request, { marker, signal })
  saved.noteDone({ runId: run.id })
  return run
}

/** The runs of a repository belong together. Another service may want projects to exist, so it gets none. */
function defaultProject({ client, ports: { occasion } }: Gate): string | undefined {
  return client.isLoadgate && occasion.repository !== '' ? occasion.repository : undefined
}

/** The parameters, with the target for the embedded service. */
function withApdexTarget({ overrideParameters, apdexTargetMs, target }: Gate['settings']) {
  if (target.kind !== 'local' || apdexTargetMs === DEFAULT_APDEX_TARGET_MS) return overrideParameters
  return overlayParameters(overrideParameters, `-J${APDEX_PROPERTY}=${apdexTargetMs}`)
}

/** An upload that breaks off is sent again, but no more often than this. */
const MOST_UPLOADS = 3

async function createOrFind(
  gate: Gate,
  request: RunRequest,
  { marker, signal }: { marker: string; signal: AbortSignal }
): Promise<Run> {
  for (let uploads = 1; ; uploads++) {
    try {
      const run = await createSafely(gate, () => gate.client.createRun(request, signal), signal)
      await assertOwn(gate, run, { marker, signal })
      return run
    } catch (thrown) {
      if (signal.aborted) throw thrown
      if (hadNoEffect(thrown)) {
        // There is no run to look for; there may be grids, and earlier runs.
        gate.saved.noteDone({ marker: undefined, cleanupDue: hasMoreToCheck(gate.saved.state) })
        throw thrown
      }
      const found = await reconcile(gate, { marker, signal }, thrown)
      if (found !== undefined) return found
      const words = `${asSentence(messageOf(thrown))} No run with the tag ${marker} was found.`
      if (!brokeOff(thrown) || uploads === MOST_UPLOADS)
        throw new Error(`${words} ${MAY_BE_RUNNING}`, { cause: thrown })
      gate.ports.log.info(`${words} The upload had broken off; sending it again.`)
    }
  }
}

/** Replies can get mixed up in transit: a run that has tags but not the marker belongs to someone else. */
async function assertOwn(
  { client, saved, settings }: Gate,
  run: Run,
  { marker, signal }: { marker: string; signal: AbortSignal }
): Promise<void> {
  // A run without tags is trusted, and noted before it is read: it might never be found by its marker.
  if (run.tags.length === 0) saved.noteDone({ runId: run.id })
  const seen = run.tags.length === 0 ? await client.showRun(run.id, signal).catch(() => undefined) : run
  signal.throwIfAborted()
  if (seen === undefined || !isForeign(seen, marker, settings.name)) return
  saved.noteDone({ runId: undefined })
  throw new MalformedReplyError(
    'creating the run',
    `the service answered with run ${run.id}, which does not have the tag ${marker} and belongs to someone else`
  )
}

/** The reply was lost: a single run with the marker is ours, the oldest of several is kept; if there is none, it may not be listed yet. */
async function reconcile(
  { client, ports }: Gate,
  { marker, signal }: { marker: string; signal: AbortSignal },
  cause: unknown
): Promise<Run | undefined> {
  ports.log.warning(`${messageOf(cause)}. Looking for the run by its tag ${marker}.`)
  const found = await findMarkedRuns(client, marker, { clock: ports.clock, signal }).catch(
    (thrown: unknown) => {
      signal.throwIfAborted()
      const words = `could not check whether the run was created: ${messageOf(thrown)}`
      throw new Error(`${messageOf(cause)}; ${words}`, { cause })
    }
  )
  const oldest = found.at(-1)
  if (oldest === undefined) return undefined
  for (const extra of found.slice(0, -1)) {
    ports.log.warning(`Run ${extra.id} has the same tag; stopping it.`)
    await client.stopRun(extra.id, signal).catch((thrown: unknown) => {
      signal.throwIfAborted()
      ports.log.warning(`Run ${extra.id} may still be running: ${messageOf(thrown)}. Stop it manually.`)
    })
  }
  ports.log.info(`Found run ${oldest.id}; continuing with it.`)
  return oldest
}

/** A run page is worth no more. */
const LONGEST_HAND_OVER_MS = 5_000

/** Has the run's page show the verdict too. One try: the gate judges by itself. If there are several runs, none of them has the verdict of all. */
export async function handOverThresholds(gate: Gate, run: Run): Promise<void> {
  const { settings, client, ports } = gate
  const { target, thresholds, origin, baseline, warmUpMs, onStall } = settings
  const isOneOfMany = baseline.source.kind === 'side-by-side'
  // The embedded service ends with the step.
  const isKept = target.kind !== 'local' && client.isLoadgate
  if (!isKept || thresholds.length === 0 || origin.kind === 'existing' || isOneOfMany) return
  try {
    const lines = thresholds.map(({ level, text }) => (level === 'warn' ? `warn: ${text}` : text))
    await client.setThresholds(
      run.id,
      {
        ...{ thresholds: lines, warmUpSeconds: Math.round(warmUpMs / 1000) },
        ...(onStall !== 'fail' && { onStall })
      },
      AbortSignal.any([AbortSignal.timeout(LONGEST_HAND_OVER_MS), ports.cancelled])
    )
    ports.log.debug(`The thresholds of run ${run.id} are on its page.`)
  } catch (thrown) {
    ports.log.debug(`The thresholds could not be sent to the service: ${messageOf(thrown)}`)
  }
}

/**
 * Repeats a run; the request is never sent again unless nothing was created. A repeat cannot be tagged, so after a lost reply it is
 * identified by what it must be: a run that was not in the list before, is like the repeated one, and did not start before the request.
 * It could be someone else's only if they repeated the very same run within these seconds and ours was never created; if there are two,
 * neither is touched.
 */
async function repeatRun(gate: Gate, id: string, signal: AbortSignal): Promise<Run> {
  const { client, saved, ports } = gate
  const attempt = await lookBefore(gate, id, signal)
  saved.note({ repeat: attempt, cleanupDue: attempt !== undefined })
  try {
    const run = await outlastRestart(ports, () => client.repeatRun(id, signal), signal)
    // A repeat is a GET, and a proxy may answer it from a cache: a run that already existed is not the new one.
    const words = `the service answered with run ${run.id}, which already existed`
    if (attempt?.knownIds.includes(run.id)) throw new MalformedReplyError(`repeating run ${id}`, words)
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

/** What the list contains before the repeat. One that cannot be read does not prevent it; an unknown run does: its id is wrong. */
async function lookBefore(
  { client, saved, ports: { clock } }: Gate,
  id: string,
  signal: AbortSignal
): Promise<RepeatAttempt | undefined> {
  const list = (): Promise<RunList> => readRunList(client, { signal, mostPages: MOST_HEAD_PAGES })
  try {
    const shown = await retry(() => client.showRun(id, signal), RETRY.showRepeatedRun, { clock, signal })
    const { name, tool, threads, rampupSeconds, durationSeconds } = shown
    saved.noteDone({ givenGrids: shown.grids.map((grid) => grid.id) })
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
