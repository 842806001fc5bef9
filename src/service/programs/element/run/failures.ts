import { inspect } from 'node:util'
import { oneLine } from './rows.js'
import type { CompileOrder, RunOrder } from './run-order.js'

function textOf(thrown: unknown): string {
  const { message } = (thrown ?? {}) as { message?: unknown }
  const said = message ?? thrown
  return typeof said === 'string' ? said : inspect(said, { depth: 1, breakLength: Infinity })
}

/** An error whose message is a text: anything can be thrown, even undefined. */
export function toError(thrown: unknown): Error {
  const isPlain = thrown instanceof Error && typeof (thrown.message as unknown) === 'string'
  return isPlain ? thrown : new Error(textOf(thrown))
}

export function stackOf(thrown: unknown): string {
  const { stack, message } = toError(thrown)
  return typeof stack === 'string' ? stack : message
}

/** Names that add nothing to the words. */
const NAMELESS = new Set(['Error', 'UnsupportedError'])

/** What was thrown, with the place in the script if it was thrown there. */
export function describeFailure(thrown: unknown, order: CompileOrder | RunOrder): string {
  const error = toError(thrown)
  if (error !== thrown) return `the script threw ${oneLine(textOf(thrown))}`
  const words = oneLine(error.message) || error.name
  const place = order.mode === 'run' ? findPlace(error.stack ?? '', order.scriptName) : undefined
  if (place === undefined) return words
  const isPlain = NAMELESS.has(error.name) || words.startsWith(error.name)
  return `${place}: ${isPlain ? words : `${error.name}: ${words}`}`
}

/** `plan.ts:12:5`, from a stack that knows the sources. */
function findPlace(stack: string, scriptName: string): string | undefined {
  const frames = [...stack.matchAll(/([\w.-]+\.(?:[cm]?[jt]s|json)):(\d+):(\d+)\)?$/gm)]
  const [, file, line, column] = frames.find(([, name]) => name === scriptName) ?? []
  return file === undefined ? undefined : `${file}:${line}:${column}`
}

export async function within<T>(promise: Promise<T>, ms: number, words: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(words)), ms)
  })
  try {
    return await Promise.race([promise, limit])
  } finally {
    clearTimeout(timer)
  }
}

/** Some calls to a browser have no time limit of their own, and a browser under load may never answer. */
export function answered<T>(what: string, ms: number, call: Promise<T>): Promise<T> {
  return within(call, ms, `the browser did not answer within ${ms / 1000} s: ${what}`)
}

const CLOSE_MS = 5000

/** What does not close ends with the process. */
export async function close(open: { close(): Promise<void> }): Promise<void> {
  await answered('closing', CLOSE_MS, open.close()).catch(() => undefined)
}
