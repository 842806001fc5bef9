import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { knownAddress } from '../../src/client/http/address.js'
import { ServiceClient } from '../../src/client/client.js'
import {
  MalformedReplyError,
  RefusedError,
  UnreachableError,
  UploadError,
  hadNoEffect
} from '../../src/client/errors.js'
import { OPERATIONS } from '../../src/client/retry.js'
import { vocabularyOf } from '../../src/contract/vocabulary.js'
import { JumpingClock } from '../support/manual-clock.js'
import { makeAccount, makeGrid, makeNode, makeRun, makeRunList } from '../support/data/make-documents.js'
import { makeGridSpecification, makeRunRequest } from '../support/data/make-run-request.js'
import { readMultipart, readRackList } from '../support/raw-multipart.js'
import {
  type Answer,
  type TestServer,
  closeServers,
  reset,
  sendJson,
  startServer,
  startSocketServer
} from '../support/raw-server.js'

let folder: string
let clock: JumpingClock
const clients: ServiceClient[] = []

beforeEach(async () => {
  clock = new JumpingClock()
  folder = await mkdtemp(join(tmpdir(), 'client-'))
})
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()))
  await closeServers()
  await rm(folder, { recursive: true })
})

function clientFor(baseUrl: string, serviceName?: string): ServiceClient {
  const words = vocabularyOf(serviceName)
  const client = new ServiceClient({ address: knownAddress(baseUrl), token: 'tok', words, clock })
  clients.push(client)
  return client
}

async function serve(answer: Answer): Promise<{ server: TestServer; client: ServiceClient }> {
  const server = await startServer(answer)
  return { server, client: clientFor(`${server.origin}/api`) }
}

/** Each answer in its turn; the last one from then on. */
function inTurn(...answers: Answer[]): Answer {
  let turn = 0
  return (reply, request) => answers[Math.min(turn++, answers.length - 1)]?.(reply, request)
}

const json =
  (document: unknown, status = 200): Answer =>
  (reply) =>
    sendJson(reply, document, status)
const unavailable: Answer = (reply) => reply.writeHead(503).end()
const resetAtOnce: Answer = (reply) => reset(reply)
/** The service has done it, and the reply is lost on its way. */
const resetWithinBody: Answer = (reply) => {
  reply.writeHead(201, { 'content-length': '500' }).write('{"uuid":"run1",')
  setTimeout(() => reset(reply), 10)
}

async function makePlan(content = '<plan/>'): Promise<string> {
  const path = join(folder, 'plan.jmx')
  await writeFile(path, content)
  return path
}

const requestsOf = ({ seen }: TestServer): string[] => seen.map(({ method, path }) => `${method} ${path}`)

