import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { ServiceClient } from '../../src/client/client.js'
import { RefusedError, UnreachableError, hadNoEffect } from '../../src/client/errors.js'
import { knownAddress, readAddress, type Address } from '../../src/client/http/address.js'
import { vocabularyOf } from '../../src/contract/vocabulary.js'
import { makeAccount, makeRun, makeRunList } from '../support/data/make-documents.js'
import { makeGridSpecification, makeRunRequest } from '../support/data/make-run-request.js'
import { JumpingClock } from '../support/manual-clock.js'
import {
  type Answer,
  type TestServer,
  closeServers,
  reset,
  sendJson,
  startServer
} from '../support/raw-server.js'

let clock: JumpingClock
const clients: ServiceClient[] = []
beforeEach(() => {
  clock = new JumpingClock()
})
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()))
  await closeServers()
})

interface Met {
  readonly server: TestServer
  readonly client: ServiceClient
  /** What the client was heard to say about the address, without the origin. */
  readonly told: string[]
}

/** A client that was given this base URL, and a server that answers by path; 404 where nothing is said. */
async function meet(
  answers: Readonly<Record<string, Answer>>,
  { base = '', read = readAddress }: { base?: string; read?: (text: string) => Address } = {}
): Promise<Met> {
  const server = await startServer((reply, { path }) => (answers[path] ?? notFound)(reply, seenLast()))
  const seenLast = () => server.seen.at(-1)!
  const told: string[] = []
  const client = new ServiceClient({
    ...{ address: read(server.origin + base), token: 'tok', words: vocabularyOf(), clock },
    onAddress: (api, doubt) =>
      told.push([api, ...(doubt === undefined ? [] : [doubt])].join(' | ').replaceAll(server.origin, ''))
  })
  clients.push(client)
  return { server, client, told }
}

const requestsOf = ({ seen }: TestServer): string[] => seen.map(({ method, path }) => `${method} ${path}`)

const json =
  (document: unknown, status = 200): Answer =>
  (reply) =>
    sendJson(reply, document, status)
const status =
  (code: number, headers: Record<string, string> = {}): Answer =>
  (reply) =>
    reply.writeHead(code, headers).end()
const page: Answer = (reply) =>
  reply.writeHead(200, { 'content-type': 'text/html' }).end('<html><title>Welcome</title></html>')
const notFound = status(404)
const account = json(makeAccount())
const runs = json(makeRunList())
const lost: Answer = (reply) => reset(reply)
/** Each answer in its turn; the last one from then on. */
function inTurn(...answers: Answer[]): Answer {
  let turn = 0
  return (reply, request) => answers[Math.min(turn++, answers.length - 1)]?.(reply, request)
}

describe('the API is found', () => {
  const cases: [string, Record<string, Answer>, string, string[]][] = [
    ['at the address as written', { '/account': account }, '', ['/account']],
    ['there, if it is below /api too', { '/account': account, '/api/account': account }, '', ['/account']],
    ['below /api, after 404', { '/api/account': account }, '/api', ['/account', '/api/account']],
    [
      'below /api, after a page',
      { '/account': page, '/api/account': account },
      '/api',
      ['/account', '/api/account']
    ],
    [
      'below /api, after JSON that is no account',
      { '/account': json({ error: 'so it is' }), '/api/account': account },
      '/api',
      ['/account', '/api/account']
    ],
    [
      'below /api, after a redirect to a login',
      { '/account': status(302, { location: '/login' }), '/api/account': account },
      '/api',
      ['/account', '/api/account']
    ],
    [
      'below /api, after a redirect to it',
      { '/account': status(301, { location: '/api/account' }), '/api/account': account },
      '/api',
      ['/account', '/api/account']
    ],
    [
      'where a redirect within the service leads',
      { '/account': status(307, { location: '/v2/account' }), '/v2/account': account },
      '/v2',
      ['/account', '/v2/account']
    ],
    [
      'below /api, though the other address is forbidden',
      { '/account': status(403), '/api/account': account },
      '/api',
      ['/account', '/api/account']
    ]
  ]
  test.each(cases)('%s', async (_, answers, api, asked) => {
    const { server, client, told } = await meet({ ...answers, [`${api}/runs`]: runs })
    await client.listRuns()
    await client.listRuns()
    expect(requestsOf(server)).toEqual([...asked, `${api}/runs`, `${api}/runs`].map((path) => `GET ${path}`))
    expect(told).toEqual([api])
  })

  test('without a second look where base-url ends with /api', async () => {
    const { server, client } = await meet({ '/api/account': account, '/api/runs': runs }, { base: '/api/' })
    await client.listRuns()
    expect(requestsOf(server)).toEqual(['GET /api/account', 'GET /api/runs'])
  })

  test('where a redirect leads out of /api', async () => {
    const answers = {
      '/api/account': status(302, { location: '/account' }),
      '/account': account,
      '/runs': runs
    }
    const { server, client } = await meet(answers, { base: '/api' })
    await client.listRuns()
    expect(requestsOf(server)).toEqual(['GET /api/account', 'GET /account', 'GET /runs'])
  })

  test('once for operations that start together', async () => {
    const { server, client } = await meet({
      '/account': account,
      '/runs': runs,
      '/runs/run1': json(makeRun())
    })
    await Promise.all([client.listRuns(), client.showRun('run1'), client.listRuns()])
    expect(requestsOf(server).filter((request) => request === 'GET /account')).toHaveLength(1)
  })

  test('not at all if it is known', async () => {
    const { server, client, told } = await meet({ '/x/runs': runs }, { base: '/x', read: knownAddress })
    await client.listRuns()
    expect(requestsOf(server)).toEqual(['GET /x/runs'])
    expect(told).toEqual([])
  })

  test('with the token and the version of the API, like every request', async () => {
    const { server, client } = await meet({ '/account': account, '/runs': runs })
    await client.listRuns()
    expect(server.seen[0]!.headers).toMatchObject({
      authorization: `Basic ${Buffer.from('tok:').toString('base64')}`,
      accept: 'application/vnd.service.v2+json'
    })
  })

  test('links of both kinds lead there', async () => {
    const next = (href: string): Answer => json({ ...makeRunList(), _links: { next: { href } } })
    const { server, client } = await meet({
      '/account': account,
      '/runs': next('/api/runs?page=2'),
      '/runs?page=2': runs
    })
    await client.listRuns((await client.listRuns()).next)
    expect(requestsOf(server)).toEqual(['GET /account', 'GET /runs', 'GET /runs?page=2'])
  })

  test('a redirect that never ends is left', async () => {
    let count = 0
    const server = await startServer((reply, { path }) => {
      if (path === '/runs') runs(reply, server.seen.at(-1)!)
      else reply.writeHead(302, { location: `/${++count}/account` }).end()
    })
    const client = new ServiceClient({
      ...{ address: readAddress(server.origin), token: 'tok', words: vocabularyOf(), clock }
    })
    clients.push(client)
    await client.listRuns()
    expect(requestsOf(server)).toHaveLength(6)
    expect(requestsOf(server).at(-1)).toBe('GET /runs')
  })

  test('a redirect to another host is not followed, and gets no token', async () => {
    const other = await startServer(account)
    const { client } = await meet({
      '/account': status(302, { location: `${other.origin}/account` }),
      '/runs': runs
    })
    await client.listRuns()
    expect(other.seen).toEqual([])
  })
})

