const MOST_ERRORS = 3
const MOST_LINES = 100

interface LogLine {
  readonly level: string
  readonly words: string
  /** `console` for what a script prints, `stacktrace` for an exception that ended an iteration. */
  readonly source: string
}

/** A line of k6's log as JSON; anything else is a line for people. */
export function readLogLine(line: string): LogLine {
  try {
    const { level, msg, error, hint, source } = JSON.parse(line) as Readonly<Record<string, unknown>>
    const words = [msg, error, hint].filter((part) => typeof part === 'string' && part !== '').join(': ')
    return { level: String(level), words, source: String(source) }
  } catch {
    // One that was cut, for its length, has lost what comes after its words.
    const [, level = 'info'] = /"level":"(\w+)"/.exec(line) ?? []
    const source = level === 'error' && /\\n\\tat |\\n\s+at /.test(line) ? 'stacktrace' : ''
    return { level, words: line.replaceAll('\\n', '\n').replaceAll('\\t', '\t'), source }
  }
}

/** What k6 says while it runs: for people, and what it means for the load. */
export class K6Words {
  /** Iterations that an exception ended. */
  exceptions = 0
  firstException = ''
  /** The last ones of k6 itself. */
  readonly errors: string[] = []
  #shown = 0
  #logged = 0

  constructor(private readonly log: (line: string) => void) {}

  /** The summary, mostly. */
  takeOutput(line: string): void {
    this.#shown++
    if (this.#shown <= MOST_LINES) this.log(line)
  }

  takeLog(line: string): void {
    const { level, words, source } = readLogLine(line)
    const isError = ['error', 'fatal', 'panic'].includes(level)
    if (isError && source === 'stacktrace') {
      this.exceptions++
      if (this.exceptions === 1) this.firstException = words.trim()
    } else if (isError && source !== 'console') {
      this.errors.push(words)
      if (this.errors.length > MOST_ERRORS) this.errors.shift()
    }
    this.#logged++
    if (this.#logged <= MOST_LINES) this.log(`${level}: ${words}`)
    if (this.#logged === MOST_LINES) this.log('… k6 logs a lot; the rest is not shown')
  }
}
