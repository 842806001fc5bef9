import { inspect } from 'node:util'

/** Anything can be thrown, even what cannot be put into words: an error whose name, message and stack are text. */
export function toError(thrown: unknown): Error {
  try {
    if (!(thrown instanceof Error)) return new Error(wordsOf(thrown))
    // A script's class of errors can make anything of them.
    if (isText(thrown)) return thrown
    return new Error(wordsOf(thrown.message))
  } catch {
    return new Error('something that cannot be read')
  }
}

function isText(error: Error): boolean {
  try {
    const { name, message, stack = '' } = error as Partial<Record<keyof Error, unknown>>
    return [name, message, stack].every((part) => typeof part === 'string')
  } catch {
    return false
  }
}

function wordsOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value)
  try {
    const words = String(value)
    if (!words.startsWith('[object ')) return words
  } catch {
    // It has no words of its own.
  }
  return inspect(value, { customInspect: false, depth: 2, breakLength: Infinity })
}
