import { describe, expect, test } from '@jest/globals'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { parse } from 'yaml'
import {
  GRID_START_INPUTS,
  GRID_STOP_INPUTS,
  INPUTS as TABLE,
  INPUT_NAMES,
  describeInput,
  type InputFacts,
  OUTPUT_NAMES
} from '../src/contract/inputs.js'

interface Action {
  readonly inputs: Readonly<Record<string, { description: string; default?: string; required?: boolean }>>
  readonly outputs?: Readonly<Record<string, { description: string }>>
  readonly runs: Readonly<Record<string, string>>
}

const root = path.join(import.meta.dirname, '..')
const readAction = (file: string): Action => parse(readFileSync(path.join(root, file), 'utf8')) as Action
const action = readAction('action.yml')

const defaultsOf = (table: Readonly<Record<string, InputFacts>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(table).flatMap(([name, { byDefault }]) =>
      byDefault === undefined ? [] : [[name, byDefault]]
    )
  )
const DEFAULTS = defaultsOf(TABLE)

// Workflows are written against these names: a change here is a change of contract.
const INPUTS = [
  'config',
  'base-url',
  'token',
  'oidc-audience',
  'tool',
  'files',
  'results',
  'tool-exit-code',
  'grids',
  'regions',
  'name',
  'notes',
  'project',
  'tags',
  'privacy',
  'threads',
  'rampup',
  'duration',
  'override-hosts',
  'override-parameters',
  'thresholds',
  'apdex-target',
  'baseline',
  'baseline-branch',
  'baseline-parameters',
  'baseline-rounds',
  'noise',
  'ignore-parameters',
  'on-missing-baseline',
  'on-unsure',
  'confirm',
  'stop-early',
  'warm-up',
  'on-stall',
  'run-id',
  'repeat',
  'wait-for',
  'wait',
  'timeout',
  'poll-interval',
  'stop-on-cancel',
  'fail-on',
  'on-missing-token',
  'artifact-name',
  'retention-days',
  'comment',
  'github-token',
  'matrix',
  'service-name'
]
const OUTPUTS = [
  'run-id',
  'run-url',
  'status',
  'verdict',
  'apdex',
  'apdex-target',
  'summary',
  'metrics',
  'thresholds',
  'results-dir',
  'artifact-id',
  'artifact-url',
  'baseline',
  'saved-seconds'
]

describe('action.yml', () => {
  test('has the inputs of the contract, and the code reads the same', () => {
    expect(Object.keys(action.inputs)).toEqual(INPUTS)
    expect([...INPUT_NAMES].sort()).toEqual([...INPUTS].sort())
  })

  test('has the outputs of the contract, and the code sets the same', () => {
    expect(Object.keys(action.outputs ?? {})).toEqual(OUTPUTS)
    expect([...OUTPUT_NAMES].sort()).toEqual([...OUTPUTS].sort())
  })

  test('gives a default to the two inputs that only an expression can fetch, and to no other', () => {
    const defaults = Object.entries(action.inputs).flatMap(([name, input]) =>
      'default' in input ? [[name, input.default]] : []
    )
    expect(Object.fromEntries(defaults)).toEqual({
      'github-token': '${{ github.token }}',
      matrix: '${{ toJSON(matrix) }}'
    })
  })

  test.each(INPUT_NAMES)('describes %s as the table does', (name) => {
    expect(action.inputs[name]?.description).toBe(describeInput(name))
  })

  test('requires nothing by itself: a value may come from the config file', () => {
    expect(Object.keys(action.inputs).filter((name) => action.inputs[name]?.required)).toEqual([])
  })

  test.each(INPUTS)('says what the default of %s is', (name) => {
    expect(action.inputs[name]?.description).toMatch(/Default: .+\.$|Required/)
  })

  test.each(Object.entries(DEFAULTS))('describes the default that the code has for %s, %s', (name, value) => {
    expect(action.inputs[name]?.description).toContain(`Default: \`${value}\``)
  })

  test('promises no default that the code does not have', () => {
    const promised = INPUTS.filter((name) =>
      /Default: `[^`]+`\.$/.test(action.inputs[name]?.description ?? '')
    )
    expect(promised.sort()).toEqual(Object.keys(DEFAULTS).sort())
  })

  test('runs the committed bundles on Node 24', () => {
    expect(action.runs).toEqual({ using: 'node24', main: 'dist/main/index.js', post: 'dist/post/index.js' })
    expect(existsSync(path.join(root, 'dist/main/index.js'))).toBe(true)
    expect(existsSync(path.join(root, 'dist/post/index.js'))).toBe(true)
  })
})

describe.each([
  {
    file: 'grid-start/action.yml',
    names: ['base-url', 'token', 'oidc-audience', 'grids', 'timeout', 'service-name', 'keep'],
    code: GRID_START_INPUTS,
    outputs: ['grids'],
    runs: { using: 'node24', main: '../dist/grid-start/index.js', post: '../dist/post/index.js' }
  },
  {
    file: 'grid-stop/action.yml',
    names: ['base-url', 'token', 'oidc-audience', 'grids', 'timeout', 'service-name'],
    code: GRID_STOP_INPUTS,
    outputs: [],
    runs: { using: 'node24', main: '../dist/grid-stop/index.js' }
  }
])('$file', ({ file, names, code, outputs, runs }) => {
  const { inputs, outputs: given = {}, runs: run } = readAction(file)

  test('has the inputs and outputs of the contract, and the code reads the same', () => {
    expect(Object.keys(inputs)).toEqual(names)
    expect(Object.keys(code)).toEqual(names)
    expect(Object.keys(given)).toEqual(outputs)
  })

  test('says for each input what the default is, or that it is required', () => {
    const silent = names.filter((name) => !/Default: .+\.$|Required/.test(inputs[name]?.description ?? ''))
    expect(silent).toEqual([])
    expect(names.filter((name) => 'default' in (inputs[name] ?? {}))).toEqual([])
  })

  test('promises the defaults that the code has, and no others', () => {
    const promised = names.flatMap((name) => {
      const [, value] = /Default: `([^`]+)`\.$/.exec(inputs[name]?.description ?? '') ?? []
      return value === undefined ? [] : [[name, value]]
    })
    expect(Object.fromEntries(promised)).toEqual(defaultsOf(code))
  })

  test('runs the committed bundles', () => {
    expect(run).toEqual(runs)
    const bundles = [runs.main, ...('post' in runs ? [runs.post] : [])]
    expect(bundles.filter((bundle) => !existsSync(path.join(root, path.dirname(file), bundle)))).toEqual([])
  })
})
