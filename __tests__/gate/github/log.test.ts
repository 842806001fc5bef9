import { describe, expect, test } from '@jest/globals'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { defuse } from '../../../src/gate/github/log.js'
import { readCommands } from '../../support/step/raw-runner.js'

const HOSTILE = [
  '::set-output name=verdict::passed',
  '::SET-OUTPUT name=verdict::passed',
  '::add-mask::e',
  '::stop-commands::x',
  '  \t::warning::indented',
  '\u00a0::warning::by another space',
  '\u3000::warning::by yet another',
  '\u0085::warning::by a next line',
  '\ufeff::warning::by a mark',
  '##[set-output name=verdict]passed',
  'text ##[error]within a line',
  '###[error]one more',
  '##[group]##[endgroup]',
  'fine\n::error::second line',
  'fine\r::error::after a carriage return',
  'fine\r\n  ::error::after both',
  'fine\u2028::error::after a line separator',
  '\n\n::error::after empty lines',
  '::::error::',
  ':: error ::x',
  '::error ::x'
]

test('the oracle takes them for commands', () => {
  const missed = HOSTILE.filter((text) => readCommands(text).length === 0)
  // The runner itself ignores these two; they are escaped anyway.
  expect(missed).toEqual(['\ufeff::warning::by a mark', 'fine\u2028::error::after a line separator'])
})

describe('escaped text', () => {
  test.each(HOSTILE.map((text) => [JSON.stringify(text), text]))('%s is not a command', (_, text) => {
    const defused = defuse(text)
    expect(readCommands(defused)).toEqual([])
    expect(defused).not.toMatch(/##\[|^\s*::/m)
    // Only spaces are added and removed.
    expect(defused.replace(/\s/g, '')).toBe(text.replace(/[\s\u0085]/g, ''))
  })

  test('does not control a terminal either', () => {
    expect(defuse('\ta\u001b[2J\u001b]0;title\u0007b\u009b1A')).toBe('\ta [2J ]0;title b 1A')
  })

  test('whatever is put together', () => {
    const pieces = ['::', ':', '##[', '#', '[', ']', 'error', ' ', '\t', '\n', '\r', '\u0085', '\u00a0', 'x']
    let state = 11
    const pick = (): string => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
      return pieces[Math.floor((state / 2 ** 32) * pieces.length)]!
    }
    const texts = Array.from({ length: 50_000 }, () => Array.from({ length: 12 }, pick).join(''))
    expect(texts.filter((text) => readCommands(text).length > 0).length).toBeGreaterThan(1000)
    expect(texts.filter((text) => readCommands(defuse(text)).length > 0)).toEqual([])
  })

  test.each(['12:30::45 in the middle', 'a:b', '# Heading', '[x]', 'Zwölf ##', '', 'p95 < 800ms'])(
    '%j stays as it is',
    (text) => expect(defuse(text)).toBe(text)
  )

  test('stays the same when escaped again', () => {
    for (const text of HOSTILE) expect(defuse(defuse(text))).toBe(defuse(text))
  })
})

describe('what a step really writes', () => {
  test('the commands in it are its own annotations, and no others', async () => {
    const source = new URL('../../../src/gate/github/log.ts', import.meta.url).href
    const script = `
      import { createLog } from ${JSON.stringify(source)}
      const log = createLog()
      for (const text of JSON.parse(process.argv[1]))
        for (const level of ['info', 'notice', 'warning', 'error', 'debug']) log[level](text)`
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [
      '--no-warnings',
      '--input-type=module',
      '--eval',
      script,
      JSON.stringify(HOSTILE)
    ])
    expect(stderr).toBe('')
    const names = readCommands(stdout).map(({ name }) => name)
    expect(names).toEqual(HOSTILE.flatMap(() => ['notice', 'warning', 'error', 'debug']))
  })
})
