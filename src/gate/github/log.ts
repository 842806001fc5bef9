import * as core from '@actions/core'
import type { Log } from '../ports.js'

/** The runner obeys `::command` at a line's start and `##[command]` anywhere: text from services, plans or tools must not command it. */
export function defuse(text: string): string {
  // Nor may it move the cursor or change colours in whatever shows the log.
  // eslint-disable-next-line no-control-regex -- control characters are what is looked for
  const plain = text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u0084\u0086-\u009f]/g, ' ')
  return plain
    .split(/[\r\n\u0085\u2028\u2029]+/)
    .map((line) => line.replace(/^([\s\uFEFF]*):(?=:)/, '$1: ').replace(/##(?=\[)/g, '# #'))
    .join('\n')
}

/** Whether the step itself is writing. */
let isOwn = false

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

export function createLog(): Log {
  // Named one by one: the bundle then leaves out the parts of the toolkit that nobody calls, HTTP among them.
  return {
    info: (line) => speak(() => core.info(defuse(line))),
    notice: (line) => speak(() => core.notice(defuse(line))),
    warning: (line) => speak(() => core.warning(defuse(line))),
    error: (line) => speak(() => core.error(defuse(line))),
    debug: (line) => speak(() => core.debug(defuse(line)))
  }
}

/** A whole line as the toolkit writes it. */
const COMMAND = /^::(debug|notice|warning|error|add-mask)(?: [^\r\n]*?)?::([^\r\n]*)\r?\n?$/

/**
 * The runner reads both streams for commands, and libraries print on their own: a server's message, a debug line, a
 * deprecation. From here on anything that the step did not write itself goes through its log.
 */
export function takeOverOutput(log: Log): void {
  for (const stream of [process.stdout, process.stderr]) takeOver(stream, log)
  // The existing listener is Node's own, which prints.
  process.removeAllListeners('warning')
  process.on('warning', ({ name, message }) => log.debug(`${name}: ${message}`))
}

function takeOver(stream: NodeJS.WriteStream, log: Log): void {
  const write = stream.write.bind(stream) as (...args: unknown[]) => boolean
  stream.write = (...args: unknown[]): boolean => {
    if (isOwn) return write(...args)
    const [chunk] = args
    relay(typeof chunk === 'string' ? chunk : Buffer.from(chunk as Uint8Array).toString(), log)
    const done = args.at(-1)
    if (typeof done === 'function') process.nextTick(done)
    return true
  }
}

function relay(text: string, log: Log): void {
  const [, name, value = ''] = COMMAND.exec(text) ?? []
  // The artifact client masks its own signatures.
  if (name === 'add-mask') speak(() => process.stdout.write(text.endsWith('\n') ? text : `${text}\n`))
  // What the toolkit escapes in a command's text.
  else if (name !== undefined)
    log[name as keyof Log](value.replace(/%0D/g, '\r').replace(/%0A/g, '\n').replace(/%25/g, '%'))
  else if (text.trim() !== '') log.info(text.trimEnd())
}
