import type { InstallPorts } from './install-ports.js'

const EVERY_MS = 5000

/** Reports how far an installation is, until the returned function is called. */
export function reportProgress(
  ports: Pick<InstallPorts, 'log' | 'progressEveryMs'>,
  describe: (seconds: number) => string
): () => void {
  const startMs = performance.now()
  const timer = setInterval(() => {
    ports.log(describe(Math.round((performance.now() - startMs) / 1000)))
  }, ports.progressEveryMs ?? EVERY_MS)
  return () => clearInterval(timer)
}
