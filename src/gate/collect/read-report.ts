import type { Report } from '../../service/documents/documents.js'
import { MalformedReplyError } from '../../service/errors.js'
import { RETRY, retry } from '../../service/retry.js'
import type { Gate } from '../gate.js'
import { messageOf } from '../errors.js'

export interface ReadReport {
  readonly report: Report | undefined
  /** Why there is none. */
  readonly reportProblem: string | undefined
  readonly doubts: readonly string[]
}

/** No threshold needs the summary: do not wait for it any longer. */
const SUMMARY_PATIENCE_MS = 10_000
const NO_SUMMARY =
  'The report of the run has no summary. The verdict does not depend on it: it is based on the CSVs.'

/** Requests the report until it is ready; one without a summary is accepted after a while. Failures are returned, not thrown. */
export async function readReport(
  { client, ports: { clock, log } }: Gate,
  runId: string,
  signal: AbortSignal
): Promise<ReadReport> {
  let retries = 0
  let bare: { readonly report: Report; readonly sinceMs: number } | undefined
  const ask = async (): Promise<Report> => {
    const report = await client.report(runId, signal)
    if (report.summary !== undefined) return report
    bare = { report, sinceMs: bare?.sinceMs ?? clock.now() }
    if (clock.now() - bare.sinceMs >= SUMMARY_PATIENCE_MS) return report
    throw new MalformedReplyError(`reading the report of run ${runId}`, 'it has no summary')
  }
  const found = await retry(ask, RETRY.collect, {
    clock,
    signal,
    onRetry: (thrown) => {
      if (retries++ === 0) log.info(`The report is not ready (${messageOf(thrown)}); retrying.`)
    },
    overWith: (failure) =>
      new Error(`not available within the collection time; the last answer: ${messageOf(failure)}`)
  }).catch((thrown: unknown) => bare?.report ?? messageOf(thrown))
  if (typeof found === 'string') return { report: undefined, reportProblem: found, doubts: [] }
  const said = found.warnings.map((warning) => `The service says: ${warning}`)
  const doubts = [...(found.summary === undefined ? [NO_SUMMARY] : []), ...said]
  return { report: found, reportProblem: undefined, doubts }
}
