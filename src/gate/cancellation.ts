import { CancelledError } from './errors.js'

/** Ctrl-C, a polite kill, a terminal that was closed, Ctrl-\. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const

/** A signal that is aborted by the first of them; the second one ends the process at once. */
export function listenForSignals(endNow: () => void): AbortSignal {
  const cancellation = new AbortController()
  for (const name of SIGNALS)
    process.on(name, () => {
      if (!cancellation.signal.aborted) cancellation.abort(new CancelledError(name))
      // A terminal that closes sends SIGHUP more than once, by the shell and by the kernel: that is not impatience.
      else if (name !== 'SIGHUP') endNow()
    })
  return cancellation.signal
}
