import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startService } from '../../../src/service/server.js'
import type { Service } from '../../../src/service/server.js'
import { readAddress } from '../../../src/client/http/address.js'
import { ServiceClient } from '../../../src/client/client.js'
import { systemClock } from '../../../src/contract/clock.js'
import { vocabularyOf } from '../../../src/contract/vocabulary.js'
import { runCommandLine } from '../../../src/cli/commands.js'
import { FakeService, json } from '../../support/fake-service.js'
import { makeAccount, makeRun, makeUser } from '../../support/data/make-documents.js'
import { makeGridSpecification } from '../../support/data/make-run-request.js'
import { EAGER_CLOCK, makeCommandPorts } from '../command-ports.js'
import { removeFolder } from '../../support/remove-folder.js'

const TOKEN = 'the-token-of-this-test'
const folder = mkdtempSync(join(tmpdir(), 'loadgate-terminal-'))
const GRID =
  '{ region: us-east-1, instance_quantity: 2, instance_type: m5.large, infrastructure: demand, stop_after: 60 }'
let service: Service
let runId: string

beforeAll(async () => {
  service = await startService({
    dataDir: join(folder, 'data'),
    engine: 'rehearsal',
    token: TOKEN,
    log: () => undefined
  })
  runId = await makeFinishedRun()
})
afterAll(async () => {
  await service.close()
  removeFolder(folder)
})

