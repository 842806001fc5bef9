import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import '../../src/gate/after-run.js'
import { CancelledError, DeadlineError } from '../../src/gate/errors.js'
import '../../src/gate/preflight.js'
import { runGate } from '../../src/gate/run-gate.js'
import { waitForTarget } from '../../src/gate/open-gate.js'
import type { Settings } from '../../src/gate/settings/settings.js'
import { readAddress } from '../../src/client/http/address.js'
import { probe } from '../../src/client/http/probe.js'
import {
  TOKEN,
  makePorts,
  makeSettings,
  makeSpecification,
  type TestPorts
} from '../support/gate/gate-ports.js'
import { GateService } from '../support/gate/gate-service.js'
import { QUIET_PLAN } from '../support/quiet-plan.js'

let ports: TestPorts
const servers: Server[] = []

beforeEach(async () => {
  ports = await makePorts()
})

afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections()
})

async function serve(listener: RequestListener): Promise<URL> {
  const server = createServer(listener)
  servers.push(server)
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/health?key=s3cret`)
}

/** Answers each request with the next status, and with the last one from then on. */
function answer(...statuses: number[]): RequestListener {
  return (request, response) => {
    const status = statuses.length > 1 ? statuses.shift() : statuses[0]
    response.writeHead(status ?? 200, { location: '/elsewhere' }).end(request.method)
  }
}

/** Where nothing listens: the port was free a moment ago. */
async function nowhere(): Promise<URL> {
  const url = await serve(answer(200))
  await new Promise((done) => servers.pop()?.close(done))
  return url
}

const settingsFor = (url: URL, changes: Partial<Settings> = {}): Settings =>
  makeSettings({ waitFor: { url, timeoutMs: 120_000 }, ...changes })

describe('a target that answers', () => {
  test.each([200, 204, 301, 401, 404])('%i counts, and is not worth a line', async (status) => {
    await ports.clock.run(waitForTarget(ports, settingsFor(await serve(answer(status)))))
    expect(ports.log.lines).toEqual([])
    expect(ports.clock.pendingCount).toBe(0)
  })

  test('after a while: the log says so, without the query', async () => {
    const url = await serve(answer(503, 500, 502, 200))
    await ports.clock.run(waitForTarget(ports, settingsFor(url)))
    const shown = `http://${url.host}/health?***`
    expect(ports.log.lines).toEqual([
      `info: Waiting for ${shown} to answer, for at most 2 min: it answered 503.`,
      `info: ${shown} answered 200 after 2 s.`
    ])
  })
})

describe('a target that does not answer', () => {
  test('ends with the last failure, and what to do', async () => {
    const url = await nowhere()
    const waiting = ports.clock.run(waitForTarget(ports, settingsFor(url)))
    await expect(waiting).rejects.toThrow(
      `wait-for: http://${url.host}/health?*** did not answer within 2 min, so no load was started. The last attempt: ${url.host} refused the connection (ECONNREFUSED): nothing listens there. Is the server started in an earlier step, and does it listen on port ${url.port}? If it needs longer, give it more time: \`wait-for: http://${url.host}/health?*** 5m\`.`
    )
    expect(ports.clock.elapsedMs).toBe(120_000)
    expect(ports.log.lines).toHaveLength(1)
  })

  test('a server that says nothing costs 5 s per attempt', async () => {
    let asked: () => void = () => undefined
    const url = await serve(() => asked())
    const seen = new Promise<void>((done) => (asked = done))
    const waiting = waitForTarget(ports, settingsFor(url))
    await seen
    await ports.clock.advance(5_000)
    expect(ports.log.lines).toEqual([expect.stringContaining(`${url.host} did not answer within 5 s`)])
    ports.cancellation.abort(new CancelledError('SIGINT'))
    await expect(waiting).rejects.toThrow(CancelledError)
    expect(ports.clock.pendingCount).toBe(0)
  })

  test("the gate's own timeout ends it too", async () => {
    const waiting = waitForTarget(ports, settingsFor(await nowhere(), { timeoutMs: 30_000 }))
    const ended = ports.clock.run(waiting)
    await expect(ended).rejects.toThrow(DeadlineError)
    await expect(ended).rejects.toThrow('If it needs longer, raise `timeout`')
    expect(ports.clock.elapsedMs).toBe(30_000)
  })

  test('an existing run has its load already', async () => {
    const origin = { kind: 'existing' as const, runId: 'theirs' }
    await waitForTarget(ports, settingsFor(await nowhere(), { origin }))
    expect(ports.log.lines).toEqual([])
  })
})

