import { type ProbeResult, probe } from '../client/http/probe.js'
import { formatDuration } from '../contract/text.js'
import { startDeadline } from './deadline.js'
import { DeadlineError } from './errors.js'
import type { Ports } from './ports.js'
import { withoutSecrets } from './settings/service-values.js'
import type { Settings } from './settings/settings.js'
import type { WaitFor } from './settings/target-settings.js'

const LONGEST_ATTEMPT_MS = 5_000
const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 3_000
/** A shorter wait is not worth a line. */
const WORTH_TELLING_MS = 1_000

/** The target has not answered in time; nothing was started. */
class NotReadyError extends Error {
  override name = 'NotReadyError'
}

type WaitPorts = Pick<Ports, 'clock' | 'log' | 'cancelled'>

/** Waits until the target answers, before anything is created or started. Returns how long that took; throws if it does not in time. */
export async function waitForTarget(
  ports: WaitPorts,
  { waitFor, origin, timeoutMs }: Pick<Settings, 'waitFor' | 'origin' | 'timeoutMs'>
): Promise<number> {
  // A run that exists already has its load.
  if (waitFor === undefined || origin.kind === 'existing') return 0
  const { clock, cancelled } = ports
  let last = 'it did not reply'
  const isWholeTimeout = timeoutMs < waitFor.timeoutMs
  const deadline = startDeadline(clock, Math.min(timeoutMs, waitFor.timeoutMs), {
    error: () =>
      isWholeTimeout
        ? new DeadlineError(
            describe(waitFor, last, {
              limit: `the timeout of ${formatDuration(timeoutMs)}`,
              remedy: 'raise `timeout`, which is shorter than that of wait-for'
            })
          )
        : new NotReadyError(
            describe(waitFor, last, {
              limit: formatDuration(waitFor.timeoutMs),
              remedy: `give it more time: \`wait-for: ${withoutSecrets(waitFor.url.href)} ${longer(waitFor)}\``
            })
          ),
    others: [cancelled]
  })
  try {
    const startedMs = clock.now()
    await poll(ports, waitFor, { signal: deadline.signal, onFailure: (failure) => (last = failure) })
    return clock.now() - startedMs
  } finally {
    deadline.release()
  }
}

async function poll(
  { clock, log }: WaitPorts,
  { url, timeoutMs }: WaitFor,
  { signal, onFailure }: { signal: AbortSignal; onFailure: (failure: string) => void }
): Promise<void> {
  const startedMs = clock.now()
  const shown = withoutSecrets(url.href)
  for (let attempt = 0; ; attempt++) {
    signal.throwIfAborted()
    const result = await attemptOnce(clock, url, signal)
    if ('status' in result && result.status < 500) {
      const tookMs = clock.now() - startedMs
      if (tookMs >= WORTH_TELLING_MS)
        log.info(`${shown} answered ${result.status} after ${formatDuration(tookMs)}.`)
      return
    }
    const failure = 'status' in result ? `it answered ${result.status}` : result.failure
    if (attempt === 0)
      log.info(`Waiting for ${shown} to answer, for at most ${formatDuration(timeoutMs)}: ${failure}.`)
    onFailure(failure)
    await clock.sleep(Math.min(FIRST_PAUSE_MS * 2 ** attempt, LONGEST_PAUSE_MS), signal)
  }
}

/** A server that accepts the connection and says nothing is not ready either. */
async function attemptOnce(clock: Ports['clock'], url: URL, signal: AbortSignal): Promise<ProbeResult> {
  const slow = new Error('slow')
  const deadline = startDeadline(clock, LONGEST_ATTEMPT_MS, { error: slow, others: [signal] })
  try {
    return await probe(url, { signal: deadline.signal })
  } catch (thrown) {
    if (thrown !== slow) throw thrown
    return { kind: 'other', failure: `${url.host} did not answer within ${LONGEST_ATTEMPT_MS / 1000} s` }
  } finally {
    deadline.release()
  }
}

/** In minutes, and at least twice as long. */
function longer({ timeoutMs }: WaitFor): string {
  return `${Math.max(5, Math.ceil((timeoutMs * 2) / 60_000))}m`
}

function describe(
  { url }: WaitFor,
  last: string,
  { limit, remedy }: { limit: string; remedy: string }
): string {
  const shown = withoutSecrets(url.href)
  return `wait-for: ${shown} did not answer within ${limit}, so that no load was started. The last attempt: ${last}. Is the server started in an earlier step, and does it listen on port ${portOf(url)}? If it needs longer, ${remedy}.`
}

function portOf({ port, protocol }: URL): string {
  return port || (protocol === 'https:' ? '443' : '80')
}
