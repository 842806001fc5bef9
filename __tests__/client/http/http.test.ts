import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { setTimeout as pause } from 'node:timers/promises'
import { buffer } from 'node:stream/consumers'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import { inspect } from 'node:util'
import {
  MalformedReplyError,
  ProxyError,
  RefusedError,
  ServiceError,
  UnreachableError,
  hadNoEffect,
  isTransient
} from '../../../src/client/errors.js'
import { Http, basicAuthorization, readRetryAfter } from '../../../src/client/http/http.js'
import type { Call } from '../../../src/client/http/failures.js'
import {
  type Answer,
  type TestServer,
  closeServers,
  reset,
  sendJson,
  startServer,
  startSocketServer
} from '../../support/raw-server.js'

const TOKEN = 'tok-0123456789abcdef'
const opened: Http[] = []

afterEach(async () => {
  await Promise.all(opened.splice(0).map((http) => http.close()))
  await closeServers()
})

function makeHttp(origin: string, token = TOKEN): Http {
  const http = new Http({ token, mediaType: 'application/vnd.service.v2+json', origin })
  opened.push(http)
  return http
}

function makeCall(url: string, changes: Partial<Call> = {}): Call {
  return { operation: 'asking', method: 'GET', url: new URL(url), responseTimeoutMs: 5000, ...changes }
}

/** Asks a server of its own once, and returns both. */
async function askOnce(
  answer: Answer,
  changes: Partial<Call> = {}
): Promise<{ server: TestServer; text: Promise<string> }> {
  const server = await startServer(answer)
  const http = makeHttp(server.origin)
  const text = http.call(makeCall(`${server.origin}/api/runs`, changes)).then((reply) => reply.text())
  // Looked at by the test in its own time.
  text.catch(() => undefined)
  return { server, text }
}

/** Gives the caller's own end of its next connection this error, as the system would. */
function failWhenAsked(error: Error): { fail: () => void } {
  let socket: Socket | undefined
  const keep = (message: unknown): void => {
    socket = (message as { socket: Socket }).socket
    unsubscribe('net.client.socket', keep)
  }
  subscribe('net.client.socket', keep)
  return { fail: () => void socket?.destroy(error) }
}

describe('what every request carries', () => {
  test.each([20, 21, 22])('a token of %i characters as user name, with an empty password', async (length) => {
    const token = 'x'.repeat(length)
    const server = await startServer((reply) => sendJson(reply, {}))
    await makeHttp(server.origin, token).call(makeCall(server.origin))
    expect(server.seen[0]?.headers.authorization).toBe(`Basic ${Buffer.from(`${token}:`).toString('base64')}`)
    expect(server.seen[0]?.headers.authorization).toBe(basicAuthorization(token))
  })

  test('the version it speaks', async () => {
    const { server, text } = await askOnce((reply) => sendJson(reply, { a: 1 }))
    await expect(text).resolves.toBe('{"a":1}')
    expect(server.seen[0]?.headers).toMatchObject({
      accept: 'application/vnd.service.v2+json',
      'user-agent': 'loadgate'
    })
  })

  test.each(['call', 'download'] as const)('that nothing may be compressed, for a %s', async (way) => {
    const server = await startServer((reply) => sendJson(reply, {}))
    await makeHttp(server.origin)[way](makeCall(server.origin, { headers: { accept: 'text/csv' } }))
    expect(server.seen[0]?.headers['accept-encoding']).toBe('identity')
  })

  test('no credentials to another origin', async () => {
    const server = await startServer((reply) => sendJson(reply, {}))
    await makeHttp('http://127.0.0.1:1').call(makeCall(server.origin))
    expect(server.seen[0]?.headers.authorization).toBeUndefined()
  })

  test('nothing to this machine for a service that lies elsewhere', async () => {
    const server = await startServer((reply) => sendJson(reply, {}))
    await expect(makeHttp('https://service.example').call(makeCall(server.origin))).rejects.toThrow(
      'refused to send to'
    )
    expect(server.seen).toEqual([])
  })
})

