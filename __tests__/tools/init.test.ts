import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { CLI, INSTALL_MS, NODE, follow, jmeterNote, lacksJMeter, runCommand } from '../e2e/cli-command.js'
import type { Command } from '../e2e/cli-command.js'
import { mountSmallDisk } from '../support/small-disk.js'
import { removeFolder } from '../support/remove-folder.js'
import { K6, k6Note, lacksK6 } from '../support/tools/k6.js'

/** `loadgate init` in an empty repository, and a real run of what it wrote. */

const HAR = resolve('__tests__/fixtures/init/shop.har')
const API = resolve('__tests__/fixtures/init/shop-api.yaml')
const LOGIN = resolve('__tests__/fixtures/init/login-form.har')
const CONFIG = '.github/loadgate.yml'
/** Of runs with a slow target. */
const WIDE = ['--thresholds', 'error_rate < 1%, p95 < 9s']
const PASSED = { code: 0, out: expect.stringContaining('PASSED') }
const WORKFLOW = '.github/workflows/loadgate.yml'
const LINTERS = resolve('.cache/workflow-tools')
spawnSync('bash', ['scripts/lint-workflows.sh', '--install'])
const findLinter = (name: string, path: string): string | undefined =>
  (existsSync(LINTERS) ? readdirSync(LINTERS) : [])
    .filter((folder) => folder.startsWith(`${name}-`))
    .map((folder) => join(LINTERS, folder, path))
    .find((file) => existsSync(file))
const actionlint = findLinter('actionlint', 'actionlint')
const zizmor = findLinter('zizmor', 'bin/zizmor')
const lacksLinters =
  (actionlint === undefined || zizmor === undefined) && process.env.LOADGATE_REQUIRE_TOOLS === undefined

interface Seen {
  readonly line: string
  readonly headers: Record<string, unknown>
  readonly body: string
}

let server: Server
let seen: Seen[]
const REDIRECTS = new Map([
  ['/products', '/products/all'],
  ['/moved', '/']
])
let address: string
let folder: string
const folders: string[] = []
const children: ChildProcess[] = []

beforeAll(async () => {
  server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      seen.push({ line: `${request.method ?? ''} ${request.url ?? ''}`, headers: request.headers, body })
      const next = REDIRECTS.get(request.url ?? '')
      if (next !== undefined) response.writeHead(302, { location: next })
      setTimeout(() => response.end('ok'), request.url === '/slow' ? 500 : 0)
    })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
  for (const child of children) child.kill()
  for (const used of folders) removeFolder(used)
})
beforeEach(() => {
  seen = []
  folder = mkdtempSync(join(tmpdir(), 'loadgate-init-'))
  folders.push(folder)
  expect(spawnSync('git', ['init', '--quiet'], { cwd: folder }).status).toBe(0)
})

/** What the plans log in with. */
const CREDENTIALS = {
  ...{ LOADGATE_PARAMETER_PASSWORD: 'a-password', LOADGATE_PARAMETER_NOTE: 'a-note' },
  LOADGATE_PARAMETER_TOKEN: 'a-token'
}
const loadgate = (...args: string[]): ReturnType<typeof runCommand> =>
  runCommand(args, { cwd: folder, env: { K6, ...CREDENTIALS } })

/** What a real parser makes of the plan. */
function parseXml(): number | null {
  const program = 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])'
  return spawnSync('python3', ['-c', program, join(folder, 'load/plan.jmx')]).status
}

const hasPython = spawnSync('python3', ['--version']).status === 0
const testWithPython = hasPython ? test : test.skip
const testWithLinters = lacksLinters ? test.skip : test
const testWithJMeter = lacksJMeter ? test.skip : test
const testWithK6 = lacksK6 ? test.skip : test

