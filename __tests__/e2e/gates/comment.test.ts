import { describe, expect, test } from '@jest/globals'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readHistory } from '../../../src/report/markdown/history.js'
import { ArtifactService } from '../../support/step/artifact-service.js'
import { FakeService, sampleCsv } from '../../support/fake-service.js'
import { GitHubApi, answer, reset } from '../../support/step/github-api.js'
import { diagramsIn } from '../../support/mermaid.js'
import { commandsIn } from '../../support/step/runner-commands.js'
import { Step } from '../../support/step/step.js'
import type { StepResult } from '../../support/step/step.js'

const GRID =
  '- { region: us-east-1, instance_quantity: 2, instance_type: m5.large, infrastructure: demand, stop_after: 60 }'
const GITHUB_TOKEN = 'ghs_0123456789abcdefghij'

interface Push {
  /** Of the pull request's head. */
  readonly commit: string
  readonly inputs?: Record<string, string>
  readonly fullName?: string
  /** Of the workflow run: every push has its own. */
  readonly runId?: number
}

/** A service, an artifact store and GitHub, with the steps that use them. */
class Scene {
  readonly #steps: Step[] = []

  constructor(
    readonly service: FakeService,
    readonly artifacts: ArtifactService,
    readonly api: GitHubApi
  ) {
    service.statuses = ['finished']
  }

  /** A step as a pull request starts it, with the merge commit checked out. */
  makeStep({ commit, inputs = {}, fullName = 'octo/shop', runId = 77 }: Push): Step {
    const step = new Step()
    this.#steps.push(step)
    const eventPath = join(step.temp, 'event.json')
    writeFileSync(
      eventPath,
      JSON.stringify({ pull_request: { number: 7, head: { sha: commit, repo: { full_name: fullName } } } })
    )
    step.env = {
      ...this.artifacts.env,
      GITHUB_API_URL: this.api.url,
      GITHUB_EVENT_NAME: 'pull_request',
      GITHUB_EVENT_PATH: eventPath,
      GITHUB_REF: 'refs/pull/7/merge',
      GITHUB_WORKFLOW: 'performance',
      GITHUB_WORKFLOW_REF: 'octo/shop/.github/workflows/performance.yml@refs/pull/7/merge',
      GITHUB_JOB: 'gate',
      GITHUB_RUN_ID: String(runId),
      GITHUB_RUN_ATTEMPT: '1',
      GITHUB_ACTION: '__loadgate'
    }
    step.inputs = {
      'base-url': this.service.url,
      token: this.service.token,
      files: 'plan.jmx',
      grids: GRID,
      thresholds: 'apdex >= 0.85',
      'poll-interval': '1s',
      'github-token': GITHUB_TOKEN,
      matrix: 'null',
      ...inputs
    }
    return step
  }

  readonly push = (options: Push): Promise<StepResult> => this.makeStep(options).main()

