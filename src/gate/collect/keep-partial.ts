import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Findings } from '../verdict/conclude.js'
import { startDeadline } from '../deadline.js'
import type { Gate } from '../gate.js'
import { messageOf } from '../errors.js'
import type { LocalServiceEnd } from '../ports.js'

/** The runner sends its second signal, which ends the process at once, 7.5 s after the first one. */
const CANCEL_LIMIT_MS = 5_000
/** What the embedded service needs to note its state once its tools have ended. */
const LEAST_CLOSE_MS = 500
const RESULTS = 'results'

/**
 * After a cancel, what the embedded service has measured until then is kept: read and reported where there is time,
 * else as it is. Answers how the service is to be closed.
 */
export async function keepPartial(
  gate: Gate,
  findings: Findings,
  cancelledMs: number
): Promise<LocalServiceEnd> {
  const { bench, local } = gate
  if (local === undefined || findings.trouble?.kind !== 'cancelled') return {}
  const leftMs = (): number => CANCEL_LIMIT_MS - (bench.clock.now() - cancelledMs)
  if (leftMs() > 0) await collectPartial(gate, findings, leftMs())
  return {
    withinMs: Math.max(LEAST_CLOSE_MS, leftMs()),
    ...(isComplete(findings) ? {} : { keepSamplesIn: join(bench.scratchDir, RESULTS) })
  }
}

/** Says in the outcome what the CSVs of a cancelled run are. */
export async function notePartial({ bench, local }: Gate, findings: Findings): Promise<void> {
  if (local === undefined || findings.trouble?.kind !== 'cancelled') return
  const names = await readdir(join(bench.scratchDir, RESULTS)).catch(() => [])
  const csvs = names.filter((name) => name.endsWith('.csv')).sort()
  if (csvs.length === 0) return
  const unread = isComplete(findings) ? '' : ' There was no time to read them.'
  findings.notes = [
    `Partial results: ${csvs.map((name) => `${RESULTS}/${name}`).join(', ')} hold what was measured until the cancellation.${unread}`
  ]
}

async function collectPartial(gate: Gate, findings: Findings, withinMs: number): Promise<void> {
  const { bench, client } = gate
  const { run } = findings
  if (run === undefined) return
  const deadline = startDeadline(bench.clock, withinMs, { error: new Error('there was no time left') })
  try {
    const { collect } = await import('../after-run.js')
    findings.run = await client.showRun(run.id, deadline.signal)
    findings.collection = await collect(gate, findings.run, { signal: deadline.signal, isPatient: false })
  } catch (thrown) {
    bench.log.info(`The partial results could not be read: ${messageOf(thrown)}`)
  } finally {
    deadline.release()
  }
}

function isComplete({ collection }: Findings): boolean {
  return (
    collection !== undefined &&
    collection.grids.length > 0 &&
    collection.grids.every(({ path }) => path !== undefined)
  )
}
