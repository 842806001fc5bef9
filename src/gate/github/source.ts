import type { RunSource } from '../../contract/api/run-source.js'
import type { Occasion } from '../ports.js'
import { readEvent } from './event.js'

/** The commit and the pull request of the workflow run, by its event. What cannot be read is left out: it is only shown. */
export async function findSource(
  env: NodeJS.ProcessEnv,
  { repository, commit, url }: Occasion
): Promise<RunSource> {
  const { GITHUB_SERVER_URL: server = '' } = env
  if (server === '' || repository === '') return {}
  const event = await readEvent(env.GITHUB_EVENT_PATH ?? '').catch(() => null)
  const { number, head } = event?.pull_request ?? {}
  const place = `${server}/${repository}`
  const isPullRequest = Number.isSafeInteger(number)
  const isSha = typeof head?.sha === 'string' && /^[0-9a-f]{7,64}$/i.test(head.sha)
  // A pull request's own workflow runs on a merge commit that nobody wrote.
  const sha = isPullRequest && isSha ? head.sha : commit
  return {
    commit: sha === '' ? undefined : `${place}/commit/${sha}`,
    pullRequest: isPullRequest ? `${place}/pull/${String(number)}` : undefined,
    workflowRun: url
  }
}
