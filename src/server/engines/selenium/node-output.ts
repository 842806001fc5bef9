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
  #shown = 0

  constructor(private readonly log: (line: string) => void) {}

  take(line: string): void {
    if (line.startsWith(FAILURE_LINE))
      this.failures.push(JSON.parse(line.slice(FAILURE_LINE.length)) as UserFailure)
    else if (line.startsWith(FACTS_LINE)) this.facts = JSON.parse(line.slice(FACTS_LINE.length)) as RunFacts
    else this.#show(line)
  }

  #show(line: string): void {
    this.lastLines.push(line)
    if (this.lastLines.length > KEPT_LINES) this.lastLines.shift()
    this.#shown += 1
    if (this.#shown <= SHOWN_LINES) this.log(line)
    if (this.#shown === SHOWN_LINES) this.log('the plan prints a lot; the rest is in the log of the tool')
  }
}