describe('every operation is one request, and its reply is decoded', () => {
  test('create a grid', async () => {
    const { server, client } = await serve(json(makeGrid({ status: 'queued', nodes: [] }), 201))
    const grid = await client.createGrid(makeGridSpecification({ options: { aws_tags: 'a=b' } }))
    expect(grid).toMatchObject({ id: 'grid1', status: 'queued', nodes: [] })
    expect(requestsOf(server)).toEqual(['POST /api/grids'])
    const { headers, body } = server.seen[0]!
    const parts = readMultipart(headers['content-type'], body)
    expect(parts.map(({ name, body: value }) => [name, value.toString()])).toEqual([
      ['grid[infrastructure]', 'demand'],
      ['grid[region]', 'us-east-1'],
      ['grid[instance_quantity]', '2'],
      ['grid[instance_type]', 'm5.large'],
      ['grid[stop_after]', '60'],
      ['grid[aws_tags]', 'a=b']
    ])
  })

  test('show a grid', async () => {
    const { server, client } = await serve(json(makeGrid({ nodes: undefined, resources: [makeNode()] })))
    await expect(client.showGrid('grid1')).resolves.toMatchObject({ nodes: [{ state: 'running' }] })
    expect(requestsOf(server)).toEqual(['GET /api/grids/grid1'])
  })

  test('terminate a grid that tells its status', async () => {
    const { server, client } = await serve(json(makeGrid({ status: 'stopped' })))
    await expect(client.terminateGrid('grid1')).resolves.toMatchObject({ status: 'stopped' })
    expect(requestsOf(server)).toEqual(['DELETE /api/grids/grid1'])
  })

  test.each([
    ['204', 204],
    ['200 with nothing', 200]
  ])('terminate a grid answered with %s', async (_, status) => {
    const { client } = await serve((reply) => reply.writeHead(status).end())
    await expect(client.terminateGrid('grid1')).resolves.toBeUndefined()
  })

  test.each([200, 201, 202])('create a run, answered with %i', async (status) => {
    const data = join(folder, 'data.csv')
    await writeFile(data, 'a,b\n')
    const { server, client } = await serve(json(makeRun({ status: 'queued' }), status))
    const grids = [makeGridSpecification(), makeGridSpecification({ region: 'eu-west-1' })]
    const run = await client.createRun(makeRunRequest({ files: [await makePlan(), data], grids }))
    expect(run).toMatchObject({ id: 'run1', status: 'queued' })
    expect(requestsOf(server)).toEqual(['POST /api/runs'])
    const { headers, body } = server.seen[0]!
    expect(headers['content-length']).toBe(String(body.length))
    const parts = readMultipart(headers['content-type'], body)
    expect(readRackList(parts, 'run[grids]').map(({ region }) => region)).toEqual(['us-east-1', 'eu-west-1'])
    expect(
      parts
        .filter(({ fileName }) => fileName !== undefined)
        .map(({ name, fileName, body: bytes }) => [name, fileName, bytes.toString()])
    ).toEqual([
      ['run_files[]', 'plan.jmx', '<plan/>'],
      ['run_files[]', 'data.csv', 'a,b\n']
    ])
  })

  test('show a run', async () => {
    const { server, client } = await serve(json(makeRun()))
    await expect(client.showRun('run1')).resolves.toMatchObject({ id: 'run1', apdex: '0.83 [3000]' })
    expect(requestsOf(server)).toEqual(['GET /api/runs/run1'])
  })

  test('stop a run', async () => {
    const { server, client } = await serve(json(makeRun({ _embedded: { run_files: [] } })))
    await expect(client.stopRun('run1')).resolves.toMatchObject({ status: 'finished', files: [] })
    expect(requestsOf(server)).toEqual(['GET /api/runs/run1/stop'])
  })

  test('repeat a run', async () => {
    const { server, client } = await serve(json(makeRun({ uuid: 'run2', status: 'queued' })))
    await expect(client.repeatRun('run1')).resolves.toMatchObject({ id: 'run2', status: 'queued' })
    expect(requestsOf(server)).toEqual(['GET /api/runs/run1/repeat'])
  })

  test('list the runs, page after page', async () => {
    const { server, client } = await serve(
      inTurn(json(makeRunList()), json(makeRunList({ _links: {}, _embedded: { runs: [] } })))
    )
    const first = await client.listRuns()
    const second = await client.listRuns(first.next)
    expect([first.runs.length, second.runs.length, second.next]).toEqual([1, 0, undefined])
    expect(requestsOf(server)).toEqual(['GET /api/runs', 'GET /api/runs?page=2'])
  })

  test('read a report', async () => {
    const { server, client } = await serve(json({ summary: 'all well', mean_throughput: 12 }))
    await expect(client.report('run1')).resolves.toMatchObject({
      summary: 'all well',
      means: { mean_throughput: 12 }
    })
    expect(requestsOf(server)).toEqual(['GET /api/runs/run1/report'])
  })

  test('read the account', async () => {
    const { server, client } = await serve(json(makeAccount()))
    await expect(client.account()).resolves.toMatchObject({ email: 'team@shop.example' })
    expect(requestsOf(server)).toEqual(['GET /api/account'])
  })
})

