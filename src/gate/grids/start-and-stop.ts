import { reasonOf } from '../../contract/clock.js'
import { cleanUp, type CleanUpOptions } from '../cleanup/clean-up.js'
import { STOP_AFTER_FAILURE_MS, STOP_ON_CANCEL_MS } from '../cleanup/main-step.js'
import { CancelledError, DeadlineError } from '../errors.js'
import { settleGrids } from '../run/make-grids.js'
import { NOTHING, SavedState } from '../saved-state.js'
import type { GridStartSettings, GridStopSettings } from './grid-settings.js'
import type { ServiceClient } from '../../client/client.js'
import type { Grid } from '../../contract/api.js'
import { RefusedError } from '../../client/errors.js'
import { RETRY, retry } from '../../client/retry.js'
import { vocabularyOf } from '../../contract/vocabulary.js'
import { delayAbort, withDeadline } from '../deadline.js'
import { asSentence, formatDuration, messageOf } from '../../contract/text.js'
import { noteAddress, noteWarning, openClient, tokenFor } from '../gate.js'
import type { Ports } from '../ports.js'
import { endGrid } from '../run/end-run.js'
import { gridPhaseOf } from '../run/run-status.js'
import { nextPollMs } from '../run/watch-run.js'

export interface GridStartPorts extends Pick<
  Ports,
  'openClient' | 'openIdTokens' | 'log' | 'clock' | 'cancelled' | 'saveState'
> {
  setOutput(name: 'grids', value: string): void
}

/** A grid whose creation is cut off would run without our knowledge, so its reply gets this long; the runner kills the step 7.5 s after a cancel. */
const CREATE_GRACE_MS = 2_000
const LONGEST_LOOK_MS = 10_000

/** Creates the grids and waits until all of them have started; if that fails, it terminates what it created. */
export async function startGrids(ports: GridStartPorts, settings: GridStartSettings): Promise<void> {
  const { log, clock } = ports
  const { service, keep } = settings
  const saved = new SavedState(
    { ...NOTHING, ...service, address: service.address.api },
    (state) => ports.saveState(state),
    (message) => log.warning(message)
  )
  const words = vocabularyOf(service.serviceName)
  const { address } = service
  const token = tokenFor(ports, service)
  const told = { onAddress: noteAddress(log, saved), onWarning: noteWarning(log) }
  const client = openClient(ports, { address, token, words, clock, ...told })
  try {
    const ids = await createAndAwait({ ports, settings, saved, client })
    // From here on, another step has to stop them.
    if (keep) saved.note({ keptGrids: ids, madeGrids: [], cleanupDue: false })
    log.info(describeStarted(ids.length, keep))
  } catch (thrown) {
    const isCancelled = thrown instanceof CancelledError
    await terminateAll({ ports, saved, client }, isCancelled ? STOP_ON_CANCEL_MS : STOP_AFTER_FAILURE_MS)
    throw thrown
  } finally {
    await client.close()
  }
}

interface Start {
  readonly ports: GridStartPorts
  readonly settings: GridStartSettings
  readonly saved: SavedState
  readonly client: ServiceClient
}

async function createAndAwait({ ports, settings, saved, client }: Start): Promise<readonly string[]> {
  const { clock, cancelled } = ports
  const { grids, timeoutMs } = settings
  const statuses = new Map<string, Seen>()
  const given = new AbortController()
  const error = (): Error => new DeadlineError(describeLate(statuses, { settings, saved, client }))
  const maker = { client, saved, ports, settings: { pollIntervalMs: LONGEST_LOOK_MS } }
  const onStatus = (id: string, status: string): void => {
    const isNew = !statuses.has(id)
    statuses.set(id, { status, isLooked: !isNew })
    // At once: later steps may need it, however this one ends.
    if (isNew) ports.setOutput('grids', JSON.stringify([...statuses.keys()].map((uuid) => ({ uuid }))))
  }
  const create = async (signal: AbortSignal): Promise<readonly string[]> => {
    const createSignal = delayAbort(clock, signal, CREATE_GRACE_MS)
    await settleGrids(maker, grids, signal, { areShared: true, createSignal, onStatus }).catch(
      (thrown: unknown) => {
        // Later failures are a consequence of it.
        throw signal.aborted ? reasonOf(signal) : thrown
      }
    )
    return [...statuses.keys()]
  }
  const others = [cancelled, given.signal]
  return withDeadline(clock, timeoutMs, { error, others }, create).finally(() =>
    // If one has failed, the others are no longer waited for.
    given.abort(new Error('the grids are no longer waited for'))
  )
}

function describeStarted(count: number, keep: boolean): string {
  const [started, them] =
    count === 1 ? ['The grid has started.', 'it'] : [`All ${count} grids have started.`, 'them']
  return keep
    ? `${started} keep is true: stop ${them} with grid-stop, in a job with \`if: always()\`.`
    : `${started} The post step terminates ${them} at the end of this job.`
}

interface Seen {
  readonly status: string
  /** False if nothing but the reply to its creation has said so. */
  readonly isLooked: boolean
}