const JSON_BODY = '${__groovy(1)} \\ "tea"'
const WAYS = [
  {
    way: 'an address',
    args: () =>
      ['/', '/moved', '/search?q=a|b&x=${__time()}'].flatMap((path) => ['--from-url', address + path]),
    requests: ['GET /', 'GET /moved', 'GET /search?q=a%7Cb&x=$%7B__time()%7D'],
    // A redirect that is followed has no rows of its own.
    labels: ['GET /', 'GET /moved', 'GET /search'],
    bodies: []
  },
  {
    way: 'an API',
    args: () => ['--from-openapi', API, '--target', address, '--all-methods'],
    requests: [
      'GET /v1/products/tea%20pot',
      'GET /v1/products?page=1',
      'HEAD /v1/products/tea%20pot',
      'POST /v1/products'
    ],
    labels: ['GET /products/{id}', 'HEAD /products/{id}', 'POST /products', 'listProducts'],
    bodies: [{ name: JSON_BODY, price: 1, made: '2026-01-01', tags: ['text'], related: [] }]
  },
  {
    way: 'a recording',
    args: () => ['--from-har', HAR, '--target', address, '--all-methods'],
    requests: [
      'GET /',
      'GET /products',
      'GET /products/all',
      'GET /search?q=tea%20pot&access_token=',
      'POST /login'
    ],
    labels: ['GET /', 'GET /products', 'GET /products/all', 'GET /search', 'POST /login'],
    bodies: [{ user: 'ada', password: 'a-password', note: 'a-note' }]
  }
]

describe.each(WAYS)('from $way', ({ args, requests, labels, bodies }) => {
  const passes = async (...tool: string[]): Promise<void> => {
    const load = ['--duration', '3s', '--threads', '2']
    expect(await loadgate('init', ...tool, ...args(), ...load)).toMatchObject({ code: 0 })
    const checked = await loadgate('check')
    // Values that may be secret are left to whoever runs the plan.
    const odd = /^warning(?!.*, and nothing gives \w+).*/m
    expect(checked).toMatchObject({ code: 0, out: expect.not.stringMatching(odd) })
    seen = []
    const ended = await loadgate('run', '--config', CONFIG, '--output', 'out')
    expect(ended).toMatchObject(PASSED)
    const { verdict, metrics } = JSON.parse(readFileSync(join(folder, 'out/verdict.json'), 'utf8')) as {
      verdict: string
      metrics: { labels: { label: string }[] }
    }
    expect(verdict).toBe('passed')
    const isRequest = (label: string): boolean => !label.startsWith('check: ')
    expect(
      metrics.labels
        .map(({ label }) => label)
        .filter(isRequest)
        .sort()
    ).toEqual(labels)
    // `wait-for` sends a request of its own.
    const sent = new Set(
      seen.map(({ line }) => line).filter((line) => line !== 'GET /' || requests.includes(line))
    )
    expect([...sent].sort()).toEqual(requests)
    // What is in the plan arrives as it is: the tool runs none of it.
    const received = new Set(seen.map(({ body }) => body).filter((body) => body !== ''))
    expect([...received].map((body) => JSON.parse(body) as unknown)).toEqual(bodies)
  }

  testWithJMeter(
    `a real run of what it wrote is green, with the requests expected${jmeterNote}`,
    () => passes(),
    INSTALL_MS
  )

  testWithK6(`so is one of k6${k6Note}`, () => passes('--tool', 'k6'))

  testWithJMeter(`with the server down, check says so in seconds${jmeterNote}`, async () => {
    const down = createServer()
    await new Promise<void>((done) => down.listen(0, '127.0.0.1', done))
    const { port } = down.address() as AddressInfo
    await new Promise((done) => down.close(done))
    const gone = `127.0.0.1:${port}`
    const there = address.replace('http://', '')
    await loadgate('init', ...args().map((arg) => arg.replace(there, gone)))
    const startMs = Date.now()
    expect(await loadgate('check', '--config', CONFIG)).toMatchObject({
      code: 2,
      out: expect.stringMatching(
        new RegExp(`^error +The target http://${gone}/.* does not answer: .*refused`, 'm')
      )
    })
    expect(Date.now() - startMs).toBeLessThan(20_000)
  })

  testWithPython('the plan is XML for a real parser', async () => {
    await loadgate('init', ...args())
    expect(parseXml()).toBe(0)
  })
})

