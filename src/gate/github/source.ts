import { readFile } from 'node:fs/promises'
import { isObject } from '../../contract/decode.js'
import type { RunSource } from '../../contract/api/run-source.js'
import type { Occasion } from '../ports.js'

/** The commit and the pull request of the workflow run, by its event. What cannot be read is left out: it is only shown. */
export async function readSource(
  env: NodeJS.ProcessEnv,
  { repository, commit, url }: Occasion
): Promise<RunSource> {
  const { GITHUB_SERVER_URL: server = '' } = env
  if (server === '' || repository === '') return {}
  const { number, head } = await readPullRequest(env.GITHUB_EVENT_PATH ?? '')
  const place = `${server}/${repository}`
  // A pull request's own workflow runs on a merge commit that nobody wrote.
  const sha = head ?? commit
  return {
    commit: sha === '' ? undefined : `${place}/commit/${sha}`,
    pullRequest: number === undefined ? undefined : `${place}/pull/${number}`,
    workflowRun: url
  }
}

async function readPullRequest(path: string): Promise<{ number?: number; head?: string }> {
  try {
    const event = path === '' ? undefined : (JSON.parse(await readFile(path, 'utf8')) as unknown)
    const request = isObject(event) ? event.pull_request : undefined
    if (!isObject(request) || !Number.isSafeInteger(request.number)) return {}
    const sha = isObject(request.head) ? request.head.sha : undefined
    const isSha = typeof sha === 'string' && /^[0-9a-f]{7,64}$/i.test(sha)
    return { number: Number(request.number), ...(isSha && { head: sha }) }
  } catch {
    return {}
  }
}