/** What is known when the time is up: a request that creates a grid may still be without a reply. */
function describeLate(
  statuses: ReadonlyMap<string, Seen>,
  { settings: { grids, timeoutMs }, saved, client }: Omit<Start, 'ports'>
): string {
  const late = [...statuses].filter(([, { status }]) => gridPhaseOf(status) !== 'usable')
  const unanswered = saved.state.askedGrids?.length ?? 0
  const unasked = grids.length - statuses.size - unanswered
  const words = [
    ...late.map(([id, { status, isLooked }]) =>
      isLooked
        ? `grid ${id} is ${status}`
        : `grid ${id} was ${status} when it was created, and the service has not said more since`
    ),
    ...(unanswered > 0 ? [`${unanswered} requested without a reply`] : []),
    ...(unasked > 0 ? [`${unasked} not requested`] : [])
  ]
  const failure = client.lastFailure
  return [
    `The grids did not start within ${formatDuration(timeoutMs)} (${words.join(', ')}).`,
    ...(failure === undefined ? [] : [asSentence(`The last request failed: ${failure.message}`)]),
    ...(statuses.size > 0 ? ['Those that were created are terminated.'] : []),
    // More time does not help if the service does not answer.
    ...(failure === undefined ? ['Increase timeout if they need longer.'] : [])
  ].join(' ')
}

/** What cannot be terminated here stays in the saved state, for the post step. */
async function terminateAll(
  { ports: { log, clock }, saved, client }: Omit<Start, 'settings'>,
  longestMs: number
): Promise<void> {
  if (!saved.state.cleanupDue) return
  const error = new Error('there was no time left')
  const isClean = await withDeadline(clock, longestMs, { error }, (signal) =>
    cleanUp(saved.state, { client, clock, log, signal })
  )
  if (isClean) saved.noteDone({ madeGrids: [], cleanupDue: false })
}

type GridStopPorts = Pick<Ports, 'openClient' | 'openIdTokens' | 'log' | 'clock' | 'cancelled'>

/** Terminates the grids and waits until they have ended. Throws if one may still be running, once all have been tried. */
export async function stopGrids(ports: GridStopPorts, settings: GridStopSettings | undefined): Promise<void> {
  const { log, clock } = ports
  if (settings === undefined) {
    log.notice('There are no grids to stop: the input grids is empty.')
    return
  }
  const { service, ids, timeoutMs } = settings
  const client = openClient(ports, {
    address: service.address,
    token: tokenFor(ports, service),
    words: vocabularyOf(service.serviceName),
    clock,
    onAddress: noteAddress(log),
    isReached: true
  })
  const time = {
    error: new DeadlineError(`it did not end within ${formatDuration(timeoutMs)} (timeout)`),
    // A cancelled job still stops its grids, as far as there is time.
    others: [delayAbort(clock, ports.cancelled, STOP_ON_CANCEL_MS)]
  }
  try {
    const found = await withDeadline(clock, timeoutMs, time, (signal) =>
      Promise.all(ids.map((id) => stopGrid(id, { client, clock, log, signal })))
    )
    const problems = found.flat()
    if (problems.length > 0) throw new Error(problems.join('\n'))
  } finally {
    await client.close()
  }
}

type Stop = Pick<CleanUpOptions, 'client' | 'clock' | 'log' | 'signal'>

/** Returns the problem, if there is one. */
async function stopGrid(id: string, stop: Stop): Promise<string[]> {
  const { client, log, signal } = stop
  let last: string | undefined
  try {
    await endGrid(client, id, stop)
    const status = await awaitEnd(id, stop, (seen) => (last = seen))
    log.info(status === undefined ? `Grid ${id} no longer exists.` : `Grid ${id} has ended (${status}).`)
    return []
  } catch (thrown) {
    const failure = signal.aborted ? client.lastFailure : undefined
    const words = [
      messageOf(thrown),
      ...(last === undefined ? [] : [`its last status was "${last}"`]),
      ...(failure === undefined ? [] : [`the last request failed: ${failure.message}`])
    ].join('; ')
    return [
      `Grid ${id} may still be running: ${asSentence(words)} Terminate it on the service, or run this step again; otherwise it ends after its stop_after.`
    ]
  }
}

/** Its last status; undefined if the service no longer has it. */
async function awaitEnd(
  id: string,
  { client, clock, signal }: Stop,
  onStatus: (status: string) => void
): Promise<string | undefined> {
  const sinceMs = clock.now()
  for (;;) {
    const show = (): Promise<Grid> => client.showGrid(id, signal)
    const grid = await retry(show, RETRY.awaitGridEnd, { clock, signal }).catch((thrown: unknown) => {
      if (!isUnknown(thrown)) throw thrown
    })
    if (grid === undefined) return undefined
    onStatus(grid.status)
    if (gridPhaseOf(grid.status) === 'ended') return grid.status
    const elapsedMs = clock.now() - sinceMs
    await clock.sleep(nextPollMs({ elapsedMs, untilEndMs: undefined, longestMs: LONGEST_LOOK_MS }), signal)
  }
}

function isUnknown(thrown: unknown): boolean {
  return thrown instanceof RefusedError && thrown.status === 404
}
