import * as core from '@actions/core'
import type { Log } from '../gate/ports.js'

/**
 * The runner interprets `::command` at the start of a line and `##[command]` anywhere in it. Text from a service, a plan
 * or a tool must not be able to send it commands.
 */
export function defuse(text: string): string {
  // Nor may it move the cursor or change colours in whatever shows the log.
  // eslint-disable-next-line no-control-regex -- control characters are what is looked for
  const plain = text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u0084\u0086-\u009f]/g, ' ')
  return plain
    .split(/[\r\n\u0085\u2028\u2029]+/)
    .map((line) => line.replace(/^([\s\uFEFF]*):(?=:)/, '$1: ').replace(/##(?=\[)/g, '# #'))
    .join('\n')
}

let isOwn = false

/** Whether the current output is the step's own. */
export function isSpeaking(): boolean {
  return isOwn
}

/** Runs code whose output to the runner is the step's own. */
export function speak<T>(say: () => T): T {
  const before = isOwn
  isOwn = true
  try {
    return say()
  } finally {
    isOwn = before
  }
}

/** The step's log. Annotations use the toolkit's escaping. */
export function createLog(): Log {
  return {
    info: (line) => speak(() => core.info(defuse(line))),
    notice: (line) => speak(() => core.notice(defuse(line))),
    warning: (line) => speak(() => core.warning(defuse(line))),
    error: (line) => speak(() => core.error(defuse(line))),
    debug: (line) => speak(() => core.debug(defuse(line)))
  }
}
