import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { recordRun } from '../../../src/analysis/baseline/document/record-run.js'
import { addRun } from '../../../src/analysis/baseline/document/baseline-document.js'
import { zipDocument } from '../../support/baseline/make-document.js'
import { noisyCsv } from '../../support/baseline/noisy-csv.js'
import { measure } from '../../support/data/sample-csv.js'
import { FakeService, STARTED_MS } from '../../support/fake-service.js'
import { ArtifactService } from '../../support/step/artifact-service.js'
import { BranchHistory } from '../../support/step/branch-history.js'
import { GitHubApi } from '../../support/step/github-api.js'
import { makeZip } from '../../support/step/make-zip.js'
import { commandsIn } from '../../support/step/runner-commands.js'
import { Step } from '../../support/step/step.js'
import type { StepResult } from '../../support/step/step.js'

const GRID =
  '- { region: us-east-1, instance_quantity: 2, instance_type: m5.large, infrastructure: demand, stop_after: 60 }'
const LINES = 'p95 <= baseline + 10%\nerror_rate <= baseline + 0.5pp'

let services: FakeService[]
let artifacts: ArtifactService
let api: GitHubApi
let history: BranchHistory
let steps: Step[]
let runs: number

beforeEach(async () => {
  artifacts = await new ArtifactService().start()
  api = await new GitHubApi().start()
  history = new BranchHistory(api)
  services = []
  steps = []
  runs = 0
})

afterEach(async () => {
  await Promise.all([...services, artifacts, api].map((each) => each.stop()))
  for (const step of steps) step.remove()
})

interface Use {
  readonly slower?: number
  readonly inputs?: Record<string, string>
  readonly env?: Record<string, string>
  readonly plan?: string
}

const shaOf = (run: number): string => run.toString(16).padStart(40, 'c')

/** One step in a workflow run of its own. */
async function use({ slower = 1, inputs = {}, env = {}, plan }: Use, event: object): Promise<StepResult> {
  const run = ++runs
  // One each, so that steps can run at the same time; with ids of its own.
  const service = await new FakeService().start()
  services.push(service)
  for (let other = 1; other < run; other++) service.addRun()
  service.statuses = ['finished']
  service.csv = () => noisyCsv(run, slower, { startMs: STARTED_MS })
  const step = new Step()
  steps.push(step)
  const eventPath = join(step.temp, 'event.json')
  writeFileSync(eventPath, JSON.stringify({ repository: { default_branch: 'main' }, ...event }))
  if (plan !== undefined) step.write('plan.jmx', plan)
  step.env = {
    ...artifacts.env,
    GITHUB_API_URL: api.url,
    GITHUB_EVENT_PATH: eventPath,
    GITHUB_WORKFLOW: 'performance',
    GITHUB_WORKFLOW_REF: 'octo/shop/.github/workflows/performance.yml@refs/heads/main',
    GITHUB_JOB: 'gate',
    GITHUB_RUN_ID: String(run),
    GITHUB_RUN_ATTEMPT: '1',
    GITHUB_ACTION: '__loadgate',
    ...env
  }
  step.inputs = {
    'base-url': service.url,
    token: service.token,
    files: 'plan.jmx',
    grids: GRID,
    thresholds: LINES,
    comment: 'off',
    'poll-interval': '1s',
    'github-token': 'ghs_0123456789abcdefghij',
    matrix: 'null',
    ...inputs
  }
  return step.main()
}

function addCommit(run: number): void {
  history.parents.set(shaOf(run), run === 1 ? [] : [shaOf(run - 1)])
  history.tips.set('main', shaOf(run))
}

/** A push to main; what it uploads is what GitHub lists from then on. */
async function push(options: Use = {}): Promise<StepResult> {
  const run = runs + 1
  addCommit(run)
  const env = {
    GITHUB_EVENT_NAME: 'push',
    GITHUB_REF: 'refs/heads/main',
    GITHUB_SHA: shaOf(run),
    ...options.env
  }
  const result = await use({ ...options, env }, {})
  for (const [name, files] of artifacts.artifacts)
    if (name.startsWith('loadgate-baseline-'))
      history.add({ name, zip: makeZip(Object.fromEntries(files)), runId: run })
  artifacts.artifacts.clear()
  return result
}

