import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { execFileSync } from 'node:child_process'
import {
  copyFileSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync
} from 'node:fs'
import { request } from 'node:http'
import { connect as connectPlain, createServer, type AddressInfo, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import type { FastifyInstance } from 'fastify'
import { createApp } from '../../../src/service/api/app.js'
import { createFront, type Front } from '../../../src/service/http/front.js'
import { createLimitedServer, DEFAULT_LIMITS, type Limits } from '../../../src/service/http/limits.js'
import { type CertificateFiles, makeCertificate } from '../../support/certificate.js'
import { ManualClock } from '../../support/manual-clock.js'

const folder = mkdtempSync(join(tmpdir(), 'loadgate-front-'))
let first: CertificateFiles
let second: CertificateFiles
beforeAll(() => {
  first = makeCertificate(folder, 'first')
  second = makeCertificate(folder, 'second')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const open: FastifyInstance[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((app) => app.close()))
})

const SHORT: Limits = {
  ...DEFAULT_LIMITS,
  headersMs: 200,
  requestMs: 2_000,
  smallRequestMs: 300
}
const LOCAL = { host: '127.0.0.1', port: 0 }

/** Can be set while nothing else happens. */
class SetClock extends ManualClock {
  #aheadMs = 0
  override now(): number {
    return super.now() + this.#aheadMs
  }
  jump(ms: number): void {
    this.#aheadMs += ms
  }
}

interface Started {
  readonly front: Front
  readonly app: FastifyInstance
  readonly port: number
  readonly logged: string[]
  readonly clock: SetClock
}

async function start(
  reach: Partial<Parameters<typeof createFront>[0]>,
  limits: Limits = DEFAULT_LIMITS,
  equip: (app: FastifyInstance) => void = () => undefined
): Promise<Started> {
  const logged: string[] = []
  const clock = new SetClock(Date.now())
  const front = await createFront(
    { listen: LOCAL, externalUrl: undefined, tls: undefined, trustedProxies: undefined, ...reach },
    { clock, log: (line) => void logged.push(line), limits, headers: { 'x-loadgate-version': '1' } }
  )
  const app = createApp(front)
  open.push(app)
  app.addHook('onRequest', async (asked) => front.check(asked))
  app.get('/where', (asked) => ({ ip: asked.ip, protocol: asked.protocol, host: asked.host }))
  app.get('/probe', { config: { open: 'probe' } }, () => 'here')
  app.post('/json', ({ body }) => ({ body }))
  app.post('/upload', async (asked) => {
    let bytes = 0
    for await (const part of asked.parts())
      if (part.type === 'file') for await (const chunk of part.file) bytes += (chunk as Buffer).length
    return { bytes }
  })
  equip(app)
  await front.listen(app)
  return { front, app, port: (app.server.address() as AddressInfo).port, logged, clock }
}

/** Everything that comes back, until the other side ends the connection. */
function readAll(socket: Socket): Promise<string> {
  return new Promise((done) => {
    let text = ''
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()))
    socket.on('error', () => undefined)
    socket.on('close', () => done(text))
  })
}

const send = (port: number, text: string): Promise<string> => {
  const socket = connectPlain(port, '127.0.0.1')
  socket.write(text)
  return readAll(socket)
}

const secure = (port: number, trusted: CertificateFiles): Promise<TLSSocket> =>
  new Promise((done, fail) => {
    const socket = connectTls({ port, host: '127.0.0.1', ca: readFileSync(trusted.certificate) }, () =>
      done(socket)
    )
    socket.once('error', fail)
  })

const nameOf = (socket: TLSSocket): unknown => socket.getPeerCertificate().subject.CN
const GET = (path: string, ...headers: string[]): string =>
  [`GET ${path} HTTP/1.1`, 'Host: a.example', 'Connection: close', ...headers, '', ''].join('\r\n')

