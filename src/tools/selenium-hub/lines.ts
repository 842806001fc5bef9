import type { Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'

/** A plan that never ends its line must not fill up the memory. */
const MAX_LINE_LENGTH = 64 << 10

/** Calls back for every line of a stream; of a longer one only the start is kept. */
export function eachLine(stream: Readable, take: (line: string) => void): void {
  const decoder = new StringDecoder('utf8')
  let rest = ''
  const add = (text: string): void => {
    const lines = text.split('\n')
    lines[0] = rest + (lines[0] ?? '')
    rest = (lines.pop() ?? '').slice(0, MAX_LINE_LENGTH)
    for (const line of lines) take(line.slice(0, MAX_LINE_LENGTH).replace(/\r$/, ''))
  }
  stream.on('data', (chunk: Buffer) => add(decoder.write(chunk)))
  stream.on('end', () => {
    add(decoder.end())
    if (rest !== '') take(rest)
  })
}

/** One line for a log, whatever a plan has put into it. */
export function onOneLine(text: string): string {
  return text.replace(/(?!\t)[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu, ' ')
}
