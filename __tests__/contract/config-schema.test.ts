import { describe, expect, test } from '@jest/globals'
import { Ajv } from 'ajv'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { parse, stringify } from 'yaml'
import { readConfigFile } from '../../src/contract/config-file.js'
import { INPUT_NAMES, mayBeInFile } from '../../src/contract/inputs.js'
import { readSettings } from '../../src/gate/settings/settings.js'
import { SettingsError } from '../../src/gate/errors.js'
import { makeSources } from '../support/gate/settings-sources.js'

interface ConfigSchema {
  readonly properties: Readonly<Record<string, { readonly description: string }>>
}

const schema = JSON.parse(readFileSync('schema/config.schema.json', 'utf8')) as ConfigSchema
const validate = new Ajv({ allowUnionTypes: true, strictTypes: false }).compile(schema)
/** As an editor reads the file: with numbers and booleans. */
const isValid = (yaml: string): boolean => validate(parse(yaml))

/** What the gate says against a file, whatever else it needs for a run. */
async function problemsWith(yaml: string): Promise<readonly string[]> {
  const sources = makeSources({ config: 'c.yml' }, { configText: yaml, environment: { baseUrl: '' } })
  const thrown: unknown = await readSettings(sources).catch((error: unknown) => error)
  const key = /^[\w-]+/.exec(yaml)?.[0] ?? ''
  const problems = thrown instanceof SettingsError ? thrown.problems : []
  return problems.filter((problem) => problem.startsWith(`${key}: `) || problem.startsWith('config: '))
}

test('has the keys that a file may have, each with its description', () => {
  const keys = INPUT_NAMES.filter(mayBeInFile)
  expect(Object.keys(schema.properties)).toEqual(keys)
  expect(Object.values(schema.properties).every(({ description }) => description !== '')).toBe(true)
})

const examples = readdirSync('examples').filter((name) =>
  readdirSync(join('examples', name)).includes('loadgate.yml')
)
test.each(examples)('accepts the example %s', (name) => {
  expect(isValid(readFileSync(join('examples', name, 'loadgate.yml'), 'utf8'))).toBe(true)
  expect(examples.length).toBeGreaterThan(4)
})

describe('an editor and the gate agree', () => {
  test.each([
    'base-url: local',
    'threads: 5',
    'threads: "5"',
    'rampup: 0',
    'duration: 90',
    'duration: 1h30m',
    'warm-up: 30s',
    'on-stall: ignore',
    'noise: 7.5%',
    'ignore-parameters: [build, tenant]',
    'confirm: 0',
    'stop-early: false',
    'stop-on-cancel: "true"',
    'tool: gatling',
    'privacy: public',
    'fail-on: never',
    'on-unsure: pass',
    'on-missing-baseline: fail',
    'on-missing-token: skip',
    'comment: off',
    'retention-days: 400',
    'name: 2026',
    'tags: [1, nightly]',
    'tags: a, b',
    'files: plan.jmx',
    'files: [plan.jmx, users.csv]',
    'results: out/*.csv',
    'results: [a.csv, b.csv]',
    'results: { eu: a.csv, us: b.csv }',
    'apdex-target: 1.5s',
    'apdex-target: 500 ms',
    'tool-exit-code: 99',
    'thresholds: p95 < 1s',
    'thresholds:\n  - p95 < 1s\n  - apdex >= 0.9',
    'service-name: acme',
    'wait-for: http://localhost:8080/health 5m',
    'baseline: off',
    'grids: "[{}]"',
    'grids:\n  - { region: eu, stop_after: 600 }\n  - uuid: 00a1\n  - abc',
    'regions: { here: { processes: {} } }',
    'regions: { eu: { kubernetes: { namespace: load, host-network: true, start-timeout: 10m } } }'
  ])('on %j, which is right', async (yaml) => {
    expect(await problemsWith(yaml)).toEqual([])
    expect(isValid(yaml)).toBe(true)
  })

  test.each([
    'base-url: ftp://service.example',
    'threads: 0',
    'threads: many',
    'threads: 1.5',
    'duration: 0',
    'duration: 5 minutes',
    'duration: ""',
    'warm-up: soon',
    'on-stall: pass',
    'noise: 0.05',
    'confirm: 11',
    'baseline-rounds: 2',
    'wait: yes',
    'tool: locust',
    'results: []',
    'results: {}',
    'results: { e/u: a.csv }',
    'results: { eu: [a.csv] }',
    'apdex-target: 500',
    'apdex-target: 0ms',
    'tool-exit-code: failure',
    'privacy: secret',
    'fail-on: always',
    'on-unsure: Pass',
    'comment: none',
    'retention-days: 401',
    'run-id: a/b',
    'service-name: Acme Load',
    'name: { a: b }',
    'name:',
    'files: [[a]]',
    'files: []',
    'wait-for: localhost:8080',
    'grids: [{ colour: red }]',
    'grids: [{ uuid: a, region: b }]',
    'grids: [{ infrastructure: cloud }]',
    'grids: []',
    'regions: { eu: { docker: {} } }',
    'regions: { eu: { kubernetes: { image-pull-policy: Sometimes } } }',
    'colour: red',
    'token: x',
    'github-token: x',
    'matrix: x',
    'config: other.yml'
  ])('on %j, which is wrong', async (yaml) => {
    expect(await problemsWith(yaml)).not.toEqual([])
    expect(isValid(yaml)).toBe(false)
  })
})

test('whatever the schema accepts, the gate never refuses for its key or type', () => {
  const values = [
    'text',
    7,
    1.5,
    true,
    false,
    'true',
    '5m',
    '5%',
    ['a', 'b'],
    [1],
    [],
    {},
    { a: 'b' },
    null,
    ''
  ]
  const keys = [...INPUT_NAMES, 'colour', 'run_id']
  const configs = keys.flatMap((key) => values.map((value) => ({ [key]: value })))
  const accepted = configs.filter((config) => validate(config)).map((config) => stringify(config))
  const problems = accepted.flatMap((text) => readConfigFile(text).problems)
  expect(accepted.length).toBeGreaterThan(100)
  expect(problems).toEqual([])
})
