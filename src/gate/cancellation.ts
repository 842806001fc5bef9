import { CancelledError } from './trouble.js'

/** A signal that is aborted by the first SIGINT or SIGTERM; the second one ends the process at once. */
export function listenForSignals(endNow: () => void): AbortSignal {
  const cancellation = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const)
    process.on(name, () => {
      if (cancellation.signal.aborted) endNow()
      else cancellation.abort(new CancelledError(name))
    })
  return cancellation.signal
}
