import { describe, expect, test } from '@jest/globals'
import { readPlainList, readYaml } from '../../src/contract/read-yaml.js'
import { readYaml as readAny } from '../../src/contract/yaml-text.js'

const GRID = '- region: us-east-1\n  instance_quantity: 2\n  instance_type: m5.large\n  stop_after: 0060'

describe('a plain list is read as the library reads it', () => {
  test.each([
    ['one grid', GRID],
    ['two, with an empty line', `${GRID}\n\n${GRID}\n`],
    [
      'words that could mean something else',
      '- a: null\n  b: true\n  c: 1e5\n  d: 0x1F\n  e: 1.0\n  f: 2026-11-19\n  g: _'
    ],
    ['keys that every object has', '- constructor: x\n  toString: y']
  ])('%s', (_, text) => {
    expect(readPlainList(text)).toEqual(readAny(text).value)
    expect(readAny(text).problems).toEqual([])
  })
})

describe('anything else is left to the library', () => {
  test.each([
    ['nothing', ''],
    ['empty lines', '\n\n'],
    ['a map', 'region: us-east-1'],
    ['a line before the first item', '  region: x\n- region: y'],
    ['a key twice', '- region: x\n  region: y'],
    ['other indentation', '- region: x\n   instance_type: y'],
    ['less indentation', '- region: x\ninstance_type: y'],
    ['a value that goes on', '- region: x\n    y'],
    ['a comment', '- region: x # here'],
    ['a line of a comment', '- region: x\n# here'],
    ['quotes', '- region: "x"'],
    ['no value', '- region:'],
    ['a space after the value', '- region: x '],
    ['a colon in the value', '- uuid: a:b'],
    ['an anchor', '- uuid: &a b'],
    ['a bare id', '- a1'],
    ['a flow map', '- { region: x }'],
    ['a tab', '- region:\tx'],
    ['a carriage return', '- region: x\r\n  instance_type: y'],
    ['another document', '- region: x\n---'],
    ['JSON', '[{"region":"x"}]'],
    ['a prototype', '- __proto__: x']
  ])('%s', async (_, text) => {
    expect(readPlainList(text)).toBeUndefined()
    expect(await readYaml(text)).toEqual(readAny(text))
  })
})

/** A small language around the plain form: what is taken for plain means the same to the library. */
test('texts from a seed', () => {
  const pieces = [
    '- ',
    '  ',
    '\n',
    'a: ',
    'b: ',
    'x1',
    '-',
    '.',
    ' ',
    '#',
    ':',
    '"',
    '0',
    '~',
    'null',
    '{',
    '\r'
  ]
  let state = 1
  const next = (most: number): number => (state = (state * 48271) % 2147483647) % most
  let plain = 0
  for (let round = 0; round < 20_000; round++) {
    const lines = Array.from({ length: 1 + next(3) }, (_, at) => {
      const start = at === 0 || next(3) === 0 ? '- ' : '  '
      const rest = Array.from({ length: 1 + next(2) }, () => pieces[next(pieces.length)]).join('')
      return next(2) === 0 ? `${start}k${at}: ${rest}` : `${start}k${next(2)}: v${rest}`
    })
    const text = lines.join('\n')
    const list = readPlainList(text)
    if (list === undefined) continue
    plain++
    expect([text, readAny(text)]).toEqual([text, { value: list, problems: [] }])
  }
  expect(plain).toBeGreaterThan(500)
})
