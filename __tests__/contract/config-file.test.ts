import { describe, expect, test } from '@jest/globals'
import { readConfigFile } from '../../src/contract/config-file.js'

function read(text: string) {
  const { values, problems } = readConfigFile(text)
  const { grids, ...others } = values
  return { values: others, grids, problems }
}

describe('readConfigFile', () => {
  test.each(['', '\n', '# only a comment\n', '{}'])('%p gives nothing', (text) => {
    expect(read(text)).toEqual({ values: {}, grids: undefined, problems: [] })
  })

  test('every value is text, as it was written', () => {
    expect(
      read(
        'run-id: 00123\nrepeat: 123e45\nthreads: 0x10\nwait: no\ntimeout: 1:30\nname: "  a b "\nproject: ~'
      ).values
    ).toEqual({
      'run-id': '00123',
      repeat: '123e45',
      threads: '0x10',
      wait: 'no',
      timeout: '1:30',
      name: 'a b',
      project: '~'
    })
  })

  test('JSON is YAML too', () => {
    expect(read('{"name": "n", "tags": ["a", "b"]}').values).toEqual({ name: 'n', tags: 'a\nb' })
  })

  test.each(['files', 'thresholds', 'tags'])('%s may be a list', (key) => {
    expect(read(`${key}: [a, b]`).values).toEqual({ [key]: 'a\nb' })
    expect(read(`${key}: |\n  a\n  b\n`).values).toEqual({ [key]: 'a\nb' })
    expect(read(`${key}: [a, [b]]`).problems).toEqual([`${key} must be text or a list of text`])
  })

  test.each([
    ['token', ', from a secret, or set LOADGATE_TOKEN on the command line'],
    ['github-token', ''],
    ['matrix', ''],
    ['config', '']
  ])('%s is refused', (key, further) => {
    expect(read(`${key}: x`)).toEqual({
      values: {},
      grids: undefined,
      problems: [`${key} cannot be set in a file; set it in the workflow${further}`]
    })
  })

  test('grids are kept as they are', () => {
    expect(read('grids:\n  - uuid: 00123\n  - {region: r, stop_after: 60}').grids).toEqual([
      { uuid: '00123' },
      { region: 'r', stop_after: '60' }
    ])
    expect(read('grids: "[a]"').grids).toBe('[a]')
  })

  test.each([
    ['a key that is no input', 'colour: red', 'unknown key colour; keys must be names of inputs'],
    ['a misspelt key', 'treshold: p95 < 1s', 'unknown key treshold; did you mean thresholds?'],
    ['another case', 'Threads: 1', 'unknown key Threads; did you mean threads?'],
    ['underscores', 'run_id: a', 'unknown key run_id; did you mean run-id?'],
    ['camel case', 'baseUrl: local', 'unknown key baseUrl; did you mean base-url?'],
    ['one like a key that is refused', 'tokn: a', 'unknown key tokn; keys must be names of inputs'],
    ['a map where text is due', 'name: {a: b}', 'name must be a plain value'],
    ['a list', '- a', 'must be a map whose keys are the inputs'],
    ['plain text', 'hello', 'must be a map whose keys are the inputs']
  ])('%s is a problem', (_, text, problem) => {
    expect(read(text).problems).toEqual([problem])
  })

  test('a tab is pointed at, with what to write instead', () => {
    const { problems } = readConfigFile('files: plan.jmx\nthresholds:\n\t- p95 < 1s\n')
    expect(problems).toEqual([
      'is not YAML: Tabs are not allowed as indentation at line 3, column 1; indent with spaces'
    ])
  })

  test.each(['a: [', 'name: a\nname: b', 'a: b: c'])('%p is not YAML', (text) => {
    const { problems } = read(text)
    expect(problems).toEqual([expect.stringMatching(/^is not YAML: \S/)])
  })
})
