import type { Ports } from '../ports.js'
import { Calls, explain } from './baseline/calls.js'
import { readEvent } from './event.js'
import { connect } from './pull-request.js'

type Request = Parameters<NonNullable<Ports['readWorkflowBegin']>>[0]

/** When the workflow run was created, by GitHub's clock, or the one that it follows, whose results it judges; or why that is not known. */
export async function readWorkflowBegin(
  env: NodeJS.ProcessEnv,
  clock: Ports['clock'],
  { token, signal, untilMs }: Request
): Promise<{ readonly ms: number } | { readonly reason: string }> {
  const followed = await readFollowed(env)
  if (followed !== undefined) return followed
  const run = Number(env.GITHUB_RUN_ID)
  if (token === '') return { reason: 'there is no github-token to ask GitHub with when it began' }
  if (!Number.isSafeInteger(run) || run <= 0) return { reason: 'GITHUB_RUN_ID is not set' }
  try {
    const calls = new Calls(await connect(env, { token, signal }), env, { clock, signal, untilMs })
    const { data } = await calls.make('read when the workflow run began', () =>
      calls.octokit.rest.actions.getWorkflowRun({ ...calls.repository, run_id: run })
    )
    return readTime(data.created_at)
  } catch (thrown) {
    signal.throwIfAborted()
    return { reason: explain(thrown) }
  }
}

/** If the workflow runs after another one, the event says when that began. */
async function readFollowed(env: NodeJS.ProcessEnv): Promise<ReturnType<typeof readTime> | undefined> {
  if (env.GITHUB_EVENT_NAME !== 'workflow_run' || !env.GITHUB_EVENT_PATH) return undefined
  const event = await readEvent<{ workflow_run?: { created_at?: unknown } } | null>(env.GITHUB_EVENT_PATH)
  return readTime(event?.workflow_run?.created_at)
}

function readTime(text: unknown): { readonly ms: number } | { readonly reason: string } {
  const ms = typeof text === 'string' ? Date.parse(text) : NaN
  return Number.isNaN(ms) ? { reason: 'GitHub does not say when it began' } : { ms }
}
