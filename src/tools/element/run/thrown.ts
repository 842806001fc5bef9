import { inspect } from 'node:util'

/** Anything can be thrown, even what cannot be turned into a text. */
export function textOf(thrown: unknown): string {
  try {
    if (typeof thrown !== 'object' || thrown === null) return String(thrown)
    const { message } = thrown as { message?: unknown }
    return typeof message === 'string'
      ? message
      : inspect(message ?? thrown, { depth: 1, breakLength: Infinity })
  } catch {
    return 'something that has no text'
  }
}

/** An error whose name, message and stack can be relied on. */
export function toError(thrown: unknown): Error {
  return isPlainError(thrown) ? thrown : new Error(textOf(thrown))
}

export function stackOf(thrown: unknown): string {
  return isPlainError(thrown) ? (thrown.stack ?? thrown.message) : textOf(thrown)
}

function isPlainError(thrown: unknown): thrown is Error {
  try {
    if (!(thrown instanceof Error)) return false
    const { name, message, stack } = thrown as { name: unknown; message: unknown; stack?: unknown }
    return (
      typeof name === 'string' &&
      typeof message === 'string' &&
      (stack === undefined || typeof stack === 'string')
    )
  } catch {
    return false
  }
}
