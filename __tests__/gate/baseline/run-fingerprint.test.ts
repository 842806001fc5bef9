import { beforeEach, describe, expect, test } from '@jest/globals'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Fingerprint } from '../../../src/analysis/baseline/document/fingerprint.js'
import { describeDifference } from '../../../src/analysis/baseline/document/fingerprint.js'
import { fingerprintOf, ignoredBy, withFactsOf } from '../../../src/gate/baseline/run-fingerprint.js'
import type { Settings } from '../../../src/gate/settings/settings.js'
import { parseRegions } from '../../../src/contract/regions/parse-regions.js'
import type { GridChoice } from '../../../src/client/documents/requests.js'
import { makeGrid, makeRun, makeSettings, makeSpecification } from '../../support/gate/gate-ports.js'

const MACHINE = { system: 'linux x64', cpu: 'A CPU', cores: 4 }

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fingerprint-'))
  await writeFile(join(folder, 'plan.jmx'), 'a plan')
  await writeFile(join(folder, 'users.csv'), 'ada\ngrace\n')
})

function print(changes: Partial<Settings> & { grids?: GridChoice[] } = {}): Promise<Fingerprint> {
  const { grids = [makeSpecification()], ...rest } = changes
  const paths = ['plan.jmx', 'users.csv'].map((name) => join(folder, name))
  return fingerprintOf(makeSettings({ origin: { kind: 'files', paths, grids }, ...rest }), MACHINE)
}

async function differenceAfter(
  changes: Parameters<typeof print>[0],
  before: Parameters<typeof print>[0] = {}
): Promise<string | undefined> {
  return describeDifference(await print(before), await print(changes))
}

test('the same settings are comparable, wherever the files are', async () => {
  const first = await print()
  folder = await mkdtemp(join(tmpdir(), 'fingerprint-'))
  await writeFile(join(folder, 'plan.jmx'), 'a plan')
  await writeFile(join(folder, 'users.csv'), 'ada\ngrace\n')
  expect(describeDifference(first, await print())).toBeUndefined()
})

test.each([
  ['plan.jmx', 'the plan changed'],
  ['users.csv', 'the data file users.csv changed']
])('%s', async (name, words) => {
  const first = await print()
  await writeFile(join(folder, name), 'something else')
  expect(describeDifference(first, await print())).toBe(words)
})

test.each<[string, Partial<Settings> & { grids?: GridChoice[] }, string]>([
  ['the tool', { tool: 'gatling' }, 'the tool changed'],
  ['threads', { threads: 10 }, 'threads: 10, was not set'],
  ['ramp-up', { rampupSeconds: 30 }, 'ramp-up: 30 s, was not set'],
  ['duration', { durationSeconds: 60 }, 'duration: 60 s, was not set'],
  ['warm-up', { warmUpMs: 90_000 }, 'warm-up: 90 s, was not set'],
  [
    'a grid more',
    { grids: [makeSpecification(), makeSpecification()] },
    'grids: 2 × m4.large in us-east-1, 2'
  ],
  [
    'a region',
    { grids: [makeSpecification({ region: 'eu-west-1' })] },
    'grids: 2 × m4.large in eu-west-1, was'
  ],
  ['a parameter', { overrideParameters: '-Jusers=5' }, 'the parameter `users` is new']
])('%s counts', async (_, changes, words) => {
  expect(await differenceAfter(changes)).toContain(words)
})

