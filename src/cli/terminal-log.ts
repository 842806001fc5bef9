import type { Writable } from 'node:stream'
import type { Log } from '../gate/ports.js'
import { CancelledError, DeadlineError, SettingsError } from '../gate/errors.js'
import { messageOf } from '../contract/text.js'
import { kubectlDelete, type ClusterAddress } from '../contract/regions/regions.js'
import type { ProgressBar } from './progress-bar.js'
import { plain, strikeOut, type Stream, safeJson } from './screen.js'
import { UsageError } from './arguments.js'

export function createTerminalLog(stream: Stream, bar: ProgressBar | undefined) {
  const secrets: string[] = []
  const strike = (text: string): string => strikeOut(text, secrets)
  const write = (prefix: string, text: string): void => {
    // Further lines are indented, so that untrusted text cannot look like lines of this log.
    const lines = strike(plain(text)).replace(/\n/g, '\n  ')
    const put = (): unknown => stream.write(`${prefix}${lines}\n`)
    if (bar === undefined) put()
    else bar.above(put)
  }
  const log: Log = {
    info: (line) => write('', line),
    notice: (line) => write('note: ', line),
    warning: (line) => write('warning: ', line),
    error: (line) => write('error: ', line),
    debug: () => undefined
  }
  const mask = (secret: string): void => {
    if (secret !== '') secrets.push(secret)
  }
  return { log, mask, strike }
}

/** `usage`: what was typed; `input`: the value of a setting; the others are failures of the command itself. */
type Kind = 'usage' | 'input' | 'timed-out' | 'cancelled' | 'error'

/** Whether a script reads what a command prints, as far as it can be told before the command is known. */
export function asksForJson(args: readonly string[]): boolean {
  const end = args.indexOf('--')
  return args.slice(0, end < 0 ? args.length : end).includes('--json')
}

/** What a command prints with `--json` instead of its result. */
export function describeError(thrown: unknown, secrets: readonly string[]): string {
  const clean = (text: string): string => strikeOut(plain(text), secrets)
  const message = clean(messageOf(thrown))
  const problems = thrown instanceof SettingsError ? thrown.problems.map(clean) : [message]
  return safeJson({ error: { kind: kindOf(thrown), message, problems } })
}

function kindOf(thrown: unknown): Kind {
  if (thrown instanceof SettingsError) return 'input'
  if (thrown instanceof UsageError) return 'usage'
  if (thrown instanceof CancelledError) return 'cancelled'
  return thrown instanceof DeadlineError ? 'timed-out' : 'error'
}

/** Output errors must not end the command while its processes run. A closed pipe (`| head`) is not a failure; otherwise output is missing. */
export function watchOutput(stream: Pick<Writable, 'on'>, tell: (words: string) => void) {
  let isLost = false
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE' || isLost) return
    isLost = true
    const why = error.code === 'ENOSPC' ? `the disk is full (${error.message})` : error.message
    tell(
      `could not write to standard output, so part of it is missing: ${why}; free up space or redirect the output, then run the command again`
    )
  })
  return { isLost: () => isLost }
}

/** For a process that ends before its pods are deleted: no post step does it. Without a marker, it is kept in the service's data folder. */
export function describeLeftPods(addresses: readonly ClusterAddress[], marker: string | undefined) {
  if (addresses.length === 0) return undefined
  const ends = 'pods may still be running; they end by their own deadline.'
  if (marker === undefined)
    return `${ends} The next \`loadgate serve\` with the same --data continues with them or deletes them.`
  const commands = addresses.map((address) => `  ${kubectlDelete(address, `loadgate.dev/marker=${marker}`)}`)
  return [`${ends} Delete them with:`, ...commands].join('\n')
}
