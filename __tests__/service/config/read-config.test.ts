import { describe, expect, test } from '@jest/globals'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ConfigError } from '../../../src/service/config/config.js'
import { SIZE_UNITS } from '../../../src/service/config/keys.js'
import { parseConfig, readServiceConfig } from '../../../src/service/config/parse-config.js'

const LOOPBACK = 'listen: 127.0.0.1:0\ndata: d\n'
const parse = (text: string) => parseConfig(text, '/etc/loadgate')
const problemsOf = (text: string) => parse(text).problems

test('reads the file of the documentation, with its paths from its own folder', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'loadgate-config-'))
  try {
    const file = join(folder, 'service.yml')
    await writeFile(
      file,
      `listen: 0.0.0.0:8443
data: /var/lib/loadgate
external-url: https://load.example.com/
tls: { certificate: cert.pem, key: keys/key.pem }   # reloaded when they change
max-nodes: 4
drain: 10m
retention: { days: 90, size: 50GB, runs-per-project: 500 }
login: { issuer: "https://id.example.com/realms/acme", client-id: loadgate, client-secret-file: client.secret, admins: [ops], members: [dev, qa] }
metrics: { token-file: metrics.token }
regions: { here: { processes: {} } }
`
    )
    expect(await readServiceConfig(file)).toEqual({
      listen: { host: '0.0.0.0', port: 8443 },
      dataDir: '/var/lib/loadgate',
      externalUrl: 'https://load.example.com',
      tls: { certificate: join(folder, 'cert.pem'), key: join(folder, 'keys/key.pem') },
      trustedProxies: undefined,
      maxNodes: 4,
      drainMs: 600_000,
      retention: { days: 90, bytes: 50e9, runsPerProject: 500 },
      login: {
        ...{ issuer: 'https://id.example.com/realms/acme', clientId: 'loadgate', groupsClaim: 'groups' },
        clientSecretFile: join(folder, 'client.secret'),
        groups: { admin: ['ops'], member: ['dev', 'qa'], viewer: [] },
        ...{ maxAgeSec: undefined, caFile: undefined }
      },
      metrics: { tokenFile: join(folder, 'metrics.token') },
      regions: new Map([['here', { kind: 'processes' }]])
    })
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('single sign-on needs an address that people are sent back to', () => {
  const login = 'login: { issuer: "https://id.example.com?x", client-id: a, client-secret-file: s }\n'
  expect(problemsOf(LOOPBACK + login)).toEqual([
    'login: issuer: "https://id.example.com?x" is not an https address without user name and query, such as https://id.example.com',
    'login: must have admins, members or viewers: the groups that may use the service',
    'login needs external-url: the provider sends people back to <external-url>/login/callback, which is registered there'
  ])
})

test('needs no more than an address on loopback and a folder', () => {
  expect(parse(LOOPBACK).config).toEqual({
    listen: { host: '127.0.0.1', port: 0 },
    dataDir: '/etc/loadgate/d',
    drainMs: 600_000,
    retention: {}
  })
})

test('reads quotas and how long a run stays, and names what is wrong with its whole place', () => {
  const { config } = parse(
    `${LOOPBACK}retention: { at-least: 36h }\nquotas: { user: { waiting-runs: 20, disk: 5GB }, projects: { acme/shop: { nodes: 4 } } }`
  )
  expect([config?.retention, config?.quotas]).toEqual([
    { atLeastMs: 36 * 3_600_000 },
    {
      ...{ user: { 'waiting-runs': 20, disk: 5e9 }, project: {}, users: new Map() },
      projects: new Map([['acme/shop', { nodes: 4 }]])
    }
  ])
  expect(
    problemsOf(`${LOOPBACK}quotas: { user: { nodes: none }, projects: { shop: { disc: 1GB } } }`)
  ).toEqual([
    expect.stringMatching(/^quotas: user: nodes: "none" is invalid/),
    expect.stringMatching(/^quotas: projects: shop: unknown key disc \(did you mean disk\?\)/)
  ])
})

test('finds every problem at once, each with its key, its value and what is accepted', async () => {
  const { config, problems } = parse(`listen: 8443
data:
externalurl: https://x.example
external-url: https://me:hunter2@load.example.com/path
tls: { cert: a.pem, key: [k.pem] }
max-nodes: 0
drain: soon
retention: { day: 3, size: 50, runs-per-project: many }
metrics: { token-file: t, allow: [10.0.0.0/33] }
behind-proxy: { trusted: [0.0.0.0/0, proxy.example] }
regions: { eu: { kubernets: {} } }
`)
  expect(config).toBeUndefined()
  expect(problems).toEqual([
    expect.stringMatching(
      /^unknown key externalurl \(did you mean external-url\?\); known keys are listen, data/
    ),
    expect.stringMatching(/^listen: "8443" is invalid; expected an address and a port/),
    'data: must be text, found nothing',
    expect.stringMatching(
      /^external-url: "https:\/\/…@load.example.com\/path" is invalid; expected an https address/
    ),
    expect.stringMatching(
      /^tls: unknown key cert \(did you mean certificate\?\)|^tls: unknown key cert; known keys are certificate, key/
    ),
    expect.stringMatching(/^tls: certificate is missing/),
    'tls: key: must be text, found a list',
    expect.stringMatching(
      /^behind-proxy: trusted: element 1: "0.0.0.0\/0" is invalid; expected an address or a range/
    ),
    expect.stringMatching(/^behind-proxy: trusted: element 2: "proxy.example" is invalid/),
    'max-nodes: "0" is invalid; expected a whole number, at least 1',
    expect.stringMatching(/^drain: "soon" is invalid; expected a duration of at least 0 s/),
    expect.stringMatching(/^retention: unknown key day \(did you mean days\?\)/),
    expect.stringMatching(/^retention: size: "50" is invalid; expected a size above 0 with a unit/),
    expect.stringMatching(/^retention: runs-per-project: "many" is invalid; expected a whole number/),
    expect.stringMatching(/^metrics: allow: element 1: "10.0.0.0\/33" is invalid/),
    expect.stringMatching(/^metrics: must have either token-file or allow/),
    expect.stringMatching(/^regions: eu: unknown key kubernets \(did you mean kubernetes\?\)/),
    expect.stringMatching(/^regions: eu: must be `kubernetes/),
    expect.stringMatching(/^tls and behind-proxy exclude each other/)
  ])
  expect(problems.join()).not.toContain('hunter2')
})

test('names the file that cannot be read, and the problems of one that can', async () => {
  await expect(readServiceConfig('/nonexistent/service.yml')).rejects.toThrow(
    /^\/nonexistent\/service.yml: the file cannot be read: ENOENT/
  )
  const error = new ConfigError('s.yml', ['one', 'two'])
  expect(error.message).toBe('2 problems in s.yml:\n- one\n- two')
})

describe('listen', () => {
  test.each([
    ['127.0.0.1:8080', '127.0.0.1', 8080],
    ['localhost:0', 'localhost', 0],
    ['"[::1]:8443"', '::1', 8443]
  ])('takes %s', (text, host, port) => {
    expect(parse(`listen: ${text}\ndata: d`).config?.listen).toEqual({ host, port })
  })

  test('takes all addresses where the wire is encrypted', () => {
    const text = 'listen: :8443\ndata: d\ntls: { certificate: c, key: k }'
    expect(parse(text).config?.listen).toEqual({ host: '::', port: 8443 })
  })

  test.each([
    '::1:8443',
    '[127.0.0.1]:1',
    '127.0.0.1',
    '127.0.0.1:65536',
    '127.0.0.256:1',
    'http://a:1',
    '-a:1',
    '10.1:80'
  ])('refuses %s', (text) => {
    expect(problemsOf(`listen: "${text}"\ndata: d\ntls: { certificate: c, key: k }`)).toEqual([
      expect.stringMatching(/^listen: .* is invalid; expected an address and a port/)
    ])
  })

  test.each(['0.0.0.0:1', ':1', '"[::]:1"', '10.0.0.1:1', 'load.example.com:1', '"[fd00::1]:1"'])(
    'refuses %s without https, and says how to get it',
    (text) => {
      const problem = expect.stringMatching(
        /^listen: .* without https .* add tls: .* or behind-proxy: .* or listen on 127/
      )
      expect(problemsOf(`listen: ${text}\ndata: d`)).toEqual([problem])
      expect(problemsOf(`listen: ${text}\ndata: d\ntls: { certificate: c, key: k }`)).toEqual([])
      expect(problemsOf(`listen: ${text}\ndata: d\nbehind-proxy: { trusted: [10.0.0.0/8] }`)).toEqual([])
    }
  )
})

test.each(Object.entries(SIZE_UNITS))('counts sizes in %s', (unit, bytes) => {
  expect(parse(`${LOOPBACK}retention: { size: 1.5${unit} }`).config?.retention).toEqual({
    bytes: bytes * 1.5
  })
  const [problem] = problemsOf(`${LOOPBACK}retention: { size: 2${unit.slice(0, -1).toLowerCase()} }`)
  expect(problem).toContain(`did you mean 2${unit}?`)
})

test('accepts plain http as the external address only where the service is plain http itself', () => {
  expect(problemsOf(`${LOOPBACK}external-url: http://localhost:8080`)).toEqual([])
  expect(problemsOf(`${LOOPBACK}external-url: http://a.example\ntls: { certificate: c, key: k }`)).toEqual([
    expect.stringContaining('must start with https://')
  ])
})

test('says that a file is not YAML, or not a map', () => {
  expect(problemsOf('listen: [')).toEqual([expect.stringMatching(/^is not YAML: /)])
  expect(problemsOf('- a')[0]).toBe('must be a map, found a list')
  expect(problemsOf('')).toEqual([
    expect.stringMatching(/^listen is missing/),
    expect.stringMatching(/^data is missing/)
  ])
})
