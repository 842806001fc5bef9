import { reasonOf } from '../../contract/clock.js'
import type { ServiceClient } from '../../client/client.js'
import { vocabularyOf } from '../../contract/vocabulary.js'
import { cleanUp } from '../cleanup/clean-up.js'
import { STOP_AFTER_FAILURE_MS, STOP_ON_CANCEL_MS } from '../cleanup/main-step.js'
import { delayAbort, withDeadline } from '../deadline.js'
import { CancelledError, DeadlineError } from '../errors.js'
import { asSentence, formatDuration } from '../../contract/text.js'
import { openClient } from '../gate.js'
import type { Ports } from '../ports.js'
import { settleGrids } from '../run/make-grids.js'
import { gridPhaseOf } from '../run/run-status.js'
import { SavedState } from '../saved-state.js'
import type { StepState } from '../step-state.js'
import type { GridService, GridStartSettings } from './grid-settings.js'

export interface GridStartPorts extends Pick<
  Ports,
  'openClient' | 'log' | 'clock' | 'cancelled' | 'saveState'
> {
  setOutput(name: 'grids', value: string): void
}

/** A grid whose creation is cut off is unknown and runs on, so its reply is given this long; the runner kills the step 7.5 s after a cancel. */
const CREATE_GRACE_MS = 2_000
const LONGEST_LOOK_MS = 10_000

/** Creates the grids and waits until all of them have started; if that fails, it terminates what it created. */
export async function startGrids(ports: GridStartPorts, settings: GridStartSettings): Promise<void> {
  const { log, clock } = ports
  const { service, keep } = settings
  const saved = new SavedState(
    initialState(service),
    (state) => ports.saveState(state),
    (message) => log.warning(message)
  )
  const client = openClient(ports, { ...service, words: vocabularyOf(service.serviceName), clock })
  try {
    const ids = await createAndAwait({ ports, settings, saved, client })
    // From here on they are another step's to stop.
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
    // At once: what is done with the grids later may depend on it, whatever becomes of this step.
    if (isNew) ports.setOutput('grids', JSON.stringify([...statuses.keys()].map((uuid) => ({ uuid }))))
  }
  const create = async (signal: AbortSignal): Promise<readonly string[]> => {
    const createSignal = delayAbort(clock, signal, CREATE_GRACE_MS)
    await settleGrids(maker, grids, signal, { areShared: true, createSignal, onStatus }).catch(
      (thrown: unknown) => {
        // Whatever failed after that failed because of it.
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
    // A service that does not answer is not helped by more time.
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

function initialState({ address, token, serviceName }: GridService): StepState {
  return {
    address: address.api,
    ...{ token, serviceName, marker: undefined, runId: undefined },
    madeGrids: [],
    processGroups: [],
    cleanupDue: false
  }
}
