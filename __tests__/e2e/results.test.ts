import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { ArtifactService } from '../support/step/artifact-service.js'
import { GitHubApi } from '../support/step/github-api.js'
import { Step } from '../support/step/step.js'
import { QUIET_PLAN } from '../support/quiet-plan.js'
import { startCommand } from './cli-command.js'

const K6_CSV = readFileSync('__tests__/fixtures/results/k6.csv')
/** When the first request of the fixture ended. */
const ROWS_MS = Number(K6_CSV.toString().split('\n')[1]!.split(',')[1])

describe('the action with results of another step', () => {
  let api: GitHubApi
  let artifacts: ArtifactService
  let step: Step
  let createdAt: string

  beforeEach(async () => {
    api = await new GitHubApi().start()
    artifacts = await new ArtifactService().start()
    step = new Step()
    createdAt = new Date(ROWS_MS - 60_000).toISOString()
    api.more = ({ path }, response) => {
      if (path !== '/repos/octo/shop/actions/runs/77') return false
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ id: 77, created_at: createdAt }))
      return true
    }
    step.write('out/k6.csv', K6_CSV.toString())
    step.env = { ...artifacts.env, GITHUB_API_URL: api.url }
    step.inputs = {
      ...{ results: 'out/*.csv', thresholds: 'p95 < 30s\nsamples == 36', 'github-token': 'gh-token' },
      ...{ baseline: 'off', comment: 'off' }
    }
  })
  afterEach(async () => {
    await Promise.all([api.stop(), artifacts.stop()])
    step.remove()
  })

  test('passes, with artifact, outputs and summary, and without a service', async () => {
    const result = await step.main()
    expect(result.log).toContain('Load gate passed: All 2 thresholds hold.')
    expect(result.code).toBe(0)
    expect(result.outputs).toMatchObject({ verdict: 'passed', 'apdex-target': '500' })
    expect(result.outputs).not.toHaveProperty('run-id')
    const [[name, files] = []] = [...artifacts.artifacts]
    expect(name).toMatch(/^loadgate-results-[0-9a-f]{12}-[0-9a-f]{6}$/)
    expect([...files!.keys()].sort()).toEqual(['report.html', 'results/local-k6.csv', 'verdict.json'])
    expect(result.summary).toContain('Load gate: passed')
    // The post step has nothing to clean up.
    expect((await step.post()).code).toBe(0)
  })

  test('of an earlier workflow run is inconclusive', async () => {
    createdAt = new Date(ROWS_MS + 3_600_000).toISOString()
    const result = await step.main()
    expect(result.code).toBe(1)
    expect(result.outputs.verdict).toBe('inconclusive')
    expect(result.log).toContain('and the workflow run began at')
  })

  test('of the workflow run that this one follows is judged', async () => {
    const path = join(step.temp, 'event.json')
    writeFileSync(path, JSON.stringify({ workflow_run: { id: 76, created_at: createdAt } }))
    step.env = { ...step.env, GITHUB_EVENT_NAME: 'workflow_run', GITHUB_EVENT_PATH: path }
    createdAt = new Date(ROWS_MS + 3_600_000).toISOString()
    expect((await step.main()).outputs.verdict).toBe('passed')
  })

  test('without actions: read says that the time was not checked', async () => {
    api.refuse(/actions\/runs/, 403, 'Resource not accessible by integration')
    const result = await step.main()
    expect(result.code).toBe(0)
    expect(result.summary).toContain('Could not check that the rows were measured during this workflow run')
    expect(result.summary).toContain('actions: read')
  })

  test('fails with the exit code of k6 for crossed thresholds', async () => {
    step.inputs['tool-exit-code'] = '99'
    const result = await step.main()
    expect(result.code).toBe(1)
    expect(result.outputs.verdict).toBe('failed')
    expect(result.log).toContain('k6: thresholds of the script')
  })

  test('is an error with the name of every input that is wrong', async () => {
    step.inputs = {
      ...step.inputs,
      results: 'none/*.csv',
      'base-url': 'local',
      token: 'x',
      files: 'plan.jmx'
    }
    const result = await step.main()
    expect(result.code).toBe(1)
    for (const name of ['results', 'base-url', 'token', 'files']) expect(result.log).toContain(`- ${name}: `)
    expect(result.outputs.verdict).toBe('error')
  })
})

test('apdex-target is the target of a local run', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'loadgate-target-'))
  try {
    const flags = ['--files', 'plan.jmx', '--duration', '5s', '--apdex-target', '1.5s', '--output', 'out']
    writeFileSync(join(folder, 'plan.jmx'), QUIET_PLAN)
    const { code, out } = await startCommand(['run', '--rehearse', ...flags], { cwd: folder }).ended
    expect([code, out]).toEqual([0, expect.stringContaining('PASSED')])
    const verdict: unknown = JSON.parse(readFileSync(join(folder, 'out/verdict.json'), 'utf8'))
    expect(verdict).toMatchObject({ 'apdex-target': 1500 })
  } finally {
    rmSync(folder, { recursive: true })
  }
})

describe('loadgate run --results', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'loadgate-cli-results-'))
  })
  afterEach(() => rmSync(folder, { recursive: true }))
  const run = (...args: string[]) => startCommand(['run', '--output', 'out', ...args], { cwd: folder }).ended

  test('judges a packed file, and has the figures of loadgate report', async () => {
    writeFileSync(join(folder, 'k6.csv.gz'), gzipSync(K6_CSV))
    const { code, out } = await run('--results', 'k6.csv.gz', '--thresholds', 'samples == 36')
    expect([code, out]).toEqual([0, expect.stringContaining('PASSED: The threshold holds.')])
    const report = startCommand(['report', 'k6.csv.gz', '--output', 'report', '--json'], { cwd: folder })
    const { metrics } = JSON.parse((await report.ended).out) as { metrics: unknown }
    const verdict = JSON.parse(readFileSync(join(folder, 'out/verdict.json'), 'utf8')) as { metrics: unknown }
    expect(verdict.metrics).toEqual(metrics)
  })

  test('leaves what loadgate baseline record takes', async () => {
    writeFileSync(join(folder, 'k6.v1.csv'), K6_CSV)
    expect((await run('--results', 'k6.v1.csv')).code).toBe(0)
    const record = ['baseline', 'record', 'out', '--baseline', 'baseline.json.gz']
    const { code, err } = await startCommand([...record, '--commit', 'a'.repeat(40)], { cwd: folder }).ended
    expect([err, code]).toEqual(['', 0])
  })

  test('refuses flags that have no effect', async () => {
    writeFileSync(join(folder, 'k6.csv'), K6_CSV)
    const { code, err } = await run('--results', 'k6.csv', '--tool', 'k6')
    expect([code, err]).toEqual([
      2,
      expect.stringContaining('--tool would have no effect together with --results')
    ])
  })
})
