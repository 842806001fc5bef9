import type { ServiceClient } from '../../service/client.js'
import type { Clock } from '../../service/clock.js'
import type { Run } from '../../service/documents/documents.js'
import { RefusedError } from '../../service/errors.js'
import { Failures, RETRY } from '../../service/retry.js'
import { hasEnded } from './run-status.js'

interface Ports {
  readonly client: ServiceClient
  readonly clock: Clock
  readonly signal: AbortSignal
}

const LOOK_EVERY_MS = 2_000
/** Stopping may take minutes to be answered; a request that got lost is not waited for that long. */
const STOP_AGAIN_MS = 20_000

/** Stops a run and looks until it has ended; throws when it cannot be made sure. */
export async function endRun(
  client: ServiceClient,
  id: string,
  options: { clock: Clock; signal: AbortSignal }
): Promise<Run> {
  const { clock, signal } = options
  const failures = new Failures(RETRY.stopRun, clock)
  let failure: unknown
  for (;;) {
    try {
      // Stopping is repeated, for it does no harm, until a look shows the end.
      const run = await stopAndLook({ client, clock, signal }, id)
      if (run !== undefined && hasEnded(run.status)) return run
      failures.noteAnswer()
    } catch (thrown) {
      if (signal.aborted) throw failure ?? thrown
      failures.bear(thrown)
      failure = thrown
    }
    await clock.sleep(LOOK_EVERY_MS, signal)
  }
}

/** The run as the stop's answer or a look beside it shows it, whichever comes first. */
async function stopAndLook(ports: Ports, id: string): Promise<Run | undefined> {
  const round = new AbortController()
  const either = { ...ports, signal: AbortSignal.any([ports.signal, round.signal]) }
  try {
    return await Promise.race([stop(either, id), lookMeanwhile(either, id)])
  } finally {
    round.abort()
  }
}

/** The word of the stop alone is not believed: a look tells, also after a refusal, for a run that has just ended refuses to be stopped. */
async function stop({ client, signal }: Ports, id: string): Promise<Run> {
  try {
    await client.stopRun(id, signal)
  } catch (thrown) {
    if (!(thrown instanceof RefusedError)) throw thrown
    const run = await client.showRun(id, signal).catch(() => undefined)
    if (run !== undefined && hasEnded(run.status)) return run
    throw thrown
  }
  return client.showRun(id, signal)
}

/** Comes back when the end is seen, or when it is time to ask again. */
async function lookMeanwhile({ client, clock, signal }: Ports, id: string): Promise<Run | undefined> {
  const untilMs = clock.now() + STOP_AGAIN_MS
  let run: Run | undefined
  while (clock.now() < untilMs && !(run && hasEnded(run.status))) {
    await clock.sleep(LOOK_EVERY_MS, signal)
    // What a look fails with is for the stop itself to tell.
    run = (await client.showRun(id, signal).catch(() => undefined)) ?? run
  }
  return run
}
