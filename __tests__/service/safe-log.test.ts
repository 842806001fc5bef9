import { expect, test } from '@jest/globals'
import { safeLog } from '../../src/service/server.js'

function show(text: string): string[] {
  const lines: string[] = []
  safeLog((line) => void lines.push(line))(text)
  return lines
}

test('each line is logged on its own', () => {
  expect(show('one\r\ntwo\n\n\tthree')).toEqual(['one', 'two', '\tthree'])
})

test.each([
  { name: 'colours', text: 'a\u001b[31mred', shown: 'a [31mred' },
  { name: 'the title of a window', text: '\u001b]0;title\u0007x', shown: ' ]0;title x' },
  { name: 'a sequence in one character', text: 'a\u009b2Jb', shown: 'a 2Jb' },
  { name: 'a backspace and a NUL', text: 'a\u0008\u0000b\u007f', shown: 'a  b ' }
])('control characters do not reach a log: $name', ({ text, shown }) => {
  expect(show(text)).toEqual([shown])
})
