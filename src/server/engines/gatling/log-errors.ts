import { createReadStream } from 'node:fs'
import { finished } from 'node:stream/promises'
import { splitLines } from '../../nodes/lines.js'

/** As the helper's logging configuration writes it. */
const ERROR = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} ERROR (.*)$/
const MAX_TEXT = 500

/** How many errors Gatling logged, and the first one: a simulation goes on after most of them. */
export async function readLogErrors(
  logFile: string,
  signal: AbortSignal
): Promise<{ count: number; first: string }> {
  const found = { count: 0, first: '' }
  const stream = createReadStream(logFile, { signal })
  splitLines(stream, (line) => {
    const text = ERROR.exec(line)?.[1]
    if (text === undefined) return
    found.count += 1
    if (found.count === 1) found.first = text.slice(0, MAX_TEXT)
  })
  try {
    await finished(stream)
  } catch (thrown) {
    const { code = '' } = thrown as NodeJS.ErrnoException
    if (!['ENOENT', 'ABORT_ERR'].includes(code)) throw thrown
  }
  return found
}
