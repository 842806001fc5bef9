import { messageOf } from '../contract/text.js'

export { asSentence } from '../values/sentence.js'
export { messageOf } from '../contract/text.js'

/** The deadline for everything up to the end of the run has passed. */
export class DeadlineError extends Error {
  override name = 'DeadlineError'
}

/** The job was cancelled by a signal. */
export class CancelledError extends Error {
  override name = 'CancelledError'
  constructor(readonly signal: string) {
    super(`cancelled by ${signal}`)
  }
}

/** Why the gate could not continue. */
export interface Failure {
  readonly kind: 'timed-out' | 'cancelled' | 'error'
  readonly message: string
}

export function failureOf(thrown: unknown): Failure {
  if (thrown instanceof DeadlineError) return { kind: 'timed-out', message: thrown.message }
  if (thrown instanceof CancelledError) return { kind: 'cancelled', message: thrown.message }
  return { kind: 'error', message: messageOf(thrown) }
}
