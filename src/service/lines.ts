import type { Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'

/** A tool that never ends its line must not fill up the memory. */
const MAX_LINE_LENGTH = 8192

/** At the end of a line that was cut: the last word before it may be half a secret. */
export const CUT = '…'

/** Calls back for every non-empty line of what is pushed, split at CR and LF; of a line that is too long, for its start. */
export class LineSplitter {
  readonly #decoder = new StringDecoder('utf8')
  #rest = ''
  #isCut = false

  constructor(private readonly onLine: (line: string) => void) {}

  push(bytes: Uint8Array): void {
    this.#take(this.#decoder.write(bytes))
  }

  end(): void {
    this.#take(`${this.#decoder.end()}\n`)
  }

  #take(text: string): void {
    const lines = (this.#rest + text).split(/[\r\n]+/)
    this.#rest = lines.pop() ?? ''
    for (const line of lines) this.#tell(line)
    if (this.#rest.length <= MAX_LINE_LENGTH) return
    this.#tell(this.#rest)
    this.#rest = ''
    this.#isCut = true
  }

  /** What follows a cut belongs to a line that was passed on already. */
  #tell(line: string): void {
    const isLong = line.length > MAX_LINE_LENGTH
    if (line !== '' && !this.#isCut)
      this.onLine(isLong ? `${line.slice(0, MAX_LINE_LENGTH - CUT.length)}${CUT}` : line)
    this.#isCut = false
  }
}

const MOST_KEPT = 2 * 1024 ** 2

/** Keeps lines in a list, up to two million characters; the last one then says that there were more. */
export function keepLines(lines: string[]): (line: string) => void {
  let room = MOST_KEPT
  return (line) => {
    if (room <= 0) return
    room -= line.length + 1
    lines.push(room > 0 ? line : '… it printed more, which was not kept')
  }
}

/** Passes on the first lines, and then says where the rest is. */
export function limitLines(most: number, log: (line: string) => void, rest: string): (line: string) => void {
  let count = 0
  return (line) => {
    count += 1
    if (count <= most) log(line)
    if (count === most) log(rest)
  }
}

/** How a process ended, for messages. */
export function describeExit({ code, signal }: { code: number | null; signal: string | null }): string {
  return signal === null ? `exit code ${code}` : `killed by ${signal}`
}

export function splitLines(stream: Readable, onLine: (line: string) => void): void {
  const splitter = new LineSplitter(onLine)
  stream.on('data', (chunk: Buffer) => splitter.push(chunk))
  stream.on('end', () => splitter.end())
  // A broken pipe has no more output; the tool's exit says the rest.
  stream.on('error', () => splitter.end())
}
