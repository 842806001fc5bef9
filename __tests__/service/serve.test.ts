import { afterEach, describe, expect, test } from '@jest/globals'
import { execFile } from 'node:child_process'
import { readdirSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { openUsers } from '../../src/service/accounts/open-users.js'
import { DEFAULT_LIMITS } from '../../src/service/http/limits.js'
import { serve, type ServedService } from '../../src/service/serve.js'
import { type ServiceOptions, startService } from '../../src/service/server.js'
import { parseConfig } from '../../src/service/config/parse-config.js'
import { makeCertificate } from '../support/certificate.js'
import { instructionsOf } from '../support/tools/service-image.js'
import { createFolders, formOf, runForm, until } from './support.js'

const folders = createFolders()
const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((service) => service.close()))
  folders.remove()
})

interface Started extends ServedService {
  readonly folder: string
  readonly port: number
  readonly lines: Record<string, unknown>[]
}

/** As `loadgate serve --config` with these keys beyond those that every file has. */
async function start(keys = '', folder = folders.create()): Promise<Started> {
  const { config, problems } = parseConfig(`listen: 127.0.0.1:0\ndata: data\n${keys}`, folder)
  if (!config) throw new Error(problems.join('\n'))
  const lines: Record<string, unknown>[] = []
  const served = await serve(
    {
      ...{ setUp: config, rehearse: true, serviceName: undefined, signal: new AbortController().signal },
      log: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>)
    },
    {
      start: startService,
      pages: () => import('../../src/report/page/served/served-pages.js'),
      limits: DEFAULT_LIMITS
    }
  )
  open.push(served)
  return { ...served, folder, lines, port: Number(served.listening?.split(':').at(-1)) }
}

function ask(
  { port }: Started,
  path: string,
  headers: Record<string, string> = {}
): Promise<{ status: number; body: string }> {
  return new Promise((done, fail) => {
    request({ host: '127.0.0.1', port, path, headers, agent: false }, (reply) => {
      let body = ''
      reply.on('data', (chunk: Buffer) => (body += chunk.toString()))
      reply.on('end', () => done({ status: reply.statusCode ?? 0, body }))
    })
      .on('error', fail)
      .end()
  })
}

describe('plans on this machine', () => {
  const asked: ServiceOptions[] = []
  const startAs = async (setUp: Parameters<typeof serve>[0]['setUp']): Promise<ServiceOptions> => {
    const served = await serve(
      {
        setUp,
        rehearse: true,
        serviceName: undefined,
        signal: new AbortController().signal,
        log: () => undefined
      },
      {
        start: (options) => {
          asked.push(options)
          return startService(options)
        },
        pages: () => import('../../src/report/page/served/served-pages.js')
      }
    )
    open.push(served)
    return asked.at(-1)!
  }
  const team = () => parseConfig('listen: 127.0.0.1:0\ndata: data\n', folders.create()).config!
  const { env: before } = process
  afterEach(() => {
    process.env = before
  })

  test('are never run as root for a team, whose tools every user can read', async () => {
    process.env = { ...before, XDG_CACHE_HOME: undefined, RUNNER_TOOL_CACHE: undefined }
    const { isolatesPlans, env } = await startAs(team())
    expect(isolatesPlans).toBe('always')
    expect(env?.XDG_CACHE_HOME).toBe(process.getuid?.() === 0 ? '/var/cache/loadgate' : undefined)
  })

  test.each(['XDG_CACHE_HOME', 'RUNNER_TOOL_CACHE'])(
    '%s says where the tools of a team are',
    async (name) => {
      delete process.env.XDG_CACHE_HOME
      delete process.env.RUNNER_TOOL_CACHE
      process.env[name] = '/chosen'
      const { env } = await startAs(team())
      expect([env?.XDG_CACHE_HOME, env?.RUNNER_TOOL_CACHE]).toContain('/chosen')
      expect([env?.XDG_CACHE_HOME, env?.RUNNER_TOOL_CACHE]).toContain(undefined)
    }
  )

  test('are its owner’s in a service for one person', async () => {
    const { isolatesPlans, env } = await startAs({
      dataDir: folders.create(),
      port: 0,
      token: undefined,
      regions: undefined
    })
    expect([isolatesPlans, env]).toEqual(['where possible', undefined])
  })
})

