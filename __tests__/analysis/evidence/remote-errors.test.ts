import { describe, expect, test } from '@jest/globals'
import { listRemoteErrors, lostLoad, quoteLines } from '../../../src/analysis/evidence/remote-errors.js'
import { startCpuTimer } from '../../support/cpu-time.js'

describe('lines', () => {
  test.each<[string, string | undefined, string[]]>([
    ['nothing', undefined, []],
    ['white space', ' \n \t', []],
    ['JSON that says no', 'false', []],
    ['an empty list', '[]', []],
    ['text', 'one\r\n two \n\none', ['one', 'two']],
    ['a list', '["a","b\\nc",null,3]', ['a', 'b', 'c', '3']],
    [
      'an object',
      '{"node 1":"down","node 2":["slow","late"]}',
      ['node 1: down', 'node 2: slow', 'node 2: late']
    ],
    ['half JSON', '{"node', ['{"node']],
    ['control characters', 'a\u0007b\u2028c', ['a b', 'c']]
  ])('of %s', (_, text, lines) => {
    expect(listRemoteErrors(text)).toEqual(lines)
  })

  test('without stack traces', () => {
    const trace = [
      'java.lang.IllegalStateException: could not start',
      ...Array.from({ length: 40 }, (_, line) => `\tat org.apache.jmeter.Engine.run(Engine.java:${line})`),
      'Caused by: java.io.FileNotFoundException: users.csv (No such file)',
      '\tat java.base/java.io.FileInputStream.open0(Native Method)',
      '\t... 12 more',
      'load lost: node 2',
      'at last a plain sentence'
    ].join('\r\n')
    const lines = [
      'java.lang.IllegalStateException: could not start',
      'Caused by: java.io.FileNotFoundException: users.csv (No such file)'
    ]
    expect(listRemoteErrors(trace)).toEqual([...lines, 'load lost: node 2', 'at last a plain sentence'])
    expect(listRemoteErrors(JSON.stringify({ 'node 1': trace }))[0]).toBe(`node 1: ${lines[0]!}`)
    expect(listRemoteErrors('\tat a.B.c(B.java:1)')).toEqual(['at a.B.c(B.java:1)'])
  })

  test('are bounded in number, length and depth', () => {
    const many = listRemoteErrors(Array.from({ length: 900 }, (_, i) => `${i} ${'ü'.repeat(900)}`).join('\n'))
    expect(many).toHaveLength(51)
    expect(many[0]).toHaveLength(500)
    expect(many.at(-1)).toBe('and 850 more lines')
    expect(listRemoteErrors('['.repeat(5000) + ']'.repeat(5000)).join('').length).toBeLessThan(100)
  })

  test('are cut between characters', () => {
    expect(listRemoteErrors('😀'.repeat(400))[0]).toMatch(/^(😀)+…$/u)
    expect(quoteLines(['x'.repeat(499), '😀'])).toHaveLength(500)
  })
})

describe('lost load is not left out', () => {
  const others = Array.from({ length: 300 }, (_, line) => `error ${line}`)

  test.each<[string, string]>([
    ['behind other lines', [...others, 'load lost: node 2'].join('\n')],
    ['behind other entries', JSON.stringify([...others, ' load lost: node 2'])]
  ])('%s', (_, text) => {
    const lines = listRemoteErrors(text)
    expect(lostLoad(lines)).toEqual(['node 2'])
    expect(lines).toHaveLength(51)
    expect(lines.at(-1)).toBe('and 251 more lines')
  })

  test.each<[string, unknown]>([
    ['in an object', { message: 'load lost: node 2' }],
    ['in a list of objects', [{ code: 7, message: 'Load lost: node 2' }]]
  ])('%s', (_, value) => {
    expect(lostLoad(listRemoteErrors(JSON.stringify(value)))).toEqual(['message: node 2'])
  })
})

describe('lost load within a log', () => {
  test.each([
    ['what an exception came from', 'x.Error: stopped\n\tat a.B.c(B.java:1)\nCaused by: load lost: node 2'],
    ['what was suppressed', 'x.Error: stopped\n\tSuppressed: load lost: node 2\n\tat a.B.c(B.java:1)']
  ])('%s is not folded away', (_, text) => {
    expect(lostLoad(listRemoteErrors(text))).toEqual([expect.stringContaining('node 2')])
  })

  test.each([
    ['[us-east-1] load lost: node 2', '[us-east-1] node 2'],
    ['ERROR load lost: node 2', 'ERROR node 2'],
    ['WARN: load lost: node 2', 'WARN: node 2'],
    [
      '2026-01-05 12:00:00,123 [main] ERROR - load lost: node 2',
      '2026-01-05 12:00:00,123 [main] ERROR - node 2'
    ],
    ['[a][b] Load lost: node 2', '[a][b] node 2']
  ])('%s', (line, words) => expect(lostLoad([line])).toEqual([words]))

  test.each(['no load lost: x', 'errors load lost: x', '[open load lost: x', 'ERROR in load lost: x'])(
    'is not %s',
    (line) => expect(lostLoad([line])).toEqual([])
  )

  test('is looked for in no time, whatever the line', () => {
    const lines = ['1'.repeat(1e5), '[]'.repeat(5e4), 'error '.repeat(2e4), `${'1 '.repeat(5e4)}x`]
    const cpuMs = startCpuTimer()
    expect(lostLoad(lines)).toEqual([])
    expect(cpuMs()).toBeLessThan(2_000)
  })
})

test('lost load is known by its first words', () => {
  expect(lostLoad(['load lost: a', 'LOAD LOST:b', 'a load lost: c', 'load was lost'])).toEqual(['a', 'b'])
})