describe('a wrong token', () => {
  test.each([
    ['at the address as written', { '/account': status(401) }, ['GET /account']],
    ['below /api', { '/api/account': status(401) }, ['GET /account', 'GET /api/account']]
  ])('%s ends the operation before anything is uploaded', async (_, answers, requests) => {
    const { server, client, told } = await meet(answers)
    const created = client.createRun(makeRunRequest({ files: [import.meta.filename] }))
    const error = await created.catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(RefusedError)
    expect((error as Error).message).toMatch(/^creating the run: the service answered 401: .*Check the token/)
    expect(hadNoEffect(error)).toBe(true)
    expect(requestsOf(server)).toEqual(requests)
    expect(told).toEqual([])
  })
})

describe('a loadgate that refuses the caller', () => {
  const refuse =
    (code: number, error: string): Answer =>
    (reply) => {
      reply.setHeader('x-loadgate-version', '1.0.0').setHeader('retry-after', '5')
      sendJson(reply, { error }, code)
    }

  test.each([
    [403, 'no rule of this service lets in the token'],
    [503, 'the token cannot be checked: the keys of its issuer could not be fetched']
  ])('is the API: its %i is the answer, and nothing is said of addresses', async (code, words) => {
    const { server, client, told } = await meet({
      '/account': refuse(code, words),
      '/api/account': refuse(code, words)
    })
    const failed = client.findApi('creating the run')
    await expect(failed).rejects.toThrow(`the service answered ${code}: ${words}`)
    expect([told, requestsOf(server)]).toEqual([[], ['GET /account']])
  })

  test('at a path that it does not have is asked at the next one', async () => {
    const { client, told } = await meet({
      '/account': refuse(404, 'not found'),
      '/api/account': json(makeAccount())
    })
    await client.findApi('creating the run')
    expect(told).toEqual(['/api'])
  })
})

describe('a service that is down', () => {
  test('fails as the operation itself would, and nothing was sent', async () => {
    const { server, client, told } = await meet({})
    await closeServers()
    const error = await client.createGrid(makeGridSpecification()).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(UnreachableError)
    expect(error).toMatchObject({ neverSent: true })
    expect((error as Error).message).toBe(
      `creating a grid in us-east-1: ${new URL(server.origin).host} refused the connection (ECONNREFUSED). Is the service up, and is base-url right?`
    )
    expect(clock.sleeps).toEqual([])
    // Other addresses of the same host are not tried: each would take as long.
    expect(told).toEqual([])
  })

  test('is retried as often as the operation itself', async () => {
    const { client } = await meet({})
    await closeServers()
    await expect(client.showRun('run1')).rejects.toThrow('reading run run1: ')
    expect(clock.sleeps).toHaveLength(2)
  })

  test('and comes back is looked at again, and the API is found', async () => {
    const { server, client, told } = await meet({
      '/account': inTurn(notFound, notFound),
      '/api/account': inTurn(lost, account),
      '/runs': inTurn(status(502), notFound),
      '/api/runs': runs
    })
    await client.listRuns()
    expect(requestsOf(server).at(-1)).toBe('GET /api/runs')
    expect(told).toEqual([' | /account answered 404, /api/account gave no reply', '/api'])
  })
})