describe('a refusal', () => {
  test.each([
    [401, /Check the token/],
    [403, /not allowed to do this/],
    [404, /Check the id and base-url/],
    [422, /^asking: the service answered 422: tool is odd \(request req-1\)$/],
    [429, /rate limiting requests/],
    [500, /^asking: the service answered 500: tool is odd/]
  ])('%i says what was attempted, what came back and what to do', async (status, message) => {
    const { text } = await askOnce((reply) => {
      reply.setHeader('x-request-id', 'req-1')
      sendJson(reply, { errors: { tool: ['is odd'] } }, status)
    })
    await expect(text).rejects.toThrow(RefusedError)
    await expect(text).rejects.toThrow(message)
    await expect(text).rejects.toThrow('(request req-1)')
    await expect(text).rejects.toMatchObject({ status })
  })

  test.each(['x-request-id', 'request-id'])('is known by its %s', async (header) => {
    const { text } = await askOnce((reply) => reply.writeHead(500, { [header]: 'req-2' }).end())
    await expect(text).rejects.toThrow('answered 500: no explanation was given (request req-2)')
  })

  test('without a request id has no empty brackets', async () => {
    const { text } = await askOnce((reply) => reply.writeHead(500).end())
    await expect(text).rejects.toThrow(/no explanation was given$/)
  })

  test('with a page names its title', async () => {
    const { text } = await askOnce((reply) =>
      reply.writeHead(502, { 'content-type': 'text/html' }).end('<html><title>Bad gateway</title>')
    )
    await expect(text).rejects.toThrow('an HTML page titled "Bad gateway"')
  })

  test('of enormous size is quoted from its start', async () => {
    const { text } = await askOnce((reply) =>
      reply.writeHead(500).end(`out of disk${' x'.repeat(1_000_000)}`)
    )
    await expect(text).rejects.toThrow('out of disk')
    await expect(text).rejects.toThrow(/^.{1,800}$/)
  })

  test('whose body breaks off still has its status', async () => {
    const { text } = await askOnce((reply) => {
      reply.writeHead(500, { 'content-length': '1000' }).write('half')
      setTimeout(() => reset(reply), 20)
    })
    await expect(text).rejects.toMatchObject({ status: 500 })
  })

  test.each([
    ['the token', TOKEN],
    ['the header', Buffer.from(`${TOKEN}:`).toString('base64')]
  ])('that repeats %s is quoted without it', async (_, secret) => {
    const { text } = await askOnce((reply) => sendJson(reply, { error: `bad credentials ${secret}!` }, 401))
    await expect(text).rejects.toThrow('bad credentials ***!')
    await expect(text).rejects.not.toThrow(secret)
  })

  test('that repeats the token where the text is cut shows no part of it', async () => {
    const { text } = await askOnce((reply) => reply.writeHead(401).end(`${'x '.repeat(295)}${TOKEN}`))
    await expect(text).rejects.not.toThrow(TOKEN.slice(0, 8))
  })

  test('whose request id repeats the token is known by the rest of it', async () => {
    const { text } = await askOnce((reply) => reply.writeHead(500, { 'x-request-id': `req-${TOKEN}` }).end())
    await expect(text).rejects.toThrow('(request req-***)')
  })

  test('is left as it is where there is no token to hide', async () => {
    const server = await startServer((reply) => sendJson(reply, { error: 'who are you?' }, 401))
    await expect(makeHttp(server.origin, '').call(makeCall(server.origin))).rejects.toThrow('who are you?')
  })
})

describe('Retry-After', () => {
  const nowMs = Date.UTC(2026, 2, 1, 10, 0, 0)
  test.each([
    ['seconds', '120', 120_000],
    ['seconds with space', ' 7 ', 7000],
    ['none', '0', 0],
    ['a date', 'Sun, 01 Mar 2026 10:00:30 GMT', 30_000],
    ['a date that has gone', 'Sun, 01 Mar 2026 09:00:00 GMT', 0],
    ['nonsense', 'soon', undefined],
    ['nothing', undefined, undefined]
  ])('as %s', (_, value, ms) => expect(readRetryAfter(value, nowMs)).toBe(ms))

  test('is part of the refusal', async () => {
    const { text } = await askOnce((reply) => reply.writeHead(429, { 'retry-after': '9' }).end())
    await expect(text).rejects.toMatchObject({ retryAfterMs: 9000 })
  })
})

