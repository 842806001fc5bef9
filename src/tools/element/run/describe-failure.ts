import type { CompileOrder } from '../compile/compile-order.js'
import { oneLine } from './rows.js'
import type { RunOrder } from './run-order.js'
import { textOf, toError } from './thrown.js'

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
