import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { parseEnvironment, readEnvironmentFile } from '../../../src/service/engines/environment-file.js'

describe('the lines of an environment file', () => {
  test.each([
    { name: 'plain', text: 'A=1\nB = two words \n', expected: { A: '1', B: 'two words' } },
    { name: 'with export', text: 'export A=1', expected: { A: '1' } },
    { name: 'CRLF and a byte order mark', text: '\uFEFFA=1\r\nB=2\r\n', expected: { A: '1', B: '2' } },
    { name: 'comments', text: '# all\n\n  # indented\nA=1 # after\nB=x#y', expected: { A: '1', B: 'x#y' } },
    { name: 'an empty value', text: 'A=\nB= # nothing\nC=""', expected: { A: '', B: '', C: '' } },
    { name: 'a value with equals signs', text: 'A=b=c==', expected: { A: 'b=c==' } },
    {
      name: 'quotes keep spaces and hashes',
      text: `A=" a # b " # after\nB=' \\n"x" '`,
      expected: { A: ' a # b ', B: ' \\n"x" ' }
    },
    {
      name: 'escapes in double quotes',
      text: String.raw`A="one\ntwo\t\"x\" \\ \d"`,
      expected: { A: 'one\ntwo\t"x" \\ \\d' }
    },
    { name: 'nothing is expanded', text: 'A=$HOME\nB="${A}"', expected: { A: '$HOME', B: '${A}' } },
    { name: 'the last one wins', text: 'A=1\nA=2', expected: { A: '2' } },
    { name: 'an apostrophe within', text: "A=it's", expected: { A: "it's" } },
    {
      name: 'a name of every object',
      text: '__proto__=1',
      expected: JSON.parse('{"__proto__":"1"}') as object
    }
  ])('$name', ({ text, expected }) => {
    expect(parseEnvironment(text)).toEqual({ variables: expected, problems: [] })
  })

  test.each([
    ['spaces', `A=x${' '.repeat(65_000)}y`],
    ['comments and a line separator', `A=x${' #'.repeat(32_000)}\u2028y`]
  ])('many %s take no time', (_, text) => {
    const started = performance.now()
    expect(parseEnvironment(text).problems).toEqual([])
    // It took seconds when each of them was a new start.
    expect(performance.now() - started).toBeLessThan(500)
  })

  test.each([
    { text: 'A=1\nnonsense', problem: 'environment, line 2: this is not NAME=value' },
    { text: '=1', problem: 'environment, line 1: this is not NAME=value' },
    { text: 'a-b=1', problem: 'environment, line 1: a name has letters, digits and underscores only' },
    { text: '1A=1', problem: 'environment, line 1: a name has letters, digits and underscores only' },
    { text: 'A="open', problem: 'environment, line 1: the quotes around the value of A do not match' },
    { text: `A='x' y`, problem: 'environment, line 1: the quotes around the value of A do not match' },
    { text: 'A=a\0b', problem: 'environment, line 1: the value of A has a NUL character' },
    { text: 'x'.repeat(65_537), problem: 'environment: the file is larger than 65536 characters' }
  ])('$problem', ({ text, problem }) => {
    expect(parseEnvironment(text).problems).toEqual([problem])
  })

  test('a problem does not quote what may be a secret', () => {
    const { problems } = parseEnvironment('hunter2\nPASSWORD="hunter2\nLD_PRELOAD=hunter2')
    expect(problems).toHaveLength(3)
    expect(problems.join()).not.toContain('hunter2')
    expect(problems[2]).toContain('line 3: LD_PRELOAD cannot be set')
  })
})

describe('the environment file of a run', () => {
  const folder = mkdtempSync(join(tmpdir(), 'environment-'))

  test('is read if it was uploaded', async () => {
    writeFileSync(join(folder, 'environment'), 'A=1\n')
    expect(await readEnvironmentFile(folder, ['plan.ts', 'environment'])).toEqual({ A: '1' })
    expect(await readEnvironmentFile(folder, ['plan.ts'])).toEqual({})
  })

  test('throws every problem at once', async () => {
    writeFileSync(join(folder, 'environment'), 'PATH=/x\nB\n')
    await expect(readEnvironmentFile(folder, ['environment'])).rejects.toThrow(/line 1: PATH .*\n.*line 2: /)
  })
})
