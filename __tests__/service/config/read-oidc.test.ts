import { describe, expect, test } from '@jest/globals'
import { parseConfig } from '../../../src/service/config/parse-config.js'

const parse = (oidc: string) => parseConfig(`listen: 127.0.0.1:0\ndata: d\n${oidc}`, '/etc/loadgate')
const RULE = 'allow: [{ repository: acme/*, role: member }]'
const ISSUER = 'issuer: https://token.actions.githubusercontent.com'
const AUDIENCE = 'audience: https://load.example.com'

test('reads issuers with their rules, and the file of their authorities', () => {
  const { config, problems } = parse(`oidc:
  - issuer: https://token.actions.githubusercontent.com
    audience: https://load.example.com
    allow:
      - { repository: acme/*, role: member }
      - { repository: acme/shop, environment: production, repository_id: 0042, role: admin }
  - issuer: https://login.acme.example/realms/ci/
    name: realm
    audience: load
    ca: ca.pem
    allow: [{ sub: ci, role: viewer }]
`)
  expect(problems).toEqual([])
  expect(config?.oidc).toEqual([
    {
      issuer: 'https://token.actions.githubusercontent.com',
      userClaim: 'repository',
      audience: 'https://load.example.com',
      allow: [
        { role: 'member', claims: [['repository', 'acme/*']] },
        {
          role: 'admin',
          claims: [
            ['repository', 'acme/shop'],
            ['environment', 'production'],
            ['repository_id', '0042']
          ]
        }
      ]
    },
    {
      // As written: a slash at the end is part of it.
      issuer: 'https://login.acme.example/realms/ci/',
      ...{ name: 'realm', userClaim: 'sub' },
      audience: 'load',
      ca: '/etc/loadgate/ca.pem',
      allow: [{ role: 'viewer', claims: [['sub', 'ci']] }]
    }
  ])
})

test('finds every problem at once', () => {
  const { config, problems } = parse(`oidc:
  - isuer: https://a.example
    audience: [x]
    allow:
      - { role: member }
      - { repository: acme/*, rol: member }
      - { repository: acme/*, role: owner }
      - { repository: [acme/shop], role: member }
      - { iss: https://a.example, role: member }
      - acme/*
  - { issuer: "http://ci.example", audience: a, allow: [] }
  - { issuer: "https://me:hunter2@ci.example", audience: "", ${RULE} }
`)
  expect(config).toBeUndefined()
  expect(problems).toEqual([
    expect.stringMatching(/^oidc: element 1: unknown key isuer \(did you mean issuer\?\)/),
    expect.stringMatching(/^oidc: element 1: issuer is missing: Address of the issuer/),
    'oidc: element 1: audience: must be text, found a list',
    expect.stringMatching(/^oidc: element 1: allow: element 1: has no claim and would let in everyone/),
    expect.stringMatching(
      /^oidc: element 1: allow: element 2: role is missing: admin, member, viewer; did you mean role where it says rol\?/
    ),
    expect.stringMatching(
      /^oidc: element 1: allow: element 3: role: this text is invalid; expected one of admin, member, viewer/
    ),
    'oidc: element 1: allow: element 4: repository: must be text, found a list',
    expect.stringMatching(/^oidc: element 1: allow: element 5: iss is the same in all tokens/),
    expect.stringMatching(/^oidc: element 1: allow: element 6: must be a map/),
    expect.stringMatching(
      /^oidc: element 2: issuer: "http:\/\/ci.example" is invalid; expected an https address/
    ),
    expect.stringMatching(/^oidc: element 2: allow: is an empty list/),
    expect.stringMatching(/^oidc: element 3: issuer: "https:\/\/\*\*\*@ci.example" is invalid/),
    'oidc: element 3: audience: must be text, found nothing'
  ])
  expect(problems.join()).not.toContain('hunter2')
})

describe('refuses', () => {
  test.each([
    ['no list', 'oidc: {}', /^oidc: must be a list/],
    ['an empty list', 'oidc: []', /^oidc: is an empty list/],
    ['no audience', `oidc: [{ ${ISSUER}, ${RULE} }]`, /^oidc: element 1: audience is missing/],
    ['no rules', `oidc: [{ ${ISSUER}, ${AUDIENCE} }]`, /^oidc: element 1: allow is missing/],
    [
      'the same issuer twice',
      `oidc: [{ ${ISSUER}, ${AUDIENCE}, ${RULE} }, { ${ISSUER}, name: other, audience: other, ${RULE} }]`,
      /^oidc: the issuer https:\/\/token.actions.githubusercontent.com is there twice/
    ],
    ...[
      'repository: "*/*"',
      'repository: "*/shop"',
      'ref: refs/heads/main',
      'event_name: push',
      'sub: "repo:acme/*:*"',
      'sub: "repo:acme/shop:ref:refs/heads/main"',
      'sub: acme/shop, ref: refs/heads/main'
    ].map((claim): [string, string, RegExp] => [
      `strangers by ${claim}`,
      `oidc: [{ ${ISSUER}, ${AUDIENCE}, allow: [{ ${claim}, role: admin }] }]`,
      /^oidc: element 1: allow: element 1: lets in strangers/
    ]),
    [
      'strangers of gitlab.com by sub',
      `oidc: [{ issuer: https://gitlab.com, ${AUDIENCE}, allow: [{ sub: "project_path:acme/shop", role: admin }] }]`,
      /^oidc: element 1: allow: element 1: lets in strangers, .*; say whose, .* such as repository: acme\/\*/
    ],
    [
      'a query',
      `oidc: [{ issuer: "https://a.example?x", ${AUDIENCE}, ${RULE} }]`,
      /expected an https address/
    ]
  ])('%s', (_, text, words) => {
    expect(parse(text).problems).toEqual([expect.stringMatching(words)])
  })

  test.each([
    'repository: acme/*',
    'repository: "*/*", repository_owner_id: 12345',
    'sub: "repo:acme/*:*", project_id: 12',
    'repository_owner: acme, ref: refs/heads/main'
  ])('nobody by %s, which says whose', (claims) => {
    expect(
      parse(`oidc: [{ ${ISSUER}, ${AUDIENCE}, allow: [{ ${claims}, role: member }] }]`).problems
    ).toEqual([])
  })

  test('nor by any rule for an issuer of one company', () => {
    const company = 'issuer: https://gitlab.acme.example, name: gitlab'
    const rules = 'allow: [{ ref_protected: true, role: member }, { sub: "project_path:*", role: viewer }]'
    expect(parse(`oidc: [{ ${company}, ${AUDIENCE}, ${rules} }]`).problems).toEqual([])
  })

  test.each(['http://localhost:8080', 'http://127.0.0.1', 'http://[::1]:1/x'])(
    'not %s, which is on this machine',
    (issuer) => {
      expect(parse(`oidc: [{ issuer: "${issuer}", name: ci, ${AUDIENCE}, ${RULE} }]`).problems).toEqual([])
    }
  )
})