describe('where nothing answers as the API does', () => {
  test.each<[string, Answer, string]>([
    ['403', status(403), 'answered 403'],
    ['404', notFound, 'answered 404'],
    ['a page', page, 'is not JSON']
  ])('%s at both: the address is used as written', async (_, answer, words) => {
    const answers = { '/account': answer, '/api/account': answer, '/runs': runs }
    const { server, client, told } = await meet(answers)
    await client.listRuns()
    await client.listRuns()
    expect(requestsOf(server)).toEqual(
      ['/account', '/api/account', '/runs', '/runs'].map((path) => `GET ${path}`)
    )
    expect(told).toEqual([` | /account ${words}, /api/account ${words}`])
    expect(clock.sleeps).toEqual([])
  })

  test.each<[string, Answer, string]>([
    ['429', status(429, { 'retry-after': '60' }), 'answered 429'],
    ['500', status(500), 'answered 500'],
    ['503', status(503), 'answered 503'],
    ['no reply', lost, 'gave no reply']
  ])('%s may be the API: no other address is tried instead of it', async (_, answer, words) => {
    const answers = { '/account': answer, '/api/account': account, '/runs': runs }
    const { server, client, told } = await meet(answers)
    await client.listRuns()
    await client.listRuns()
    expect(requestsOf(server)).toEqual(['/account', '/runs', '/runs'].map((path) => `GET ${path}`))
    expect(told).toEqual([` | /account ${words}`])
  })

  test('nothing is sent to a wrong address because of a passing 503 or 429', async () => {
    const { server, client, told } = await meet({
      '/account': inTurn(status(429, { 'retry-after': '60' }), notFound),
      '/api/account': inTurn(status(503), status(503), account),
      '/api/runs': json(makeRun(), 201)
    })
    await client.createRun(makeRunRequest({ files: [import.meta.filename] }))
    expect(requestsOf(server).filter((request) => request.startsWith('POST'))).toEqual(['POST /api/runs'])
    expect(told).toEqual(['/api'])
    expect(clock.sleeps[0]).toBe(60_000)
  })

  test('a 401 below /api is not about the token where the address as written says 403', async () => {
    const { server, client } = await meet({
      '/account': status(403),
      '/api/account': status(401),
      '/runs': runs
    })
    await client.listRuns()
    expect(requestsOf(server).at(-1)).toBe('GET /runs')
  })

  test('redirects to another host alone: nothing is uploaded, and the host is named', async () => {
    const away = status(302, { location: 'https://sign-in.example/account' })
    const { server, client } = await meet({ '/account': away, '/api/account': away })
    const created = client.createRun(makeRunRequest({ files: [import.meta.filename] }))
    await expect(created).rejects.toThrow(/302: a redirect to https:\/\/sign-in\.example.*set base-url/)
    expect(requestsOf(server)).toEqual(['GET /account', 'GET /api/account'])
  })

  test('an empty reply does not say that a grid was terminated, until the API has answered', async () => {
    const { client } = await meet({ '/grids/g1': status(204), '/runs': runs })
    await expect(client.terminateGrid('g1')).rejects.toThrow('the API was not found at this address')
    expect(client.isDoubtful).toBe(true)
    await client.listRuns()
    expect(client.isDoubtful).toBe(false)
    expect(await client.terminateGrid('g1')).toBeUndefined()
  })

  test('what was created at one address is never looked for or created at another', async () => {
    const { server, client } = await meet({
      '/account': inTurn(status(503), notFound),
      '/api/account': inTurn(notFound, account),
      '/runs': (reply, { method }) => (method === 'POST' ? reset(reply) : sendJson(reply, makeRunList())),
      '/api/runs': json(makeRun(), 201)
    })
    const request = makeRunRequest({ files: [import.meta.filename] })
    await expect(client.createRun(request)).rejects.toThrow('creating the run: ')
    await client.listRuns()
    await expect(client.createRun(request)).rejects.toThrow('creating the run: ')
    expect(requestsOf(server).slice(3)).toEqual(['POST /runs', 'GET /runs', 'POST /runs'])
  })
})

test('an address that cannot be saved ends the operation', async () => {
  const server = await startServer((reply, { path }) =>
    path === '/account' ? sendJson(reply, makeAccount()) : sendJson(reply, makeRun(), 201)
  )
  const client = new ServiceClient({
    ...{ address: readAddress(server.origin), token: 'tok', words: vocabularyOf(), clock },
    onAddress: () => {
      throw new Error('the disk is full')
    }
  })
  clients.push(client)
  const request = makeRunRequest({ files: [import.meta.filename] })
  await expect(client.createRun(request)).rejects.toThrow('the disk is full')
  expect(requestsOf(server)).toEqual(['GET /account'])
})