describe('parameters', () => {
  test('by value', async () => {
    const difference = await differenceAfter(
      { overrideParameters: '-Jusers=6,-Dmode=a b, c' },
      { overrideParameters: '-Jusers=5 -Dmode=a b, c' }
    )
    expect(difference).toBe('the parameter `users` changed')
  })

  test('not by a value that is marked as secret', async () => {
    expect(await print({ overrideParameters: '-Jusers=secret:one' })).toEqual(
      await print({ overrideParameters: '-Jusers=secret:two' })
    )
  })

  test.each(['apiToken', 'API_KEY', 'mySecret', 'db_password', 'pwd'])('%s by name only', async (name) => {
    const one = { overrideParameters: `-J${name}=hunter2` }
    expect(await differenceAfter({ overrideParameters: `-J${name}=other` }, one)).toBeUndefined()
    expect(await differenceAfter(one)).toBe(`the parameter \`${name}\` is new`)
  })

  test.each([
    ...[
      'host',
      'HOST',
      'targetHost',
      'host2',
      'port',
      'serverPort',
      'BASE-URL',
      'base.url',
      'baseurl',
      'APIUrl'
    ],
    ...['target_host', 'server', 'protocol', 'scheme', 'domain', 'ip_address', 'endpoint', 'hostname']
  ])('%s says where the target is: it may be new, gone or another one', async (name) => {
    const one = { overrideParameters: `-Jusers=5, -J${name}=http://a:80/` }
    const none = { overrideParameters: '-Jusers=5' }
    expect(await differenceAfter(one, none)).toBeUndefined()
    expect(await differenceAfter(none, one)).toBeUndefined()
    expect(
      await differenceAfter({ overrideParameters: `-Jusers=5, -J${name}=b.test:8080` }, one)
    ).toBeUndefined()
    // As earlier versions recorded it.
    const recorded = { ...(await print(none)), [`parameter ${name}`]: 'any' }
    expect(describeDifference(recorded, await print(one))).toBeUndefined()
    expect(describeDifference(recorded, await print(none))).toBeUndefined()
    expect(
      describeDifference(recorded, await print({ overrideParameters: `-Jusers=6, -J${name}=//a` }))
    ).toBe('the parameter `users` changed')
  })

  test.each([
    ...['server_threads', 'url_count', 'ports', 'target', 'transport', 'hosting', 'portal', 'host_count'],
    ...['users_per_host', 'usersPerHost', 'import_users']
  ])('%s says more than that', async (name) => {
    const five = { overrideParameters: `-J${name}=5` }
    expect(await differenceAfter(five)).toBe(`the parameter \`${name}\` is new`)
    expect(await differenceAfter({ overrideParameters: `-J${name}=6` }, five)).toBe(
      `the parameter \`${name}\` changed`
    )
  })

  test.each([
    ['url', 'http://a.test/search?size=9', 'http://b.test:8080/search?size=9', 'http://a.test/ping'],
    ['endpoint', '/search?ms=100', '/search?ms=100', '/search?ms=1'],
    ['endpoint', 'search', 'search', 'ping'],
    ['base-uri', 'a.test:80/v1', 'b.test:81/v1', 'a.test:80/v2'],
    ['server', 'http://a.test/v1', 'https://b.test/v1', 'http://a.test/v2']
  ])('path and query of %s count: %s is as %s, not as %s', async (name, one, same, other) => {
    const given = (value: string): Partial<Settings> => ({ overrideParameters: `-J${name}=${value}` })
    expect(await differenceAfter(given(same), given(one))).toBeUndefined()
    expect(await differenceAfter(given(other), given(one))).toBe(`the parameter \`${name} (path)\` changed`)
  })

  test('that are listed in ignore-parameters do not count, in any case of letters', async () => {
    const baseline = { ...makeSettings().baseline, ignoredParameters: ['Build', 'tenant', 'url'] }
    const changed = { overrideParameters: '-Jbuild=2, -JTENANT=b, -Jurl=/a, -Jusers=5', baseline }
    expect(ignoredBy(baseline)('URL (path)')).toBe(true)
    expect(await differenceAfter(changed, { overrideParameters: '-Jusers=5' })).toBeUndefined()
    expect(await differenceAfter(changed, { overrideParameters: '-Jusers=6' })).toBe(
      'the parameter `users` changed'
    )
  })

  test('no value is in the fingerprint', async () => {
    const text = JSON.stringify(
      await print({ overrideParameters: '-Jpassword=hunter2 -Jname=ada --odd hunter3' })
    )
    expect(text).not.toMatch(/hunter|ada"/)
  })
})

test('hosts do not count, nor the order of the grids', async () => {
  const [a, b] = [makeSpecification(), makeSpecification({ region: 'eu-west-1' })]
  expect(await differenceAfter({ overrideHosts: '1.2.3.4 shop' })).toBeUndefined()
  expect(await differenceAfter({ grids: [a, b] }, { grids: [b, a] })).toBeUndefined()
})

test('grids that are referenced count as what they are, not by their ids', async () => {
  const referenced = await print({ grids: [{ id: 'one' }] })
  const grid = makeGrid({ id: 'other', region: 'us-east-1', instanceType: 'm4.large', nodeCount: 2 })
  const whole = withFactsOf(makeRun({ grids: [grid] }), referenced, makeSettings())
  expect(describeDifference(await print(), whole)).toBeUndefined()
  expect(JSON.stringify(referenced)).not.toContain('one')
})

describe("the tool's version", () => {
  const difference = (was: string | undefined, is: string | undefined, serviceName?: string) => {
    const [base, head] = [was, is].map((tool) =>
      withFactsOf(makeRun({ tool }), {}, makeSettings({ serviceName }))
    ) as [Fingerprint, Fingerprint]
    return describeDifference(base, head)
  }

  test.each([
    ['jmeter-5.5', 'jmeter-5.6.3', '(5.6.3, was 5.5)'],
    ['gatling-3.14.0', 'gatling-3.15.1-M1', '(3.15.1-M1, was 3.14.0)'],
    [
      'java-selenium-chrome-4.1, Chromium 139.0',
      'java-selenium-chrome-4.1, Chromium 140.0',
      '(4.1, Chromium 140.0, was 4.1, Chromium 139.0)'
    ],
    [
      'service-chrome-Chromium 139.0',
      'service-chrome-Chromium 140.0',
      '(Chromium 140.0, was Chromium 139.0)'
    ],
    ['jmeter', 'jmeter-5.6.3', '(5.6.3, was unknown)'],
    ['jmeter-5.6.3', undefined, '(unknown, was 5.6.3)']
  ])('%s, then %s', (was, is, words) => {
    expect(difference(was, is)).toBe(`the tool's version changed ${words}`)
  })

  test('of a tool with the name of the service', () => {
    const words = "the tool's version changed (2, was 1)"
    expect(difference('acme-chrome-1', 'acme-chrome-2', 'acme')).toBe(words)
    expect(difference('service-chrome-1', 'service-chrome-2', 'acme')).toBe(words)
  })

  test.each([undefined, '', 'jmeter', 'jmeter-', 'java-selenium-chrome', 'something-else-1.0'])(
    'is unknown with %p',
    (tool) => {
      expect(withFactsOf(makeRun({ tool }), {}, makeSettings())).not.toHaveProperty('tool version')
    }
  )
})

test('a repeated run stands for its plan', async () => {
  const first = await print({ origin: { kind: 'repeat', runId: 'abc' } })
  const second = await print({ origin: { kind: 'repeat', runId: 'def' } })
  expect(describeDifference(first, second)).toBe('the plan changed')
})

test('the machine counts where the load is made on it', async () => {
  const local = makeSettings({ target: { kind: 'local' }, origin: { kind: 'repeat', runId: 'a' } })
  const remote = makeSettings({ origin: { kind: 'repeat', runId: 'a' } })
  const other = { ...MACHINE, cpu: 'B CPU' }
  expect(describeDifference(await fingerprintOf(local, MACHINE), await fingerprintOf(local, other))).toBe(
    "the runner's CPU differs (B CPU, was A CPU)"
  )
  expect(
    describeDifference(await fingerprintOf(remote, MACHINE), await fingerprintOf(remote, other))
  ).toBeUndefined()
})

describe('regions', () => {
  const LOCAL = { kind: 'local' } as const
  const place = (keys: Record<string, unknown>): Settings['regions'] =>
    parseRegions({ 'us-east-1': { kubernetes: keys }, here: { processes: {} } }).regions
  const [types, pool] = [{ 'm4.large': { cpu: '4', memory: '8Gi' } }, { pool: 'load' }]
  const regions = place({ image: 'node:1', 'instance-types': types, 'node-selector': pool })

  test('are no part of it unless they are given, so that runs recorded before stay comparable', async () => {
    expect(Object.keys(await print({ target: LOCAL }))).not.toContain('regions')
  })

  test('the place of the grids is shown', async () => {
    expect((await print({ target: LOCAL, regions })).regions).toBe(
      'us-east-1: pods (node:1; on pool=load; m4.large = 4 CPU 8Gi)'
    )
  })

  test.each([
    ['the image', { image: 'node:2', 'instance-types': types, 'node-selector': pool }],
    [
      'what an instance type gets',
      {
        image: 'node:1',
        'instance-types': { 'm4.large': { cpu: '2', memory: '8Gi' } },
        'node-selector': pool
      }
    ],
    ['the machines', { image: 'node:1', 'instance-types': types }]
  ])('another run: %s', async (_, keys) => {
    const before = { target: LOCAL, regions }
    expect(await differenceAfter({ target: LOCAL, regions: place(keys) }, before)).toMatch(
      /^regions: us-east-1: pods/
    )
  })

  test('pods and processes are not comparable', async () => {
    const { regions: processes } = parseRegions({ 'us-east-1': { processes: {} } })
    const difference = await differenceAfter(
      { target: LOCAL, regions },
      { target: LOCAL, regions: processes }
    )
    expect(difference).toContain('was us-east-1: processes')
  })

  test.each([
    ['how the cluster is reached', { context: 'other', namespace: 'other' }],
    ['how long pods may take to start', { 'start-timeout': '9m' }],
    [
      'an instance type that is not used',
      { 'instance-types': { ...types, big: { cpu: '8', memory: '8Gi' } } }
    ]
  ])('no other run: %s', async (_, keys) => {
    const all = { image: 'node:1', 'instance-types': types, 'node-selector': pool, ...keys }
    const before = { target: LOCAL, regions }
    expect(await differenceAfter({ target: LOCAL, regions: place(all) }, before)).toBeUndefined()
  })

  test('this machine counts where load comes from it', async () => {
    expect(await print({ target: LOCAL, regions })).not.toHaveProperty('CPU')
    const grids = [makeSpecification(), makeSpecification({ region: 'here' })]
    expect(await print({ target: LOCAL, regions, grids })).toHaveProperty('CPU', 'A CPU')
    // Which region a grid is in that is only known by its id is unknown.
    expect(await print({ target: LOCAL, regions, grids: [{ id: 'g1' }] })).toHaveProperty('CPU', 'A CPU')
  })
})
