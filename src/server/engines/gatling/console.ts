/** What Gatling's console output says about a run. */
export interface Said {
  /** The simulation ran to its end, or to an error that stopped it. */
  readonly isEnded: boolean
  /** Why the simulation failed, from the outermost exception to its cause. */
  readonly failures: readonly string[]
  /** The assertions that do not hold, as Gatling prints them. */
  readonly brokenAssertions: readonly string[]
  /** The last lines. */
  readonly lastLines: readonly string[]
}

const KEPT_LINES = 40
const OWN = 'loadgate: '
const FAILED = 'failed: '
const END = 'end of run'
const RULE = /^[=-]{20,}$/
/** Gatling's tables are as wide as a terminal, and a log's line has more in it. */
const FILLER = /([-# ])\1{9,}/g
/** `Global: percentage of failed events is less than 1.0 : false (actual : 50.0)` */
const BROKEN_ASSERTION = /^.+ : false \(.*\)$/

/** Follows Gatling's console output; `onLine` gets the lines that people should see. */
export class Console {
  #isEnded = false
  #failures: string[] = []
  #brokenAssertions: string[] = []
  #lastLines: string[] = []

  constructor(private readonly onLine: (line: string) => void) {}

  push(line: string): void {
    if (line.startsWith(OWN)) {
      this.#pushOwn(line.slice(OWN.length))
      return
    }
    if (line.trim() === '' || RULE.test(line)) return
    if (BROKEN_ASSERTION.test(line)) this.#brokenAssertions.push(line)
    this.#lastLines.push(line)
    if (this.#lastLines.length > KEPT_LINES) this.#lastLines.shift()
    this.onLine(line.replace(FILLER, '$1$1$1'))
  }

  end(): Said {
    return {
      isEnded: this.#isEnded,
      failures: this.#failures,
      brokenAssertions: this.#brokenAssertions,
      lastLines: this.#lastLines
    }
  }

  #pushOwn(words: string): void {
    if (words === END) this.#isEnded = true
    else if (words.startsWith(FAILED)) this.#failures.push(words.slice(FAILED.length))
  }
}