describe('a result CSV', () => {
  test('is opened at its link, and its bytes are left to the caller', async () => {
    const { server, client } = await serve((reply) => reply.end('timeStamp,elapsed\n1,2\n'))
    const reply = await client.openResult(client.resultHref('run1', 'grid1'))
    await expect(reply.text()).resolves.toBe('timeStamp,elapsed\n1,2\n')
    expect(requestsOf(server)).toEqual(['GET /api/runs/run1/result.csv?grid_id=grid1'])
    expect(server.seen[0]?.headers).toMatchObject({ accept: 'text/csv, */*;q=0.1' })
    expect(server.seen[0]?.headers.range).toBeUndefined()
  })

  test.each([
    ['of a known version', '"v1"', { range: 'bytes=100-', 'if-range': '"v1"' }],
    ['of an unknown one', undefined, { range: 'bytes=100-' }]
  ])('is resumed, %s', async (_, version, headers) => {
    const { server, client } = await serve((reply) => reply.writeHead(206).end('x'))
    await client.openResult('/api/x.csv', { range: { fromByte: 100, version } })
    expect(server.seen[0]?.headers).toMatchObject(headers)
    expect('if-range' in server.seen[0]!.headers).toBe('if-range' in headers)
  })

  test.each(['https://[', 'http://:1', 'https://a b'])(
    'at %s is a complaint about the link',
    async (href) => {
      const { server, client } = await serve(json({}))
      await expect(client.openResult(href)).rejects.toThrow(MalformedReplyError)
      await expect(client.openResult(href)).rejects.toThrow(/downloading a result CSV: .*link/)
      expect(server.seen).toEqual([])
    }
  )

  test('in the clear elsewhere is refused unsent', async () => {
    const { client } = await serve(json({}))
    await expect(client.openResult('http://10.0.0.1/x.csv')).rejects.toThrow(/refused to send/)
  })
})

describe('what is sent again', () => {
  const reads: [string, number, (client: ServiceClient) => Promise<unknown>, unknown][] = [
    ['showing a grid', OPERATIONS.showGrid.retry.attempts, (client) => client.showGrid('grid1'), makeGrid()],
    ['showing a run', OPERATIONS.showRun.retry.attempts, (client) => client.showRun('run1'), makeRun()],
    ['listing', OPERATIONS.listRuns.retry.attempts, (client) => client.listRuns(), makeRunList()],
    ['the account', OPERATIONS.account.retry.attempts, (client) => client.account(), makeAccount()],
    ['stopping', OPERATIONS.stopRun.retry.attempts, (client) => client.stopRun('run1'), makeRun()],
    [
      'terminating',
      OPERATIONS.terminateGrid.retry.attempts,
      (client) => client.terminateGrid('grid1'),
      makeGrid()
    ]
  ]

  describe.each(reads)('%s', (_, attempts, ask, document) => {
    test.each([
      ['503', unavailable],
      ['a reset', resetAtOnce]
    ])('after %s, until it succeeds', async (__, failure) => {
      const { server, client } = await serve(inTurn(failure, failure, json(document)))
      await ask(client)
      expect(server.seen).toHaveLength(3)
      expect(clock.sleeps).toHaveLength(2)
    })

    test('and no more than so often', async () => {
      const { server, client } = await serve(unavailable)
      await expect(ask(client)).rejects.toMatchObject({ status: 503 })
      expect(server.seen).toHaveLength(attempts)
    })

    test('but not after a plain no', async () => {
      const { server, client } = await serve((reply) => reply.writeHead(404).end())
      await expect(ask(client)).rejects.toMatchObject({ status: 404 })
      expect(server.seen).toHaveLength(1)
    })
  })

  const bodies = reads.filter(([name]) => name !== 'HEAD')
  test.each(bodies)('%s, after a reply that broke off', async (_, __, ask, document) => {
    const { server, client } = await serve(inTurn(resetWithinBody, json(document)))
    await ask(client)
    expect(server.seen).toHaveLength(2)
  })

  test.each(bodies)('%s, after a page in place of JSON', async (_, __, ask, document) => {
    const { server, client } = await serve(inTurn((reply) => reply.end('<h1>Hello</h1>'), json(document)))
    await ask(client)
    expect(server.seen).toHaveLength(2)
  })

  test.each(bodies.filter(([name]) => !/listing|account/.test(name)))(
    '%s, after a reply that is about another one',
    async (_, attempts, ask, document) => {
      const another = json({ ...(document as object), uuid: 'another' })
      const { server, client } = await serve(inTurn(another, json(document)))
      await ask(client)
      expect(server.seen).toHaveLength(2)
      const { server: stubborn, client: asking } = await serve(another)
      await expect(ask(asking)).rejects.toThrow(/the reply is about another (run|grid), another$/)
      expect(stubborn.seen).toHaveLength(attempts)
    }
  )

  test.each([
    ['seconds', '7', 7000],
    ['a date', new Date(Date.now() + 3_600_000).toUTCString(), 120_000]
  ])('when the service says, in %s', async (_, retryAfter, pauseMs) => {
    const busy: Answer = (reply) => reply.writeHead(429, { 'retry-after': retryAfter }).end()
    const { client } = await serve(inTurn(busy, json(makeRun())))
    await client.showRun('run1')
    expect(clock.sleeps).toEqual([pauseMs])
  })
})

