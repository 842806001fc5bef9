import type { CompileOrder } from '../compile/compile-order.js'
import { oneLine } from './rows.js'
import type { RunOrder } from './run-order.js'

/** What was thrown, with the place in the script if it was thrown there. */
export function describeFailure(thrown: unknown, order: CompileOrder | RunOrder): string {
  if (!(thrown instanceof Error)) return `the script threw ${oneLine(String(thrown))}`
  const words = oneLine(thrown.message) || thrown.name
  const place = order.mode === 'run' ? findPlace(thrown.stack ?? '', order.scriptName) : undefined
  if (place === undefined) return words
  return `${place}: ${thrown.name === 'Error' || words.startsWith(thrown.name) ? words : `${thrown.name}: ${words}`}`
}

/** `plan.ts:12:5`, from a stack that knows the sources. */
function findPlace(stack: string, scriptName: string): string | undefined {
  const frames = [...stack.matchAll(/([\w.-]+\.(?:[cm]?[jt]s|json)):(\d+):(\d+)\)?$/gm)]
  const [, file, line, column] = frames.find(([, name]) => name === scriptName) ?? []
  return file === undefined ? undefined : `${file}:${line}:${column}`
}
