import { startDeadline } from '../../gate/deadline.js'
import { withoutSecrets } from '../../gate/settings/service-values.js'
import type { Settings } from '../../gate/settings/settings.js'
import type { Finding } from '../../analysis/plans/check/request.js'
import type { Target } from '../../analysis/plans/check/jmx-target.js'
import type { Clock } from '../../contract/clock.js'
import { probe, type ProbeResult } from '../../client/http/probe.js'

const LONGEST_MS = 5_000

/** It accepted the connection, and said nothing yet. */
interface Slow {
  readonly kind: 'slow'
  readonly failure: string
}

interface Options {
  /** What the plan's first request is sent to, if it is known. */
  readonly target: Target | undefined
  readonly clock: Clock
  readonly cancelled: AbortSignal
}

/** Sends the target one request: that of `wait-for`, or the plan's first GET. */
export async function checkTarget(
  { waitFor, overrideHosts }: Pick<Settings, 'waitFor' | 'overrideHosts'>,
  { target, clock, cancelled }: Options
): Promise<Finding[]> {
  const url = waitFor?.url ?? target?.url
  if (url === undefined)
    return [
      {
        level: 'note',
        message:
          'The target was not tried: its address is only known when the plan runs. `--wait-for <address>` tries that one.'
      }
    ]
  if (waitFor === undefined && overrideHosts?.toLowerCase().includes(url.hostname.toLowerCase()))
    return [
      {
        level: 'note',
        message: `The target was not tried: override-hosts gives ${url.hostname} another address.`
      }
    ]
  const shown = withoutSecrets(waitFor === undefined && target ? target.shown : url.href)
  const result = await tryOnce(url, { clock, cancelled })
  if ('failure' in result)
    return [
      {
        // A plan with slow requests may pass.
        level: result.kind === 'slow' ? 'warning' : 'error',
        message: `The target ${shown} does not answer: ${result.failure}. ${adviceFor(result)}`
      }
    ]
  if (result.status >= 500) {
    // Nobody says that the plan asks for this path.
    const isAsked = waitFor !== undefined || target?.isOfPlan === true
    return [
      {
        level: isAsked ? 'error' : 'warning',
        message: `The target ${shown} answers ${result.status}, an error of the server; look into its log before a run.`
      }
    ]
  }
  return [{ level: 'note', message: `The target ${shown} answers (${result.status}).` }]
}

async function tryOnce(
  url: URL,
  { clock, cancelled }: Pick<Options, 'clock' | 'cancelled'>
): Promise<ProbeResult | Slow> {
  const slow = new Error('slow')
  const deadline = startDeadline(clock, LONGEST_MS, { error: slow, others: [cancelled] })
  try {
    // The tools accept any certificate too.
    return await probe(url, { signal: deadline.signal, acceptsAnyCertificate: true })
  } catch (thrown) {
    if (thrown !== slow) throw thrown
    return { kind: 'slow', failure: `${url.host} did not reply within ${LONGEST_MS / 1000} s` }
  } finally {
    deadline.release()
  }
}

function adviceFor({ kind }: Extract<ProbeResult, { failure: string }> | Slow): string {
  switch (kind) {
    case 'no-server':
      return 'Start the server first, or correct host and port: in the plan, or with override-parameters. If it is still starting, `wait-for` waits for it.'
    case 'unknown-host':
      return 'Correct the host: in the plan, or with override-parameters.'
    case 'slow':
      return 'Is it busy, or still starting?'
    case 'certificate':
    case 'other':
      return 'Check the address and the network between this machine and the target.'
  }
}
