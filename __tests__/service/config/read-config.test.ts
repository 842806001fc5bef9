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
    'login: issuer: "https://id.example.com?***" is invalid; expected an https address without user name and query, such as https://id.example.com',
    'login: must have admins, members or viewers: the groups that may use the service',
    'login needs external-url: the provider sends people back to <external-url>/login/callback, which is registered there'
  ])
})

test.each([
  ['metrics: SECRET', 'metrics: must be a map, found text'],
  ['login: SECRET', 'login: must be a map, found text'],
  ['tls: SECRET', 'tls: must be a map, found text'],
  ['behind-proxy: SECRET', 'behind-proxy: must be a map, found text'],
  ['behind-proxy: { trusted: SECRET }', 'behind-proxy: trusted: must be a list, found text'],
  [
    'behind-proxy: { trusted: [SECRET] }',
    'behind-proxy: trusted: element 1: this text is invalid; expected an address'
  ],
  [
    'regions: { eu: { kubernetes: { image-pull-secrets: [SECRET] } } }',
    'this text is not a name in Kubernetes'
  ],
  ['external-url: SECRET', 'external-url: this text is invalid; expected an https address'],
  ['external-url: "https://SECRET@a.example"', 'external-url: "https://***@a.example" is invalid'],
  ['login: { issuer: SECRET }', 'login: issuer: this text is invalid; expected an https address'],
  [
    'login: { issuer: "https://admin:SECRET@a.example" }',
    'login: issuer: "https://***@a.example" is invalid'
  ],
  [
    'login: { issuer: "https://a.example/?key=SECRET" }',
    'login: issuer: "https://a.example/?***" is invalid'
  ],
  [
    'oidc: [ { issuer: SECRET } ]',
    'oidc: element 1: issuer: this text is invalid; expected an https address'
  ],
  ['oidc: [ { issuer: "https://a.example/?key=SECRET" } ]', 'issuer: "https://a.example/?***" is invalid']
])('never shows a secret in the wrong place: %s', (text, problem) => {
  const problems = problemsOf(LOOPBACK + text.replace('SECRET', 'Hunter2_secret'))
  expect(problems).toContainEqual(expect.stringContaining(problem))
  expect(problems.join()).not.toContain('unter2')
})

test.each(['shop ', ' shop', 'sh\u200bop', 'sh\u0007op', 'sh\u00a0op', 'sh\u202eop', 'sh\u3164op', ''])(
  'knows no project %j, which looks like another one',
  (name) => {
    const text = `projects: { ${JSON.stringify(name)}: {} }\nquotas: { projects: { ${JSON.stringify(name)}: {} } }`
    const shown = JSON.stringify(name.replace(/[^a-z]/g, '?'))
    expect(problemsOf(LOOPBACK + text)).toEqual(
      ['projects', 'quotas: projects'].map(
        (key) =>
          `${key}: ${shown} cannot be the name of a project: it must be text without invisible characters, and without blanks at its ends`
      )
    )
  }
)

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
    expect.stringMatching(/^quotas: user: nodes: this text is invalid/),
    expect.stringMatching(/^quotas: projects: shop: unknown key disc \(did you mean disk\?\)/)
  ])
})

test('claims in projects are those of one issuer', () => {
  const [first, second, people] = ['https://a.example', 'https://gitlab.example', 'https://id.example']
  const oidc = `oidc: [{ issuer: "${first}", audience: x, name: a, allow: [{ sub: x, role: member }] }, { issuer: "${second}", audience: x, name: b, allow: [{ sub: x, role: member }] }]\n`
  const login = `external-url: https://load.example.com\nlogin: { issuer: "${people}", client-id: x, client-secret-file: x, members: [x], groups-claim: teams }\n`
  const entryOf = (keys: string, entry: string): unknown =>
    parse(`${LOOPBACK}${keys}projects: { shop: { members: [${entry}] } }`).config?.projects?.get('shop')
      ?.members[0]
  for (const [keys, entry, issuer, isOfPeople, claims] of [
    [oidc + login, '{ groups: perf, sub: x }', people, true, { teams: 'perf', sub: 'x' }],
    [oidc + login, '{ groups: perf, ref: x }', first, false, { groups: 'perf', ref: 'x' }],
    [oidc, '{ groups: perf }', first, false, { groups: 'perf' }],
    [oidc + login, `{ iss: "${second}", groups: perf }`, second, false, { groups: 'perf' }],
    [oidc + login, `{ iss: "${people}", email: x }`, people, true, { email: 'x' }]
  ] as const)
    expect([entry, entryOf(keys, entry)]).toEqual([
      entry,
      { issuer, isOfPeople, claims: Object.entries(claims) }
    ])
  const inShop = (entry: string): string[] =>
    problemsOf(`${LOOPBACK}${oidc}projects: { shop: { members: [${entry}] } }`)
  expect(inShop('{ iss: "https://gitlab.*", ref: x }')).toEqual([
    'projects: shop: members: element 1: iss: "https://gitlab.*" is not an issuer of login or oidc, exactly as it is written there'
  ])
  expect(inShop(`{ iss: "${first}" }`)).toEqual([
    expect.stringContaining('has no claim and would be everyone')
  ])
})

