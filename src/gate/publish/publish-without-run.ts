import type { Outcome, Verdict } from '../../report/outcome.js'
import { renderSummary } from '../../report/markdown/summary.js'
import { messageOf } from '../errors.js'
import type { Ports } from '../ports.js'

/** Publishes a verdict reached before there was a run: skipped, or invalid inputs. */
export async function publishWithoutRun(
  ports: Pick<Ports, 'setOutput' | 'writeSummary' | 'log'>,
  verdict: Verdict,
  reason: string
): Promise<void> {
  const [headline = '', ...problems] = reason.split('\n')
  const outcome: Outcome = {
    verdict,
    reason: headline,
    run: undefined,
    apdex: undefined,
    summary: undefined,
    means: {},
    rehearsal: false,
    judgements: [],
    grids: [],
    measurements: undefined,
    warnings: [],
    remoteErrors: [],
    // The summary has a line for each. A caret points into the line above in logs only: here letters differ in width.
    notes: problems.filter((line) => !/^\s*\^?$/.test(line))
  }
  ports.setOutput('verdict', verdict)
  await ports
    .writeSummary(renderSummary(outcome, { artifactUrl: undefined, artifactProblem: undefined }))
    .catch((thrown: unknown) =>
      ports.log.warning(`The job summary could not be written: ${messageOf(thrown)}`)
    )
}
