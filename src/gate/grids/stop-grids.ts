import type { ServiceClient } from '../../client/client.js'
import type { Grid } from '../../contract/api.js'
import { RefusedError } from '../../client/errors.js'
import { RETRY, retry } from '../../client/retry.js'
import { vocabularyOf } from '../../contract/vocabulary.js'
import type { CleanUpOptions } from '../cleanup/clean-up.js'
import { STOP_ON_CANCEL_MS } from '../cleanup/main-step.js'
import { delayAbort, withDeadline } from '../deadline.js'
import { DeadlineError } from '../errors.js'
import { asSentence, formatDuration, messageOf } from '../../contract/text.js'
import { openClient } from '../gate.js'
import type { Ports } from '../ports.js'
import { endGrid } from '../run/end-run.js'
import { gridPhaseOf } from '../run/run-status.js'
import { nextPollMs } from '../run/watch-run.js'
import type { GridStopSettings } from './grid-settings.js'

export type GridStopPorts = Pick<Ports, 'openClient' | 'log' | 'clock' | 'cancelled'>

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
  const time = {
    error: new DeadlineError(`it did not end within ${formatDuration(timeoutMs)} (timeout)`),
    // A cancelled job still wants its grids ended, as far as there is time.
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
  const others = await Promise.allSettled([client.account(signal), client.listRuns(undefined, signal)])
  if (others.every((other) => other.status === 'rejected' && isUnknown(other.reason)))
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
