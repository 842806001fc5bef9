import { expect, test } from '@jest/globals'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CSV_HEADER, type Fault } from '../../support/fake-service.js'
import { GRID, onStage, type Stage } from '../../support/gate/gate-stage.js'
import { IdTokenEndpoint, makeIdToken } from '../../support/step/id-token-endpoint.js'
import type { StepResult } from '../../support/step/step.js'
import { runCommand, until } from '../cli-command.js'

interface OidcStage extends Stage {
  readonly endpoint: IdTokenEndpoint
}

/** A gate without a secret: a job that GitHub gives ID tokens, and a service that accepts no others. */
function testWithIdTokens(name: string, run: (stage: OidcStage) => Promise<void>): void {
  test.concurrent(
    name,
    onStage(async (stage) => {
      const endpoint = await new IdTokenEndpoint().start()
      stage.step.env = { ...stage.step.env, ...endpoint.env }
      stage.step.inputs = { ...stage.step.inputs, token: 'oidc' }
      stage.service.accepts = (authorization) => endpoint.accepts(authorization)
      await run({ ...stage, endpoint }).finally(() => endpoint.stop())
    })
  )
}

/** Each is masked, and nowhere else: the runner itself does not show what a mask is for. */
function expectHidden({ endpoint, step }: OidcStage, { log }: StepResult): void {
  const lines = log.split('\n')
  const others = lines.filter((line) => !line.startsWith('::add-mask::')).join('\n')
  const written = step.everythingWritten() + step.text('state')
  for (const token of endpoint.tokens) {
    expect(lines).toContain(`::add-mask::${token}`)
    for (const part of [token, token.split('.')[2]!]) {
      expect(others).not.toContain(part)
      expect(written).not.toContain(part)
    }
  }
}

/** Runs go on until then. */
function runUntil(stage: OidcStage, isEnough: () => boolean): void {
  stage.service.statuses = ['running']
  const finish: Fault = () => {
    if (isEnough()) for (const run of stage.service.runList) run.statuses = ['finished']
    return false
  }
  stage.service.faults.push(finish)
}

testWithIdTokens('a run outlasts its tokens: each is renewed before it ends', async (stage) => {
  const { endpoint, service, step } = stage
  endpoint.lifetimeMs = 12_000
  let refusals = 0
  service.accepts = (authorization) => endpoint.accepts(authorization) || refusals++ < 0
  runUntil(stage, () => Date.now() > ([...endpoint.issued.values()][0] ?? Infinity))
  const result = await step.main()
  expect(result.outputs.verdict).toBe('passed')
  expect(new Set(endpoint.audiences)).toEqual(new Set([service.url]))
  const used = new Set(service.seen.map(({ headers }) => headers.authorization))
  expect(used.size).toBeGreaterThan(1)
  expect(refusals).toBe(0)
  expect(service.runs.size).toBe(1)
  expect(JSON.parse(result.state.step ?? '')).toMatchObject({ token: '', idToken: { audience: service.url } })
  expectHidden(stage, result)
  expect(result.log).not.toMatch(/::add-mask::oidc$/m)
})

testWithIdTokens('what the service echoes of them is in no file', async (stage) => {
  const { service, step } = stage
  service.faults.push((seen, response) => {
    const token = (seen.headers.authorization ?? '').slice('Bearer '.length)
    service.summary = `asked with ${token}`
    service.csv = (gridId) => {
      const row = `1767225600000,100,${token},200,OK,${gridId} 1-1,text,true,,10,10,1,1,null,1,0,0\n`
      return `${CSV_HEADER}\n${row.repeat(10)}`
    }
    response.setHeader('x-request-id', token)
    return false
  })
  const result = await step.main()
  expect(result.outputs.summary).toBe('asked with ***')
  expectHidden(stage, result)
})

testWithIdTokens('a token that ends early is replaced, and the request sent once more', async (stage) => {
  const { endpoint, service, step } = stage
  const [isMade, isShown] = [(): boolean => service.runs.size === 1, (): boolean => endpoint.issued.size > 1]
  runUntil(stage, isShown)
  service.faults.push(() => {
    const [first] = endpoint.tokens
    if (isMade() && first !== undefined) endpoint.issued.set(first, 0)
    return false
  })
  const result = await step.main()
  expect(result.outputs.verdict).toBe('passed')
  expect(endpoint.issued.size).toBe(2)
  expect(service.runs.size).toBe(1)
})

