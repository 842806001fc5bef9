import type { Parsed } from '../../values/setting-values.js'
import type { Stream } from '../screen.js'
import type { Prompt } from './prompt.js'

export interface Question<T> {
  readonly question: string
  /** The answer of someone who just presses Enter. */
  readonly fallback: string
  readonly parse: (text: string) => Parsed<T>
}

export interface Asker {
  ask<T>(question: Question<T>): Promise<T>
}

/** The input ended before the last question was answered. */
export class NoAnswerError extends Error {
  override name = 'NoAnswerError'
}

/** Asks again until an answer is accepted. */
export function askAt(prompt: Prompt, out: Stream, cancelled: AbortSignal): Asker {
  return {
    ask: async ({ question, fallback, parse }) => {
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
}

/** Nobody is there to answer, or nobody wants to. */
export const takeDefaults: Asker = {
  ask: ({ question, fallback, parse }) => {
    const parsed = parse(fallback)
    if (parsed.ok) return Promise.resolve(parsed.value)
    return Promise.reject(new NoAnswerError(`there is no default for "${question}"`))
  }
}