describe('https', () => {
  test('and plain HTTP are on the same port: the one is served, the other redirected to the external address', async () => {
    const { port, front } = await start({ tls: first, externalUrl: 'https://load.example.com' })
    const socket = await secure(port, first)
    socket.write(GET('/where'))
    expect(await readAll(socket)).toMatch(/^HTTP\/1.1 200 OK[^]*"protocol":"https"/)
    const reply = await send(port, GET('/runs/1?page=2', 'X-Forwarded-Host: evil.example'))
    expect(reply).toMatch(/^HTTP\/1.1 308 /)
    expect(reply).toMatch(/\r\nlocation: https:\/\/load.example.com\/runs\/1\?page=2\r\n/)
    expect(reply).toMatch(/x-loadgate-version: 1/)
    expect(reply).not.toContain('a.example\r')
    expect(reply).not.toContain('evil')
    expect(front.cookie()).toEqual({
      name: '__Host-loadgate',
      attributes: expect.stringMatching(/Secure; HttpOnly; SameSite=Strict$/)
    })
  })

  test.each([
    ['GET http://evil.example/a?b HTTP/1.1', 'https://load.example.com/a?b'],
    ['GET //evil.example/a HTTP/1.1', 'https://load.example.com//evil.example/a'],
    ['GET http://evil.example HTTP/1.1', 'https://load.example.com/'],
    // Histories and logs would keep a token.
    ['GET /runs?page=2&token=secret HTTP/1.1', 'https://load.example.com/runs']
  ])('no redirect leads elsewhere: %s', async (line, location) => {
    const { port } = await start({ tls: first, externalUrl: 'https://load.example.com' })
    const reply = await send(port, `${line}\r\nHost: evil.example\r\n\r\n`)
    expect(/\r\nlocation: (.*)\r\n/.exec(reply)?.[1]).toBe(location)
  })

  test('a redirect does not wait for the body', async () => {
    const { port } = await start({ tls: first })
    expect(await send(port, 'POST /json HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n')).toMatch(
      new RegExp(`^HTTP/1.1 308 [^]*location: https://127.0.0.1:${port}/json`)
    )
  })

  test('what is neither is refused, and whoever says nothing is cut off', async () => {
    const { port } = await start({ tls: first }, SHORT)
    expect(await send(port, 'hello\r\n\r\n')).toMatch(/^HTTP\/1.1 400 /)
    expect(await send(port, '')).toBe('')
    expect(await send(port, 'GET / HTTP/1.1\r\nHost: a\r\n')).toBe('')
    // The start of a handshake, and nothing more.
    expect(await send(port, '\u0016')).toBe('')
    expect(await send(port, '\u0016\u0003\u0001')).toBe('')
  })

  test('whoever goes on byte by byte is cut off too', async () => {
    const { port } = await start({ tls: first }, SHORT)
    const socket = connectPlain(port, '127.0.0.1')
    const reply = readAll(socket)
    socket.write('GET / HTTP/1.1\r\nX: ')
    const drip = setInterval(() => socket.write('x'), 20)
    expect(await reply).toBe('')
    clearInterval(drip)
  })

  test.each(['GET /where', 'GET /probe', 'POST /json', 'POST /nowhere'])(
    'so is a body that comes byte by byte: %s',
    async (line) => {
      const { port } = await start({}, { ...SHORT, requestMs: 3_600_000 })
      const socket = connectPlain(port, '127.0.0.1')
      const closed = readAll(socket)
      const type = 'Content-Type: application/json'
      socket.write(`${line} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${type}\r\nContent-Length: 100000\r\n\r\n`)
      const drip = setInterval(() => socket.write(' '), 20)
      await closed
      clearInterval(drip)
    }
  )

  test.each([
    ['nothing', ''],
    ['half a request', 'G'],
    ['half a handshake', '\u0016\u0003\u0001']
  ])('a caller who has sent %s does not keep the service from closing', async (_, text) => {
    const { app, port } = await start({ tls: first })
    const socket = connectPlain(port, '127.0.0.1')
    const gone = readAll(socket)
    await new Promise((done) => socket.once('connect', done))
    if (text !== '') socket.write(text)
    // Until it has been read.
    ;(await secure(port, first)).end()
    await app.close()
    expect(await gone).toBe('')
  })

  test('old versions of TLS are refused', async () => {
    const { port } = await start({ tls: first })
    const old = connectTls({
      ...{ port, host: '127.0.0.1', rejectUnauthorized: false },
      ...{ minVersion: 'TLSv1' as const, maxVersion: 'TLSv1.1' as const, ciphers: 'DEFAULT:@SECLEVEL=0' }
    })
    await expect(
      new Promise((done, fail) => old.once('secureConnect', done).once('error', fail))
    ).rejects.toThrow()
  })

  test('a changed certificate is used for new connections, a broken one is not', async () => {
    const files = { certificate: join(folder, 'live.pem'), key: join(folder, 'live.key') }
    const install = (pair: CertificateFiles): void => {
      // As an administrator of Kubernetes secrets does: links that are replaced as a whole.
      for (const name of ['certificate', 'key'] as const) {
        symlinkSync(pair[name], `${files[name]}.new`)
        renameSync(`${files[name]}.new`, files[name])
      }
    }
    install(first)
    const { port, clock, logged } = await start({ tls: files })
    const look = async (lines: number): Promise<void> => {
      while (logged.length < lines) await clock.advance(5000)
    }
    const old = await secure(port, first)
    expect(nameOf(old)).toBe('first')
    install(second)
    await look(1)
    expect(logged[0]).toMatch(/has changed; new connections get the new one/)
    expect(nameOf(await secure(port, second))).toBe('second')
    rmSync(files.key)
    writeFileSync(files.key, readFileSync(first.key))
    await look(2)
    expect(logged[1]).toMatch(
      /^the changed certificate is not used, the one before stays: .*private key in PEM/
    )
    expect(nameOf(await secure(port, second))).toBe('second')
    // Not said again, but tried again, even where nothing has changed.
    for (let looks = 0; looks < 5; looks++) {
      await clock.advance(5000)
      await new Promise((done) => setTimeout(done, 20))
    }
    expect(logged).toHaveLength(2)
    install(first)
    await look(3)
    expect(nameOf(await secure(port, first))).toBe('first')
    // The connection from before lives on.
    old.write(GET('/where'))
    expect(await readAll(old)).toMatch(/^HTTP\/1.1 200/)
  })

  test('a pair that could not be used is tried again, even where nothing seems to have changed', async () => {
    const files = { certificate: join(folder, 'late.pem'), key: join(folder, 'late.key') }
    for (const name of ['certificate', 'key'] as const) copyFileSync(first[name], files[name])
    const { port, clock, logged } = await start({ tls: files })
    const look = async (until: () => boolean): Promise<void> => {
      while (!until()) await clock.advance(5000)
    }
    const key = readFileSync(second.key)
    copyFileSync(second.certificate, files.certificate)
    writeFileSync(files.key, Buffer.alloc(key.length, 'x'))
    utimesSync(files.key, 1_700_000_000, 1_700_000_000)
    await look(() => logged.length === 1)
    expect(logged[0]).toMatch(/^the changed certificate is not used, the one before stays/)
    expect(nameOf(await secure(port, first))).toBe('first')
    // As after a chmod: the same file, size and time.
    writeFileSync(files.key, key)
    utimesSync(files.key, 1_700_000_000, 1_700_000_000)
    await look(() => logged.some((line) => line.includes('has changed; new connections get the new one')))
    expect(nameOf(await secure(port, second))).toBe('second')
  })

  test('what is no file is not opened: that might never end', async () => {
    const files = { certificate: join(folder, 'pipe.pem'), key: join(folder, 'pipe.key') }
    for (const name of ['certificate', 'key'] as const) copyFileSync(first[name], files[name])
    const { port, clock, logged } = await start({ tls: files })
    const look = async (until: () => boolean): Promise<void> => {
      while (!until()) await clock.advance(5000)
    }
    rmSync(files.certificate)
    execFileSync('mkfifo', [files.certificate])
    await look(() => logged.length > 0)
    expect(logged[0]).toMatch(
      /the one before stays: tls.certificate cannot be read: .*pipe.pem is a pipe, not a regular file/
    )
    rmSync(files.certificate)
    for (const name of ['certificate', 'key'] as const) copyFileSync(second[name], files[name])
    await look(() => logged.some((line) => line.includes('has changed; new connections get the new one')))
    expect(nameOf(await secure(port, second))).toBe('second')
  })

  test('a certificate that has expired, or will soon, is said once: at the start, when its time comes, after a change', async () => {
    const DAY_MS = 24 * 3_600_000
    const month = makeCertificate(folder, 'month', 30)
    const short = makeCertificate(folder, 'short', 3)
    const files = { certificate: join(folder, 'dated.pem'), key: join(folder, 'dated.key') }
    const install = (pair: CertificateFiles): void => {
      for (const name of ['certificate', 'key'] as const) copyFileSync(pair[name], files[name])
    }
    install(short)
    const { port, clock, logged } = await start({ tls: files })
    const soon =
      /^the certificate in .*dated.pem expires on \d{4}-\d\d-\d\d \d\d:\d\d UTC: put a new one there in time/
    expect(logged).toEqual([expect.stringMatching(soon)])
    const look = async (): Promise<void> => {
      await clock.advance(5000)
      await new Promise((done) => setTimeout(done, 20))
    }
    const jump = async (ms: number, lines: number): Promise<void> => {
      clock.jump(ms)
      for (let looks = 0; looks < 2 || (looks < 100 && logged.length < lines); looks++) await look()
    }
    await jump(0, 1)
    expect(logged).toHaveLength(1)
    await jump(3 * DAY_MS, 2)
    expect(logged.slice(1)).toEqual([
      expect.stringMatching(/dated.pem expired on .*: callers refuse the connection/)
    ])
    install(month)
    await jump(0, 3)
    expect(nameOf(await secure(port, month))).toBe('month')
    await jump(0, 3)
    expect(logged.slice(2)).toEqual([expect.stringMatching(/has changed; new connections/)])
    install(short)
    await jump(0, 5)
    expect(logged.slice(3)).toEqual([
      expect.stringMatching(/has changed; new connections/),
      expect.stringMatching(/dated.pem expired on/)
    ])
    await jump(-10 * DAY_MS, 6)
    expect(logged.slice(5)).toEqual([expect.stringMatching(/is not valid before .*: .*check the clock/)])
  })

  test.each([
    [
      'a key of another certificate',
      () => ({ certificate: first.certificate, key: second.key }),
      /not a certificate and its private key/
    ],
    [
      'no file',
      () => ({ certificate: '/nonexistent', key: second.key }),
      /tls.certificate cannot be read: .*ENOENT/
    ]
  ])('%s is an error at the start', async (_name, tls, words) => {
    await expect(start({ tls: tls() })).rejects.toThrow(words)
  })
})

