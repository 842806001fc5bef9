import { readLogLines } from '../engine.js'

/** An entry of JMeter's log, with the first and the last message of the exception below it. */
export interface LogEntry {
  readonly level: string
  /** Logger and message, as in `o.a.j.t.JMeterThread: Test failed!`. */
  readonly text: string
  /** Empty if the entry has no exception. */
  readonly exception: string
  /** The root cause of the exception; empty if there is none. */
  readonly rootCause: string
}

const MAX_TEXT = 1000
/** By default time, level, logger and message; other layouts have the level near the start of the line too. */
const ENTRY = /^(?:[\d[].{0,80}?\b)?(FATAL|ERROR|WARN|INFO|DEBUG|TRACE)\b[\]\s:|-]*(.*)$/
/** JMeter's default layout. */
const TIME = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} /
const CAUSED_BY = 'Caused by: '

/** Reads a log of any size entry by entry, as far as time allows: its start matters as much as its end. */
export async function readLogEntries(
  file: string,
  onEntry: (entry: LogEntry) => void,
  signal?: AbortSignal
): Promise<void> {
  const entries = new EntryReader(onEntry)
  await readLogLines(file, (line) => entries.push(line), signal)
  entries.end()
}

class EntryReader {
  #entry: { level: string; text: string; exception: string; rootCause: string } | undefined

  /** Whether entries start with a time, judged by the first one: then a message's further lines are not entries. */
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
