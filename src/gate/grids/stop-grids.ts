import type { Clock } from '../../contract/clock.js'
import type { ServiceClient } from '../../client/client.js'
import type { Grid } from '../../contract/api.js'
import { RefusedError } from '../../client/errors.js'
import { RETRY, retry } from '../../client/retry.js'
import { vocabularyOf } from '../../contract/vocabulary.js'
import { STOP_ON_CANCEL_MS } from '../cleanup/main-step.js'
import { delayAbort, startDeadline } from '../deadline.js'
import { DeadlineError } from '../errors.js'
import { asSentence, formatDuration, messageOf } from '../../contract/text.js'
import { openClient } from '../gate.js'
import type { Log, Ports } from '../ports.js'
import { endGrid } from '../run/end-run.js'
import { gridPhaseOf } from '../run/run-status.js'
import { nextPollMs } from '../run/poll-interval.js'
import type { GridStopSettings } from './grid-settings.js'

export interface GridStopPorts extends Pick<Ports, 'openClient'> {
  readonly log: Log
  readonly clock: Clock
  /** Aborted when the job is cancelled. */
  readonly cancelled: AbortSignal
}

const LONGEST_LOOK_MS = 10_000

/** Terminates the grids and waits until they have ended. Throws if one may still be running, once all have been tried. */
export async function stopGrids(ports: GridStopPorts, settings: GridStopSettings | undefined): Promise<void> {
  const { log, clock } = ports
  if (settings === undefined) {
    log.notice('There are no grids to stop: the input grids is empty.')
    return
  }
  const { service, ids, timeoutMs } = settings
  const client = openClient(ports, {
    ...service,
    words: vocabularyOf(service.serviceName),
    clock,
    isReached: true
  })
  const deadline = startDeadline(clock, timeoutMs, {
    error: new DeadlineError(`it did not end within ${formatDuration(timeoutMs)} (timeout)`),
    // A cancelled job still wants its grids ended, as far as there is time.
    others: [delayAbort(clock, ports.cancelled, STOP_ON_CANCEL_MS)]
  })
  try {
    const stop = (id: string): Promise<string[]> =>
      stopGrid(id, { client, clock, log, signal: deadline.signal })
    const problems = (await Promise.all(ids.map(stop))).flat()
    if (problems.length > 0) throw new Error(problems.join('\n'))
  } finally {
    deadline.release()
    await client.close()
  }
}

interface Stop {
  readonly client: ServiceClient
  readonly clock: Clock
  readonly log: Log
  readonly signal: AbortSignal
}

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
    const grid = await retry(show, RETRY.awaitGridEnd, { clock, signal }).catch(undefinedIfUnknown)
    if (grid === undefined) {
      await assertIsService(client, signal)
      return undefined
    }
    onStatus(grid.status)
    if (gridPhaseOf(grid.status) === 'ended') return grid.status
    const elapsedMs = clock.now() - sinceMs
    await clock.sleep(nextPollMs({ elapsedMs, untilEndMs: undefined, longestMs: LONGEST_LOOK_MS }), signal)
  }
}

/** An address that answers 404 to everything would make every grid look gone. */
async function assertIsService(client: ServiceClient, signal: AbortSignal): Promise<void> {
  const caught = (thrown: unknown): unknown => thrown
  const others = [
    await client.account(signal).catch(caught),
    await client.listRuns(undefined, signal).catch(caught)
  ]
  if (others.every(isUnknown))
    throw new Error(
      'the service answered 404, and so it did for the account and for the list of runs: this is not the address of its API; check base-url'
    )
}

function undefinedIfUnknown(thrown: unknown): undefined {
  if (!isUnknown(thrown)) throw thrown
}

function isUnknown(thrown: unknown): boolean {
  return thrown instanceof RefusedError && thrown.status === 404
}
