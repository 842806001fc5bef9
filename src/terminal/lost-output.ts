import type { Writable } from 'node:stream'

export interface OutputWatch {
  /** Whether any output was lost. */
  isLost(): boolean
}

/**
 * Keeps errors on standard output from ending the command, so that it finishes its work and stops its processes. A closed pipe
 * (`| head`) is not a failure; after any other error, such as a full disk, output is missing.
 */
export function watchOutput(stream: Pick<Writable, 'on'>, tell: (words: string) => void): OutputWatch {
  let isLost = false
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE' || isLost) return
    isLost = true
    const why = error.code === 'ENOSPC' ? `the disk is full (${error.message})` : error.message
    tell(
      `could not write to standard output, so part of it is missing: ${why}; free up space or redirect the output, then run the command again`
    )
  })
  return { isLost: () => isLost }
}
