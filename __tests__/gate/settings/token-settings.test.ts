import { describe, expect, test } from '@jest/globals'
import { readGridStartSettings, readGridStopSettings } from '../../../src/gate/grids/grid-settings.js'
import { readSettings } from '../../../src/gate/settings/settings.js'
import {
  LOCAL,
  REMOTE,
  SPECIFICATION,
  makeSources,
  problemsOf,
  readGiven
} from '../../support/gate/settings-sources.js'
import type { Given } from '../../support/gate/settings-sources.js'

const OIDC: Given = { ...REMOTE, 'base-url': 'https://load.example/some/api', token: 'oidc' }
const OFFERED = { offersIdTokens: true }
const LINES = /^\s+permissions:\n\s+id-token: write$/m

describe('token: oidc', () => {
  test.each(['oidc', 'OIDC'])('%s: ID tokens for the origin of base-url, and no API token', async (token) => {
    const { target } = await readGiven({ ...OIDC, token }, OFFERED)
    expect(target).toMatchObject({ kind: 'remote', token: '', idToken: { audience: 'https://load.example' } })
  })

  test('for the audience that is given', async () => {
    const { target } = await readGiven({ ...OIDC, 'oidc-audience': 'load' }, OFFERED)
    expect(target).toMatchObject({ idToken: { audience: 'load' } })
  })

  test('without the permission: the two lines to add, and what holds for forks', async () => {
    const [problem, ...others] = await problemsOf(OIDC)
    expect(others).toEqual([])
    expect(problem).toMatch(/^token: is oidc, but GitHub gives this job no ID token/)
    expect(problem).toMatch(LINES)
    expect(problem).toContain('Pull requests from forks never get an ID token: set on-missing-token: skip')
  })

  test('without the permission, with on-missing-token: skip: skipped, and says why', async () => {
    const skipped = await readSettings(makeSources({ ...OIDC, 'on-missing-token': 'skip' }))
    const words = /^GitHub gives this job no ID token .*forks.*`id-token: write`/
    expect(skipped).toEqual({ skip: expect.stringMatching(words) })
  })

  test('with the permission, on-missing-token: skip skips nothing', async () => {
    const { target } = await readGiven({ ...OIDC, 'on-missing-token': 'skip' }, OFFERED)
    expect(target).toHaveProperty('idToken')
  })

  test('with the embedded service: an error that says so', async () => {
    expect(await problemsOf({ ...LOCAL, token: 'oidc' }, OFFERED)).toEqual([
      'token: oidc is for a service, and base-url: local is the embedded one, which takes no token; give the address of a service as base-url, or remove token'
    ])
  })

  test('without a service: an error that says so', async () => {
    expect(await problemsOf({ ...OIDC, 'base-url': '' }, OFFERED)).toEqual([
      'base-url: is empty; give the address of the service (https://…), or local to run on this runner'
    ])
  })
})

test.each([
  ['an API token', REMOTE, 'is for token: oidc only; set token to oidc, or remove oidc-audience'],
  ['local', LOCAL, 'base-url: local takes no token; remove oidc-audience'],
  [
    'results',
    { results: 'a.csv' },
    'cannot be combined with results, which are judged without a service; remove one of the two'
  ]
])('oidc-audience with %s is an error', async (_, given, words) => {
  expect(await problemsOf({ ...given, 'oidc-audience': 'x' }, OFFERED)).toEqual([`oidc-audience: ${words}`])
})

test('a config file does not say which service accepts the ID tokens', async () => {
  const config = { ...OIDC, config: 'gate.yml' }
  expect(await problemsOf(config, { ...OFFERED, configText: 'oidc-audience: https://load.example' })).toEqual(
    [
      'config: gate.yml: oidc-audience cannot be set in a file; set it in the workflow: it says which service accepts the ID tokens of the job'
    ]
  )
})

describe('on the command line', () => {
  const given = { ...REMOTE, token: '' }
  const here = (problem?: string) => ({ environment: { baseUrl: '', idTokenFile: { problem } } })

  test('a file with an ID token is used in place of an API token', async () => {
    const { target } = await readGiven(given, here())
    expect(target).toMatchObject({ token: '', idToken: { audience: undefined } })
  })

  test('a file that cannot be used is an error, also where a missing token is skipped', async () => {
    const skipping = { ...given, 'on-missing-token': 'skip' }
    expect(await problemsOf(skipping, here('"x" is empty'))).toEqual(['LOADGATE_ID_TOKEN_FILE: "x" is empty'])
  })

  test('both variables: an error that says which', async () => {
    expect(await problemsOf(REMOTE, here())).toEqual([
      'token: LOADGATE_TOKEN and LOADGATE_ID_TOKEN_FILE are both set; remove one of the two'
    ])
  })

  test('neither: an error that names both', async () => {
    expect(await problemsOf(given, { environment: { baseUrl: '' } })).toEqual([
      "token: LOADGATE_TOKEN is not set; set it to the service's API token, or LOADGATE_ID_TOKEN_FILE to a file with an ID token"
    ])
  })

  test('the word oidc is for the action', async () => {
    const [problem] = await problemsOf({ ...REMOTE, token: 'oidc' }, { environment: { baseUrl: '' } })
    expect(problem).toMatch(/^token: is oidc, which only the action understands.*LOADGATE_ID_TOKEN_FILE/)
  })

  test('a file without a service: where the load would come from is not guessed', async () => {
    const [problem] = await problemsOf({ files: 'plan.jmx' }, here())
    expect(problem).toMatch(/^token: LOADGATE_ID_TOKEN_FILE is set, but no service is given/)
  })

  test('a file is no problem where local was chosen', async () => {
    expect(await readGiven(LOCAL, here('"x" is empty'))).toMatchObject({ target: { kind: 'local' } })
  })

  test('a config file that was found does not say where the ID token goes', async () => {
    const environment = { baseUrl: '', isConfigFound: true, idTokenFile: { problem: undefined } }
    const [problem] = await problemsOf(given, { environment })
    expect(problem).toContain('not trusted with LOADGATE_ID_TOKEN_FILE')
  })
})

describe.each([
  ['grid-start', readGridStartSettings, SPECIFICATION],
  ['grid-stop', readGridStopSettings, '[abc]']
])('%s', (_, read, grids) => {
  const given: Readonly<Record<string, string>> = {
    'base-url': 'https://load.example/x',
    token: 'oidc',
    grids
  }

  test('takes ID tokens', async () => {
    const settings = await read((name) => given[name] ?? '', OFFERED)
    expect(settings?.service).toMatchObject({ token: '', idToken: { audience: 'https://load.example' } })
  })

  test('says what to add without the permission', async () => {
    await expect(read((name) => given[name] ?? '')).rejects.toThrow(LINES)
  })
})
