import { describe, expect, test } from '@jest/globals'
import { UsageError, readArguments } from '../../src/terminal/arguments.js'
import type { Flag } from '../../src/terminal/arguments.js'

const FLAGS: readonly Flag[] = [
  { name: 'files', value: 'value', about: 'a plan' },
  { name: 'override-parameters', value: 'value', about: 'parameters' },
  { name: 'json', about: 'print JSON' }
]
const read = (...args: string[]): ReturnType<typeof readArguments> => readArguments(args, FLAGS)

describe('reading', () => {
  test.each([
    { what: 'behind a space', args: ['--files', 'plan.jmx'], files: 'plan.jmx' },
    { what: 'behind an equals sign', args: ['--files=plan.jmx'], files: 'plan.jmx' },
    { what: 'that holds an equals sign', args: ['--files=a=b'], files: 'a=b' },
    { what: 'that starts with a dash', args: ['--files', '-Jport=1'], files: '-Jport=1' },
    { what: 'that starts with two dashes', args: ['--files', '--x'], files: '--x' },
    { what: 'that is empty', args: ['--files', ''], files: '' },
    { what: 'given twice, a line each', args: ['--files', 'a', '--files=b'], files: 'a\nb' },
    { what: 'not given', args: [], files: '' }
  ])('a value $what', ({ args, files }) => {
    expect(read(...args).text('files')).toBe(files)
  })

  test('words stay words, among flags and behind two dashes', () => {
    const args = read('one', '--json', 'two', '--files', '-n', '--', '--json')
    expect(args.words).toEqual(['one', 'two', '--json'])
    expect([args.has('json'), args.text('files')]).toEqual([true, '-n'])
  })

  test('a flag without a value is there or not', () => {
    expect([read('--json').has('json'), read().has('json')]).toEqual([true, false])
  })
})

describe('refusing', () => {
  test.each([
    { args: ['--token', 'x'], words: /not taken from a flag.*set LOADGATE_TOKEN/ },
    { args: ['--token=x'], words: /set LOADGATE_TOKEN/ },
    { args: ['--github-token=x'], words: /set LOADGATE_TOKEN/ },
    { args: ['--fils', 'x'], words: /^there is no flag --fils here; did you mean --files\?$/ },
    { args: ['--nothing-of-the-kind=1'], words: /no flag --nothing-of-the-kind here; --help lists them/ },
    { args: ['-x'], words: /no flag -x here/ },
    { args: ['--files'], words: /^--files needs a value: --files <value>$/ },
    { args: ['--files', '--json'], words: /--files needs a value/ },
    { args: ['--files', '--override-parameters=-Ja=1'], words: /--files needs a value/ },
    { args: ['--json=yes'], words: /--json.*does not take an argument/ }
  ])('$args', ({ args, words }) => {
    const attempt = (): unknown => read(...args)
    expect(attempt).toThrow(UsageError)
    expect(attempt).toThrow(words)
  })

  test('a token is not repeated in the refusal', () => {
    expect(() => read('--token=very-secret')).not.toThrow(/very-secret/)
  })
})
