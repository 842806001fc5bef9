import type { Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'

/** A tool that never ends its line must not fill up the memory. */
const MAX_LINE_LENGTH = 8192

/** At the end of a line that was cut: the last word before it may be half a secret. */
export const CUT = '…'

/** Calls back for every non-empty line of a stream, split at CR and LF; of a line that is too long, for its start. */
export function splitLines(stream: Readable, onLine: (line: string) => void): void {
  const decoder = new StringDecoder('utf8')
  let rest = ''
  let isCut = false
  const tell = (line: string): void => {
    // What follows a cut has been told already.
    if (line !== '' && !isCut) onLine(limit(line))
    isCut = false
  }
  const take = (text: string): void => {
    const lines = (rest + text).split(/[\r\n]+/)
    rest = lines.pop() ?? ''
    for (const line of lines) tell(line)
    if (rest.length <= MAX_LINE_LENGTH) return
    tell(rest)
    rest = ''
    isCut = true
  }
  stream.on('data', (chunk: Buffer) => take(decoder.write(chunk)))
  stream.on('end', () => take(`${decoder.end()}\n`))
  // A broken pipe has no more output; the tool's exit says the rest.
  stream.on('error', () => take('\n'))
}

function limit(line: string): string {
  return line.length > MAX_LINE_LENGTH ? `${line.slice(0, MAX_LINE_LENGTH - CUT.length)}${CUT}` : line
}