/** A pull request on top of main's last recorded commit, with its merge commit checked out. */
async function open(base: number, options: Use = {}): Promise<StepResult> {
  const merge = 'd'.repeat(40)
  history.parents.set(merge, [shaOf(base), 'e'.repeat(40)])
  const env = { GITHUB_EVENT_NAME: 'pull_request', GITHUB_REF: 'refs/pull/7/merge', GITHUB_SHA: merge }
  const pull = { head: { sha: 'e'.repeat(40) }, base: { sha: shaOf(base), ref: 'main' } }
  return use({ ...options, env }, { pull_request: pull })
}

const baselineOf = ({ outputs }: StepResult): Record<string, unknown> =>
  JSON.parse(outputs.baseline ?? 'null') as Record<string, unknown>

/** Further pushes to main, recorded as the two before them. */
function addPushes(count: number): void {
  const [{ id, name }] = history.artifacts as [{ id: number; name: string }]
  let document = history.documentOf(id)
  for (let pushed = 0; pushed < count; pushed++) {
    const run = ++runs
    addCommit(run)
    const { fingerprint, apdex, atMs } = document.runs.at(-1)!
    const facts = {
      commit: shaOf(run),
      runId: `pushed${run}`,
      atMs: atMs + 1,
      unusable: null,
      fingerprint,
      apdex
    }
    document = addRun(document, recordRun(facts, measure(noisyCsv(run)), []), 'main')
  }
  history.add({ name, zip: zipDocument(document), runId: runs })
}

test('from the first run on main to pull requests', async () => {
  const first = await push({ inputs: { 'on-missing-baseline': 'fail' } })
  expect(first.outputs.verdict).toBe('passed')
  expect(baselineOf(first)).toMatchObject({ state: 'no baseline', branch: 'main' })
  const second = await push()
  expect(baselineOf(second)).toMatchObject({ state: 'compared', commit: shaOf(1) })
  addPushes(6)
  artifacts.artifacts.clear()

  const [same, slower, changed, leg] = await Promise.all([
    open(8),
    open(8, { slower: 1.4 }),
    open(8, { plan: '<jmeterTestPlan version="2"/>' }),
    open(8, { inputs: { matrix: '{"region":"eu"}' } })
  ])
  expect(baselineOf(same)).toMatchObject({ state: 'compared', branch: 'main', commit: shaOf(8) })
  expect(baselineOf(same).runs).toHaveLength(8)
  expect(same.outputs.verdict).toBe('passed')
  expect(commandsIn(same.log)).not.toContain('warning')
  expect([slower.outputs.verdict, slower.code]).toEqual(['failed', 1])
  expect(baselineOf(changed)).toMatchObject({ state: 'not comparable' })
  expect(baselineOf(changed).reason).toContain('the plan changed')
  expect(baselineOf(leg)).toMatchObject({ state: 'no baseline' })
  expect([...artifacts.artifacts.keys()].filter((name) => name.startsWith('loadgate-baseline'))).toEqual([])
}, 60_000)

test('what others upload under the name, and a token that may not read it', async () => {
  await push()
  const [{ name }] = history.artifacts as [{ name: string }]
  const poison = { name, zip: Buffer.from('poison') }
  const own = history.add({ ...poison, runId: 902 })
  const forked = history.add({ ...poison, runId: 900, headRepositoryId: 666 })
  const foreign = history.add({ ...poison, runId: 901, event: 'pull_request_target' })
  const poisoned = await open(1)
  expect(baselineOf(poisoned)).toMatchObject({ state: 'compared', commit: shaOf(1) })
  expect(poisoned.log.match(/is not a usable baseline and was ignored/g)).toHaveLength(1)
  expect(poisoned.log).toContain(`(${own}) is not a usable baseline`)
  expect(api.made('GET', new RegExp(`/storage/(${forked}|${foreign})$`))).toEqual([])

  api.refuse(/actions\/artifacts$/, 403, 'Resource not accessible by integration')
  const refused = await open(1)
  expect(refused.outputs.verdict).toBe('passed')
  expect(baselineOf(refused).reason).toContain('permissions: { actions: read, contents: read }')
}, 60_000)

test('a second attempt replaces what the first has uploaded, and both are kept', async () => {
  await push()
  const [{ name }] = history.artifacts as [{ name: string }]
  artifacts.taken.add(name)
  const env = { GITHUB_RUN_ID: '1', GITHUB_RUN_ATTEMPT: '2', GITHUB_SHA: shaOf(1) }
  const again = await push({ env })
  expect(again.log).toContain('The run was recorded for main.')
  expect(artifacts.deleted).toEqual([name])
  expect(history.documentOf(Number(history.artifacts[0]!.id)).runs).toHaveLength(2)
}, 60_000)
