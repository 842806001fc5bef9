import type { Tell } from '../messages.js'
import { stackOf } from './attempt.js'
import { oneLine } from './rows.js'
import type { Schedule } from './schedule.js'
import { toError } from './thrown.js'

const BEAT_MS = 1000

/** A script can run any code. Whatever ends this process early must not look like an end of the run. */
export function guardProcess(ports: {
  tell: Tell
  schedule: Schedule
  log: (text: string) => void
  exit: (code: number) => never
  onSignal: (signal: string) => void
}): void {
  const { tell, schedule, log, exit, onSignal } = ports
  const fail = (text: string, thrown?: unknown): never => {
    log(thrown === undefined ? text : `${text}\n${stackOf(thrown)}`)
    tell({ kind: 'problem', text })
    return exit(1)
  }
  // eslint-disable-next-line no-restricted-properties -- so that a script cannot call it either
  process.exit = (code) => fail(`the script called process.exit(${code ?? ''})`)
  const onStray = (how: string) => (thrown: unknown) => {
    // A stop closes pages under calls that nobody waits for any more.
    if (schedule.isOver) return
    fail(`${how}: ${oneLine(toError(thrown).message)}`, thrown)
  }
  process.on(
    'unhandledRejection',
    onStray('a promise of the script failed that it did not wait for; is an await missing?')
  )
  process.on('uncaughtException', onStray('the script threw an error outside of its steps'))
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
    process.on(signal, () => {
      onSignal(signal)
      schedule.stop()
    })
  // A loop without an end that never waits blocks everything here, this too: whoever started the process sees it.
  // The first one says that there is something to watch.
  tell({ kind: 'beat' })
  setInterval(() => tell({ kind: 'beat' }), BEAT_MS).unref()
}
