import { readFileSync } from 'node:fs'

const KEPT_LINES = 40
const SHOWN_LINES = 12
const MAX_LENGTH = 3000

/** The last lines of a user's output, for when it ends with an error. */
export class LastLines {
  readonly #lines: string[] = []

  add(line: string): void {
    this.#lines.push(line)
    if (this.#lines.length > KEPT_LINES) this.#lines.shift()
  }

  toString(): string {
    return this.#lines.slice(-SHOWN_LINES).join('\n')
  }
}

/** Why a user ended: what the plan threw if it threw something, else how its process ended and what it said last. */
export function explainExit(
  exit: { code: number | null; signal: string | null },
  { thrownFile, lastLines }: { thrownFile: string; lastLines: LastLines }
): string {
  const thrown = readText(thrownFile).trim()
  if (thrown !== '') return thrown.slice(0, MAX_LENGTH)
  const how = exit.signal === null ? `exit code ${exit.code ?? '?'}` : `killed by ${exit.signal}`
  const said = String(lastLines)
  return `its process ended with ${how}${said === '' ? '' : `:\n${said}`}`.slice(0, MAX_LENGTH)
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
