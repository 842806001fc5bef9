import {
  FACTS_LINE,
  FAILURE_LINE,
  type RunFacts,
  type UserFailure
} from '../../../tools/selenium-hub/order.js'

const KEPT_LINES = 40
/** Every user may print the same; the tool's log has it all. */
const SHOWN_LINES = 200

/** Reads what a node's process prints: what it tells the service, and lines for people. */
export class NodeOutput {
  readonly failures: UserFailure[] = []
  readonly lastLines: string[] = []
  facts: RunFacts | undefined
  /** Set if the node told something that cannot be read: then it is not known how its users ended. */
  isBroken = false
  #shown = 0

  /** The word is in front of what the node itself tells; a plan does not know it. */
  constructor(
    private readonly word: string,
    private readonly log: (line: string) => void
  ) {}

  take(line: string): void {
    if (!this.#takeTold(line)) this.#show(line)
  }

  #takeTold(line: string): boolean {
    if (!line.startsWith(`${this.word} `)) return false
    const told = line.slice(this.word.length + 1)
    const start = [FAILURE_LINE, FACTS_LINE].find((each) => told.startsWith(each)) ?? ''
    const value = readJson(told.slice(start.length))
    if (value === undefined) this.isBroken = true
    else if (start === FAILURE_LINE) this.failures.push(value as UserFailure)
    else this.facts = value as RunFacts
    return value !== undefined
  }

  #show(line: string): void {
    this.lastLines.push(line)
    if (this.lastLines.length > KEPT_LINES) this.lastLines.shift()
    this.#shown += 1
    if (this.#shown <= SHOWN_LINES) this.log(line)
    if (this.#shown === SHOWN_LINES) this.log('the plan prints a lot; the rest is in the log of the tool')
  }
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