describe('the whole gate', () => {
  let service: GateService
  let plan: string
  beforeEach(async () => {
    service = new GateService()
    plan = join(await mkdtemp(join(tmpdir(), 'gate-plan-')), 'plan.jmx')
    await writeFile(plan, QUIET_PLAN)
  })
  afterEach(() => service.close())

  const gate = (changes: Partial<Settings> = {}): ReturnType<typeof runGate> =>
    ports.clock.run(
      runGate(
        ports,
        makeSettings({
          target: { kind: 'remote', address: readAddress(service.url), token: TOKEN },
          origin: { kind: 'files', paths: [plan], grids: [makeSpecification()] },
          ...changes
        })
      )
    )

  test('a target that never answers is an error, and nothing is created', async () => {
    const waitFor = { url: await nowhere(), timeoutMs: 60_000 }
    expect(await gate({ waitFor })).toMatchObject({
      verdict: 'error',
      reason: expect.stringContaining('so no load was started')
    })
    expect(service.order()).toEqual([])
  })

  test('what it took is no longer there for the run', async () => {
    const waitFor = { url: await serve(answer(503, 503, 503, 503, 200)), timeoutMs: 60_000 }
    service.nextStatuses = ['running']
    expect(await gate({ timeoutMs: 30_000 })).toMatchObject({ verdict: 'timed-out' })
    const aloneMs = ports.clock.elapsedMs
    expect(await gate({ waitFor, timeoutMs: 30_000 })).toMatchObject({ verdict: 'timed-out' })
    expect(ports.clock.elapsedMs - aloneMs).toBeLessThan(aloneMs + 1_000)
  })

  test('the run starts once the target answers', async () => {
    const waitFor = { url: await serve(answer(503, 200)), timeoutMs: 60_000 }
    expect(await gate({ waitFor })).toMatchObject({ verdict: 'passed' })
    expect(service.count('createRun')).toBe(1)
  })

  test('a plan that does not do what it should is a warning before the run, and the run decides', async () => {
    await writeFile(plan, QUIET_PLAN.replace('${__P(rampup,1)}', '3'))
    expect(await gate({ rampupSeconds: 20 })).toMatchObject({ verdict: 'passed' })
    expect(ports.log.of('warning')).toEqual([
      expect.stringContaining(
        'rampup is 20, but the plan does not read it: the thread group "users" has a ramp-up of 3 s'
      )
    ])
  })

  test('a plan with many problems has few warnings', async () => {
    const parameters = ['a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'a7'].map((name) => `-J${name}=s3cret`)
    await gate({ overrideParameters: parameters.join(', ') })
    expect(ports.log.of('warning')).toHaveLength(6)
    expect(ports.log.of('warning').at(-1)).toBe('2 more problems in the plan: `loadgate check` lists them.')
    expect(ports.log.lines.join('\n')).not.toContain('s3cret')
  })

  test('a repeated run has no plan to look at', async () => {
    await gate({ origin: { kind: 'repeat', runId: 'unknown' }, threads: 20 })
    expect(ports.log.of('warning').join('\n')).not.toContain('the plan does not read')
  })
})

describe('one request', () => {
  test('no credentials, no redirects, and a body that never ends is not waited for', async () => {
    const seen: unknown[] = []
    const url = await serve(({ method, url: path, headers }, response) => {
      seen.push([method, path, headers.authorization])
      response.writeHead(302, { location: 'http://127.0.0.1:1/' }).write('…')
    })
    expect(await probe(url, { signal: ports.cancelled })).toEqual({ status: 302 })
    expect(seen).toEqual([['GET', '/health?key=s3cret', undefined]])
  })

  // A name that no server is asked for: a part of it is too long.
  test('an unknown host, and a server without TLS', async () => {
    const { signal } = new AbortController()
    expect(await probe(new URL(`http://${'a'.repeat(64)}.invalid/`), { signal })).toMatchObject({
      kind: 'unknown-host'
    })
    const url = await serve(answer(200))
    expect(await probe(new URL(`https://${url.host}/`), { signal })).toMatchObject({
      failure: expect.stringContaining('its address may start with http instead of https')
    })
  })
})
