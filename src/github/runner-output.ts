import type { Log } from '../gate/ports.js'
import { isSpeaking, speak } from './log.js'

type Level = 'debug' | 'notice' | 'warning' | 'error'

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
    if (isSpeaking()) return write(...args)
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
  else if (name !== undefined) log[name as Level](unescapeData(value))
  else if (text.trim() !== '') log.info(text.trimEnd())
}

/** What the toolkit escapes in a command's text. */
function unescapeData(text: string): string {
  return text.replace(/%0D/g, '\r').replace(/%0A/g, '\n').replace(/%25/g, '%')
}