describe('what is sent exactly once', () => {
  const creations: [string, (client: ServiceClient) => Promise<unknown>][] = [
    ['creating a grid', (client) => client.createGrid(makeGridSpecification())],
    ['creating a run', async (client) => client.createRun(makeRunRequest({ files: [await makePlan()] }))],
    ['repeating a run', (client) => client.repeatRun('run1')]
  ]
  const failures: [string, Answer, new (...args: never[]) => Error][] = [
    ['503', unavailable, RefusedError],
    ['429', (reply) => reply.writeHead(429, { 'retry-after': '1' }).end(), RefusedError],
    ['a reset before the headers', resetAtOnce, UnreachableError],
    ['a reset after it was done', resetWithinBody, UnreachableError],
    ['a reply that is no JSON', (reply) => reply.writeHead(201).end('<h1>Created'), MalformedReplyError],
    ['a reply without an id', json({ status: 'queued' }, 201), MalformedReplyError]
  ]

  describe.each(creations)('%s', (_, create) => {
    test.each(failures)('with %s', async (__, failure, kind) => {
      const { server, client } = await serve(failure)
      await expect(create(client)).rejects.toThrow(kind)
      expect(server.seen).toHaveLength(1)
      expect(clock.sleeps).toEqual([])
    })
  })

  test('a repeat that is answered with the repeated run itself: there may be a new one', async () => {
    const { server, client } = await serve(json(makeRun({ uuid: 'run1' })))
    const failure: unknown = await client.repeatRun('run1').catch((thrown: unknown) => thrown)
    expect(failure).toBeInstanceOf(MalformedReplyError)
    expect(hadNoEffect(failure)).toBe(false)
    expect(server.seen).toHaveLength(1)
  })

  test('a run whose plan changes while it is sent: given up, nothing made', async () => {
    const plan = await makePlan()
    await truncate(plan, 64 * 1024 * 1024)
    const { origin } = await startSocketServer((socket) => {
      // More than the buffers hold, so the end of the file is read after it has moved.
      socket.pause()
      void truncate(plan, 1000).then(() => socket.resume())
    })
    const thrown: unknown = await clientFor(origin)
      .createRun(makeRunRequest({ files: [plan] }))
      .catch((error: unknown) => error)
    expect(thrown).toBeInstanceOf(UploadError)
    expect(hadNoEffect(thrown)).toBe(true)
  })
})

