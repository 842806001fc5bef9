import { CancelledError } from './errors.js'

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
