import { describe, expect, test } from '@jest/globals'
import { Ajv } from 'ajv'
import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { CONFIG_KEYS, parseConfig } from '../../../src/service/config/parse-config.js'

const schema = JSON.parse(readFileSync('schema/service.schema.json', 'utf8')) as {
  readonly properties: Readonly<Record<string, { readonly description: string }>>
}
const validate = new Ajv({ allowUnionTypes: true, strictTypes: false, strictRequired: false }).compile(schema)
/** As an editor reads the file: with numbers and booleans. */
const isValid = (yaml: string): boolean => validate(parse(yaml))
const problemsOf = (yaml: string): readonly string[] => parseConfig(yaml, '/').problems

const TLS = 'tls: { certificate: c.pem, key: k.pem }\n'
const LOGIN = `external-url: https://load.example.com\n${TLS}login: { issuer: "https://id.example.com/a", client-id: x, client-secret-file: s,`
/** Loopback, unless the example says where it listens. */
const complete = (yaml: string): string =>
  `${/^listen:/m.test(yaml) ? '' : 'listen: 127.0.0.1:0\n'}${/^data:/m.test(yaml) ? '' : 'data: d\n'}${yaml}`

test('has the keys of the file, each with its description', () => {
  expect(Object.entries(schema.properties).map(([key, { description }]) => [key, description])).toEqual(
    Object.entries(CONFIG_KEYS)
  )
})