describe('the metrics', () => {
  const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` })

  test('are nobody’s where the config file has no metrics, and the reply says so', async () => {
    const service = await start()
    const { status, body } = await ask(service, '/metrics')
    expect([status, body]).toEqual([404, expect.stringContaining('has no `metrics`')])
  })

  test('are for the addresses of the config file', async () => {
    const allowed = await start('metrics: { allow: [192.0.2.1, 127.0.0.0/8] }')
    expect((await ask(allowed, '/metrics')).body).toContain('loadgate_build_info')
    const refused = await start('metrics: { allow: [192.0.2.1, "fd00::/8"] }')
    const { status, body } = await ask(refused, '/metrics', bearer('any'))
    expect([status, body]).toEqual([403, expect.stringContaining('127.0.0.1 is not in metrics.allow')])
  })

  test('are for the address that the proxy forwards, and only a proxy is believed', async () => {
    const forwarded = { 'x-forwarded-for': '192.0.2.1', 'x-forwarded-proto': 'https' }
    const behind = await start('behind-proxy: { trusted: [127.0.0.1] }\nmetrics: { allow: [192.0.2.1] }')
    expect((await ask(behind, '/metrics', forwarded)).status).toBe(200)
    expect((await ask(behind, '/metrics', { ...forwarded, 'x-forwarded-for': '192.0.2.2' })).status).toBe(403)
    expect((await ask(behind, '/metrics')).status).toBe(403)
    const elsewhere = await start('behind-proxy: { trusted: [192.0.2.9] }\nmetrics: { allow: [192.0.2.1] }')
    expect((await ask(elsewhere, '/metrics', forwarded)).status).toBe(403)
  })

  test('are for the token that is in the file now', async () => {
    const folder = folders.create()
    const file = join(folder, 'token')
    writeFileSync(file, 'first-0123456789abcdef\n')
    const service = await start('metrics: { token-file: token }', folder)
    const statusWith = async (token: string): Promise<number> =>
      (await ask(service, '/metrics', bearer(token))).status
    expect(await statusWith('first-0123456789abcdef')).toBe(200)
    writeFileSync(file, 'second-0123456789abcdef')
    expect(await statusWith('first-0123456789abcdef')).toBe(401)
    expect(await statusWith('second-0123456789abcdef')).toBe(200)
    // An empty file is nobody's token.
    writeFileSync(file, '')
    for (const token of ['', 'second-0123456789abcdef']) expect(await statusWith(token)).toBe(401)
  })

  test.each([
    ['is missing', undefined, /^metrics.token-file cannot be read: .*ENOENT/],
    ['is short', 'secret', /at least 16 characters/]
  ])('a token file that %s is a problem of the config file', async (_, text, words) => {
    const folder = folders.create()
    if (text !== undefined) writeFileSync(join(folder, 'token'), text)
    await expect(start('metrics: { token-file: token }', folder)).rejects.toMatchObject({
      name: 'ConfigProblem',
      message: expect.stringMatching(words)
    })
  })
})

describe('the health check of the image', () => {
  const [line = ''] = instructionsOf('images/service/Dockerfile').filter((one) =>
    one.startsWith('HEALTHCHECK')
  )
  const [, script = ''] = /CMD \["node", "-e", (".*")\]$/.exec(line) ?? []
  const check = (port: number): Promise<number> =>
    new Promise((done) => {
      const code = (JSON.parse(script) as string).replace(':8443/', `:${port}/`)
      execFile(process.execPath, ['-e', code], (error) => done(error ? Number(error.code) : 0))
    })

  test.each(['behind-proxy: { trusted: [10.0.0.0/8] }', 'tls: { certificate: a.pem, key: a.key }'])(
    'finds a service with %s alive, and none dead',
    async (keys) => {
      const folder = folders.create()
      makeCertificate(folder, 'a')
      const service = await start(keys, folder)
      expect(await check(service.port)).toBe(0)
      await service.close()
      expect(await check(service.port)).toBe(1)
    }
  )
})

test('an upload that has begun when the service is told to end gets its reply: nothing new is created', async () => {
  const service = await start('drain: 20s')
  const users = openUsers(join(service.folder, 'data'), () => undefined)
  const { token } = users.add('ci', 'member')
  users.close()
  const { headers, body: form } = formOf(runForm())
  const body = Buffer.from(form)
  const text = [
    `POST /runs HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\nContent-Length: ${body.length}`,
    `Content-Type: ${headers['content-type'] ?? ''}\r\n\r\n`
  ].join('\r\n')
  const socket = connect(service.port, '127.0.0.1')
  let reply = ''
  socket.on('data', (chunk: Buffer) => (reply += chunk.toString()))
  socket.on('error', () => undefined)
  const gone = new Promise((done) => socket.once('close', done))
  socket.write(text)
  // Half of it, so that the service has begun to write it.
  socket.write(body.subarray(0, body.length >> 1))
  await until(() => readdirSync(join(service.folder, 'data', 'uploads')).length > 0)
  let isClosed = false
  const closed = service.close().then(() => (isClosed = true))
  open.splice(0)
  await until(() => service.lines.length > 0)
  expect((await ask(service, '/readyz')).status).toBe(503)
  await new Promise((done) => setTimeout(done, 50))
  expect([isClosed, reply]).toEqual([false, ''])
  socket.write(body.subarray(body.length >> 1))
  await gone
  expect(reply).toMatch(/^HTTP\/1.1 503 [^]*retry-after: \d+/)
  await closed
  // Refused on purpose: no failure, and no stack.
  expect(service.lines.filter(({ level, err }) => level === 'error' || err)).toEqual([])
  expect(service.lines).toContainEqual(
    expect.objectContaining({
      msg: 'the request was refused',
      level: 'info',
      reason: expect.any(String),
      reqId: expect.any(String)
    })
  )
})
