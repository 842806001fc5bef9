import { openSync, writeSync } from 'node:fs'

const MAX_BYTES = 20 * 1024 ** 2
const FULL = '… the log has reached its limit; nothing more is written to it\n'

/** The log of the run: what failed, with stack traces, and everything that the script prints. It does not grow without limit. */
export function openLog(path: string): (text: string) => void {
  const file = openSync(path, 'w')
  let bytes = 0
  const write = (chunk: string | Uint8Array): void => {
    if (bytes > MAX_BYTES) return
    bytes += chunk.length
    const isFull = bytes > MAX_BYTES
    try {
      writeSync(file, Buffer.from(isFull ? FULL : chunk))
    } catch {
      // The log is no reason to stop: a full disk shows in the rows.
    }
  }
  for (const stream of [process.stdout, process.stderr]) copyTo(stream, write)
  return (text) => write(`${new Date().toISOString()} ${text}\n`)
}

function copyTo(stream: NodeJS.WriteStream, copy: (chunk: string | Uint8Array) => void): void {
  const write = stream.write.bind(stream) as (...all: unknown[]) => boolean
  stream.write = (chunk: string | Uint8Array, ...rest: unknown[]) => {
    copy(chunk)
    return write(chunk, ...rest)
  }
}
