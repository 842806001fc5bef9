import { describe, expect, test } from '@jest/globals'
import { plain, strikeOut, table } from '../../src/terminal/screen.js'

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
