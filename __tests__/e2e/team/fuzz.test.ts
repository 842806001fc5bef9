import { afterEach, expect, test } from '@jest/globals'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Fuzzer } from '../../support/fuzz/fuzz.js'
import type { Route } from '../../support/fuzz/make-request.js'
import { ESCAPED } from '../../support/fuzz/odd-values.js'
import { type Doc, formOf, runForm } from '../../service/support.js'
import { slice } from '../../support/slice.js'
import { until } from '../cli-command.js'
import { type Person, TeamService } from './team-service.js'

const COUNT = slice(1500, 20_000)
/** Another one finds other things. */
const SEED = Number(process.env.LOADGATE_FUZZ_SEED ?? 16_000_000)
/** Before memory is measured for the first time: code is compiled, pages are loaded. */
const WARM_UP = slice(500, 2000)
const THIRDS = [0, 1, 2]
const MIB = 1024 ** 2
const MOST_GROWTH = { heapUsed: 12 * MIB, rss: 100 * MIB }

interface Memory {
  readonly rss: number
  readonly heapUsed: number
}
interface Facts {
  readonly routes: Route[]
  readonly memories: Memory[]
  readonly strays: string[]
}

let team: TeamService
afterEach(() => team.remove())

function readFacts(): Facts {
  const lines = readFileSync(join(team.folder, 'facts.jsonl'), 'utf8').trim().split('\n')
  const facts = lines.map((line) => JSON.parse(line) as { route?: Route; memory?: Memory; stray?: string })
  return {
    routes: facts.flatMap(({ route }) => route ?? []),
    memories: facts.flatMap(({ memory }) => memory ?? []),
    strays: facts.flatMap(({ stray }) => stray ?? [])
  }
}

/** Of the service's process, after its garbage was collected. */
async function measureMemory(): Promise<Memory> {
  const { length } = readFacts().memories
  team.process.child.kill('SIGUSR2')
  await until(() => readFacts().memories.length > length || team.process.child.exitCode !== null)
  return readFacts().memories.at(-1)!
}

/** Everything beside the data folder, in which the service is at work. */
const around = (): string[] =>
  readdirSync(team.folder, { withFileTypes: true })
    .filter(({ name }) => name !== 'data' && name !== 'state')
    .flatMap((entry) => [entry.name, ...(entry.isDirectory() ? listBelow(entry.name) : [])])
    .sort()

function listBelow(name: string): string[] {
  const below = readdirSync(join(team.folder, name), { recursive: true, encoding: 'utf8' })
  return below.map((path) => join(name, path))
}

async function signIn(person: Person): Promise<string> {
  const reply = await team.send('POST', '/login', {
    headers: {
      origin: team.url.replace('http:', 'https:'),
      'content-type': 'application/x-www-form-urlencoded'
    },
    body: `token=${person.token}`
  })
  const [cookie = ''] = reply.headers['set-cookie'] ?? []
  expect([reply.status, cookie]).toEqual([303, expect.stringContaining('loadgate')])
  return cookie.split(';')[0]!
}

test(`${COUNT} requests of any kind to every route do the service no harm`, async () => {
  team = await TeamService.create({
    reach: 'proxy',
    config: 'max-nodes: 4\nmetrics: { allow: [127.0.0.1] }',
    // Young objects in little room: else V8 takes more of it as it likes, which looks like a leak.
    nodeFlags: ['--max-semi-space-size=2', '--import', resolve('__tests__/support/fuzz/watch-process.mjs')]
  })
  team.env = { NODE_LOADGATE_WATCH_FILE: join(team.folder, 'facts.jsonl') }
  await team.start()
  const admin = await team.addUser('cleo', 'admin')
  const member = await team.addUser('ann', 'member')
  const viewer = await team.addUser('eve', 'viewer')
  const cookie = await signIn(admin)
  const before = around()
  const { routes } = readFacts()
  expect(routes.map(({ url }) => url)).toEqual(
    expect.arrayContaining(['/runs', '/grids', '/login', '/metrics', '/healthz', '/runs/:id/events'])
  )
  const tokens = { admin: admin.token, member: member.token, viewer: viewer.token }
  const { host, port } = new URL(team.url)
  const fuzzer = new Fuzzer({
    port: Number(port),
    known: { routes, host, tokens, cookie },
    secrets: Object.values(tokens).flatMap((token) => [token, Buffer.from(`${token}:`).toString('base64')]),
    version: 'any'
  })
  await fuzzer.send(SEED - WARM_UP, WARM_UP)
  const memories = [await measureMemory()]
  for (const third of THIRDS) {
    const size = Math.round(COUNT / THIRDS.length)
    await fuzzer.send(SEED + size * third, size)
    memories.push(await measureMemory())
  }
  expect(fuzzer.findings).toEqual([])
  expect(readFacts().strays).toEqual([])
  expect(team.process.child.exitCode).toBeNull()
  // The seeds do reach what they are for.
  expect([200, 201, 303, 401, 403, 404, 422].filter((status) => !fuzzer.statuses.has(status))).toEqual([])
  const [first, second, , last] = memories as [Memory, Memory, Memory, Memory]
  expect(last.heapUsed - first.heapUsed).toBeLessThan(MOST_GROWTH.heapUsed)
  // What requests in flight take at once, the process keeps: it grows at first, and then hardly.
  expect(last.rss - second.rss).toBeLessThan(MOST_GROWTH.rss)
  expect(around()).toEqual(before)
  expect(['/tmp', '/', tmpdir()].filter((place) => existsSync(join(place, ESCAPED)))).toEqual([])
  await stopAllRuns(admin)
  await expectRun(member)
  expect(readdirSync(join(team.dataDir, 'uploads'))).toEqual([])
  expect((await team.terminate()).code).toBe(0)
  // Now that nothing changes any more.
  expectNoTokenOnDisk(Object.values(tokens))
}, 600_000)

/** Some take an hour of real time, and everything after them would wait for as long. */
async function stopAllRuns(admin: Person): Promise<void> {
  const isOver = ({ status }: Doc): boolean => ['finished', 'problem'].includes(status)
  for (const deadlineMs = Date.now() + 60_000; ;) {
    const left = (await team.listRuns(admin)).filter((run) => !isOver(run))
    if (left.length === 0) return
    if (Date.now() > deadlineMs) throw new Error(`not stopped: ${JSON.stringify(left)}`)
    for (const { uuid } of left) await team.send('GET', `/runs/${uuid}/stop`, { person: admin })
  }
}

/** Not by a gate: the links are to the https of a proxy, which is not there. */
async function expectRun(person: Person): Promise<void> {
  const created = await team.send('POST', '/runs', { person, ...formOf(runForm({ name: 'afterwards' })) })
  expect([created.status, created.json.error]).toEqual([201, undefined])
  const { uuid } = created.json
  await team.waitForRun(person, 'afterwards', ['finished'])
  const { status, text } = await team.send('GET', `/runs/${uuid}/result.csv`, { person })
  expect(status).toBe(200)
  expect(text.split('\n').length).toBeGreaterThan(2)
}

function expectNoTokenOnDisk(tokens: readonly string[]): void {
  const files = readdirSync(team.dataDir, { recursive: true, withFileTypes: true })
    // What callers uploaded is theirs.
    .filter((entry) => entry.isFile() && !entry.parentPath.endsWith('/files'))
    .map((entry) => join(entry.parentPath, entry.name))
  const holding = files.filter((file) => {
    const text = readFileSync(file, 'latin1')
    return tokens.some((token) => text.includes(token))
  })
  expect(holding).toEqual([])
  expect(tokens.filter((token) => team.log.includes(token))).toEqual([])
}
