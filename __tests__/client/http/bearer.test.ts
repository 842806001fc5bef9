import { afterEach, describe, expect, test } from '@jest/globals'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { RefusedError, UnreachableError, hadNoEffect, isTransient } from '../../../src/client/errors.js'
import type { Call } from '../../../src/client/http/failures.js'
import { Http } from '../../../src/client/http/http.js'
import type { TokenSource } from '../../../src/client/http/id-tokens.js'
import { closeServers, sendJson, startServer, type Answer } from '../../support/raw-server.js'
import { makeIdToken } from '../../support/step/id-token-endpoint.js'

const CLAIMS = { iss: 'https://issuer.example', aud: 'https://load.example', sub: 'repo:octo/shop' }
const opened: Http[] = []

afterEach(async () => {
  await Promise.all(opened.splice(0).map((http) => http.close()))
  await closeServers()
})

/** Gives these one by one, each until it is refused. */
function sourceOf(...tokens: string[]): TokenSource {
  return {
    take: ({ refused } = {}) => {
      if (refused === tokens[0] && tokens.length > 1) tokens.shift()
      return Promise.resolve(tokens[0]!)
    }
  }
}

function makeHttp(origin: string, token: TokenSource): Http {
  const http = new Http({ token, mediaType: 'application/json', origin })
  opened.push(http)
  return http
}

function makeCall(url: string, changes: Partial<Call> = {}): Call {
  return { operation: 'asking', method: 'GET', url: new URL(url), responseTimeoutMs: 5000, ...changes }
}

/** Accepts one token, and echoes what it was asked with. */
function accepting(token: string, status = 401): Answer {
  return (reply, { headers }) =>
    headers.authorization === `Bearer ${token}`
      ? sendJson(reply, { echo: headers.authorization })
      : sendJson(reply, { error: `not with ${headers.authorization}` }, status)
}

test('a token of a source is sent as Bearer, and redacted in the reply', async () => {
  const token = makeIdToken(CLAIMS)
  const server = await startServer(accepting(token))
  const reply = await makeHttp(server.origin, sourceOf(token)).call(makeCall(server.origin))
  expect(JSON.parse(await reply.text())).toEqual({ echo: 'Bearer ***' })
})

test('after a 401 the request is sent once more with a fresh one, with its whole body', async () => {
  const [old, fresh] = [makeIdToken(CLAIMS), makeIdToken(CLAIMS)]
  const server = await startServer(accepting(fresh))
  const body = Buffer.from('a plan')
  const upload = { contentType: 'text/plain', length: body.length, open: () => Readable.from([body]) }
  const call = makeCall(server.origin, { method: 'POST', upload })
  await makeHttp(server.origin, sourceOf(old, fresh)).call(call)
  expect(server.seen.map(({ headers }) => headers.authorization)).toEqual([
    `Bearer ${old}`,
    `Bearer ${fresh}`
  ])
  expect(server.seen.map((seen) => seen.body.toString())).toEqual(['a plan', 'a plan'])
})

describe('a refusal', () => {
  test.each([
    [
      401,
      2,
      /service\.yml: issuer and audience must be those of the token \(.*oidc-audience.*\), and a line of allow must match/
    ],
    [403, 1, /service\.yml: the lines of allow that match the token's claims, and their role/]
  ])('%i says what to check at the service, and quotes no token', async (status, requests, words) => {
    const server = await startServer(accepting('another', status))
    const tokens = [makeIdToken(CLAIMS), makeIdToken(CLAIMS)]
    const refused: unknown = await makeHttp(server.origin, sourceOf(...tokens))
      .call(makeCall(server.origin))
      .catch((thrown: unknown) => thrown)
    expect(refused).toBeInstanceOf(RefusedError)
    const { message } = refused as RefusedError
    expect(message).toMatch(words)
    expect(message).toContain('not with Bearer ***')
    expect(message).toContain(
      '(issuer https://issuer.example, audience https://load.example, subject repo:octo/shop)'
    )
    for (const token of tokens) expect(message).not.toContain(token.split('.')[2])
    expect(message).not.toContain('Check the token')
    expect(server.seen).toHaveLength(requests)
  })

  test('with the same token again, as from a file, is not repeated', async () => {
    const server = await startServer(accepting('another'))
    const call = makeHttp(server.origin, sourceOf(makeIdToken(CLAIMS))).call(makeCall(server.origin))
    await expect(call).rejects.toThrow('answered 401')
    expect(server.seen).toHaveLength(1)
  })
})

test('no other origin gets a token, and none is asked for it', async () => {
  const token = makeIdToken(CLAIMS)
  const storage = await startServer((reply) => reply.end('rows'))
  const server = await startServer((reply) => reply.writeHead(302, { location: storage.origin }).end())
  let taken = 0
  const source = { take: () => Promise.resolve(token).finally(() => taken++) }
  const reply = await makeHttp(server.origin, source).download(makeCall(server.origin))
  expect(await reply.text()).toBe('rows')
  expect(server.seen[0]?.headers.authorization).toBe(`Bearer ${token}`)
  expect(storage.seen[0]?.headers).not.toHaveProperty('authorization')
  expect(taken).toBe(1)
})

test('where no token can be had, nothing is sent, and it may be tried again', async () => {
  const server = await startServer((reply) => sendJson(reply, {}))
  const source = { take: () => Promise.reject(new Error('GitHub gave no ID token')) }
  const failure: unknown = await makeHttp(server.origin, source)
    .call(makeCall(server.origin))
    .catch((thrown: unknown) => thrown)
  expect(failure).toBeInstanceOf(UnreachableError)
  expect((failure as Error).message).toBe('asking: GitHub gave no ID token')
  expect([isTransient(failure), hadNoEffect(failure)]).toEqual([true, true])
  expect(server.seen).toEqual([])
})

test('every token that was sent is redacted, also those before, however it is written and wherever it is cut', async () => {
  const [old, fresh] = [makeIdToken(CLAIMS), makeIdToken(CLAIMS)]
  const text = [old, fresh, Buffer.from(`Bearer ${old}`).toString('base64'), encodeURIComponent(fresh)].join()
  const server = await startServer((reply, { headers, path }) => {
    if (path === '/' && headers.authorization === `Bearer ${old}`) sendJson(reply, {}, 401)
    else for (const piece of text.match(/.{1,500}/g)!) reply.write(piece)
    reply.end()
  })
  const http = makeHttp(server.origin, sourceOf(old, fresh))
  const reply = await http.download(makeCall(server.origin))
  const bytes = await buffer(reply.body)
  expect(bytes).toHaveLength(text.length)
  // Of "Bearer" in base64, what does not depend on the token is left.
  expect(bytes.toString().replace(/\*+/g, '*')).toMatch(/^\*,\*,\w{0,12}\*,\*$/)
})
