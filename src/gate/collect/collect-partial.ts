import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { startDeadline } from '../deadline.js'
import { messageOf } from '../errors.js'
import type { Findings } from '../findings.js'
import type { Gate } from '../gate.js'
import type { LocalServiceEnd } from '../ports.js'
import { hasEnded } from '../run/run-status.js'

/** The runner sends its second signal, which ends the process at once, 7.5 s after the first one. */
const CANCEL_LIMIT_MS = 5_000
/** What the embedded service needs to save its state once its tools have ended. */
const LEAST_CLOSE_MS = 500
const RESULTS = 'results'

/** After a cancellation, what the embedded service has measured so far is read and reported, if there is time. */
export async function collectPartial(gate: Gate, findings: Findings): Promise<Findings> {
  const { ports, client } = gate
  const { run } = findings
  const withinMs = leftMs(gate, findings)
  if (run === undefined || withinMs <= 0 || !isCutOff(gate, findings)) return findings
  const deadline = startDeadline(ports.clock, withinMs, { error: new Error('there was no time left') })
  try {
    const { collect } = await import('../after-run.js')
    const shown = await client.showRun(run.id, deadline.signal)
    // A CSV that still grows is not a result.
    if (!hasEnded(shown.status)) return findings
    const collection = await collect(gate, shown, { signal: deadline.signal, isPatient: false })
    return { ...findings, run: shown, collection }
  } catch (thrown) {
    ports.log.info(`The partial results could not be read: ${messageOf(thrown)}`)
    return findings
  } finally {
    deadline.release()
  }
}

/** How to close the embedded service: in the time left after a cancellation, saving the samples that were not read. */
export function howToClose(gate: Gate, findings: Findings): LocalServiceEnd {
  if (!isCutOff(gate, findings)) return {}
  const isSideBySide = gate.settings.baseline.source.kind === 'side-by-side'
  return {
    withinMs: Math.max(LEAST_CLOSE_MS, leftMs(gate, findings)),
    // Side by side all segments use the same grids, so their samples would have the same file names.
    ...(isComplete(findings) || isSideBySide ? {} : { keepSamplesIn: join(gate.ports.scratchDir, RESULTS) })
  }
}

/** Describes the CSVs of a cancelled run. */
export async function describePartial(gate: Gate, findings: Findings): Promise<string[]> {
  if (!isCutOff(gate, findings)) return []
  const names = await readdir(join(gate.ports.scratchDir, RESULTS)).catch(() => [])
  const csvs = names.filter((name) => name.endsWith('.csv')).sort()
  if (csvs.length === 0) return []
  const unread = isComplete(findings) ? '' : ' There was no time to read them.'
  return [
    `Partial results, measured before the cancellation: ${csvs.map((name) => `${RESULTS}/${name}`).join(', ')}.${unread}`
  ]
}

/** A remote service keeps its results. */
function isCutOff({ local }: Gate, { failure }: Findings): boolean {
  return local !== undefined && failure?.kind === 'cancelled'
}

function leftMs({ ports }: Gate, { endedMs }: Findings): number {
  const nowMs = ports.clock.now()
  return CANCEL_LIMIT_MS - (nowMs - (endedMs ?? nowMs))
}

function isComplete({ collection }: Findings): boolean {
  return (
    collection !== undefined &&
    collection.grids.length > 0 &&
    collection.grids.every(({ path }) => path !== undefined)
  )
}