testWithJMeter(
  `a plan with --rate has as many users as the rate says, however long they wait${jmeterNote}`,
  async () => {
    // A server that stands still in the middle would make a fixed number of users wait.
    await loadgate(
      'init',
      '--from-url',
      `${address}/slow`,
      // It is about the number of requests, and the target takes 500 ms by itself.
      ...WIDE,
      '--rate',
      '20/s',
      '--duration',
      '4s',
      '--rampup',
      '0s'
    )
    const checked = await loadgate('check', '--config', CONFIG)
    expect(checked).toMatchObject({ code: 0, out: expect.not.stringContaining('warning') })
    const ended = await loadgate('run', '--config', CONFIG, '--output', 'out', '--duration', '5s')
    expect(ended).toMatchObject(PASSED)
    const found = JSON.parse(readFileSync(join(folder, 'out/verdict.json'), 'utf8')) as {
      remote_errors: string[]
      metrics: { labels: { label: string; samples: number }[] }
    }
    // The duration is that of the run, not that of the plan.
    expect(found.metrics.labels).toEqual([expect.objectContaining({ label: 'GET /slow', samples: 100 })])
    expect(found.remote_errors).toEqual([])
    expect(parseXml()).toBe(0)
  },
  INSTALL_MS
)

testWithK6(
  `a script of k6 with --rate sends as much as the rate says, however long users wait${k6Note}`,
  async () => {
    const load = ['--rate', '20/s', '--duration', '4s', '--rampup', '0s']
    await loadgate('init', '--tool', 'k6', '--from-url', `${address}/slow`, ...WIDE, ...load)
    const checked = await loadgate('check', '--config', CONFIG)
    expect(checked).toMatchObject({ code: 0, out: expect.not.stringContaining('warning') })
    seen = []
    const ended = await loadgate('run', '--config', CONFIG, '--output', 'out', '--duration', '5s')
    expect(ended).toMatchObject(PASSED)
    const { metrics } = JSON.parse(readFileSync(join(folder, 'out/verdict.json'), 'utf8')) as {
      metrics: { labels: { label: string; samples: number }[] }
    }
    // `wait-for` sends a request of its own.
    const hits = seen.filter(({ line }) => line === 'GET /slow').length - 1
    expect(metrics.labels).toEqual([expect.objectContaining({ label: 'GET /slow', samples: hits })])
    // k6 may start one more as the time ends.
    expect([100, 101]).toContain(hits)
  }
)

testWithK6(`a page of a recording that redirects to the login fails with k6 too${k6Note}`, async () => {
  const request = { method: 'GET', url: `${address}/moved`, headers: [] }
  const response = { status: 200, content: { mimeType: 'text/html' } }
  writeFileSync(join(folder, 'site.har'), JSON.stringify({ log: { entries: [{ request, response }] } }))
  await loadgate('init', '--tool', 'k6', '--from-har', 'site.har', '--duration', '2s', '--threads', '1')
  expect(await loadgate('run', '--config', CONFIG, '--output', 'out')).toMatchObject({ code: 1 })
  const verdict = JSON.parse(readFileSync(join(folder, 'out/verdict.json'), 'utf8')) as unknown
  expect(verdict).toMatchObject({ verdict: 'failed' })
})

testWithJMeter(
  `a page that was recorded while signed in fails where it redirects to the login${jmeterNote}`,
  async () => {
    const request = { method: 'GET', url: `${address}/moved`, headers: [] }
    const response = { status: 200, content: { mimeType: 'text/html' } }
    writeFileSync(join(folder, 'site.har'), JSON.stringify({ log: { entries: [{ request, response }] } }))
    await loadgate('init', '--from-har', 'site.har', '--duration', '2s', '--threads', '1')
    expect(await loadgate('run', '--config', CONFIG, '--output', 'out')).toMatchObject({ code: 1 })
    const verdict = JSON.parse(readFileSync(join(folder, 'out/verdict.json'), 'utf8')) as unknown
    expect(verdict).toMatchObject({ verdict: 'failed' })
  },
  INSTALL_MS
)

