import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { makeCertificate } from '../../support/certificate.js'
import { parseMetrics } from '../../support/parse-metrics.js'
import { removeFolder } from '../../support/remove-folder.js'

const folder = mkdtempSync(join(tmpdir(), 'loadgate-team-'))
const METRICS_TOKEN = 'figures-0123456789abcdef'
const SOURCES = [
  '--experimental-transform-types',
  '--no-warnings',
  '--import',
  resolve('__tests__/support/typescript-hooks.mjs'),
  resolve('src/cli.ts')
]
let service: ChildProcess
let url: string
let log = ''
const ended = (): Promise<number | null> => new Promise((done) => service.once('exit', (code) => done(code)))

/** The command line, from source, as its own process. */
function loadgate(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {}
): Promise<{ code: unknown; out: string; err: string }> {
  return new Promise((done) => {
    execFile(
      process.execPath,
      [...SOURCES, ...args],
      { cwd: folder, env: { ...process.env, LOADGATE_TOKEN: '', ...env } },
      (error, out, err) => done({ code: error?.code ?? 0, out, err })
    )
  })
}

function ask(
  path: string,
  headers: Record<string, string> = {}
): Promise<{ status: number; body: string; headers: NodeJS.Dict<string | string[]> }> {
  return new Promise((done, fail) => {
    request(
      `${url}${path}`,
      { headers, ca: readFileSync(join(folder, 'service.pem')), agent: false },
      (reply) => {
        let body = ''
        reply.on('data', (chunk: Buffer) => (body += chunk.toString()))
        reply.on('end', () => done({ status: reply.statusCode ?? 0, body, headers: reply.headers }))
      }
    )
      .on('error', fail)
      .end()
  })
}

beforeAll(async () => {
  makeCertificate(folder, 'service')
  writeFileSync(join(folder, 'metrics.token'), `${METRICS_TOKEN}\n`)
  writeFileSync(join(folder, 'plan.jmx'), '<jmeterTestPlan version="1.2"><hashTree/></jmeterTestPlan>')
  writeFileSync(
    join(folder, 'service.yml'),
    'listen: 127.0.0.1:0\ndata: data\ntls: { certificate: service.pem, key: service.key }\nmax-nodes: 2\ndrain: 20s\nmetrics: { token-file: metrics.token }\n'
  )
  service = spawn(
    process.execPath,
    [...SOURCES, 'serve', '--config', 'service.yml', '--rehearse', '--json'],
    {
      cwd: folder,
      env: { ...process.env, LOADGATE_TOKEN: 'not-to-be-used' },
      stdio: ['ignore', 'pipe', 'pipe']
    }
  )
  service.stderr?.on('data', (chunk: Buffer) => (log += chunk.toString()))
  const line = await new Promise<string>((done, fail) => {
    service.stdout?.once('data', (chunk: Buffer) => done(chunk.toString()))
    service.once('exit', () => fail(new Error(log)))
  })
  const printed = JSON.parse(line) as { url: string; listening: string }
  expect(printed).toEqual({
    url: `https://${printed.listening}`,
    listening: expect.stringMatching(/^127.0.0.1:\d+$/)
  })
  url = printed.url
})
afterAll(() => {
  service.kill('SIGKILL')
  removeFolder(folder)
})

test('a gate runs against it over TLS, seen from outside, until it drains', async () => {
  const added = await loadgate(['user', 'add', 'ci', '--role', 'member', '--config', 'service.yml', '--json'])
  const { token } = JSON.parse(added.out) as { token: string }
  const gate = (env: NodeJS.ProcessEnv) =>
    loadgate(
      [
        ...['run', '--base-url', url, '--files', 'plan.jmx', '--duration', '2', '--poll-interval', '1s'],
        ...[
          '--grids',
          '[{region: local, infrastructure: demand, instance_quantity: 1, instance_type: any, stop_after: 5}]'
        ],
        ...['--thresholds', 'samples > 0']
      ],
      { LOADGATE_TOKEN: token, ...env }
    )
  const distrusting = await gate({})
  expect(distrusting.code).toBe(2)
  expect(distrusting.out + distrusting.err).toMatch(
    /is not trusted: .* set NODE_EXTRA_CA_CERTS to that CA's certificate/
  )
  const run = await gate({ NODE_EXTRA_CA_CERTS: join(folder, 'service.pem') })
  expect(run).toMatchObject({ code: 0 })

  expect((await ask('/account', { authorization: `Basic ${btoa('not-to-be-used:')}` })).status).toBe(401)
  const reply = await ask(`/?token=${token}`, { 'x-request-id': 'from-the-proxy_1' })
  expect(reply.headers).toMatchObject({
    'x-request-id': 'from-the-proxy_1',
    'x-loadgate-version': (JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }).version
  })
  expect((await ask('/healthz', { 'x-request-id': 'a b' })).headers['x-request-id']).toMatch(/^[\w-]{36}$/)
  expect((await ask('/metrics')).status).toBe(401)
  expect((await ask('/metrics', { authorization: `Bearer ${token}` })).status).toBe(401)
  const figures = parseMetrics((await ask('/metrics', { authorization: `Bearer ${METRICS_TOKEN}` })).body)
  const value = (name: string, labels = {}): number | undefined =>
    figures.get(name)?.find((sample) => JSON.stringify(sample.labels) === JSON.stringify(labels))?.value
  expect(value('loadgate_runs', { status: 'finished' })).toBe(1)
  expect(value('loadgate_runs_ended_total', { status: 'finished' })).toBe(1)
  expect(value('loadgate_samples_total')).toBeGreaterThan(0)
  expect(value('loadgate_queue_length')).toBe(0)
  expect(value('loadgate_queue_wait_seconds_count')).toBe(1)
  expect(value('loadgate_nodes_at_work')).toBe(0)
  expect(value('loadgate_nodes_limit')).toBe(2)
  expect(value('loadgate_http_sent_bytes_total')).toBeGreaterThan(1000)
  expect(value('process_cpu_seconds_total')).toBeGreaterThan(0)
  const routes = figures
    .get('loadgate_http_request_duration_seconds_count')
    ?.map(({ labels }) => labels.route)
  expect(routes).toContain('/runs/:id')
  expect(routes?.every((route) => !/[0-9a-f]{24}/.test(route ?? ''))).toBe(true)

  service.kill('SIGTERM')
  const code = ended()
  await wait(0)
  expect(await code).toBe(0)
  const lines = log
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  expect(lines.every(({ time, level, msg }) => time && level && typeof msg === 'string')).toBe(true)
  expect(lines).toContainEqual(
    expect.objectContaining({ method: 'POST', route: '/runs', status: 201, user: 'ci', address: '127.0.0.1' })
  )
  for (const secret of [token, METRICS_TOKEN, 'not-to-be-used', btoa(`${token}:`)])
    expect(log).not.toContain(secret)
})
