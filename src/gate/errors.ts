import { messageOf } from '../contract/text.js'

/** The deadline for everything up to the end of the run has passed. */
export class DeadlineError extends Error {
  override name = 'DeadlineError'
}

export class CancelledError extends Error {
  override name = 'CancelledError'
  constructor(readonly signal: string) {
    super(`cancelled by ${signal}`)
  }
}

export interface Failure {
  readonly kind: 'timed-out' | 'cancelled' | 'error'
  readonly message: string
}

export function failureOf(thrown: unknown): Failure {
  if (thrown instanceof DeadlineError) return { kind: 'timed-out', message: thrown.message }
  if (thrown instanceof CancelledError) return { kind: 'cancelled', message: thrown.message }
  return { kind: 'error', message: messageOf(thrown) }
}

/** Ctrl-C, a plain `kill`, a closed terminal, Ctrl-\. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const

/** Returns a signal that is aborted by the first of them; a second one ends the process at once. */
export function listenForSignals(endNow: () => void): AbortSignal {
  const cancellation = new AbortController()
  for (const name of SIGNALS)
    process.on(name, () => {
      if (!cancellation.signal.aborted) cancellation.abort(new CancelledError(name))
      // A closing terminal sends SIGHUP more than once, from the shell and from the kernel: not a second request.
      else if (name !== 'SIGHUP') endNow()
    })
  return cancellation.signal
}

/** Handles errors that nothing else catches; Node would print their stack traces, with whatever text they contain. */
export function catchStrayErrors(end: (thrown: unknown) => void): void {
  process.on('uncaughtException', end)
  process.on('unhandledRejection', end)
}

/** Inputs that are not valid, all of them at once, so that a workflow can be fixed in one push. */
export class SettingsError extends Error {
  override name = 'SettingsError'
  constructor(readonly problems: readonly string[]) {
    super(
      problems.length === 1
        ? `Invalid input, nothing was sent: ${problems[0] ?? ''}`
        : `${problems.length} invalid inputs, nothing was sent:\n${problems.map((problem) => `- ${problem}`).join('\n')}`
    )
  }
}
