import { afterAll, afterEach, expect, test } from '@jest/globals'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runGate } from '../../../src/gate/run-gate.js'
import '../../../src/gate/after-run.js'
import type { Settings } from '../../../src/gate/settings/settings.js'
import type { Outcome } from '../../../src/analysis/outcome.js'
import { createLoopbackFront, type Front } from '../../../src/service/http/front.js'
import { readAddress } from '../../../src/client/http/address.js'
import { makePorts, makeSettings, makeSpecification } from '../../support/gate/gate-ports.js'
import type { TestPorts } from '../../support/gate/gate-ports.js'
import { createServices, get, PLAN } from '../../service/support.js'

const folder = mkdtempSync(join(tmpdir(), 'loadgate-hand-over-'))
const plan = join(folder, 'plan.jmx')
writeFileSync(plan, PLAN)
const services = createServices()
type TestService = Awaited<ReturnType<typeof services.start>>

afterEach(() => services.closeAll())
afterAll(() => rmSync(folder, { recursive: true }))

/** A service whose requests are noted, and that says what it is, or not. */
async function start(
  version: string | undefined,
  answer?: number
): Promise<{ service: TestService; puts: string[] }> {
  const front = await createLoopbackFront()
  const puts: string[] = []
  const listening: Front = {
    ...front,
    listen: (app) => {
      app.addHook('onRequest', async ({ method, url }, reply) => {
        if (method === 'PUT') puts.push(url)
        if (method === 'PUT' && answer !== undefined) return reply.code(answer).send({ error: 'no' })
        // Every reply of ours has it.
        if (version === undefined) reply.raw.removeHeader('x-loadgate-version')
        else void reply.header('x-loadgate-version', version)
        return undefined
      })
      return front.listen(app)
    }
  }
  return { service: await services.start({ front: listening }), puts }
}

type Changes = Partial<Settings> & { readonly thresholdLines: string }

async function gate(
  service: TestService,
  changes: Changes
): Promise<{ outcome: Outcome; ports: TestPorts; runId: string }> {
  const ports = await makePorts()
  const settings = makeSettings({
    target: { kind: 'remote', address: readAddress(service.url), token: service.token },
    origin: { kind: 'files', paths: [plan], grids: [makeSpecification({ nodeCount: 1 })] },
    durationSeconds: 5,
    ...changes
  })
  const outcome = await ports.clock.run(runGate(ports, settings))
  return { outcome, ports, runId: outcome.run?.id ?? '' }
}

interface Judgement {
  readonly thresholds: string
  readonly warm_up: number
  readonly verdict: string
  readonly reason: string
}
const judgementOf = async (service: TestService, id: string): Promise<Judgement> =>
  (await get(service, `/runs/${id}/thresholds`)).json as unknown as Judgement

const override = (words: string): Pick<Settings, 'overrideParameters'> => ({ overrideParameters: words })
/** What breaks, what holds, what cannot be told, with and without a warm-up, and of runs that end badly. */
const CASES: readonly Changes[] = [
  { thresholdLines: 'samples > 1\nwarn: p95 < 1ms' },
  { thresholdLines: 'samples < 1\napdex >= 0.01' },
  { thresholdLines: 'p95{label="home"} < 9s\np95{label="nowhere"} < 1s' },
  { thresholdLines: 'apdex >= 0.01\nthroughput > 0/s', warmUpMs: 2000 },
  { thresholdLines: 'apdex >= 1', ...override('-Jjmeter.reportgenerator.apdex_satisfied_threshold=50') },
  { thresholdLines: 'samples > 1', warmUpMs: 60_000 },
  { thresholdLines: 'p95 < 9s', ...override('-Jrehearsal.errors=80') },
  { thresholdLines: 'p95 < 9s\nerror_rate < 1%', ...override('-Jrehearsal.errors=80') },
  { thresholdLines: 'samples > 1', ...override('-Jrehearsal.problem=the-tool-has-crashed') },
  { thresholdLines: 'samples > 1', threads: 4 }
]

test('page and gate never disagree', async () => {
  const { service } = await start('1.0.0')
  const verdicts = new Set<string>()
  for (const changes of CASES) {
    const { outcome, runId } = await gate(service, changes)
    const judged = await judgementOf(service, runId)
    expect([changes, judged.verdict, judged.reason]).toEqual([changes, outcome.verdict, outcome.reason])
    expect(judged.warm_up).toBe((changes.warmUpMs ?? 0) / 1000)
    verdicts.add(judged.verdict)
  }
  expect([...verdicts].sort()).toEqual(['failed', 'inconclusive', 'passed'])
}, 60_000)

test('another service never sees it', async () => {
  const { service, puts } = await start(undefined)
  const { outcome } = await gate(service, { thresholdLines: 'samples > 1' })
  expect([outcome.verdict, puts]).toEqual(['passed', []])
})

test('a repeated run has them, an existing one is left as it is, and a run without any stays so', async () => {
  const { service, puts } = await start('1.0.0')
  const { runId } = await gate(service, { thresholdLines: '' })
  await gate(service, { thresholdLines: 'samples > 1', origin: { kind: 'existing', runId } })
  expect(puts).toEqual([])
  const again = await gate(service, { thresholdLines: 'samples > 2', origin: { kind: 'repeat', runId } })
  expect(puts).toEqual([`/runs/${again.runId}/thresholds`])
  expect((await judgementOf(service, again.runId)).thresholds).toBe('samples > 2')
})

test.each([403, 404, 500])('a refusal (%d) is a line for those who debug, tried once', async (status) => {
  const { service, puts } = await start('1.0.0', status)
  const { outcome } = await gate(service, { thresholdLines: 'samples > 1' })
  expect([outcome.verdict, puts.length]).toEqual(['passed', 1])
})
