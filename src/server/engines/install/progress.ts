import type { InstallPorts } from './install-ports.js'

/** On a terminal, where a line replaces the one before. */
const REDRAW_EVERY_MS = 500
/** Elsewhere a line stays: only whoever waits unusually long needs one. */
const LOG_EVERY_MS = 60_000

/** Reports how far an installation is, until the returned function is called. */
export function reportProgress(
  {
    log,
    progress,
    progressEveryMs,
    signal
  }: Pick<InstallPorts, 'log' | 'progress' | 'progressEveryMs' | 'signal'>,
  describe: (seconds: number) => string
): () => void {
  const startMs = performance.now()
  const show = progress ?? log
  const timer = setInterval(
    () => show(describe(Math.round((performance.now() - startMs) / 1000))),
    progressEveryMs ?? (progress === undefined ? LOG_EVERY_MS : REDRAW_EVERY_MS)
  )
  let isStopped = false
  const stop = (): void => {
    if (isStopped) return
    isStopped = true
    clearInterval(timer)
    signal.removeEventListener('abort', stop)
    progress?.(undefined)
  }
  // At once: the tool may take seconds to end, in which others write their last lines.
  signal.addEventListener('abort', stop)
  if (signal.aborted) stop()
  return stop
}
