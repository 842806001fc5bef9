import { describe, expect, test } from '@jest/globals'
import { formatDoubts, formatFindings } from '../../../src/service/runs/findings.js'

describe('remote_errors', () => {
  test.each([
    { name: 'nothing', problems: [], losses: [], text: null },
    { name: 'a problem, in one line', problems: ['a:\n b\r\n\nc.\nd\n'], losses: [], text: 'A: b; c. d' },
    {
      name: 'no loss out of a tool’s own words',
      problems: ['a\nload lost: b'],
      losses: [],
      text: 'a; load lost: b'
    },
    { name: 'a loss, in one line', problems: [], losses: ['a\nb'], text: 'load lost: a b' },
    { name: 'problems first', problems: ['p'], losses: ['l'], text: 'p\nload lost: l' },
    {
      name: 'each once',
      problems: ['p', 'p'],
      losses: ['l', 'l', 'm'],
      text: 'p\nload lost: l\nload lost: m'
    },
    {
      name: 'a sentence, unless it begins with a name',
      problems: ['grid x was deleted after 3 s', 'override_hosts: no', 'shop.Plan: no'],
      losses: [],
      text: 'Grid x was deleted after 3 s\noverride_hosts: no\nshop.Plan: no'
    },
    { name: 'no empty ones', problems: [' '], losses: [], text: null }
  ])('$name', ({ problems, losses, text }) => {
    expect(formatFindings({ problems, losses })).toBe(text)
  })

  test('are bounded in lines', () => {
    const losses = Array.from({ length: 1000 }, (_, i) => `node ${i}`)
    const lines = formatFindings({ problems: [], losses })!.split('\n')
    expect([lines.length, lines.at(0), lines.at(-1)]).toEqual([51, 'load lost: node 0', 'and 950 more lines'])
  })

  test('are bounded in length', () => {
    const text = formatFindings({ problems: ['é'.repeat(12_000), 'q'], losses: ['l'] })!
    expect(text).toMatch(/^é{9999}…\nand 2 more lines$/)
  })
})

test('warnings start with a capital, unless that would change a name', () => {
  const doubts = [
    'this run shared the cores',
    'This too',
    'shop.Checkout ran',
    'users.csv is odd',
    'a\nb',
    'a\nb'
  ]
  expect(formatDoubts(doubts)).toEqual([
    'This run shared the cores',
    'This too',
    'shop.Checkout ran',
    'users.csv is odd',
    'a; b'
  ])
})
