import { afterEach, describe, expect, test } from '@jest/globals'
import { knownAddress, otherRunIn } from '../../src/client/http/address.js'
import { ServiceClient } from '../../src/client/client.js'
import { describeWithoutQuote } from '../../src/client/errors.js'
import { vocabularyOf } from '../../src/contract/vocabulary.js'
import { makeRun } from '../support/data/make-documents.js'
import { JumpingClock } from '../support/manual-clock.js'
import { closeServers, sendJson, startServer } from '../support/raw-server.js'
import type { TestServer } from '../support/raw-server.js'

const clients: ServiceClient[] = []
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()))
  await closeServers()
})

/** A client whose service has answered once, saying what it is or not, and another host that notes who asks. */
async function meet(
  version: string | undefined,
  basePath = ''
): Promise<{ client: ServiceClient; own: TestServer; other: TestServer }> {
  const own = await startServer((reply) => {
    if (version !== undefined) reply.setHeader('x-loadgate-version', version)
    sendJson(reply, makeRun())
  })
  const other = await startServer((reply) => sendJson(reply, {}))
  const client = new ServiceClient({
    ...{ address: knownAddress(`${own.origin}${basePath}/api`), token: 'tok', words: vocabularyOf() },
    clock: new JumpingClock()
  })
  clients.push(client)
  await client.showRun('run1')
  return { client, own, other }
}

describe('a link to another host', () => {
  test.each([
    ['/runs/r1/result.csv?grid_id=g1', '/api/runs/r1/result.csv?grid_id=g1'],
    ['/api/runs/r1/result.csv?grid_id=g1', '/api/runs/r1/result.csv?grid_id=g1'],
    ['/runs/r1/result.csv', '/api/runs/r1/result.csv']
  ])('%s, if it is one of the API of a loadgate, is asked of the base-url', async (link, asked) => {
    const { client, own, other } = await meet('1.0.0')
    await client.openResult(other.origin + link)
    await client.resultSize(other.origin + link)
    expect(own.seen.slice(1).map(({ path, headers }) => [path, headers.authorization])).toEqual([
      [asked, expect.stringMatching(/^Basic /)],
      [asked, expect.stringMatching(/^Basic /)]
    ])
    expect(other.seen).toEqual([])
  })

  test('is asked of a base-url that has a path below that path', async () => {
    const { client, own, other } = await meet('1.0.0', '/load')
    await client.openResult(`${other.origin}/runs/r1/result.csv?grid_id=g1`)
    expect(own.seen.at(-1)?.path).toBe('/load/api/runs/r1/result.csv?grid_id=g1')
  })

  test.each([
    ['of a service that is none', undefined, '/runs/r1/result.csv?grid_id=g1'],
    ['with another query', '1.0.0', '/runs/r1/result.csv?grid_id=g1&signature=s'],
    ['to something else', '1.0.0', '/runs/r1/result.csv.gz?grid_id=g1'],
    ['below a path', '1.0.0', '/bucket/runs/r1/result.csv?grid_id=g1']
  ])('%s is followed as it is, without the token', async (_, version, link) => {
    const { client, own, other } = await meet(version)
    await client.openResult(other.origin + link)
    expect(own.seen).toHaveLength(1)
    expect(other.seen.map(({ path, headers }) => [path, headers.authorization])).toEqual([[link, undefined]])
  })
})