describe('a body that is refused before it was sent', () => {
  const refusal =
    'HTTP/1.1 413 Content Too Large\r\ncontent-type: application/json\r\ncontent-length: 27\r\nconnection: close\r\n\r\n' +
    '{"error":"at most 50 MB !"}'

  test.each<[string, (socket: Socket) => void]>([
    ['and read no further', (socket) => socket.pause().write(refusal)],
    ['and hung up on', (socket) => socket.pause().end(refusal)],
    ['and read to its end', (socket) => socket.write(refusal)]
  ])('%s: the refusal is what is told', async (_, refuse) => {
    const plan = await makePlan()
    await truncate(plan, 64 * 1024 * 1024)
    const { origin } = await startSocketServer((socket) => socket.once('data', () => refuse(socket)).resume())
    const created = clientFor(origin).createRun(makeRunRequest({ files: [plan] }))
    await expect(created).rejects.toThrow('creating the run: the service answered 413: at most 50 MB !')
  })
})

describe("with the service's own word", () => {
  test('paths, parameters, fields and the media type carry it', async () => {
    const document = { _embedded: { acmes: [makeRun()] } }
    const server = await startServer(inTurn(json(makeRun(), 201), json(document), json(makeRun())))
    const client = clientFor(`${server.origin}/api`, 'acme')
    await client.createRun(makeRunRequest({ tool: 'service-chrome', files: [await makePlan()] }))
    await client.listRuns()
    await client.stopRun('run1')
    expect(requestsOf(server)).toEqual(['POST /api/acmes', 'GET /api/acmes', 'GET /api/acmes/run1/stop'])
    const { headers, body } = server.seen[0]!
    expect(headers.accept).toBe('application/vnd.acme.v2+json')
    const parts = readMultipart(headers['content-type'], body)
    expect(parts.map(({ name }) => name.split('[')[0])).not.toContain('run')
    expect(parts.find(({ name }) => name === 'acme[tool]')?.body.toString()).toBe('acme-chrome')
    expect(parts.at(-1)?.name).toBe('acme_files[]')
    expect(client.resultHref('run1', 'grid1')).toBe('/api/acmes/run1/result.csv?grid_id=grid1')
  })
})

test('below a prefix, every path and link lies below it', async () => {
  const server = await startServer(json(makeRunList()))
  const client = clientFor(`${server.origin}/load/api/`)
  await client.listRuns((await client.listRuns()).next)
  expect(requestsOf(server)).toEqual(['GET /load/api/runs', 'GET /load/api/runs?page=2'])
})

test('an id from a user cannot change the path', async () => {
  const { server, client } = await serve((reply) => reply.writeHead(404).end())
  await expect(client.showRun('../account?x#y')).rejects.toMatchObject({ status: 404 })
  expect(requestsOf(server)).toEqual(['GET /api/runs/..%2Faccount%3Fx%23y'])
})

test('an operation that is called off ends with the reason', async () => {
  const stop = new AbortController()
  const { client } = await serve(() => stop.abort(new Error('the deadline has passed')))
  await expect(client.showRun('run1', stop.signal)).rejects.toThrow('the deadline has passed')
})

test('a plan that is not there is named before anything is sent', async () => {
  const { server, client } = await serve(json(makeRun()))
  const request = makeRunRequest({ files: [join(folder, 'gone.jmx')] })
  await expect(client.createRun(request)).rejects.toThrow(UploadError)
  expect(server.seen).toEqual([])
})

test('a link with the token in it is followed without: the header has it', async () => {
  const token = 'tok-0123456789abcdef'
  const links = { next: { href: `/api/runs?page=2&auth_token=${token}&per=5` } }
  const server = await startServer(json(makeRunList({ _links: links })))
  const client = new ServiceClient({
    address: knownAddress(`${server.origin}/api`),
    token,
    words: vocabularyOf(),
    clock
  })
  clients.push(client)
  const { next } = await client.listRuns()
  expect(next).toBe('/api/runs?page=2&auth_token=***&per=5')
  await client.listRuns(next)
  expect(server.seen[1]?.path).toBe('/api/runs?page=2&per=5')
  expect(server.seen[1]?.headers.authorization).toBeDefined()
})
