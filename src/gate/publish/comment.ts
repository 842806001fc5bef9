import { basename } from 'node:path'
import { renderComment } from '../../report/markdown/comment.js'
import type { Outcome } from '../../report/outcome.js'
import type { SummaryLinks } from '../../report/markdown/summary.js'
import { startDeadline } from '../deadline.js'
import { defaultName } from '../settings/settings.js'
import { withoutSecretValues } from '../settings/secret-parameters.js'
import type { Settings } from '../settings/settings.js'
import { messageOf } from '../errors.js'
import type { Ports } from '../ports.js'

const LONGEST_COMMENT_MS = 30_000

/** Comments on the pull request. A cancelled or detached run has no verdict to report, so the last comment stays. */
export async function commentOnPullRequest(
  ports: Ports,
  { settings, outcome, links }: { settings: Settings; outcome: Outcome; links: SummaryLinks }
): Promise<void> {
  const { comment, githubToken, matrix, name } = settings
  if (ports.comment === undefined || comment === 'off') return
  if (['cancelled', 'detached'].includes(outcome.verdict)) return
  if (githubToken === '') {
    ports.log.info('No github-token, so no comment on the pull request.')
    return
  }
  const untilMs = ports.clock.now() + LONGEST_COMMENT_MS
  const deadline = startDeadline(ports.clock, LONGEST_COMMENT_MS, {
    error: new Error('GitHub took too long to respond'),
    others: [ports.cancelled]
  })
  try {
    await ports.comment({
      token: githubToken,
      matrix,
      name: name === defaultName(ports.occasion) ? undefined : name,
      subject: subjectOf(settings),
      signal: deadline.signal,
      untilMs,
      render: (place) => renderComment(outcome, { ...links, workflowUrl: ports.occasion.url }, place)
    })
  } catch (thrown) {
    ports.log.warning(`The comment on the pull request could not be written: ${messageOf(thrown)}`)
  } finally {
    deadline.release()
  }
}

/** Plan, service and thresholds. Not the run id, which differs each time. */
function subjectOf({
  target,
  tool,
  origin,
  project,
  overrideParameters,
  overrideHosts,
  thresholds
}: Settings): string {
  return JSON.stringify([
    target.kind === 'remote' ? target.address.api : target.kind,
    tool,
    origin.kind === 'files' ? origin.paths.map((path) => basename(path)) : origin.kind,
    project,
    withoutSecretValues(overrideParameters),
    overrideHosts,
    thresholds.map(({ text }) => text)
  ])
}
