import { openSync, writeSync } from 'node:fs'

/** What the process reports, one JSON object per line, in a file of its own apart from what a script prints. */
export type Message =
  /** It is alive: nothing blocks it. */
  | { readonly kind: 'beat' }
  | { readonly kind: 'note'; readonly text: string }
  /** The plan could not be run, or not to its end. */
  | { readonly kind: 'problem'; readonly text: string }
  /** Part of the load was not generated. */
  | { readonly kind: 'loss'; readonly text: string }
  /** It will be over within this time. */
  | { readonly kind: 'limit'; readonly ms: number }
  /** A signal ended the run early. */
  | { readonly kind: 'stopped'; readonly signal: string }
  /** It did everything that it was to do. */
  | { readonly kind: 'end' }

export type Tell = (message: Message) => void

/** Writes at once: the process may end right after it. */
export function createTell(file: string): Tell {
  const descriptor = openSync(file, 'a')
  return (message) => void writeSync(descriptor, `${JSON.stringify(message)}\n`)
}

/** The message in a line; one that cannot be read may have been about anything, so it is a problem. */
export function readMessage(line: string): Message {
  try {
    return JSON.parse(line) as Message
  } catch {
    return { kind: 'problem', text: 'a message of the process that runs the script cannot be read' }
  }
}