/** With the client itself: no API command creates a run, the gate does. */
async function makeFinishedRun(): Promise<string> {
  const plan = join(folder, 'plan.jmx')
  writeFileSync(plan, '<HTTPSamplerProxy testname="home" enabled="true">')
  const words = vocabularyOf()
  const client = new ServiceClient({
    address: readAddress(service.url),
    token: TOKEN,
    words,
    clock: systemClock
  })
  const grids = [makeGridSpecification(), makeGridSpecification({ region: 'eu-west-1' })]
  const { id } = await client.createRun({
    tool: 'jmeter',
    files: [plan],
    grids,
    name: 'A \u001b[31mrun',
    tags: [],
    privacy: 'private',
    threads: 3
  })
  for (let tries = 0; (await client.showRun(id)).status !== 'finished'; tries++) {
    expect(tries).toBeLessThan(500)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  await client.close()
  return id
}

interface Typed {
  readonly code: number
  readonly out: string
}

async function type(
  args: readonly string[],
  { token = TOKEN, url = service.url, workspace = folder } = {}
): Promise<Typed> {
  const ports = makeCommandPorts({ token, workspace, clock: EAGER_CLOCK })
  const code = await runCommandLine([...args, '--base-url', url], ports)
  return { code, out: ports.screen.out.text }
}

async function typeForJson<T>(...args: string[]): Promise<T> {
  const { code, out } = await type([...args, '--json'])
  expect(code).toBe(0)
  return JSON.parse(out) as T
}

interface Shown {
  readonly uuid: string
  readonly status: string
}

interface ShownList {
  readonly total: number
  readonly _links: Record<string, unknown>
  readonly _embedded: { readonly runs: readonly Shown[] }
}

const idsIn = (list: ShownList): string[] => list._embedded.runs.map(({ uuid }) => uuid)

describe('LOADGATE_BASE_URL', () => {
  const typeWith = async (baseUrl: string, ...args: string[]): Promise<string> => {
    const ports = makeCommandPorts({ token: TOKEN, workspace: folder, baseUrl })
    await runCommandLine(['run', runId, ...args], ports)
    return ports.screen.out.text
  }

  test('is where the service is', async () => {
    expect(await typeWith(service.url)).toContain(runId)
  })

  test('yields to the flag', async () => {
    expect(await typeWith('https://nowhere.invalid', '--base-url', service.url)).toContain(runId)
  })

  test.each(['', 'local'])('"%s" is no service for this command', async (baseUrl) => {
    await expect(typeWith(baseUrl)).rejects.toThrow(
      /^there is no service: .* --base-url or LOADGATE_BASE_URL$/
    )
  })

  test('is named where it is wrong, without its secrets', async () => {
    await expect(typeWith('https://me:hush@service.example')).rejects.toThrow(
      /^LOADGATE_BASE_URL: "https:\/\/\*\*\*@service.example" /
    )
    // The token, put there by mistake.
    await expect(typeWith('lg_0123456789abcdef')).rejects.toThrow(
      /^LOADGATE_BASE_URL: this text is not a URL; use one such as/
    )
  })
})

describe('runs', () => {
  test('the list, in words and as JSON', async () => {
    const { code, out } = await type(['runs'])
    expect(code).toBe(0)
    expect(out).toMatch(/^run +status +apdex +tool +name\n/)
    expect(out).toMatch(
      new RegExp(`^${runId} +finished +[01]\\.\\d+ \\[500\\] +jmeter-rehearsal +A \\[31mrun$`, 'm')
    )
    const listed = await typeForJson<ShownList>('runs')
    expect(listed._embedded.runs).toContainEqual(expect.objectContaining({ uuid: runId, status: 'finished' }))
    expect(listed.total).toBe(listed._embedded.runs.length)
  })

  test('one of them, by `run <id>`', async () => {
    const { code, out } = await type(['run', runId])
    expect(code).toBe(0)
    expect(out).toMatch(new RegExp(`^run +${runId}\nname +A  \\[31mrun\nstatus +finished\napdex +`))
    expect(out).toMatch(/\ngrids +[0-9a-f]{24} \(us-east-1, started\), [0-9a-f]{24} \(eu-west-1, started\)\n/)
    const run = await typeForJson<Shown & { threads: number }>('run', runId)
    expect(run).toMatchObject({ uuid: runId, status: 'finished', threads: 3 })
  })

  test('repeat makes another one, and stop ends it', async () => {
    const { code, out } = await type(['repeat', runId])
    expect(code).toBe(0)
    expect(out).toMatch(/^run +[0-9a-f]{24}\n/)
    const again = await typeForJson<Shown>('repeat', runId)
    expect(again.status).toBe('queued')
    expect(again.uuid).not.toBe(runId)
    expect(await typeForJson<Shown>('stop', again.uuid)).toMatchObject({
      uuid: again.uuid,
      status: 'finished'
    })
    expect((await type(['stop', again.uuid])).out).toMatch(/\nstatus +finished\n/)
  })

  test('the report, which says what it is', async () => {
    const { code, out } = await type(['report', runId])
    expect(code).toBe(0)
    expect(out).toMatch(
      /^Rehearsal, synthetic samples: this is not a measurement\..*\nmean_response_time: \d/s
    )
    const report = await typeForJson<{ rehearsal: boolean; summary: string }>('report', runId)
    expect(report.rehearsal).toBe(true)
    expect(report.summary).toContain('2 grids')
  })
})

describe('a service that answers in its own way', () => {
  let other: FakeService
  beforeEach(async () => {
    other = await new FakeService().start()
  })
  afterEach(() => other.stop())

  test('a list of several pages is read to its end', async () => {
    other.pageSize = 2
    const ids = [1, 2, 3, 4, 5].map(() => other.addRun().uuid)
    const { out } = await type(['runs', '--json'], { url: other.url, token: other.token })
    const listed = JSON.parse(out) as ShownList
    expect(idsIn(listed)).toEqual(ids.reverse())
    expect(listed.total).toBe(5)
    expect(listed._links).not.toHaveProperty('next')
  })

  test.each([
    ['leads to itself', (page: number) => Math.min(page + 1, 2)],
    ['leads back', (page: number) => (page % 3) + 1],
    ['leads on and brings nothing new', (page: number) => page + 1]
  ])('a list whose next link %s ends, with every run once', async (_, nextOf) => {
    let asked = 0
    other.faults.push(({ path }, response) => {
      if (path.endsWith('/account')) return false
      asked++
      const page = Number(new URL(path, 'http://x').searchParams.get('page') ?? 1)
      const ids = page === 1 ? ['a', 'b'] : page === 2 ? ['b', 'c'] : ['c']
      json(response, 200, {
        _links: { next: { href: `/api/runs?page=${nextOf(page)}` } },
        _embedded: {
          runs: [null, ...ids.map((uuid) => makeRun({ uuid, duration: 0.5 }))].slice(page > 1 ? 1 : 0)
        }
      })
      return true
    })
    const { out } = await type(['runs', '--json'], { url: other.url, token: other.token })
    const { runs } = (JSON.parse(out) as ShownList)._embedded
    // With the entry that is none, as it was sent.
    expect(runs.map((run: Shown | null) => run?.uuid)).toEqual([undefined, 'a', 'b', 'c'])
    expect(asked).toBeLessThanOrEqual(4)
  })

  test('a list that never ends is cut, with a message', async () => {
    other.faults.push(({ path }, response) => {
      if (path.endsWith('/account')) return false
      const page = Number(new URL(path, 'http://x').searchParams.get('page') ?? 1)
      json(response, 200, {
        _links: { next: { href: `/api/runs?page=${page + 1}` } },
        _embedded: { runs: [makeRun({ uuid: `run${page}` })] }
      })
      return true
    })
    const ports = makeCommandPorts({ token: other.token, workspace: folder })
    await runCommandLine(['runs', '--base-url', other.url, '--json'], ports)
    const listed = JSON.parse(ports.screen.out.text) as ShownList
    expect(idsIn(listed)).toHaveLength(1_000)
    expect(listed._links.next).toEqual({ href: '/api/runs?page=1001' })
    expect(ports.screen.err.text).toContain('the list is longer')
  })

  test('a grid that was terminated without a reply', async () => {
    other.faults.push((seen, response) => {
      if (seen.method !== 'DELETE') return false
      response.writeHead(204).end()
      return true
    })
    const { uuid } = other.addGrid()
    const around = { url: other.url, token: other.token }
    expect((await type(['grid', 'terminate', uuid], around)).out).toBe(`Grid ${uuid} was terminated.\n`)
    const { out } = await type(['grid', 'terminate', uuid, '--json'], around)
    expect(JSON.parse(out)).toBeNull()
  })

  test('a grid with left out keys is not created', async () => {
    const creating = type(['grid', 'create'], { url: other.url, token: other.token })
    await expect(creating).rejects.toThrow('element 1: missing infrastructure, region')
    expect(other.calls('POST', /./)).toEqual([])
  })

  test('a CSV that cannot be downloaded is an error', async () => {
    other.csv = () => '{"error":"gone"}'
    const { uuid } = other.addRun({ statuses: ['finished'] })
    const ports = makeCommandPorts({ token: other.token, workspace: folder })
    const typed = runCommandLine(['results', uuid, '--base-url', other.url, '--timeout', '1s'], ports)
    await expect(typed).rejects.toThrow('not every CSV could be downloaded')
    expect(ports.screen.out.text).toMatch(/us-east-1 +\d+ +missing: /)
  })
})

describe('results', () => {
  test('a CSV of every grid, in a folder of the run', async () => {
    const { code, out } = await type(['results', runId])
    expect(code).toBe(0)
    const [heading, ...rows] = out.trimEnd().split('\n')
    expect(heading).toMatch(/^grid +region +bytes +file$/)
    expect(rows).toHaveLength(2)
    for (const row of rows) {
      const [, region, bytes, file] = row.split(/ {2,}/)
      expect(file).toBe(join(folder, 'loadgate-results', runId, `${region!}-${row.split(' ')[0]!}.csv`))
      expect(readFileSync(file!, 'utf8')).toMatch(/^timeStamp,elapsed,label,/)
      expect(Number(bytes)).toBe(readFileSync(file!).length)
    }
  })

  test('--output and --json', async () => {
    const results = await typeForJson<{ path: string }[]>('results', runId, '--output', 'else where')
    expect(results).toHaveLength(2)
    for (const { path } of results)
      expect([path.startsWith(join(folder, 'else where')), existsSync(path)]).toEqual([true, true])
  })
})

describe('grids', () => {
  test('create, show, terminate: in words', async () => {
    const { code, out } = await type(['grid', 'create', '--grids', GRID])
    expect(code).toBe(0)
    expect(out).toMatch(
      /^grid +\w+\nregion +us-east-1\nstatus +queued\nnodes +2\ntype +m5\.large\nstop after +60 min\n$/
    )
    const id = /^grid +(\w+)/.exec(out)![1]!
    expect((await type(['grid', 'show', id])).out).toMatch(new RegExp(`^grid +${id}\n`))
    expect((await type(['grid', 'terminate', id])).out).toMatch(/\nstatus +stopped\n/)
  })

  test('create, show, terminate: as JSON', async () => {
    const grid = await typeForJson<Shown>('grid', 'create', '--grids', `- ${GRID}`)
    expect(grid).toMatchObject({
      ...{ region: 'us-east-1', instance_quantity: 2, stop_after: 60, status: 'queued' },
      nodes: []
    })
    expect(await typeForJson<Shown>('grid', 'show', grid.uuid)).toMatchObject({ uuid: grid.uuid })
    expect(await typeForJson<Shown>('grid', 'terminate', grid.uuid)).toMatchObject({ status: 'stopped' })
  })

  test.each([
    {
      what: 'a reference',
      grids: ['--grids', 'uuid: abc'],
      words: 'takes one specification here, not a reference'
    },
    { what: 'two', grids: ['--grids', `[${GRID}, ${GRID}]`], words: 'takes one specification here' }
  ])('create refuses $what', async ({ grids, words }) => {
    await expect(type(['grid', 'create', ...grids])).rejects.toThrow(words)
  })

  test.each([
    ['nothing', [], { region: 'local', instance_quantity: 1, stop_after: 120 }],
    ['a region', ['--grids', '{ region: us-east-1 }'], { region: 'us-east-1', instance_quantity: 1 }]
  ])('of %s the service has defaults for the rest', async (_, grids, document) => {
    const grid = await typeForJson<Shown>('grid', 'create', ...grids)
    expect(grid).toMatchObject(document)
    await type(['grid', 'terminate', grid.uuid])
  })
})

describe('the account', () => {
  test('a table of users and one of credentials, without tokens', async () => {
    const { code, out } = await type(['account'])
    expect(code).toBe(0)
    expect(out).toMatch(/^Account .+@.+\n\nuser +email +sign-ins +last\n/)
    expect(out).toMatch(/\ncredential +provider +description\n/)
    expect(out).not.toContain(TOKEN)
  })

  test('as JSON, without tokens too', async () => {
    const { out } = await type(['account', '--json'])
    expect(out).not.toContain(TOKEN)
    expect(/"authentication_token": "(.*)"/.exec(out)![1]).toBe('***')
  })

  test("another user's token is not shown either", async () => {
    const users = [makeUser(), makeUser({ id: 8, authentication_token: undefined })]
    const account = makeAccount({ _embedded: { users, credentials: [] } })
    const { out, outAsJson } = await askServiceOf(account, ['account'])
    for (const text of [out, outAsJson]) expect(text).not.toContain('the-users-own-token')
    const shown = users.map((user, index) => (index === 0 ? { ...user, authentication_token: '***' } : user))
    expect(JSON.parse(outAsJson)).toEqual(
      JSON.parse(JSON.stringify({ ...account, _embedded: { users: shown, credentials: [] } }))
    )
  })
})

/** What a command shows of a service that answers everything with one document. */
async function askServiceOf(document: unknown, args: string[]): Promise<{ out: string; outAsJson: string }> {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  try {
    const { out } = await type(args, { url })
    const { out: outAsJson } = await type([...args, '--json'], { url })
    return { out, outAsJson }
  } finally {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
}

test('JSON has every field under its own name, whoever knows it', async () => {
  const document = {
    ...makeRun({ uuid: 'run1', started: '2026-01-01T00:00:00.000Z' }),
    ...{ batch_id: 'b1', ids: 12345, ours: { deeply: [null, 1.5] } }
  }
  const { outAsJson } = await askServiceOf(document, ['run', 'run1'])
  expect(JSON.parse(outAsJson)).toEqual(JSON.parse(JSON.stringify(document)))
})

describe('where the API is', () => {
  test('a service below /api is found there, without a word', async () => {
    const other = await new FakeService().start()
    const ports = makeCommandPorts({ token: other.token, workspace: folder, clock: EAGER_CLOCK })
    await runCommandLine(['runs', '--base-url', other.url, '--json'], ports)
    await other.stop()
    expect(other.seen.map(({ path }) => path)).toEqual(['/account', '/api/account', '/api/runs'])
    expect(ports.screen.err.text).toBe('')
  })

  test('a web page is no service: what was asked, and what to check', async () => {
    const server = createServer((_request, response) =>
      response.writeHead(200, { 'content-type': 'text/html' }).end('<title>Shop</title>')
    )
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const ports = makeCommandPorts({ token: TOKEN, workspace: folder, clock: EAGER_CLOCK })
    await expect(runCommandLine(['runs', '--base-url', url], ports)).rejects.toThrow(
      'listing the runs: the service reported success but sent no JSON: an HTML page titled "Shop"'
    )
    expect(ports.screen.err.text).toBe(
      `loadgate: The API of the service was not found: ${url}/account is not JSON, ${url}/api/account is not JSON. Continuing with ${url}, as it is written in base-url.\n`
    )
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
})

test('a service that repeats the token does not leak it', async () => {
  const { out, outAsJson } = await askServiceOf(makeRun({ name: `for ${TOKEN}` }), ['run', 'run1'])
  expect(out).toMatch(/\nname +for \*\*\*\n/)
  expect(outAsJson).toContain('"name": "for ***"')
})

describe('failures are reported', () => {
  test.each([
    { what: 'no token', args: ['runs'], around: { token: '' }, words: 'LOADGATE_TOKEN is not set' },
    { what: 'an empty address', args: ['runs'], around: { url: '' }, words: '--base-url is empty' },
    {
      what: 'the word local',
      args: ['runs'],
      around: { url: 'local' },
      words: 'the one that `loadgate serve` prints'
    },
    {
      what: 'plain http',
      args: ['runs'],
      around: { url: 'http://service.example' },
      words: '--base-url: "http://service.example" must start with https:// (plain http would send the token'
    },
    {
      what: 'a wrong token',
      args: ['runs'],
      around: { token: 'wrong' },
      words: /^listing the runs: the service answered 401: .*Check the token/
    },
    {
      what: 'an unknown run',
      args: ['run', 'abc'],
      around: {},
      words: /the service answered 404: .*Check the id/
    },
    { what: 'an unknown grid', args: ['grid', 'show', 'abc'], around: {}, words: 'answered 404' },
    {
      what: 'a time-out that is none',
      args: ['results', 'RUN', '--timeout', 'soon'],
      around: {},
      words: '--timeout: "soon" is invalid; expected'
    }
  ])('$what', async ({ args, around, words }) => {
    const typed = args.map((arg) => arg.replace('RUN', runId))
    await expect(type(typed, around)).rejects.toThrow(words)
  })
})