describe('the run that a link to results names', () => {
  const named = (href: string, service?: string): string | undefined =>
    otherRunIn(href, 'r1', vocabularyOf(service))

  test.each([
    ['/api/runs/r2/result.csv?grid_id=g', undefined, 'r2'],
    ['https://service.example/runs/Ab3dE6gH9jK/results.csv', undefined, 'Ab3dE6gH9jK'],
    ['/api/runs/r12/result.csv', undefined, 'r12'],
    ['https://storage.example/x.csv?run_id=r2&sig=1', undefined, 'r2'],
    ['/api/acmes/r2/result.csv', 'acme', 'r2'],
    ['/files/x.csv?acme_id=r2', 'acme', 'r2'],
    ['/api/runs/%72%32/result.csv', undefined, 'r2']
  ])('%s: another one', (href, service, other) => {
    expect(named(href, service)).toBe(other)
  })

  test.each([
    ['/api/runs/r1/result.csv?grid_id=g', undefined],
    ['/api/acmes/r1/result.csv?acme_id=r1', 'acme'],
    ['https://storage.example/a/b/0c1d?X-Signature=abc&expires=9', undefined],
    ['https://storage.example/runs/results.csv', undefined],
    ['https://storage.example/runs/2026/r1.csv?run_id=r1', undefined],
    ['https://storage.example/runs/2026/11/16/r1/g.csv?sig=x', undefined],
    ['https://storage.example/runs/results/r1.csv?sig=x', undefined],
    ['https://storage.example/runs/0123456789abcdef/r1_g.csv?sig=x', undefined],
    ['https://storage.example/runs/0123456789abcdef/g.csv?key=a%2Fr1%2Fg', undefined],
    ['https://storage.example/runs/2026-11-16/abc.csv?sig=x', undefined],
    ['/api/runs/r2/result.csv', 'acme'],
    ['http://[', undefined],
    ['/api/runs/%E0%A4%A/result.csv?grid_id=g', undefined]
  ])('%s: this one, or none', (href, service) => {
    expect(named(href, service)).toBeUndefined()
  })
})

test.each([
  ['another run', '/store/runs/r2/result.csv', 'its link redirects to another run, r2, and was not followed'],
  ['another run after a while', '/again', 'its link redirects to another run, r2, and was not followed'],
  ['this run', '/store/runs/2026/r1.csv', undefined],
  ['storage', '/store/0c1d.csv?sig=x', undefined]
])('a redirect of a result to %s', async (_, location, refusal) => {
  const server = await startServer((reply, { path }) => {
    if (path.startsWith('/store')) return reply.end('a,b')
    return reply
      .writeHead(302, { location: path === '/again' ? '/store/runs/r2/result.csv' : location })
      .end()
  })
  const client = new ServiceClient({
    ...{ address: knownAddress(`${server.origin}/api`), token: 'tok', words: vocabularyOf() },
    clock: new JumpingClock()
  })
  clients.push(client)
  const opened = await client
    .openResult('/api/runs/r1/result.csv', { runId: 'r1' })
    .catch((thrown: unknown) => thrown)
  expect(opened).toMatchObject(refusal === undefined ? { status: 200 } : { message: refusal })
  expect(server.seen.map(({ path }) => path)).not.toContain('/store/runs/r2/result.csv')
})

describe('a link that another host refuses does not blame the token', () => {
  test.each([
    ['401, by its link', 401, false],
    ['403, by its link', 403, false],
    ['403, by a redirect', 403, true]
  ])('%s', async (_, status, isRedirected) => {
    const storage = await startServer((reply) =>
      reply.writeHead(status).end('<Error>Request has expired</Error>')
    )
    const own = await startServer((reply) =>
      reply.writeHead(302, { location: `${storage.origin}/x.csv` }).end()
    )
    const client = new ServiceClient({
      ...{ address: knownAddress(own.origin), token: 'tok', words: vocabularyOf() },
      clock: new JumpingClock()
    })
    clients.push(client)
    const link = isRedirected ? '/runs/r1/result.csv' : `${storage.origin}/x.csv`
    const error = await client.openResult(link, { runId: 'r1' }).catch((thrown: unknown) => thrown)
    const { host } = new URL(storage.origin)
    expect((error as Error).message).toBe(
      `downloading a result CSV: ${host} answered ${status}: an HTML page instead of JSON. The service's link to this host was refused: it may have expired (the token is not sent to other hosts)`
    )
    expect(describeWithoutQuote(error)).toMatch(`${host} answered ${status}. The service's link`)
    expect(storage.seen.map(({ headers }) => headers.authorization)).toEqual([undefined])
  })

  test('the service itself does', async () => {
    const own = await startServer((reply) => reply.writeHead(403).end())
    const client = new ServiceClient({
      ...{ address: knownAddress(own.origin), token: 'tok', words: vocabularyOf() },
      clock: new JumpingClock()
    })
    clients.push(client)
    await expect(client.openResult('/runs/r1/result.csv')).rejects.toThrow(
      'the service answered 403: no explanation was given. The token is valid but not allowed to do this'
    )
  })
})
