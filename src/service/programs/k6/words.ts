import { pathToFileURL } from 'node:url'
import { count } from '../../../contract/text.js'
import { limitLines } from '../../lines.js'

const MOST_ERRORS = 3
const MOST_LINES = 100
/** A larger share of the users or iterations is no coincidence of the last moment. */
const MOST_INTERRUPTED = 0.05
/** The first line and the last one of what k6 prints about itself and the test, then a line per scenario. */
const BANNER = /^ +\/\\ +Grafana /
const BANNER_END = /^ +scenarios: \(/
const SCENARIO = /^ {14}\* /
/** Once a second and at the end: of the test, and of each part of it. */
const PROGRESS = /^running \(.*?\), \d+\/(\d+) VUs, (\d+) complete and (\d+) interrupted iterations/
const PART = /^\S.*\[ *(?:\d+%|-+) *\]/

interface LogLine {
  readonly level: string
  readonly words: string
  /** `console` for what a script prints, `stacktrace` for an exception that ended an iteration. */
  readonly source: string
}

/** A line of k6's log as JSON; anything else is a line for people. Files in the folder in which k6 runs have no path. */
export function readLogLine(line: string, folder: string): LogLine {
  const read = parseLogLine(line)
  const words = [pathToFileURL(folder).href, `file://${folder}`, folder].reduce(
    (rest, path) => rest.replaceAll(`${path}/`, ''),
    read.words
  )
  return { ...read, words }
}

function parseLogLine(line: string): LogLine {
  try {
    const { level, msg, error, hint, source } = JSON.parse(line) as Readonly<Record<string, unknown>>
    const words = [msg, error, hint].filter((part) => typeof part === 'string' && part !== '').join(': ')
    return { level: String(level), words, source: String(source) }
  } catch {
    // A line that was cut because of its length has lost what follows its message.
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
  readonly #showOutput: (line: string) => void
  readonly #showLog: (line: string) => void
  #isBanner = false
  /** Whether k6 has said how far it is. */
  #hasProgress = false
  #users = 0
  #complete = 0
  #interrupted = 0
  /** By `abortOnFail`: then k6 interrupts all iterations. */
  #isCutShort = false

  constructor(
    log: (line: string) => void,
    private readonly folder: string
  ) {
    this.#showOutput = limitLines(MOST_LINES, log, '… k6 prints a lot; the rest is not shown')
    this.#showLog = limitLines(MOST_LINES, log, '… k6 logs a lot; the rest is not shown')
  }

  /** The summary, mostly. */
  takeOutput(line: string): void {
    const [isProgress, users, complete, interrupted] = PROGRESS.exec(line) ?? []
    this.#hasProgress ||= isProgress !== undefined
    if (isProgress !== undefined)
      [this.#users, this.#complete, this.#interrupted] = [
        Number(users),
        Number(complete),
        Number(interrupted)
      ]
    if (isProgress === undefined && !PART.test(line) && !this.#isOfBanner(line)) this.#showOutput(line)
  }

  takeLog(line: string): void {
    const { level, words, source } = readLogLine(line, this.folder)
    const isError = ['error', 'fatal', 'panic'].includes(level)
    const isUncaught = source !== 'console' && words.startsWith('Uncaught (in promise)')
    if (isError && (source === 'stacktrace' || isUncaught)) {
      this.exceptions++
      if (this.exceptions === 1) this.firstException = words.trim()
    } else if (isError && source !== 'console') {
      this.errors.push(words)
      this.#isCutShort ||= words.includes('abortOnFail enabled')
      if (this.errors.length > MOST_ERRORS) this.errors.shift()
    }
    this.#showLog(`${level}: ${words}`)
  }

  /** Iterations that k6 ended, of a test that it ended by itself: a request that they waited for is in no row. */
  describeInterrupted(): string[] {
    if (!this.#hasProgress)
      return [
        'k6 did not say how many iterations it has interrupted; this version of loadgate knows k6 1.0 to 1.8'
      ]
    const [users, complete, interrupted] = [this.#users, this.#complete, this.#interrupted]
    const isMuch =
      interrupted > MOST_INTERRUPTED * users || interrupted > MOST_INTERRUPTED * (complete + interrupted)
    if (this.#isCutShort || interrupted === 0 || !isMuch) return []
    return [
      `k6: ${complete} complete and ${interrupted} interrupted iterations of ${count(users, 'user')}; what the interrupted ones waited for is in no figure: raise gracefulStop (and gracefulRampDown) of the scenario above the time that an iteration takes, or give its requests a timeout below gracefulStop, which is 30 s by default`
    ]
  }

  #isOfBanner(line: string): boolean {
    if (BANNER.test(line)) this.#isBanner = true
    if (!this.#isBanner) return SCENARIO.test(line)
    if (BANNER_END.test(line)) this.#isBanner = false
    return true
  }
}
