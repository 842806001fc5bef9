import { join } from 'node:path'
import { RESULTS_FOLDER } from '../collect/collect.js'
import { withDeadline } from '../deadline.js'
import { failureOf } from '../errors.js'
import type { Findings } from '../findings.js'
import type { Ports } from '../ports.js'
import type { Origin, Settings } from '../settings/settings.js'
import { messageOf } from '../../contract/text.js'
import { compareWithBaseline } from '../baseline/compare-with-baseline.js'
import type { Begin } from './count-files.js'
import { checkCancelled, readResultFiles } from './read-result-files.js'

const LONGEST_QUESTION_MS = 20_000

/** What files of other tools show, without a service and without a run. */
export async function findOutFromFiles(
  ports: Ports,
  settings: Settings,
  { files }: Extract<Origin, { kind: 'results' }>
): Promise<Findings> {
  const { clock, cancelled, log, scratchDir } = ports
  let findings: Findings = {}
  try {
    for (const { shown } of files) log.info(`Results: ${shown}`)
    ports.onProgress?.({ status: 'reading the results', elapsedMs: 0, durationMs: undefined })
    const begin = await askForBegin(ports, settings)
    findings = await readResultFiles(files, {
      ...{ settings, begin, signal: cancelled, isCopied: true, clock },
      folder: join(scratchDir, RESULTS_FOLDER)
    })
    findings = await compareWithBaseline({ ports, settings }, findings)
    await checkCancelled(cancelled)
    return findings
  } catch (thrown) {
    return { ...findings, failure: failureOf(thrown) }
  }
}

/** Undefined where there is no workflow. */
async function askForBegin(ports: Ports, { githubToken: token }: Settings): Promise<Begin | undefined> {
  const { clock, cancelled, readWorkflowBegin } = ports
  if (readWorkflowBegin === undefined) return undefined
  const error = new Error(`GitHub did not answer within ${LONGEST_QUESTION_MS / 1000} s`)
  const untilMs = clock.now() + LONGEST_QUESTION_MS
  const ask = (signal: AbortSignal): Promise<Begin> => readWorkflowBegin({ token, signal, untilMs })
  return withDeadline(clock, LONGEST_QUESTION_MS, { error, others: [cancelled] }, ask).catch(
    (thrown: unknown) => {
      if (cancelled.aborted) throw thrown
      return { reason: messageOf(thrown) }
    }
  )
}
