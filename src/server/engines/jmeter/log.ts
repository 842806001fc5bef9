import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { finished } from 'node:stream/promises'
import { splitLines } from '../../nodes/lines.js'

/** An entry of JMeter's log, with the first and the last words of the exception that stands below it. */
export interface LogEntry {
  readonly level: string
  /** Logger and message, as in `o.a.j.t.JMeterThread: Test failed!`. */
  readonly text: string
  /** Empty where the entry has no exception. */
  readonly exception: string
  /** What the exception was caused by in the end; empty where it does not say. */
  readonly rootCause: string
}

const CHUNK_BYTES = 1 << 18
const MAX_TEXT = 1000
/** Time, level, logger and message by default; other layouts have the level near the line's start too. */
const ENTRY = /^(?:[\d[].{0,80}?\b)?(FATAL|ERROR|WARN|INFO|DEBUG|TRACE)\b[\]\s:|-]*(.*)$/
/** JMeter's own layout. */
const TIME = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} /
const CAUSED_BY = 'Caused by: '

/** Reads a log of any size entry by entry, or as far as there is time: its start counts as much as its end. */
export async function readLogEntries(
  file: string,
  onEntry: (entry: LogEntry) => void,
  signal?: AbortSignal
): Promise<void> {
  const entries = new EntryReader(onEntry)
  const stream = createReadStream(file, { highWaterMark: CHUNK_BYTES, signal })
  splitLines(stream, (line) => entries.push(line))
  try {
    await finished(stream)
  } catch (thrown) {
    const { code = '' } = thrown as NodeJS.ErrnoException
    if (!['ENOENT', 'ABORT_ERR'].includes(code)) throw thrown
  }
  entries.end()
}

class EntryReader {
  #entry: { level: string; text: string; exception: string; rootCause: string } | undefined

  /** Whether entries begin with a time, as the first one tells: then a message's further lines are none. */
  #hasTimes: boolean | undefined

  constructor(private readonly onEntry: (entry: LogEntry) => void) {}

  push(line: string): void {
    const [, level, text] = ENTRY.exec(line) ?? []
    if (level !== undefined && text !== undefined && (!this.#hasTimes || TIME.test(line))) {
      this.#hasTimes ??= TIME.test(line)
      this.end()
      this.#entry = { level, text: text.slice(0, MAX_TEXT).trim(), exception: '', rootCause: '' }
    } else if (this.#entry !== undefined && !line.startsWith('\tat ')) {
      const words = line.slice(0, MAX_TEXT).trim()
      if (words.startsWith(CAUSED_BY)) this.#entry.rootCause = words.slice(CAUSED_BY.length)
      else this.#entry.exception ||= words
    }
  }

  end(): void {
    if (this.#entry !== undefined) this.onEntry(this.#entry)
    this.#entry = undefined
  }
}

/** The last bytes of a file, from a line's start on; nothing where there is no such file. */
export async function readTail(file: string, maxBytes: number): Promise<string> {
  const handle = await open(file).catch((thrown: unknown) => {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw thrown
  })
  if (handle === undefined) return ''
  try {
    const { size } = await handle.stat()
    const start = Math.max(0, size - maxBytes)
    const buffer = Buffer.alloc(Math.min(size, maxBytes))
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, start)
    const text = buffer.toString('utf8', 0, bytesRead)
    return start === 0 ? text : text.slice(text.indexOf('\n') + 1)
  } finally {
    await handle.close()
  }
}
