import { describe, expect, test } from '@jest/globals'
import { UsageError, asksForHelp, readArguments } from '../../src/cli/arguments.js'
import type { Flag } from '../../src/cli/arguments.js'

const FLAGS: readonly Flag[] = [
  { name: 'files', value: 'value', about: 'a plan', joint: '\n' },
  { name: 'timeout', value: 'duration', about: 'how long' },
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
    { what: 'given twice, a line each', args: ['--files', 'a', '--files=b'], files: 'a\nb' },
    { what: 'not given', args: [], files: '' }
  ])('a value $what', ({ args, files }) => {
    expect(read(...args).text('files')).toBe(files)
  })

  test('words stay words, among flags and after two dashes', () => {
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
    { args: ['--token', 'x'], words: /would show the token in every process list; set LOADGATE_TOKEN/ },
    { args: ['--token=x'], words: /set LOADGATE_TOKEN/ },
    { args: ['--github-token=x'], words: /set LOADGATE_TOKEN/ },
    { args: ['--fils', 'x'], words: /^there is no flag --fils here; did you mean --files\?$/ },
    { args: ['--nothing-of-the-kind=1'], words: /no flag --nothing-of-the-kind here; --help lists them/ },
    { args: ['-x'], words: /no flag -x here/ },
    { args: ['--files'], words: /^--files needs a value: --files <value>$/ },
    { args: ['--files', '--json'], words: /--files needs a value/ },
    { args: ['--files', '--override-parameters=-Ja=1'], words: /--files needs a value/ },
    { args: ['--files', ''], words: /^--files is empty; give a value, or leave the flag out\..* not set\?$/ },
    { args: ['--files='], words: /^--files is empty/ },
    { args: ['--files', ' \n'], words: /^--files is empty/ },
    { args: ['--files', 'a', '--files='], words: /^--files is empty/ },
    { args: ['--timeout', '1m', '--timeout=2m'], words: /^--timeout is given 2 times; give it once$/ },
    {
      args: ['--files', '-h'],
      words: /^--files needs a value: --files <value>, or --files=-h if that is the value$/
    },
    { args: ['--files', '--help'], words: /--files=--help if that is the value/ },
    { args: ['--json='], words: /--json.*does not take an argument/ },
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

describe('help is recognized where a flag may be', () => {
  test.each([
    { args: ['-h'], asks: true },
    { args: ['--help'], asks: true },
    { args: ['word', '--json', '-h'], asks: true },
    { args: ['--files', 'a', '--help', 'word'], asks: true },
    { args: ['--files', '-h'], asks: false },
    { args: ['--files', '--help'], asks: false },
    { args: ['--files=-h'], asks: false },
    { args: ['--', '-h'], asks: false },
    { args: ['--json', '--', '--help'], asks: false },
    { args: ['help'], asks: false },
    { args: ['-Jhost=localhost'], asks: false },
    { args: ['--files', 'a', '-Jthreads=9'], asks: false },
    { args: [], asks: false }
  ])('$args: $asks', ({ args, asks }) => {
    expect(asksForHelp(args, FLAGS)).toBe(asks)
  })

  test('a flag that does not exist is refused before help, which exits with 0', () => {
    expect(() => asksForHelp(['--file', '-h'], FLAGS)).toThrow('there is no flag --file here')
  })

  test('-h as a value with an equals sign is that value', () => {
    expect(read('--files=-h').text('files')).toBe('-h')
  })
})

test('the flags that were given are known by name', () => {
  expect([...read('--json', 'word', '--files=a', '--files=b').flags].sort()).toEqual(['files', 'json'])
})
