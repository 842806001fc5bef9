import type { Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'

/** A tool that never ends its line must not fill up the memory. */
const MAX_LINE_LENGTH = 8192

/** Calls back for every non-empty line of a stream, split at CR and LF. */
export function splitLines(stream: Readable, onLine: (line: string) => void): void {
  const decoder = new StringDecoder('utf8')
  let rest = ''
  const take = (text: string): void => {
    const lines = (rest + text).split(/[\r\n]+/)
    rest = lines.pop() ?? ''
    for (const line of lines) if (line !== '') onLine(line.slice(0, MAX_LINE_LENGTH))
    if (rest.length > MAX_LINE_LENGTH) {
      onLine(rest.slice(0, MAX_LINE_LENGTH))
      rest = ''
    }
  }
  stream.on('data', (chunk: Buffer) => take(decoder.write(chunk)))
  stream.on('end', () => take(`${decoder.end()}\n`))
  // A broken pipe has no more output; the tool's exit says the rest.
  stream.on('error', () => take('\n'))
}
