import type { Log } from '../gate/ports.js'
import type { ProgressBar } from './progress-bar.js'
import { plain, strikeOut } from './screen.js'
import type { Stream } from './screen.js'

export interface TerminalLog {
  readonly log: Log
  readonly mask: (secret: string) => void
  /** Redacts what was masked, for text that goes elsewhere. */
  readonly strike: (text: string) => string
}

/** Lines on a terminal, above the progress bar if there is one. */
export function createTerminalLog(stream: Stream, bar: ProgressBar | undefined): TerminalLog {
  const secrets: string[] = []
  const strike = (text: string): string => strikeOut(text, secrets)
  const write = (prefix: string, text: string): void => {
    // Further lines are indented, so that untrusted text cannot look like lines of this log.
    const lines = strike(plain(text)).replace(/\n/g, '\n  ')
    const put = (): unknown => stream.write(`${prefix}${lines}\n`)
    if (bar === undefined) put()
    else bar.above(put)
  }
  return {
    log: {
      info: (line) => write('', line),
      notice: (line) => write('note: ', line),
      warning: (line) => write('warning: ', line),
      error: (line) => write('error: ', line),
      debug: () => undefined
    },
    mask: (secret) => {
      if (secret !== '') secrets.push(secret)
    },
    strike
  }
}