describe('an editor and the service agree', () => {
  test.each([
    '',
    'listen: localhost:65535',
    'listen: "[::1]:8443"',
    'listen: 127.1.2.3:80',
    `listen: :8443\n${TLS}`,
    `listen: "[fd00::1]:0"\n${TLS}`,
    `listen: load.example.com:443\n${TLS}`,
    'listen: 0.0.0.0:80\nbehind-proxy: { trusted: [10.0.0.0/8, 192.0.2.1, "fd00::/8", "::1"] }',
    'data: 2026',
    `external-url: https://load.example.com:8443/\n${TLS}`,
    'external-url: http://localhost',
    'oidc: [{ issuer: https://a.example, user-claim: project_path, audience: a, allow: [{ repository: acme/*, role: member }] }]',
    'oidc: [{ issuer: "http://localhost:1", name: ci, audience: 1, ca: c, allow: [{ id: 42, ok: true, role: admin }] }]',
    'max-nodes: 4',
    'max-nodes: "4"',
    'drain: 0',
    'drain: 1h30m',
    'retention: {}',
    'retention: { days: 1, size: 0.5TiB, runs-per-project: 1 }',
    'retention: { size: 50 GB }',
    'retention: { at-least: 0 }',
    'retention: { at-least: 36h }',
    'quotas: {}',
    'quotas: { user: { waiting-runs: 20, nodes: 10, upload-per-day: 5GB, disk: 0.5TB }, project: {} }',
    'quotas: { users: { shop-ci: { nodes: 1 } }, projects: { acme/shop: { disk: 1GB } } }',
    'metrics: { token-file: t }',
    'metrics: { allow: [127.0.0.1] }',
    `${LOGIN} members: [dev] }`,
    `${LOGIN} admins: [a, "b c"], viewers: [7], groups-claim: teams, max-age: 10h, ca: ca.pem }`,
    'regions: { eu: { kubernetes: { namespace: load } }, here: { processes: {} } }',
    'projects: {}',
    'projects: { shop: {} }',
    'oidc: [{ issuer: https://a.example, name: ci, audience: a, allow: [{ sub: a, role: admin }] }]\nprojects: { acme/shop: { members: [ann, acme/*, 007, "ci:*"], viewers: [{ groups: perf }, { repository: acme/shop, environment: production }] } }'
  ])('on %j, which is right', (yaml) => {
    expect(problemsOf(complete(yaml))).toEqual([])
    expect(isValid(complete(yaml))).toBe(true)
  })

  test.each([
    'listen: 8443',
    'listen: 127.0.0.1',
    'listen: 127.0.0.1:65536',
    'listen: "::1:80"',
    'listen: 0.0.0.0:8443',
    'listen: :0',
    'listen: "[::]:0"',
    'listen: 10.0.0.1:1',
    `${TLS}behind-proxy: { trusted: [10.0.0.0/8] }`,
    'data: ""',
    'data: [a]',
    'external-url: load.example.com',
    'external-url: https://load.example.com/path',
    'external-url: https://me@load.example.com',
    'external-url: ftp://load.example.com',
    'tls: { certificate: c.pem }',
    'tls: c.pem',
    'behind-proxy: {}',
    'behind-proxy: { trusted: [] }',
    'behind-proxy: { trusted: [0.0.0.0/0] }',
    'behind-proxy: { trusted: [10.0.0.0/33] }',
    'behind-proxy: { trusted: [loopback] }',
    'behind-proxy: { trusted: 10.0.0.0/8 }',
    'projects: shop',
    'projects: { shop: [ann] }',
    'projects: { shop: { member: [ann] } }',
    'projects: { shop: { members: ann } }',
    'projects: { shop: { members: [""] } }',
    'projects: { shop: { members: [{}] } }',
    'projects: { shop: { viewers: [[ann]] } }',
    'projects: { shop: { viewers: [{ groups: [perf] }] } }',
    'oidc: []',
    'oidc: [{ issuer: https://a.example, audience: a }]',
    'oidc: [{ issuer: https://a.example, name: ci, audience: a, allow: [] }]',
    'oidc: [{ issuer: https://a.example, name: ci, allow: [{ sub: a, role: admin }] }]',
    'oidc: [{ issuer: "http://a.example", name: ci, audience: a, allow: [{ sub: a, role: admin }] }]',
    'oidc: [{ issuer: "http://localhost.evil.example", name: ci, audience: a, allow: [{ sub: a, role: admin }] }]',
    'oidc: [{ issuer: "https://a@a.example", name: ci, audience: a, allow: [{ sub: a, role: admin }] }]',
    'oidc: [{ issuer: https://a.example, name: ci, audience: a, allow: [{ role: admin }] }]',
    'oidc: [{ issuer: https://a.example, name: ci, audience: a, allow: [{ sub: a }] }]',
    'oidc: [{ issuer: https://a.example, name: ci, audience: a, allow: [{ sub: [a], role: admin }] }]',
    'oidc: [{ issuer: https://a.example, name: ci, audience: a, allow: [{ sub: a, role: owner }] }]',
    'oidc: [{ issuer: https://a.example, name: ci, audience: a, allow: [{ iss: a, sub: a, role: admin }] }]',
    'oidc: [{ issuer: https://a.example, name: ci, audience: a, secret: s, allow: [{ sub: a, role: admin }] }]',
    `${LOGIN} }`,
    `${LOGIN} members: [] }`,
    `${LOGIN} members: dev }`,
    `${LOGIN} members: [dev], max-age: 299 }`,
    `${LOGIN} members: [dev], scope: openid }`,
    `${LOGIN} members: [dev] }`.replace('https://id', 'http://id'),
    `${LOGIN} members: [dev] }`.replace('client-id: x, ', ''),
    `${LOGIN} members: [dev] }`.replace(/^external-url.*$/m, ''),
    'max-nodes: 0',
    'max-nodes: 1.5',
    'drain: soon',
    'drain: ""',
    'retention: { days: 0 }',
    'retention: { size: 50 }',
    'retention: { size: 0GB }',
    'retention: { size: 50G }',
    'retention: { size: 50gb }',
    'retention: { weeks: 3 }',
    'retention: { at-least: soon }',
    'quotas: { user: { nodes: 0 } }',
    'quotas: { user: { disk: 50 } }',
    'quotas: { team: { nodes: 1 } }',
    'quotas: { users: { shop-ci: 3 } }',
    'quotas: { projects: { shop: { cores: 3 } } }',
    'metrics: {}',
    'metrics: { token-file: t, allow: [127.0.0.1] }',
    'metrics: { token: secret }',
    'regions: {}',
    'regions: { eu: { docker: {} } }',
    'token: x'
  ])('on %j, which is wrong', (yaml) => {
    expect(problemsOf(complete(yaml))).not.toEqual([])
    expect(isValid(complete(yaml))).toBe(false)
  })

  test.each(['listen: 127.0.0.1:0', 'data: d', ''])('that a file with only %j lacks a key', (yaml) => {
    expect(problemsOf(yaml)).not.toEqual([])
    expect(validate(parse(yaml) ?? {})).toBe(false)
  })
})
