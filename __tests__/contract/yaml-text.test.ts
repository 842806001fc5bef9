import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals'
import { readConfigFile } from '../../src/contract/config-file.js'
import { readGridList } from '../../src/gate/settings/grid-list.js'
import { readYaml } from '../../src/contract/yaml-text.js'

/** What the library would have printed: it calls these three and nothing else. */
let printed: unknown[][]

beforeEach(() => {
  printed = []
  const keep = (...words: unknown[]): void => void printed.push(words)
  jest.spyOn(process, 'emitWarning').mockImplementation(keep)
  jest.spyOn(console, 'warn').mockImplementation(keep)
  jest.spyOn(console, 'log').mockImplementation(keep)
})
afterEach(() => void jest.restoreAllMocks())

test('a key is compared with few others, however many there are', () => {
  let comparisons = 0
  const some = Array.prototype.some
  jest.spyOn(Array.prototype, 'some').mockImplementation(function (this: unknown[], ...args) {
    comparisons += this.length
    return some.apply(this, args)
  })
  const { value, problems } = readYaml(Array.from({ length: 2000 }, (_, at) => `k${at}: v`).join('\n'))
  jest.restoreAllMocks()
  expect(problems).toEqual([])
  expect(Object.keys(value as object)).toHaveLength(2000)
  expect(comparisons).toBeLessThan(100_000)
})

test('each alias is looked for among all anchors: too many are refused', () => {
  const anchors = Array.from({ length: 2300 }, (_, at) => `- &a${at} v\n- *a${at}\n`)
  expect(readYaml(anchors.join('')).problems).toEqual(['it has too many aliases to be read'])
})

test('ids keep their spelling', () => {
  expect(readYaml('[00123, 123e45, 0x1F, ~, true]')).toEqual({
    value: ['00123', '123e45', '0x1F', '~', 'true'],
    problems: []
  })
})

const ODD: [name: string, text: string, problem: unknown][] = [
  ['an unresolved tag', '- !::stop-commands::x a', 'Unresolved tag: !::stop-commands::x at line 1, column 3'],
  [
    'a tag in brackets',
    '- !<::stop-commands::x> a',
    'Unresolved tag: ::stop-commands::x at line 1, column 3'
  ],
  ['a type that is not read', '- !!int 3', 'Unresolved tag: tag:yaml.org,2002:int at line 1, column 3'],
  ['a version to come', '%YAML 1.3\n---\n- a', 'Unsupported YAML version 1.3 at line 1, column 7'],
  [
    'an unknown directive',
    '%::add-mask::x\n---\n- a',
    'Unknown directive %::add-mask::x at line 1, column 1'
  ],
  ['an alias of nothing', '- *b', 'Unresolved alias (the anchor must be set before the alias): b'],
  ['a second document', '- a\n---\n- b', expect.stringMatching(/^Source contains multiple documents/)],
  ['a bracket too few', '[', 'Flow sequence must end with a ] at line 1, column 2']
]

describe('what the text says and nobody would heed is a problem, and is not printed', () => {
  test.each(ODD)('%s', (_, text, problem) => {
    expect(readYaml(text)).toEqual({ value: undefined, problems: [problem] })
    expect(printed).toEqual([])
  })

  test.each(ODD)('in grids: %s', async (_, text) => {
    const { grids, problems } = await readGridList(text, { defaults: {}, durationSeconds: undefined })
    expect([grids, problems]).toEqual([[], [expect.stringMatching(/^is not YAML or JSON: \S/)]])
    expect(printed).toEqual([])
  })

  test.each(ODD)('in a config file: %s', (_, text) => {
    const { problems } = readConfigFile(text)
    expect(problems).toEqual([expect.stringMatching(/^is not YAML: \S/)])
    expect(printed).toEqual([])
  })

  test('a list for a key', () => {
    expect(readConfigFile('? [::debug::x]\n: b').problems).toEqual([
      expect.stringMatching(/^unknown key \[ ::debug::x \]/)
    ])
    expect(printed).toEqual([])
  })

  test('an alias bomb', () => {
    const levels = Array.from({ length: 9 }, (_, i) => `- &a${i + 1} [${`*a${i}, `.repeat(9)}x]`)
    const { problems } = readYaml(['- &a0 x', ...levels].join('\n'))
    expect(problems).toEqual([expect.stringMatching(/^Excessive alias count/)])
  })
})

describe('a key of a config file that was left empty', () => {
  test.each([
    ['thresholds', 'thresholds:'],
    ['thresholds', 'thresholds: ""'],
    ['thresholds', 'thresholds: []'],
    ['thresholds', 'thresholds: ["", " "]'],
    ['thresholds', 'thresholds: |\n\n'],
    ['grids', 'grids:'],
    ['grids', 'grids: []'],
    ['base-url', 'base-url:'],
    ['name', 'name: " "']
  ])('%s is not dropped silently: %j', (key, text) => {
    expect(readConfigFile(text).problems).toEqual([`${key} has no value; set one, or remove the key`])
  })

  test('a duplicate is not dropped either', () => {
    const { values, problems } = readConfigFile('thresholds: p95 < 1s\nthresholds: p95 < 9s')
    expect(values).toEqual({})
    expect(problems).toEqual([expect.stringMatching(/^is not YAML: Map keys must be unique/)])
  })
})