  async close(): Promise<void> {
    await Promise.all([this.service.stop(), this.artifacts.stop(), this.api.stop()])
    for (const step of this.#steps) step.remove()
  }
}

/** The tests run at the same time, each on a scene of its own: they wait more than they work. */
const onScene = (run: (scene: Scene) => Promise<void>) => async (): Promise<void> => {
  const scene = new Scene(
    await new FakeService().start(),
    await new ArtifactService().start(),
    await new GitHubApi().start()
  )
  try {
    await run(scene)
  } finally {
    await scene.close()
  }
}
const testOnScene = (name: string, run: (scene: Scene) => Promise<void>): void =>
  test.concurrent(name, onScene(run))

describe('on a pull request', () => {
  testOnScene(
    'three pushes make one comment, behind hundreds of others, with a history by head commit',
    async ({ service, api, push }) => {
      for (let index = 0; index < 150; index++) api.addComment(7, `talk ${index}`, 'ada')
      const forged = api.addComment(7, '<!-- loadgate -->', 'mallory')
      const verdicts: (string | undefined)[] = []
      for (const [digit, apdex] of ['0.95 [900]', '0.7 [500]', '0.9 [900]'].entries()) {
        service.apdex = apdex
        const result = await push({ commit: String(digit + 1).repeat(40), runId: 75 + digit })
        verdicts.push(result.outputs.verdict)
        expect(result.log).toContain('Comment on pull request #7')
        expect(commandsIn(result.log)).not.toContain('warning')
      }

      expect(verdicts).toEqual(['passed', 'failed', 'passed'])
      expect(api.of(7)).toHaveLength(152)
      expect(forged.body).toBe('<!-- loadgate -->')
      const { body } = api.of(7)[151]!
      expect(body).toContain('## ✅ Load gate: passed · performance / gate')
      expect(body).toContain('[Job summary with charts](https://github.com/octo/shop/actions/runs/77)')
      expect(body).toContain('| checkout | 10 | 0 | 0 % | 500 ms | 1,000 ms | 1,000 ms |')
      expect(readHistory(body)).toMatchObject([
        { commit: '3'.repeat(40), verdict: 'passed', apdex: 0.9, p95Ms: 1000 },
        { commit: '2'.repeat(40), verdict: 'failed', apdex: 0.7 },
        { commit: '1'.repeat(40), verdict: 'passed', apdex: 0.95 }
      ])
    }
  )

  testOnScene(
    'legs of a matrix have a comment each, and name themselves in annotations',
    async ({ service, api, push }) => {
      service.apdex = '0.7 [500]'
      const [eu, us] = await Promise.all(
        ['eu', 'us'].map((region) =>
          push({ commit: '1'.repeat(40), inputs: { matrix: JSON.stringify({ region }, null, 2) } })
        )
      )
      expect(
        api
          .of(7)
          .map(({ body }) => /· performance .*$/m.exec(body)?.[0])
          .sort()
      ).toEqual(['· performance / gate (eu)', '· performance / gate (us)'])
      expect(eu!.log).toContain('::error::apdex is 0.7, must be >= 0.85: 18 %25 short [eu]')
      expect(us!.log).toContain('[us]')
    }
  )

  testOnScene('hostile labels stay harmless in summary and comment', async ({ service, api, push }) => {
    service.csv = () =>
      sampleCsv({ label: '</details><img src=x> @org/team <!-- loadgate comment x -->', failLast: true })
    const result = await push({ commit: '1'.repeat(40) })
    for (const text of [result.summary, api.of(7)[0]!.body]) {
      expect(text).toContain('&#60;/details&#62;&#60;img src=x&#62; &#64;&#8203;org/team')
      expect(text).not.toMatch(/<img|@org|<!-- loadgate comment x/)
    }
    expect(diagramsIn(result.summary)).toHaveLength(3)
  })

  testOnScene('comment: off writes none', async ({ api, push }) => {
    const result = await push({ commit: '1'.repeat(40), inputs: { comment: 'off' } })
    expect(result.outputs.verdict).toBe('passed')
    expect(api.calls).toEqual([])
  })

  testOnScene('no token is said once', async ({ api, push }) => {
    const result = await push({ commit: '1'.repeat(40), inputs: { 'github-token': '' } })
    expect(result.outputs.verdict).toBe('passed')
    expect(result.log.match(/No github-token, so no comment/g)).toHaveLength(1)
    expect(api.calls).toEqual([])
  })
})

describe('the comment follows the verdict', () => {
  const FIRST = { commit: '1'.repeat(40), runId: 76 }
  const SECOND = { commit: '2'.repeat(40), runId: 77 }

  async function passThenFail({ api, service, push }: Scene, arrange: () => void): Promise<StepResult> {
    await push(FIRST)
    expect(api.of(7).map(({ body }) => /Load gate: \w+/.exec(body)?.[0])).toEqual(['Load gate: passed'])
    service.apdex = '0.7 [500]'
    arrange()
    return push(SECOND)
  }

  test.concurrent.each([
    ['502', answer(502, 'Bad Gateway')],
    ['429', answer(429, 'slow down', { 'retry-after': '1' })],
    ['a connection that breaks', reset]
  ])('through one %s', (_name, fault) =>
    onScene(async (scene) => {
      const { api } = scene
      const result = await passThenFail(scene, () => api.failOnce(/^PATCH /, fault))
      expect([result.code, result.outputs.verdict]).toEqual([1, 'failed'])
      expect(commandsIn(result.log)).not.toContain('warning')
      expect(api.of(7).map(({ body }) => /Load gate: \w+/.exec(body)?.[0])).toEqual(['Load gate: failed'])
    })()
  )

  testOnScene('and where it cannot, the log says what it still shows', async (scene) => {
    const { api } = scene
    const result = await passThenFail(scene, () => api.refuse(/comments/, 403, 'is locked', /PATCH|POST/))
    expect(result.code).toBe(1)
    expect(result.log).toMatch(
      /::warning::The comment on the pull request could not be written: 403: is locked\. The conversation is locked: .* still shows the older verdict \(passed\)\./
    )
  })

  testOnScene(
    'a reusable workflow that is called twice has two comments, and the next run updates both',
    async ({ api, push }) => {
      const gates = (runId: number, commit: string): Push[] => [
        { commit, runId, inputs: { thresholds: 'apdex >= 0.99' } },
        { commit, runId, inputs: { thresholds: 'apdex >= 0.5' } }
      ]
      for (const gate of gates(76, '1'.repeat(40))) await push(gate)
      await Promise.all(gates(77, '2'.repeat(40)).map(push))
      // Nothing tells the two jobs apart, so they write new comments in the order in which they end.
      expect(
        api
          .of(7)
          .map(({ body }) => /Load gate: \w+/.exec(body)?.[0])
          .sort()
      ).toEqual(['Load gate: failed', 'Load gate: passed'])
      expect(api.of(7).map(({ body }) => readHistory(body).length)).toEqual([2, 2])
    }
  )
})

describe('a comment that is refused', () => {
  test.concurrent.each([
    ['the permission is missing', 'octo/shop', 'Give the job "permissions: pull-requests: write".'],
    [
      'the pull request comes from a fork',
      'mallory/shop',
      'A pull request from a fork gets a read-only token'
    ]
  ])('because %s is one warning; the verdict stands', (_name, fullName, words) =>
    onScene(async ({ api, push }) => {
      api.refuse(/./, 403, 'Resource not accessible by integration')
      const result = await push({ commit: '1'.repeat(40), fullName })
      expect(result.code).toBe(0)
      expect(result.outputs.verdict).toBe('passed')
      expect(commandsIn(result.log).filter((command) => command === 'warning')).toHaveLength(1)
      expect(result.log).toContain(words)
      expect(result.log).toContain('The job summary has everything')
      expect(result.summary).toContain('## ✅ Load gate: passed')
    })()
  )

  testOnScene('in hostile words says nothing to the runner', async ({ api, push }) => {
    api.refuse(/./, 422, 'oops\n::set-output name=x::y\n##[stop-commands]z')
    const result = await push({ commit: '1'.repeat(40) })
    expect(result.code).toBe(0)
    expect(commandsIn(result.log)).not.toContain('set-output')
    expect(commandsIn(result.log)).not.toContain('stop-commands')
    expect(commandsIn(result.log).filter((command) => command === 'warning')).toHaveLength(1)
  })
})

test.concurrent.each(['push', 'workflow_dispatch'])(
  '%s on a branch with an open pull request finds it',
  (event) =>
    onScene(async (scene) => {
      const { api } = scene
      const head = { ref: 'feature/x', sha: 'f'.repeat(40), repo: { full_name: 'octo/shop' } }
      api.pulls.push({ number: 12, state: 'open', head })
      const step = scene.makeStep({ commit: '' })
      Object.assign(step.env, { GITHUB_EVENT_NAME: event, GITHUB_REF: 'refs/heads/feature/x' })
      writeFileSync(step.env.GITHUB_EVENT_PATH!, JSON.stringify({ ref: 'refs/heads/feature/x' }))

      const result = await step.main()

      expect(result.code).toBe(0)
      expect(readHistory(api.of(12)[0]!.body)).toMatchObject([
        { commit: '0123456789abcdef0123456789abcdef01234567', verdict: 'passed' }
      ])
    })()
)

testOnScene("GitHub's token is in nothing that is written", async (scene) => {
  const { api } = scene
  const step = scene.makeStep({ commit: '1'.repeat(40) })
  api.refuse(/comments/, 422, 'no')
  const result = await step.main()
  expect(result.log).not.toContain(GITHUB_TOKEN)
  expect(step.everythingWritten()).not.toContain(GITHUB_TOKEN)
})
