import { afterEach, beforeEach } from '@jest/globals'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CommentRequest } from '../../../src/gate/ports.js'
import { createCommenter } from '../../../src/gate/github/comment.js'
import { renderComment } from '../../../src/report/markdown/comment.js'
import type { Verdict } from '../../../src/analysis/outcome.js'
import { LogBook } from '../gate/gate-ports.js'
import { GitHubApi } from './github-api.js'
import { JumpingClock } from '../manual-clock.js'
import { makeOutcome } from '../data/make-outcome.js'

export const PULL = 7

/** One use of the action on the pull request. */
export interface GateOnPull {
  readonly verdict: Verdict
  readonly run?: number
  readonly attempt?: number
  /** The step's id, as the runner gives it. */
  readonly step?: string
  readonly subject?: string
  /** As the runner gives it: an id of the run, then the job's path in it. */
  readonly orchestration?: string
  readonly commit?: string
  readonly request?: Partial<CommentRequest>
}

export interface CommentStage {
  api: GitHubApi
  log: LogBook
  clock: JumpingClock
  comment(gate: GateOnPull): Promise<void>
  /** The headline of every comment on the pull request, in their order. */
  headlines(): string[]
}

/** A pull request on a GitHub of loopback, and gates that comment on it, each a process of its own in its environment. */
export function setCommentStage(): CommentStage {
  let folder = ''
  let events = 0
  const stage = {
    comment: async (gate: GateOnPull) => {
      // One for each: gates at the same time must not read what another is just writing.
      const eventPath = join(folder, `event-${++events}.json`)
      const head = { sha: (gate.commit ?? '1').repeat(40), repo: { full_name: 'octo/shop' } }
      await writeFile(eventPath, JSON.stringify({ pull_request: { number: PULL, head } }))
      const env = makeEnvironment(stage.api.url, eventPath, gate)
      await createCommenter(
        env,
        stage.log,
        stage.clock
      )({
        token: 'ghs_x',
        matrix: 'null',
        name: undefined,
        subject: gate.subject ?? 'the plan',
        signal: new AbortController().signal,
        untilMs: stage.clock.now() + 30_000,
        render: (place) =>
          renderComment(
            makeOutcome({ verdict: gate.verdict }),
            { artifactUrl: undefined, artifactProblem: undefined, workflowUrl: undefined },
            place
          ),
        ...gate.request
      })
    },
    headlines: () =>
      stage.api
        .of(PULL)
        .map(({ body }) => (/^## (.*)$/m.exec(body)?.[1] ?? body).replace('&#91;', '[').replace('&#93;', ']'))
  } as CommentStage
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'comment-stage-'))
    stage.api = await new GitHubApi().start()
    stage.log = new LogBook()
    stage.clock = new JumpingClock(Date.now())
  })
  afterEach(async () => {
    await stage.api.stop()
    await rm(folder, { recursive: true })
  })
  return stage
}

function makeEnvironment(url: string, eventPath: string, gate: GateOnPull): NodeJS.ProcessEnv {
  const { run = 100, attempt = 1, step = '__loadgate', orchestration } = gate
  return {
    GITHUB_API_URL: url,
    GITHUB_SERVER_URL: 'https://github.com',
    GITHUB_REPOSITORY: 'octo/shop',
    GITHUB_WORKFLOW: 'performance',
    GITHUB_WORKFLOW_REF: 'octo/shop/.github/workflows/performance.yml@refs/pull/7/merge',
    GITHUB_JOB: 'gate',
    GITHUB_EVENT_NAME: 'pull_request',
    GITHUB_REF: 'refs/pull/7/merge',
    GITHUB_EVENT_PATH: eventPath,
    GITHUB_RUN_ID: String(run),
    GITHUB_RUN_ATTEMPT: String(attempt),
    GITHUB_ACTION: step,
    ...(orchestration !== undefined && { ACTIONS_ORCHESTRATION_ID: orchestration })
  }
}
