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

const TEXT = { text: 'string' }
const FIELDS = new Map<unknown, Readonly<Record<string, string>>>(
  Object.entries({
    ...{ beat: {}, note: TEXT, problem: TEXT, loss: TEXT },
    ...{ limit: { ms: 'number' }, stopped: { signal: 'string' }, end: {} }
  })
)

/** The message in a line; one that cannot be read may have been about anything, so it is a problem. A plan can write lines, too. */
export function readMessage(line: string): Message {
  try {
    const message = JSON.parse(line) as Record<string, unknown>
    const fields = FIELDS.get(message.kind)
    if (fields && Object.entries(fields).every(([name, type]) => typeof message[name] === type))
      return message as unknown as Message
  } catch {
    // Neither JSON nor an object.
  }
  return { kind: 'problem', text: 'a message of the process that runs the script cannot be read' }
}
