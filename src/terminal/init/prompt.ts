import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'

/** Someone who answers questions. */
export interface Prompt {
  /** The next line that is typed; undefined at the end of the input (Ctrl-D). Rejects with the signal's reason. */
  readLine(signal: AbortSignal): Promise<string | undefined>
  close(): void
}

/** Reads from a terminal, which shows and edits a line by itself. */
export function openPrompt(input: Readable): Prompt {
  const lines = createInterface({ input, terminal: false })
  const typed = lines[Symbol.asyncIterator]()
  return {
    readLine: (signal) =>
      new Promise((resolve, reject) => {
        const abort = (): void => reject(signal.reason as Error)
        if (signal.aborted) abort()
        signal.addEventListener('abort', abort, { once: true })
        typed.next().then(
          (line) => resolve(line.done === true ? undefined : line.value),
          (thrown: unknown) => reject(thrown as Error)
        )
      }),
    close: () => {
      lines.close()
      input.pause()
    }
  }
}