describe('no answer', () => {
  test('within the time: said so', async () => {
    const { text } = await askOnce(() => undefined, { responseTimeoutMs: 100 })
    await expect(text).rejects.toThrow(UnreachableError)
    await expect(text).rejects.toThrow(/^asking: 127\.0\.0\.1:\d+ did not answer within/)
    await expect(text).rejects.toMatchObject({ neverSent: false })
  })

  test('to its end: said so', async () => {
    const { text } = await askOnce((reply) => reply.writeHead(200).write('{"half":'), {
      responseTimeoutMs: 100
    })
    await expect(text).rejects.toThrow(UnreachableError)
    await expect(text).rejects.toThrow(/the response from 127\.0\.0\.1:\d+ stalled for/)
  })

  test('but a reset', async () => {
    const { text } = await askOnce((reply) => reset(reply))
    await expect(text).rejects.toThrow(UnreachableError)
    await expect(text).rejects.toThrow(/the connection to 127\.0\.0\.1:\d+ failed/)
    await expect(text).rejects.toMatchObject({ neverSent: false })
  })

  test('but a reset within the body', async () => {
    const { text } = await askOnce((reply) => {
      reply.writeHead(200, { 'content-length': '100' }).write('{"half":')
      setTimeout(() => reset(reply), 20)
    })
    await expect(text).rejects.toThrow(UnreachableError)
  })

  test('but bytes that are no HTTP', async () => {
    const { origin } = await startSocketServer((socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n'))
    await expect(makeHttp(origin).call(makeCall(origin))).rejects.toThrow(UnreachableError)
  })

  test('for nobody listens: nothing can have happened', async () => {
    const { origin } = await startSocketServer(() => undefined)
    await closeServers()
    const asked = makeHttp(origin).call(makeCall(origin))
    await expect(asked).rejects.toThrow(
      /refused the connection \(ECONNREFUSED\)\. Is the service up, and is base-url right\?$/
    )
    await expect(asked).rejects.toMatchObject({ neverSent: true })
  })

  test('for the other side speaks no TLS: nothing can have happened', async () => {
    const { port } = await startServer((reply) => sendJson(reply, {}))
    const origin = `https://127.0.0.1:${port}`
    await expect(makeHttp(origin).call(makeCall(origin))).rejects.toMatchObject({
      name: 'UnreachableError',
      neverSent: true
    })
  })

  test.each([
    ['EHOSTUNREACH', 'read'],
    ['ENETUNREACH', 'write'],
    ['ECONNREFUSED', 'read'],
    ['ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC', 'read'],
    ['CERT_HAS_EXPIRED', 'read']
  ])('but %s on %s, after the request was sent: something may have happened', async (code, syscall) => {
    const failing = failWhenAsked(Object.assign(new Error(`${syscall} ${code}`), { code, syscall }))
    const { server, text } = await askOnce(() => failing.fail())
    await expect(text).rejects.toMatchObject({ name: 'UnreachableError', neverSent: false })
    expect(server.seen).toHaveLength(1)
  })

  test('for the name of the host is not known: nothing can have happened', async () => {
    const origin = 'https://service.invalid'
    await expect(makeHttp(origin).call(makeCall(origin))).rejects.toMatchObject({
      name: 'UnreachableError',
      neverSent: true
    })
  })

  test('for the connection ends within the handshake: nothing can have happened', async () => {
    const { port } = await startSocketServer((socket) => socket.once('data', () => socket.destroy()))
    const origin = `https://127.0.0.1:${port}`
    await expect(makeHttp(origin).call(makeCall(origin))).rejects.toMatchObject({
      name: 'UnreachableError',
      neverSent: true
    })
  })

  test.each([
    ['before its headers', () => undefined],
    ['within its body', ((reply) => reply.writeHead(200).write('{')) satisfies Answer]
  ])('wanted any more, %s: the reason is what is thrown', async (_, answer) => {
    const stop = new AbortController()
    const { server, text } = await askOnce(answer, { signal: stop.signal })
    while (server.seen.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
    const reason = new Error('the deadline has passed')
    stop.abort(reason)
    await expect(text).rejects.toBe(reason)
  })
})

test('a reply larger than any document is refused', async () => {
  const { text } = await askOnce((reply) => {
    reply.writeHead(200)
    const piece = Buffer.alloc(1024 * 1024, 'x')
    for (let count = 0; count < 33; count++) reply.write(piece)
    reply.end()
  })
  await expect(text).rejects.toThrow(MalformedReplyError)
  await expect(text).rejects.toThrow(/larger than/)
})

describe('plain http', () => {
  test.each(['http://10.0.0.1/api', 'http://service.example/api'])('%s is refused unsent', async (url) => {
    const asked = makeHttp('https://service.example').call(makeCall(url))
    await expect(asked).rejects.toThrow(/refused to send to http:\/\/.*only https/)
  })
})

describe('a success that repeats the token', () => {
  const BASIC = Buffer.from(`${TOKEN}:`).toString('base64')

  test.each([
    ['the token', TOKEN],
    ['the header', `Basic ${BASIC}`],
    ['an address', encodeURIComponent(`Basic ${BASIC}`)]
  ])('is read without it: %s', async (_, secret) => {
    const { text } = await askOnce((reply) => sendJson(reply, { summary: `as ${secret}.` }))
    expect(await text).toMatch(/^\{"summary":"as (Basic( |%20))?\*\*\*\."\}$/)
  })

  test('in a header', async () => {
    const server = await startServer((reply) => reply.writeHead(200, { etag: `"${TOKEN}"` }).end())
    const reply = await makeHttp(server.origin).call(makeCall(server.origin))
    expect(reply.header('etag')).toBe('"***"')
    reply.body.resume()
  })

  test('in a download: its bytes are covered, its length stays', async () => {
    const csv = `a,b\n1,https://shop.example/?t=${TOKEN}\n`
    const server = await startServer((reply) => {
      reply.writeHead(200, { 'content-length': csv.length })
      for (const byte of csv) reply.write(byte)
      reply.end()
    })
    const { body } = await makeHttp(server.origin).download(makeCall(server.origin))
    const bytes = await buffer(body)
    expect(bytes.toString()).toBe(csv.replace(TOKEN, '*'.repeat(TOKEN.length)))
  })

  test('a download that breaks off still fails for who reads it', async () => {
    const server = await startServer((reply) => {
      reply.writeHead(200, { 'content-length': '1000' }).write('x'.repeat(900))
      setTimeout(() => reset(reply), 20)
    })
    const { body } = await makeHttp(server.origin).download(makeCall(server.origin))
    await expect(buffer(body)).rejects.toThrow()
  })

  test('a download that nobody wants any more closes its connection', async () => {
    let close: (value: unknown) => void
    const closed = new Promise((resolve) => (close = resolve))
    const server = await startServer((reply) => {
      reply.on('close', () => close('closed'))
      reply.writeHead(200).write('a,b\n')
    })
    const { body } = await makeHttp(server.origin).download(makeCall(server.origin))
    body.destroy()
    await expect(closed).resolves.toBe('closed')
  })

  test('a redirect to where the token is part of the address is followed, and nobody is told', async () => {
    const server = await startServer((reply, { path }) => {
      if (path === '/1') reply.writeHead(302, { location: `/2?t=${TOKEN}` }).end()
      else reply.writeHead(404).end('no')
    })
    const asked = makeHttp(server.origin).download(makeCall(`${server.origin}/1`))
    await expect(asked).rejects.toThrow('answered 404')
    await expect(asked).rejects.not.toThrow(TOKEN)
    expect(server.seen[1]?.path).toBe(`/2?t=${TOKEN}`)
  })
})

describe('redirects', () => {
  const post = {
    method: 'POST' as const,
    upload: {
      contentType: 'text/plain',
      length: 3,
      open: async function* () {
        yield Buffer.from('abc')
      }
    }
  }

  test.each([
    [301, post],
    [302, post],
    [303, post],
    [307, post],
    [308, post],
    [302, {}],
    [302, { method: 'DELETE' as const }]
  ])('%i of a call is not followed (%#)', async (status, changes) => {
    const elsewhere = await startServer((reply) => sendJson(reply, {}))
    const { server, text } = await askOnce(
      (reply) => reply.writeHead(status, { location: `${elsewhere.origin}/x` }).end(),
      changes
    )
    await expect(text).rejects.toMatchObject({ name: 'RefusedError', status })
    await expect(text).rejects.toThrow(/redirect to http:\/\/127\.0\.0\.1:\d+\/x, which is not followed/)
    expect([server.seen.length, elsewhere.seen.length]).toEqual([1, 0])
  })

  describe('of a download', () => {
    let home: TestServer
    let away: TestServer
    let steps: Record<string, string>

    beforeEach(async () => {
      steps = {}
      const answer: Answer = (reply, { path }) => {
        const location = steps[path]
        if (location === undefined) reply.end('a,b\n')
        else reply.writeHead(302, { location }).end()
      }
      home = await startServer(answer)
      away = await startServer(answer)
    })

    const download = async (path: string): Promise<string> => {
      const reply = await makeHttp(home.origin).download(makeCall(home.origin + path))
      return reply.text()
    }

    test('are followed, and credentials stay at home', async () => {
      steps = { '/1': `${away.origin}/2`, '/2': `${home.origin}/3`, '/3': '/4' }
      await expect(download('/1')).resolves.toBe('a,b\n')
      const authorized = (server: TestServer): [string, boolean][] =>
        server.seen.map(({ path, headers }) => [path, headers.authorization !== undefined])
      expect(authorized(home)).toEqual([
        ['/1', true],
        ['/3', true],
        ['/4', true]
      ])
      expect(authorized(away)).toEqual([['/2', false]])
    })

    test('are followed five times', async () => {
      steps = { '/1': '/2', '/2': '/3', '/3': '/4', '/4': '/5', '/5': '/6' }
      await expect(download('/1')).resolves.toBe('a,b\n')
    })

    test('are not followed a sixth time', async () => {
      steps = { '/1': '/1' }
      await expect(download('/1')).rejects.toThrow('redirected more than 5 times')
      expect(home.seen).toHaveLength(6)
    })

    test.each([
      ['plain http', 'http://10.0.0.1/x.csv', /refused a redirect to http:\/\/10\.0\.0\.1: only https/],
      ['another scheme', 'file:///etc/passwd', /refused a redirect/],
      ['an invalid URL', 'https://[', /a redirect to an invalid URL/]
    ])('to %s are refused', async (_, location, message) => {
      steps = { '/1': location }
      await expect(download('/1')).rejects.toThrow(ServiceError)
      await expect(download('/1')).rejects.toThrow(message)
    })
  })

  test('of a download without a location are a refusal', async () => {
    const server = await startServer((reply) => reply.writeHead(304).end())
    await expect(makeHttp(server.origin).download(makeCall(server.origin))).rejects.toMatchObject({
      status: 304
    })
  })

  test('a download that is refused says why', async () => {
    const server = await startServer((reply) => sendJson(reply, { error: 'not ready' }, 404))
    await expect(makeHttp(server.origin).download(makeCall(server.origin))).rejects.toThrow('not ready')
  })
})

describe('behind a proxy', () => {
  const VARIABLES = ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'HTTPS_PROXY', 'no_proxy', 'NO_PROXY']
  const before = { ...process.env }
  let lines: string[]

  beforeEach(async () => {
    lines = []
    for (const name of VARIABLES) Reflect.deleteProperty(process.env, name)
    const { port } = await startSocketServer((socket) =>
      socket.once('data', (bytes) => {
        lines.push(...bytes.toString().split('\r\n'))
        socket.end('HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n')
      })
    )
    process.env.HTTPS_PROXY = `http://127.0.0.1:${port}`
    process.env.HTTP_PROXY = `http://127.0.0.1:${port}`
  })
  afterEach(() => {
    for (const name of VARIABLES) Reflect.deleteProperty(process.env, name)
    Object.assign(process.env, before)
  })

  const connects = (): string[] => lines.filter((line) => line.startsWith('CONNECT '))

  test('the service is reached through one CONNECT, which shows no credentials', async () => {
    const http = makeHttp('https://service.invalid')
    const failure = http.call(makeCall('https://service.invalid/api/runs'))
    await expect(failure).rejects.toThrow(/asking: the connection to service\.invalid failed: .*502/)
    await expect(failure).rejects.toMatchObject({ neverSent: true })
    expect(connects()).toEqual(['CONNECT service.invalid:443 HTTP/1.1'])
    expect(lines.filter((line) => /authorization/i.test(line))).toEqual([])
  })

  test.each(['https_proxy', 'HTTPS_PROXY'])('whose %s has no scheme: it is taken for http', async (name) => {
    const proxy = process.env.HTTPS_PROXY!.replace('http://', '')
    Reflect.deleteProperty(process.env, 'HTTPS_PROXY')
    process.env[name] = proxy
    const failure = makeHttp('https://service.invalid').call(makeCall('https://service.invalid/api/runs'))
    await expect(failure).rejects.toThrow(/502/)
    expect(connects()).toEqual(['CONNECT service.invalid:443 HTTP/1.1'])
  })

  describe('that does not answer', () => {
    const SECRET = 'wh1spered'
    const call = async (isReached?: boolean): Promise<Error> => {
      const http = new Http({ token: 'tok', mediaType: 'x/y', origin: 'https://service.invalid', isReached })
      const sent = http.call(makeCall('https://service.invalid/api/runs'))
      const failure: unknown = await sent.catch((thrown: unknown) => thrown)
      await http.close()
      return failure as Error
    }
    const dead: [string, () => Promise<string>, RegExp][] = [
      [
        'nothing listens there',
        async () => {
          const { port } = await startSocketServer(() => undefined)
          await closeServers()
          return `127.0.0.1:${port}`
        },
        /^asking: the proxy 127\.0\.0\.1:\d+ refused the connection \(ECONNREFUSED\)\. Check the variables https_proxy/
      ],
      [
        'its host is unknown',
        () => Promise.resolve('proxy.invalid:3128'),
        /^asking: the proxy's host proxy\.invalid is unknown \(E\w+\)\. Check/
      ],
      [
        'it never opens the tunnel',
        async () => `127.0.0.1:${(await startSocketServer(() => undefined)).port}`,
        /^asking: the proxy 127\.0\.0\.1:\d+ did not answer within 5 s\. Check/
      ],
      [
        'it hangs up',
        async () => `127.0.0.1:${(await startSocketServer((socket) => socket.end())).port}`,
        /^asking: the connection to the proxy 127\.0\.0\.1:\d+ failed: .*\. Check/
      ],
      [
        'its address is none',
        () => Promise.resolve('proxy.example:port'),
        /^asking: the proxy in https_proxy is not a URL such as http:\/\/proxy\.example:3128$/
      ],
      [
        'its password has a % of its own',
        () => Promise.resolve('50%off@proxy.example:3128'),
        /^asking: the user or the password of the proxy in https_proxy has a % of its own: write it as %25$/
      ]
    ]

    test.each(dead)(
      'for %s: it is named, without its password, and nothing was sent',
      async (_, start, words) => {
        process.env.https_proxy = `http://me:${SECRET}@${await start()}`
        const failure = await call()
        expect(failure).toBeInstanceOf(ProxyError)
        expect(failure.message).toMatch(words)
        expect(hadNoEffect(failure)).toBe(true)
        expect(isTransient(failure)).toBe(false)
        expect(inspect(failure)).not.toContain(SECRET)
      }
    )

    test('for a scheme that is not supported: it is named, and not retried', async () => {
      process.env.https_proxy = `socks4://me:${SECRET}@127.0.0.1:1080`
      const failure = await call()
      expect(failure).toBeInstanceOf(ProxyError)
      expect(failure.message).toBe(
        'asking: the proxy in https_proxy has the scheme socks4, which is not supported: use an http, https or socks5 proxy'
      )
      expect(isTransient(failure)).toBe(false)
    })

    test('is an outage where the service was reached before', async () => {
      process.env.https_proxy = 'http://proxy.invalid:3128'
      const failure = await call(true)
      expect(failure).toMatchObject({ name: 'UnreachableError', neverSent: true })
      expect(failure.message).toContain('proxy.invalid')
    })
  })

  test.each(['127.0.0.1', 'localhost'])('%s is not', async (host) => {
    const server = await startServer((reply) => sendJson(reply, {}))
    const origin = `http://${host}:${server.port}`
    await makeHttp(origin).call(makeCall(`${origin}/api/runs`))
    expect([server.seen.length, lines]).toEqual([1, []])
  })
})

describe('a body', () => {
  const megabytes = 8
  const upload = {
    contentType: 'multipart/form-data; boundary=x',
    length: megabytes * 1024 * 1024,
    open: async function* () {
      for (let count = 0; count < megabytes; count++) yield Buffer.alloc(1024 * 1024, count)
    }
  }

  test('is sent with its length, not in chunks', async () => {
    const { server, text } = await askOnce((reply) => reply.writeHead(201).end('{}'), {
      method: 'POST',
      upload
    })
    await expect(text).resolves.toBe('{}')
    expect(server.seen[0]?.headers).toMatchObject({
      'content-type': 'multipart/form-data; boundary=x',
      'content-length': String(upload.length)
    })
    expect(server.seen[0]?.headers['transfer-encoding']).toBeUndefined()
    expect(server.seen[0]?.body.length).toBe(upload.length)
  })

  test('that fails on its way brings its own error', async () => {
    const failing = {
      ...upload,
      open: async function* () {
        yield Buffer.alloc(1024)
        throw new ServiceError('asking', 'plan.jmx changed')
      }
    }
    const { server, text } = await askOnce((reply) => sendJson(reply, {}), {
      method: 'POST',
      upload: failing
    })
    await expect(text).rejects.toThrow('asking: plan.jmx changed')
    expect(server.seen).toEqual([])
  })

  describe('of which a part is sent: that is known', () => {
    /** More than the system keeps for the other side. */
    const large = { ...upload, length: 64 * upload.length, open: () => repeat(() => upload.open(), 64) }
    async function* repeat(open: () => AsyncIterable<Buffer>, times: number): AsyncGenerator<Buffer> {
      for (let count = 0; count < times; count++) yield* open()
    }

    test('and then a reset', async () => {
      const { origin } = await startSocketServer((socket) =>
        socket.once('data', () => socket.resetAndDestroy())
      )
      const asked = makeHttp(origin).call(makeCall(origin, { method: 'POST', upload: large }))
      await expect(asked).rejects.toMatchObject({ name: 'UnreachableError', neverSent: false, isEarly: true })
    })

    test('and then a refusal', async () => {
      const { origin } = await startSocketServer((socket) =>
        socket.once('data', () => socket.write('HTTP/1.1 503 Away\r\ncontent-length: 0\r\n\r\n'))
      )
      const asked = makeHttp(origin).call(makeCall(origin, { method: 'POST', upload: large }))
      await expect(asked).rejects.toMatchObject({ name: 'RefusedError', status: 503, isEarly: true })
    })
  })

  test('a small one that meets a reset at once may be on its way: something may have happened', async () => {
    const { origin } = await startSocketServer((socket) =>
      socket.once('data', () => socket.resetAndDestroy())
    )
    const small = {
      ...{ contentType: upload.contentType, length: 2 },
      open: async function* () {
        yield Buffer.from('-')
        await pause(50)
        yield Buffer.from('-')
      }
    }
    const asked = makeHttp(origin).call(makeCall(origin, { method: 'POST', upload: small }))
    await expect(asked).rejects.toMatchObject({ name: 'UnreachableError', isEarly: false })
  })

  test.each([
    ['a reset', reset, { name: 'UnreachableError', neverSent: false, isEarly: false }],
    ['a refusal', (reply) => sendJson(reply, {}, 503), { name: 'RefusedError', isEarly: false }]
  ] satisfies [string, Answer, object][])(
    'that is sent to its end, and then %s: something may have happened',
    async (_, answer, error) => {
      const { text } = await askOnce(answer, { method: 'POST', upload })
      await expect(text).rejects.toMatchObject(error)
    }
  )
})
