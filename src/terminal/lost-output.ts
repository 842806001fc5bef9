import type { Writable } from 'node:stream'

export interface OutputWatch {
  /** Whether something that was written is not there. */
  isLost(): boolean
}

/**
 * Keeps the errors of standard output from ending the command: the work, and the end of its processes, go on. Whoever read it may have
 * gone (`| head`), which is no failure; with any other error, such as that of a full disk, the answer is not where it should be.
 */
export function watchOutput(stream: Pick<Writable, 'on'>, tell: (words: string) => void): OutputWatch {
  let isLost = false
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE' || isLost) return
    isLost = true
    const why = error.code === 'ENOSPC' ? `the disk is full (${error.message})` : error.message
    tell(
      `standard output could not be written, so part of it is missing: ${why}; make room, or send it elsewhere, and call again`
    )
  })
  return { isLost: () => isLost }
}
