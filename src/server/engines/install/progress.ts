import type { InstallPorts } from './install-ports.js'

/** On a terminal, where a line replaces the one before. */
const REDRAW_EVERY_MS = 500
/** Elsewhere a line stays: only whoever waits unusually long needs one. */
const LOG_EVERY_MS = 60_000

/** Reports how far an installation is, until the returned function is called. */
export function reportProgress(
  { log, progress, progressEveryMs }: Pick<InstallPorts, 'log' | 'progress' | 'progressEveryMs'>,
  describe: (seconds: number) => string
): () => void {
  const startMs = performance.now()
  const show = progress ?? log
  const timer = setInterval(
    () => show(describe(Math.round((performance.now() - startMs) / 1000))),
    progressEveryMs ?? (progress === undefined ? LOG_EVERY_MS : REDRAW_EVERY_MS)
  )
  return () => {
    clearInterval(timer)
    progress?.(undefined)
  }
}
