import { getOctokit } from '@actions/github'
import { OddReplyError } from './comment-failure.js'
import { assertEventReadable } from './pull-request.js'
import type { Octokit } from './pull-request.js'

const ignore = (): void => undefined
/** Octokit would print a server's notices about its API, and the runner reads what is printed. */
const SILENT = { debug: ignore, info: ignore, warn: ignore, error: ignore }

/** A client of GitHub's API. */
export async function connect(
  env: NodeJS.ProcessEnv,
  { token, signal }: { token: string; signal: AbortSignal }
): Promise<Octokit> {
  await assertEventReadable(env)
  const octokit = getOctokit(token, {
    log: SILENT,
    ...(env.GITHUB_API_URL && { baseUrl: env.GITHUB_API_URL })
  })
  // Passed to single calls, it would not reach the further pages of a list.
  octokit.hook.before('request', (options) => {
    options.request = { ...options.request, signal }
  })
  // Invalid or truncated JSON arrives as text with a successful status: a proxy's page, for example.
  octokit.hook.after('request', ({ status, data }) => {
    // A redirect and an empty reply have no document.
    const hasDocument = status < 300 && status !== 204
    if (hasDocument && typeof data === 'string') throw new OddReplyError("GitHub's reply is not JSON")
  })
  return octokit
}
