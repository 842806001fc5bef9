import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { orAborted } from '../../contract/clock.js'
import type { Parsed } from '../../contract/setting-values.js'
import type { Stream } from '../screen.js'

export interface Question<T> {
  readonly question: string
  /** The answer of someone who just presses Enter. */
  readonly fallback: string
  readonly parse: (text: string) => Parsed<T>
}

export type Asker = <T>(question: Question<T>) => Promise<T>

/** The input ended before the last question was answered. */
export class NoAnswerError extends Error {
  override name = 'NoAnswerError'
}

export function askAt(prompt: Prompt, out: Stream, cancelled: AbortSignal): Asker {
  return async ({ question, fallback, parse }) => {
    for (;;) {
      out.write(`${question} ${fallback === '' ? '' : `[${fallback}] `}`)
      const typed = await prompt.readLine(cancelled)
      if (typed === undefined) throw new NoAnswerError('the input ended')
      const parsed = parse(typed.trim() || fallback)
      if (parsed.ok) return parsed.value
      out.write(`That is not accepted; expected ${parsed.accepted}\n`)
    }
  }
}

/** Nobody is there to answer, or nobody wants to. */
export const takeDefaults: Asker = ({ question, fallback, parse }) => {
  const parsed = parse(fallback)
  if (parsed.ok) return Promise.resolve(parsed.value)
  return Promise.reject(new NoAnswerError(`there is no default for "${question}"`))
}

export interface Prompt {
  /** The next line that is typed; undefined at the end of the input (Ctrl-D). Rejects with the signal's reason. */
  readLine(signal: AbortSignal): Promise<string | undefined>
  close(): void
}

/** Reads from a terminal, which shows and edits a line by itself. */
export function openPrompt(input: Readable): Prompt {
  const lines = createInterface({ input, terminal: false })
  const typed = lines[Symbol.asyncIterator]()
  return {
    readLine: async (signal) => {
      const line = await orAborted(typed.next(), signal)
      return line.done === true ? undefined : line.value
    },
    close: () => {
      lines.close()
      input.pause()
    }
  }
}
