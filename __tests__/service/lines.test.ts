import { expect, test } from '@jest/globals'
import { finished } from 'node:stream/promises'
import { PassThrough } from 'node:stream'
import { splitLines } from '../../src/service/lines.js'

async function linesOf(chunks: readonly string[]): Promise<string[]> {
  const stream = new PassThrough()
  const lines: string[] = []
  splitLines(stream, (line) => lines.push(line))
  for (const chunk of chunks) stream.write(chunk)
  stream.end()
  await finished(stream)
  return lines
}

test('lines end with CR or LF, and empty ones are left out', async () => {
  expect(await linesOf(['a\nb', 'c\r', '\n\nd\re'])).toEqual(['a', 'bc', 'd', 'e'])
})

test('a line as long as the limit stays whole; of a longer one the start is told, with a mark', async () => {
  const [whole, cut] = await linesOf([`${'x'.repeat(8192)}\n${'y'.repeat(8193)}\n`])
  expect(whole).toBe('x'.repeat(8192))
  expect(cut).toBe(`${'y'.repeat(8191)}…`)
})

test('what follows a cut is not a line of its own: it may start with half a secret', async () => {
  const chunks = ['x'.repeat(9000), 'half', 'y'.repeat(9000), 'rest', '\nnext\n', 'z'.repeat(9000)]
  const lines = await linesOf(chunks)
  expect(lines).toEqual([`${'x'.repeat(8191)}…`, 'next', `${'z'.repeat(8191)}…`])
})
