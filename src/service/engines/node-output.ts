const KEPT_LINES = 10

interface OutputPorts {
  /** In front of the facts for the service; a plan does not know it. */
  readonly word: string
  /** Takes a fact without the word; throws if it cannot be read. */
  readonly take: (fact: string) => void
  readonly log: (line: string) => void
}

/** Reads the output of a node's process: facts for the service, and lines for people. */
export class NodeOutput {
  readonly lastLines: string[] = []
  /** Some of the facts cannot be read: then it is unknown how the plan ended. */
  isBroken = false

  constructor(private readonly ports: OutputPorts) {}

  push(line: string): void {
    const { word, take, log } = this.ports
    if (line.startsWith(`${word} `))
      try {
        take(line.slice(word.length + 1))
        return
      } catch {
        this.isBroken = true
      }
    this.lastLines.push(line)
    if (this.lastLines.length > KEPT_LINES) this.lastLines.shift()
    log(line)
  }
}
