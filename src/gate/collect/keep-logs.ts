import { join } from 'node:path'
import type { Outcome } from '../../report/outcome.js'
import type { Gate } from '../gate.js'
import { messageOf } from '../errors.js'

/** After a failure the tools' logs are evidence: they are copied before the embedded service's folder is deleted. Returns the copies. */
export async function keepLogs({ local, ports, settings }: Gate, outcome: Outcome): Promise<string[]> {
  const { run } = outcome
  if (run === undefined || local?.keepLogs === undefined || endedWell(outcome)) return []
  const folder = join(ports.scratchDir, 'logs')
  try {
    const secrets = [local.token, settings.githubToken]
    const logs = await local.keepLogs({ runId: run.id, folder, secrets })
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
