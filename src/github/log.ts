import * as core from '@actions/core'
import type { Log } from '../gate/ports.js'

/**
 * The runner takes `::command` at the start of a line and `##[command]` anywhere in it for its own. Text that comes from a
 * service, a plan or a tool must not be able to speak to it.
 */
export function defuse(text: string): string {
  return text
    .split(/[\r\n\u0085\u2028\u2029]+/)
    .map((line) => line.replace(/^([\s\uFEFF]*):(?=:)/, '$1: ').replace(/##(?=\[)/g, '# #'))
    .join('\n')
}

let isOwn = false

/** Whether what is written just now is written in the step's own name. */
export function isSpeaking(): boolean {
  return isOwn
}

/** Does what writes to the runner in the step's own name. */
export function speak<T>(say: () => T): T {
  const before = isOwn
  isOwn = true
  try {
    return say()
  } finally {
    isOwn = before
  }
}

/** The step's log. Annotations go through the toolkit's own escaping. */
export function createLog(): Log {
  return {
    info: (line) => speak(() => core.info(defuse(line))),
    notice: (line) => speak(() => core.notice(defuse(line))),
    warning: (line) => speak(() => core.warning(defuse(line))),
    error: (line) => speak(() => core.error(defuse(line))),
    debug: (line) => speak(() => core.debug(defuse(line)))
  }
}
