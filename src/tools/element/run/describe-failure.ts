import type { CompileOrder } from '../compile/compile-order.js'
import { oneLine } from './rows.js'
import type { RunOrder } from './run-order.js'
import { toError } from './to-error.js'

/** What was thrown, with the place in the script if it was thrown there. */
export function describeFailure(thrown: unknown, order: CompileOrder | RunOrder): string {
  const error = toError(thrown)
  if (error !== thrown) return `the script threw ${oneLine(error.message)}`
  const words = oneLine(error.message) || error.name
  const place = order.mode === 'run' ? findPlace(error.stack ?? '', order.scriptName) : undefined
  if (place === undefined) return words
  return `${place}: ${error.name === 'Error' || words.startsWith(error.name) ? words : `${error.name}: ${words}`}`
}

/** `plan.ts:12:5`, from a stack that knows the sources. */
function findPlace(stack: string, scriptName: string): string | undefined {
  const frames = [...stack.matchAll(/([\w.-]+\.(?:[cm]?[jt]s|json)):(\d+):(\d+)\)?$/gm)]
  const [, file, line, column] = frames.find(([, name]) => name === scriptName) ?? []
  return file === undefined ? undefined : `${file}:${line}:${column}`
}
