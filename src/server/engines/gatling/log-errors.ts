import { createReadStream } from 'node:fs'
import { finished } from 'node:stream/promises'
import { splitLines } from '../../nodes/lines.js'

/** Errors of one kind: how many, and the first one, redacted. */
export interface Errors {
  readonly count: number
  readonly first: string
}

export interface LogErrors {
  /** Steps of the plan that were not executed, and left no row. */
  readonly lost: Errors
  /** The others. */
  readonly other: Errors
  /** The first one of all; empty if there is none. */
  readonly first: string
}

/** As the helper's logging configuration writes it. */
const ERROR = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} ERROR (.*)$/
/**
 * After these Gatling goes on without what should have been done: a hook or a loop with a missing attribute, an exception
 * in the plan's code. A request that could not be built has a row, unless it was for its name.
 */
const LOST =
  /^\S+: (?:'.*' (?:failed to execute:|crashed with ')|Condition evaluation .*crashed with message|Failed to build request name:)/
const MAX_TEXT = 500

/** Which errors Gatling logged: a simulation goes on after most of them. */
export async function readLogErrors(
  logFile: string,
  { redact, signal }: { redact: (text: string) => string; signal: AbortSignal }
): Promise<LogErrors> {
  const lost = { count: 0, first: '' }
  const other = { count: 0, first: '' }
  let first = ''
  const stream = createReadStream(logFile, { signal })
  splitLines(stream, (line) => {
    const text = ERROR.exec(line)?.[1]
    if (text === undefined) return
    const kind = LOST.test(text) ? lost : other
    kind.count += 1
    // Redacted as a whole: half a secret is not found.
    if (kind.count === 1) kind.first = redact(text).slice(0, MAX_TEXT)
    if (first === '') first = kind.first
  })
  try {
    await finished(stream)
  } catch (thrown) {
    const { code = '' } = thrown as NodeJS.ErrnoException
    if (!['ENOENT', 'ABORT_ERR'].includes(code)) throw thrown
  }
  return { lost, other, first }
}
