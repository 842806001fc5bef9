import { join } from 'node:path'
import type { Outcome } from '../../report/outcome.js'
import type { Findings } from '../findings.js'
import type { Gate } from '../gate.js'
import { messageOf } from '../errors.js'

/** After a failure the tools' logs are evidence: they are copied before the embedded service's folder is deleted. Returns the copies. */
export async function keepLogs(
  gate: Gate,
  outcome: Outcome,
  badRuns: Findings['badRuns'] = []
): Promise<string[]> {
  const { local, ports, settings } = gate
  const { run } = outcome
  if (local?.keepLogs === undefined) return []
  const folder = join(ports.scratchDir, 'logs')
  const isBad = run !== undefined && !endedWell(outcome) && badRuns.length === 0
  const bad = badRuns.map((each) => ({ runId: each.runId, folder: join(folder, each.folder) }))
  const wanted = isBad ? [{ runId: run.id, folder }] : bad
  try {
    const secrets = [local.token, settings.githubToken]
    const logs: string[] = []
    for (const each of wanted) logs.push(...(await local.keepLogs({ ...each, secrets })))
    if (logs.length > 0) ports.log.info(`The tool's logs are saved in ${folder}.`)
    return logs
  } catch (thrown) {
    ports.log.warning(`The tool's logs could not be saved: ${messageOf(thrown)}`)
    return []
  }
}

/** A failed threshold is not such a failure: the run worked. */
function endedWell({ verdict, remoteErrors }: Outcome): boolean {
  return remoteErrors.length === 0 && (verdict === 'passed' || verdict === 'failed')
}
