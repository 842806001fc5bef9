import type { Log } from '../gate/workbench.js'
import type { ProgressBar } from './progress-bar.js'
import { plain } from './screen.js'
import type { Stream } from './screen.js'

/** Lines on a terminal. There is no runner to hide secrets, so they are struck out here. */
export function createTerminalLog(
  stream: Stream,
  bar: ProgressBar | undefined
): { log: Log; mask: (secret: string) => void } {
  const secrets: string[] = []
  const write = (prefix: string, text: string): void => {
    const struck = secrets.reduce((line, secret) => line.replaceAll(secret, '***'), plain(text))
    const put = (): unknown => stream.write(`${prefix}${struck}\n`)
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
    }
  }
}
