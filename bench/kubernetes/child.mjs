import { fork } from 'node:child_process'
import { once } from 'node:events'

/** How many lines of a process are shown. */
const SHOWN_LINES = 5

/** A process that speaks by messages; `until(event)` gives the next one of that name. */
export function start(file, options, execArgv = []) {
  const child = fork(file, [JSON.stringify(options)], { execArgv })
  const heard = []
  const waiting = new Map()
  let lines = 0
  child.on('message', (message) => {
    if (message.event === 'log' && ++lines <= SHOWN_LINES) console.error(`  ${message.line}`)
    const next = waiting.get(message.event)
    waiting.delete(message.event)
    if (next === undefined) heard.push(message)
    else next(message)
  })
  const ended = once(child, 'exit')
  const failed = ended.then(([code, signal]) => {
    throw new Error(`${file} ended early with ${code ?? signal}`)
  })
  failed.catch(() => undefined)
  const until = (event) => {
    const index = heard.findIndex((message) => message.event === event)
    if (index >= 0) return Promise.resolve(heard.splice(index, 1)[0])
    return Promise.race([new Promise((resolve) => waiting.set(event, resolve)), failed])
  }
  return {
    until,
    ended,
    count: (event) => heard.filter((message) => message.event === event).length,
    usage: async () => {
      child.send('usage')
      return (await until('usage')).usage
    },
    kill: () => child.kill('SIGKILL')
  }
}
