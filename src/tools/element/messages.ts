import { writeSync } from 'node:fs'

/** What the process tells whoever started it, one JSON object per line, after a mark that scripts do not know. */
export type Message =
  /** It is alive: nothing blocks it. */
  | { readonly kind: 'beat' }
  /** Something for people to know. */
  | { readonly kind: 'note'; readonly text: string }
  /** The plan could not be run, or not to its end. */
  | { readonly kind: 'problem'; readonly text: string }
  /** Part of the load was not generated. */
  | { readonly kind: 'loss'; readonly text: string }
  /** It will be over within this time. */
  | { readonly kind: 'limit'; readonly ms: number }
  /** It did everything that it was to do. */
  | { readonly kind: 'end' }

export type Tell = (message: Message) => void

/** Writes at once: the process may end right after it. */
export function createTell(mark: string): Tell {
  return (message) => {
    const line = Buffer.from(`${mark} ${JSON.stringify(message)}\n`)
    for (let at = 0; at < line.length;) at += writeSome(line.subarray(at))
  }
}

/** A pipe that is full for the moment says so instead of waiting. */
function writeSome(bytes: Buffer): number {
  try {
    return writeSync(1, bytes)
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'EAGAIN') return 0
    throw thrown
  }
}

/** The message in a line, if it is one. */
export function readMessage(line: string, mark: string): Message | undefined {
  if (!line.startsWith(`${mark} `)) return undefined
  try {
    return JSON.parse(line.slice(mark.length + 1)) as Message
  } catch {
    return undefined
  }
}
