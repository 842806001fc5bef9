import { join } from 'node:path'
import { conclude } from '../verdict/conclude.js'
import type { Findings } from '../verdict/conclude.js'
import type { Gate } from '../gate.js'
import { messageOf } from '../errors.js'

/** After a bad end the tools' own logs are evidence: they are copied before the embedded service and its folder go. */
export async function keepLogs({ local, bench, settings }: Gate, findings: Findings): Promise<void> {
  const { run } = findings
  if (run === undefined || local?.keepLogs === undefined || endedWell(conclude(settings, findings), run))
    return
  const folder = join(bench.scratchDir, 'logs')
  try {
    const secrets = [local.token, settings.githubToken]
    findings.logs = await local.keepLogs({ runId: run.id, folder, secrets })
    if (findings.logs.length > 0) bench.log.info(`The tool's logs are kept in ${folder}.`)
  } catch (thrown) {
    bench.log.warning(`The tool's logs could not be kept: ${messageOf(thrown)}`)
  }
}

/** A broken threshold is no bad end: the run told what it was asked. */
function endedWell(
  { verdict }: Pick<ReturnType<typeof conclude>, 'verdict'>,
  { remoteErrors }: NonNullable<Findings['run']>
): boolean {
  return remoteErrors === undefined && (verdict === 'passed' || verdict === 'failed')
}
