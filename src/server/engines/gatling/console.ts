/** What Gatling's console output says about a run, without secrets. */
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
const FAILED = 'failed: '
const END = 'end of run'
const RULE = /^[=-]{20,}$/
/** Gatling's tables are as wide as a terminal, and a log's line has more in it. */
const FILLER = /([-# ])\1{9,}/g
/** `Global: percentage of failed events is less than 1.0 : false (actual : 50.0)` */
const BROKEN_ASSERTION = /^.+ : false \(.*\)$/

export interface ConsolePorts {
  /** A random word in the helper's own lines, which nothing else that is printed can have. */
  readonly mark: string
  /** A plan may print the secrets it received. */
  readonly redact: (text: string) => string
  /** Gets the lines that people should see. */
  readonly onLine: (line: string) => void
}

/** Follows Gatling's console output. */
export class Console {
  #isEnded = false
  #failures: string[] = []
  #brokenAssertions: string[] = []
  #lastLines: string[] = []

  constructor(private readonly ports: ConsolePorts) {}

  push(raw: string): void {
    const own = `loadgate ${this.ports.mark}: `
    if (raw.startsWith(own)) {
      this.#pushOwn(raw.slice(own.length))
      return
    }
    if (raw.trim() === '' || RULE.test(raw)) return
    // Before anything is left out of the line: a secret is found as a whole only.
    const line = this.ports.redact(raw)
    if (BROKEN_ASSERTION.test(raw)) this.#brokenAssertions.push(line)
    this.#lastLines.push(line)
    if (this.#lastLines.length > KEPT_LINES) this.#lastLines.shift()
    this.ports.onLine(line.replace(FILLER, '$1$1$1'))
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
    else if (words.startsWith(FAILED)) {
      this.#failures.push(this.ports.redact(words.slice(FAILED.length)))
    }
  }
}