testWithIdTokens(
  'an endpoint that is down for a moment is asked again',
  async ({ endpoint, service, step }) => {
    endpoint.fault = (response) => endpoint.asked <= 2 && Boolean(response.destroy())
    const result = await step.main()
    expect(result.outputs.verdict).toBe('passed')
    expect(endpoint.asked).toBe(3)
    expect(service.runs.size).toBe(1)
  }
)

testWithIdTokens(
  'the post step, hours after a kill, asks for one of its own and stops the run',
  async (stage) => {
    const { endpoint, service, step } = stage
    service.statuses = ['running']
    const main = step.start('main')
    const ended = step.result(main)
    await until(() => service.calls('GET', /\/runs\/run\d+$/).length > 0 || main.exitCode !== null)
    main.kill('SIGKILL')
    expectHidden(stage, await ended)
    const before = endpoint.tokens
    for (const token of before) endpoint.issued.set(token, 0)
    const result = await step.post()
    expect(result.code).toBe(0)
    expect(service.calls('GET', /\/stop$/).map(({ headers }) => headers.authorization)).toEqual([
      `Bearer ${endpoint.tokens.at(-1)}`
    ])
    expect(before).not.toContain(endpoint.tokens.at(-1))
    expectHidden(stage, { ...result, log: (await ended).log + result.log })
  }
)

testWithIdTokens('without the permission: the two lines to add, and nothing is sent', async (stage) => {
  const { endpoint, service, step } = stage
  step.env = { ...stage.artifacts.env }
  const result = await step.main()
  expect(result.outputs.verdict).toBe('error')
  expect(result.log).toContain('%0A  permissions:%0A    id-token: write%0A')
  expect(result.log).toContain('Pull requests from forks never get an ID token')
  step.inputs['on-missing-token'] = 'skip'
  const skipped = await step.main()
  expect(skipped).toMatchObject({ code: 0, outputs: { verdict: 'skipped' } })
  expect(skipped.log).toContain('::notice::Load gate skipped: GitHub gives this job no ID token')
  expect([service.seen.length, endpoint.asked]).toEqual([0, 0])
})

testWithIdTokens('a service that does not trust them: what to check there', async (stage) => {
  const { service, step } = stage
  service.accepts = () => false
  step.inputs['oidc-audience'] = 'https://load.example.com'
  const result = await step.main()
  expect(result.outputs.verdict).toBe('error')
  expect(result.log).toContain(
    'The service does not accept the ID token (issuer https://token.actions.githubusercontent.com, audience https://load.example.com, subject repo:octo/shop:ref:main). Check oidc in its service.yml'
  )
  expect(result.log).not.toContain('Check the token')
  expectHidden(stage, result)
})

testWithIdTokens('grids are started, used and terminated in the same way', async (stage) => {
  const { endpoint, service, step } = stage
  step.inputs = { 'base-url': service.url, token: 'oidc', grids: GRID }
  const started = await step.main('grid-start')
  expect(started.code).toBe(0)
  expectHidden(stage, started)
  for (const token of endpoint.tokens) endpoint.issued.set(token, 0)
  expect((await step.post()).log).not.toContain('::warning')
  expect(service.calls('DELETE', /grids/)).toHaveLength(1)
  step.inputs = { ...step.inputs, grids: started.outputs.grids ?? '' }
  expect((await step.main('grid-stop')).code).toBe(0)
})

testWithIdTokens(
  'the command line takes them from a file, which it reads for each request',
  async (stage) => {
    const { service, step } = stage
    const [first, second] = [makeIdToken({ number: 1 }), makeIdToken({ number: 2 })]
    const file = join(step.folder, 'id-token')
    writeFileSync(file, `${first}\n`, { mode: 0o600 })
    service.accepts = (authorization) =>
      authorization === `Bearer ${service.runs.size === 0 ? first : second}`
    service.faults.push(() => {
      if (service.runs.size > 0) writeFileSync(file, second)
      return false
    })
    const flags = { files: 'plan.jmx', grids: GRID, thresholds: 'apdex >= 0.85', 'poll-interval': '1s' }
    const args = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value])
    const env = { LOADGATE_ID_TOKEN_FILE: file, LOADGATE_BASE_URL: service.url }
    const ended = await runCommand(['run', ...args, '--output', 'results'], { cwd: step.workspace, env })
    expect(ended).toMatchObject({ code: 0, out: expect.stringContaining('PASSED') })
    const used = service.seen.map(({ headers }) => headers.authorization)
    expect([used[0], used.at(-1)]).toEqual([`Bearer ${first}`, `Bearer ${second}`])
    expect(ended.out + ended.err).not.toContain('eyJ')
  }
)