describe('the workflow passes actionlint and zizmor', () => {
  testWithLinters.each([
    { start: 'nothing', files: {} },
    { start: 'npm', files: { 'package.json': '{"scripts":{"start":"node ."}}', 'package-lock.json': '{}' } },
    { start: 'pnpm', files: { 'package.json': '{"scripts":{"start":"node ."}}', 'pnpm-lock.yaml': '' } },
    { start: 'compose', files: { 'compose.yaml': '' } },
    { start: 'a Dockerfile', files: { Dockerfile: '' } },
    { start: 'nothing, with k6', files: {}, tool: ['--tool', 'k6'] },
    { start: 'nothing, with a login', files: {}, tool: ['--from-har', LOGIN] }
  ])('which starts $start', async ({ files, tool = [] }) => {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
    await loadgate('init', ...tool)
    const linted = spawnSync(actionlint ?? 'actionlint', [], { cwd: folder, encoding: 'utf8' })
    expect(linted).toMatchObject({ status: 0, stdout: '' })
    const audited = spawnSync(zizmor ?? 'zizmor', ['--offline', WORKFLOW], { cwd: folder, encoding: 'utf8' })
    expect(audited).toMatchObject({ status: 0, stdout: expect.stringContaining('No findings to report') })
  })
})

describe('at a real terminal', () => {
  const hasScript = process.platform === 'linux' && spawnSync('script', ['--version']).status === 0
  const testOnTerminal = hasScript ? test : test.skip
  const [CTRL_C, CTRL_D] = ['\u0003', '\u0004']

  /** Types each line when its question is there. */
  async function answer(...lines: readonly string[]): Promise<Awaited<Command['ended']>> {
    const child = spawn('script', ['-qec', `'${NODE}' '${CLI}' init`, '/dev/null'], { cwd: folder })
    children.push(child)
    const terminal = follow(child)
    for (const [at, line] of lines.entries()) {
      // Each question ends with its default.
      await terminal.shows(new RegExp(`^(?:[^]*?\\[[^\\]\\n]*\\] ){${at + 1}}`))
      child.stdin.write(line)
    }
    return terminal.ended
  }

  testOnTerminal.each([
    { keys: ['\r', 'localhost:3000\r', CTRL_C], code: 130, words: 'cancelled; nothing was written.' },
    { keys: ['\r', CTRL_D], code: 2, words: 'the input ended before the last question; nothing was written.' }
  ])('$words', async ({ keys, code, words }) => {
    const ended = await answer(...keys)
    expect(ended).toMatchObject({ code, out: expect.stringContaining(words) })
    expect(readdirSync(folder)).toEqual(['.git'])
  })

  testOnTerminal('the questions are asked, and the answers count', async () => {
    expect(await answer('\r', 'localhost:3000\r', '7\r', '\r', '\r')).toMatchObject({ code: 0 })
    expect(readFileSync(join(folder, CONFIG), 'utf8')).toMatch(
      /^threads: 7$[^]*^wait-for: http:\/\/localhost:3000\/$/m
    )
  })
})

// Only root may mount a small one; where that is required, a test that cannot fails instead.
const mayMount = process.platform === 'linux' && process.getuid?.() === 0
const testOnDisk = mayMount || process.env.LOADGATE_REQUIRE_MOUNT !== undefined ? test : test.skip

testOnDisk('on a full disk nothing is left, and it says so', async () => {
  const place = join(folder, 'disk')
  const disk = mountSmallDisk(place)
  try {
    disk!.fill()
    expect(await runCommand(['init'], { cwd: place })).toMatchObject({
      code: 2,
      err: expect.stringMatching(/disk is full.*Nothing was written/)
    })
    expect(readdirSync(place)).toEqual(['filler'])
  } finally {
    disk?.unmount()
  }
})
