import { describe, expect, test } from '@jest/globals'
import { plain, shortenMiddle, strikeOut, table, widthOf } from '../../src/cli/screen.js'

describe('plain', () => {
  test.each([
    { what: 'escape sequences', text: '\u001b[31mred\u001b[0m', shown: ' [31mred [0m' },
    { what: 'a return to the start of the line', text: 'a\rb', shown: 'a b' },
    { what: 'the one-byte escape', text: '\u009b2J', shown: ' 2J' },
    { what: 'text that runs backwards', text: 'a\u202egnp', shown: 'a gnp' },
    { what: 'a line separator', text: 'a\u2028b', shown: 'a b' },
    { what: 'line breaks and tabs, which stay', text: 'a\n\tb', shown: 'a\n\tb' },
    { what: 'letters of all kinds, which stay', text: 'Grüße 検索 █ 🛒', shown: 'Grüße 検索 █ 🛒' }
  ])('$what', ({ text, shown }) => {
    expect(plain(text)).toBe(shown)
  })
})

test('secrets are redacted wherever they occur; an empty one redacts nothing', () => {
  expect(strikeOut('a s3cret, s3cret and b', ['s3cret', '', 'b'])).toBe('a ***, *** and ***')
})

test('a table is as wide as its cells, and a cell is one line', () => {
  const rows = [
    ['1', 'a\nb\u001b[2J', 'x'],
    ['22222', 'c', '']
  ]
  expect(table(['id', 'name', 'end'], rows)).toBe(
    ['id     name     end', '1      a b [2J  x', '22222  c'].join('\n')
  )
})

describe('a table on a terminal', () => {
  const rows = [['/shop/products/kitchen/knives', '1,200', '3']]

  test('fits by shortening its long column in the middle; numbers are aligned to the right', () => {
    expect(table(['label', 'samples', 'p95'], rows, { areNumbers: true, width: 30, long: [0] })).toBe(
      ['label             samples  p95', '/shop/pr…/knives    1,200    3'].join('\n')
    )
  })

  test('is whole where it fits, and where there is no terminal', () => {
    for (const width of [undefined, 80])
      expect(table(['label', 'samples', 'p95'], rows, { width, long: [0] })).toContain(
        '/shop/products/kitchen/knives'
      )
  })

  test('keeps a few characters of each column, however narrow it is', () => {
    expect(table(['label'], [['x'.repeat(99)]], { width: 3, long: [0] })).toBe(
      `label\n${shortenMiddle('x'.repeat(99), 12)}`
    )
  })
})

test.each([
  [{ isTTY: true, columns: 100 }, 100],
  [{ isTTY: true, columns: 0 }, undefined],
  [{ isTTY: false, columns: 100 }, undefined]
])('the width of %j', (stream, width) => {
  expect(widthOf({ ...stream, write: () => undefined })).toBe(width)
})