describe('behind a proxy', () => {
  const ask = (port: number, path: string, headers: Record<string, string> = {}) =>
    new Promise<{ status: number; body: string; location: string | undefined }>((done, fail) => {
      request({ port, path, headers, host: '127.0.0.1' }, (reply) => {
        let body = ''
        reply.on('data', (chunk: Buffer) => (body += chunk.toString()))
        reply.on('end', () => done({ status: reply.statusCode ?? 0, body, location: reply.headers.location }))
      })
        .on('error', fail)
        .end()
    })
  const FORWARDED = {
    'x-forwarded-for': '203.0.113.9',
    'x-forwarded-proto': 'https',
    'x-forwarded-host': 'load.example.com'
  }

  test('its headers are believed', async () => {
    const { port } = await start({ trustedProxies: ['127.0.0.0/8'], externalUrl: 'https://load.example.com' })
    expect(JSON.parse((await ask(port, '/where', FORWARDED)).body)).toEqual({
      ip: '203.0.113.9',
      protocol: 'https',
      host: 'load.example.com'
    })
    // The first of these was written by the caller.
    const forged = { ...FORWARDED, 'x-forwarded-for': '10.9.9.9, 203.0.113.9' }
    expect((await ask(port, '/where', forged)).body).toContain('"ip":"203.0.113.9"')
  })

  test.each([
    ['203.0.113.9:5001', '203.0.113.9'],
    ['[2001:db8::1]:443', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['2001:db8::1', '2001:db8::1'],
    ['203.0.113.9:1, 127.0.0.7:2', '203.0.113.9'],
    ['1.2.3.4, nobody', '127.0.0.1'],
    ['1.2.3.4, nobody, 203.0.113.9', '203.0.113.9'],
    ['unknown', '127.0.0.1'],
    ['', '127.0.0.1']
  ])('a caller forwarded as %j is %s', async (forwarded, ip) => {
    const { port } = await start({ trustedProxies: ['127.0.0.0/8'] })
    const { body } = await ask(port, '/where', { ...FORWARDED, 'x-forwarded-for': forwarded })
    expect(JSON.parse(body)).toMatchObject({ ip })
  })

  test('plain HTTP at the proxy is redirected', async () => {
    const { port } = await start({ trustedProxies: ['127.0.0.1'], externalUrl: 'https://load.example.com' })
    const reply = await ask(port, '/where?a=b', {
      ...FORWARDED,
      'x-forwarded-proto': 'http',
      'x-forwarded-host': 'evil.example'
    })
    expect(reply).toMatchObject({ status: 308, location: 'https://load.example.com/where?a=b' })
  })

  test.each(['', ' ', 'ftp', 'https, wss', 'https,'])(
    'what may have been sent in plain text is not served: X-Forwarded-Proto %j',
    async (protocol) => {
      const { port } = await start({ trustedProxies: ['127.0.0.1'], externalUrl: 'https://load.example.com' })
      const headers = { 'x-forwarded-for': '203.0.113.9', 'x-forwarded-proto': protocol }
      const reply = await ask(port, '/where?token=lg_1_secret', headers)
      expect(reply).toMatchObject({ status: 403, location: undefined })
      expect(reply.body).toMatch(
        /it must set X-Forwarded-Proto to https or http; use https:\/\/load.example.com/
      )
      expect((await ask(port, '/probe')).body).toBe('here')
    }
  )

  test('a proxy that does not send the protocol counts as https, and is logged once', async () => {
    const { port, logged } = await start({ trustedProxies: ['127.0.0.1'] })
    for (let times = 0; times < 2; times++)
      expect((await ask(port, '/where', { 'x-forwarded-for': '203.0.113.9' })).status).toBe(200)
    expect(logged).toEqual([
      expect.stringMatching(/^requests from 127.0.0.1 have no X-Forwarded-Proto and count as https: /)
    ])
  })

  test('of several protocols the last one counts: it is by the nearest proxy', async () => {
    const { port } = await start({ trustedProxies: ['127.0.0.1'] })
    const ofProtocol = async (protocol: string): Promise<number> =>
      (await ask(port, '/where', { ...FORWARDED, 'x-forwarded-proto': protocol })).status
    expect(await ofProtocol('http, https')).toBe(200)
    expect(await ofProtocol('http, HTTPS')).toBe(200)
    expect(await ofProtocol('https, http')).toBe(308)
  })

  test('nobody else is served, except for probes, and nobody else is believed', async () => {
    const { port } = await start({ trustedProxies: ['10.0.0.0/8'], externalUrl: 'https://load.example.com' })
    const reply = await ask(port, '/where', FORWARDED)
    expect(reply.status).toBe(403)
    expect(reply.body).toContain('only reached through its proxy: use https://load.example.com')
    expect((await ask(port, '/probe', FORWARDED)).body).toBe('here')
  })

  test.each([
    ['https://load.example.com', 200],
    ['https://other.example', 403],
    ['http://load.example.com', 403],
    ['null', 403]
  ])('a page of %s gets %d', async (origin, status) => {
    const { port } = await start({ trustedProxies: ['127.0.0.1'], externalUrl: 'https://load.example.com' })
    expect((await ask(port, '/where', { ...FORWARDED, origin })).status).toBe(status)
  })
})

describe('limits', () => {
  test('slow headers get a 408', async () => {
    const { port } = await start({}, SHORT)
    expect(await send(port, 'GET / HTTP/1.1\r\nHost: a\r\n')).toMatch(/^HTTP\/1.1 408 /)
  })

  test('large headers get a 431', async () => {
    const { port } = await start({}, SHORT)
    expect(await send(port, GET('/', `X: ${'x'.repeat(17_000)}`))).toMatch(/^HTTP\/1.1 431 /)
  })

  test('a slow body gets a 408', async () => {
    const { port } = await start({}, SHORT)
    const text =
      'POST /json HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n{'
    expect(await send(port, text)).toMatch(/^HTTP\/1.1 408 /)
  })

  test('a large body that is no upload gets a 413', async () => {
    const { port } = await start({}, SHORT)
    const text =
      'POST /json HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 20000000\r\n\r\n{'
    expect(await send(port, text)).toMatch(/^HTTP\/1.1 413 /)
  })

  test('connections beyond their number are refused, and places become free again', async () => {
    const { port } = await start({}, { ...DEFAULT_LIMITS, connections: 2 })
    const held = [1, 2].map(() => connectPlain(port, '127.0.0.1'))
    await Promise.all(held.map((socket) => new Promise((done) => socket.once('connect', done))))
    expect(await send(port, GET('/where'))).toBe('')
    for (const socket of held) socket.destroy()
    let reply = ''
    while (reply === '') reply = await send(port, GET('/where'))
    expect(reply).toMatch(/^HTTP\/1.1 200/)
  })

  test('one address cannot take the connections of the others', async () => {
    const server = createLimitedServer((_, reply) => void reply.end('here'), {
      limits: { ...DEFAULT_LIMITS, connectionsPerNetwork: 2 },
      isExempt: (address) => address === '127.0.0.9'
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    const { port } = server.address() as AddressInfo
    const from = (localAddress: string): Socket => connectPlain({ port, host: '127.0.0.1', localAddress })
    const hold = async (localAddress: string): Promise<Socket> => {
      const socket = from(localAddress)
      socket.on('error', () => undefined)
      await new Promise((done) => socket.once('connect', done))
      return socket
    }
    const get = (localAddress: string): Promise<string> => {
      const socket = from(localAddress)
      socket.write(GET('/'))
      return readAll(socket)
    }
    try {
      const held = [await hold('127.0.0.1'), await hold('127.0.0.1')]
      expect(await get('127.0.0.1')).toBe('')
      // A refused one does not count: it was never there.
      expect(await get('127.0.0.1')).toBe('')
      expect(await get('127.0.0.2')).toMatch(/^HTTP\/1.1 200[^]*here/)
      held[0]?.destroy()
      let reply = ''
      while (reply === '') reply = await get('127.0.0.1')
      expect(reply).toMatch(/^HTTP\/1.1 200[^]*here/)
      // Proxies and this machine.
      for (let count = 0; count < 5; count++) held.push(await hold('127.0.0.9'))
      expect(await get('127.0.0.9')).toMatch(/^HTTP\/1.1 200[^]*here/)
      for (const socket of held) socket.destroy()
    } finally {
      server.closeAllConnections()
      server.close()
    }
  })

  test('one network of IPv6 counts as one caller, as for wrong tokens', async () => {
    const server = createLimitedServer((_, reply) => void reply.end('here'), {
      limits: { ...DEFAULT_LIMITS, connectionsPerNetwork: 2 },
      isExempt: () => false
    })
    let address = ''
    // Real connections, from addresses that this machine does not have.
    server.prependListener('connection', (socket: Socket) =>
      Object.defineProperty(socket, 'remoteAddress', { value: address })
    )
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    const { port } = server.address() as AddressInfo
    const held: Socket[] = []
    /** Answered, and then kept open; or refused. */
    const isServed = async (from: string): Promise<boolean> => {
      address = from
      const socket = connectPlain(port, '127.0.0.1')
      socket.on('error', () => undefined).write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
      held.push(socket)
      return new Promise((resolve) =>
        socket.once('data', () => resolve(true)).once('close', () => resolve(false))
      )
    }
    try {
      const from = ['2001:db8:0:1::1', '2001:db8:0:1:ffff::2', '2001:db8:0:1::3', '2001:DB8::1:0:0:0:4']
      const served: boolean[] = []
      for (const one of from) served.push(await isServed(one))
      expect(served).toEqual([true, true, false, false])
      expect(await isServed('2001:db8:0:2::1')).toBe(true)
      expect(await isServed('fe80::1%eth0')).toBe(true)
      // Those of IPv4 are callers of their own, however they are written.
      for (const one of ['::ffff:192.0.2.1', '192.0.2.1', '192.0.2.2']) expect(await isServed(one)).toBe(true)
      expect(await isServed('::ffff:192.0.2.1')).toBe(false)
    } finally {
      for (const socket of held) socket.destroy()
      server.closeAllConnections()
      server.close()
    }
  })

  test.each([
    ['this machine', undefined],
    ['a proxy', ['127.0.0.1']]
  ])('%s is not limited by its address', async (_, trustedProxies) => {
    const { port } = await start({ trustedProxies }, { ...DEFAULT_LIMITS, connectionsPerNetwork: 1 })
    const held = await Promise.all(
      [1, 2, 3].map(
        () =>
          new Promise<Socket>((done) => {
            const socket = connectPlain(port, '127.0.0.1', () => done(socket))
          })
      )
    )
    expect(await send(port, GET('/probe'))).toMatch(/^HTTP\/1.1 200[^]*here/)
    for (const socket of held) socket.destroy()
  })
})

describe('an address that cannot be used is named with its key, and what to do', () => {
  test('a port in use', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await new Promise((done) => other.once('listening', done))
    const { port } = other.address() as AddressInfo
    await expect(start({ listen: { host: '127.0.0.1', port } })).rejects.toThrow(
      new RegExp(`^listen: 127.0.0.1:${port} is in use by another process; .*choose another port$`)
    )
    other.close()
  })

  test('an address of another machine', async () => {
    await expect(start({ listen: { host: '192.0.2.1', port: 0 }, tls: first })).rejects.toThrow(
      /^listen: 192.0.2.1:0 is not an address of this machine; choose/
    )
  })
})

test('links have the name of the machine where it listens everywhere', async () => {
  const { front, port } = await start({ tls: first, listen: { host: '0.0.0.0', port: 0 } })
  expect(front.baseUrl()).toMatch(new RegExp(`^https://[^/:]+:${port}$`))
})