describe('who or what a project lists must be there:', () => {
  const issuerOf = (name: string): string =>
    `{ issuer: "https://${name}.example", audience: x, name: ${name}, allow: [{ sub: x, role: member }] }`
  const oidc = `oidc: [${issuerOf('gitlab-eu')}, ${issuerOf('ci')}]\n`
  const login =
    'external-url: https://load.example.com\nlogin: { issuer: "https://id.example", client-id: x, client-secret-file: x, members: [x] }\n'
  const listing = (entry: string): string => `projects: { shop: { viewers: [ann, ${entry}] } }`
  const place = 'projects: shop: viewers: element 2:'
  const nobody = `${place} is nobody: claims are what an issuer says, and there is none (oidc, login)`

  test.each<[string, string, string]>([
    [
      'a pattern as the name of a project',
      'projects: { acme/*: { members: [ann] } }',
      'projects: "acme/*" would be one project of just this name: name each project, as patterns are for users only'
    ],
    [
      'a pattern as the name of a project in quotas',
      'quotas: { projects: { acme/*: { nodes: 4 } } }',
      'quotas: projects: "acme/*" would be one project of just this name: name each project, as patterns are for users only'
    ],
    [
      'users of an issuer, where there is none',
      listing('gitlab:acme/*'),
      `${place} "gitlab:acme/*" is nobody: no issuer of oidc has the name "gitlab"`
    ],
    [
      'users of an issuer that has another name',
      oidc + listing('gitlab:acme/*'),
      `${place} "gitlab:acme/*" is nobody: no issuer of oidc has the name "gitlab"`
    ],
    [
      'users of an issuer whose name is a pattern, as no user has that in front',
      oidc + listing('"c*:acme/*"'),
      `${place} "c*:acme/*" is nobody: no issuer of oidc has the name "c*"`
    ],
    [
      'users of an issuer, where people only sign in',
      login + listing('ci:x'),
      `${place} "ci:x" is nobody: no issuer of oidc has the name "ci"`
    ],
    ['groups, where nobody says who is in them', listing('{ groups: perf }'), nobody],
    ['other claims, where nobody says them', listing('{ repository: acme/shop }'), nobody],
    ['claims of tokens, where people only sign in', login + listing('{ ref: x }'), nobody]
  ])('%s', (_, text, problem) => {
    expect(problemsOf(LOOPBACK + text)).toEqual([problem])
  })

  test.each<[string, string]>([
    ['users of an issuer with that name', oidc + listing('ci:x')],
    ['users with a token, and repositories of the first issuer', oidc + listing('"*", acme/*')],
    ['groups of people who sign in', login + listing('{ groups: perf }')],
    ['claims of tokens', oidc + listing('{ repository: acme/shop }')],
    ['users by a pattern in quotas', 'quotas: { users: { acme/*: { nodes: 4 } } }']
  ])('not %s', (_, text) => {
    expect(problemsOf(LOOPBACK + text)).toEqual([])
  })
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
      /^external-url: "https:\/\/\*\*\*@load.example.com\/path" is invalid; expected an https address/
    ),
    expect.stringMatching(
      /^tls: unknown key cert \(did you mean certificate\?\)|^tls: unknown key cert; known keys are certificate, key/
    ),
    expect.stringMatching(/^tls: certificate is missing/),
    'tls: key: must be text, found a list',
    expect.stringMatching(
      /^behind-proxy: trusted: element 1: "0.0.0.0\/0" is invalid; expected an address or a range/
    ),
    expect.stringMatching(/^behind-proxy: trusted: element 2: this text is invalid/),
    'max-nodes: "0" is invalid; expected a whole number, at least 1',
    expect.stringMatching(/^drain: this text is invalid; expected a duration of at least 0 s/),
    expect.stringMatching(/^retention: unknown key day \(did you mean days\?\)/),
    expect.stringMatching(/^retention: size: "50" is invalid; expected a size above 0 with a unit/),
    expect.stringMatching(/^retention: runs-per-project: this text is invalid; expected a whole number/),
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
