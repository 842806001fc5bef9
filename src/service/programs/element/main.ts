// The entry of dist/tools/element.mjs: compiles a script, or runs a compiled one. Its only argument is a file with the order.
import { openSync, readFileSync, writeSync } from 'node:fs'
import { compile } from './compile/compile.js'
import { type CompileOrder, type RunOrder, type RunPorts, Schedule } from './run/run-order.js'
import { createTell } from './messages.js'
import { describeFailure, stackOf, toError } from './run/failures.js'
import { oneLine } from './run/rows.js'
import { run } from './run/run.js'

const BEAT_MS = 1000
const MAX_BYTES = 20 * 1024 ** 2
const FULL = '… the log has reached its limit; nothing more is written to it\n'

const order = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as CompileOrder | RunOrder
const tell = createTell(order.messagesFile)
const exit = process.exit.bind(process)

try {
  let stoppedBy: string | undefined
  if (order.mode === 'compile') {
    const errors = await compile(order)
    for (const text of errors) tell({ kind: 'problem', text })
  } else {
    const ports = { tell, schedule: new Schedule(), log: openLog(order.logFile) }
    guardProcess(ports, exit, (signal) => (stoppedBy ??= signal))
    await run(order, ports)
  }
  tell(stoppedBy === undefined ? { kind: 'end' } : { kind: 'stopped', signal: stoppedBy })
  exit(0)
} catch (thrown) {
  tell({ kind: 'problem', text: describeFailure(thrown, order) })
  exit(1)
}

/** A script can run any code. Whatever ends this process early must not look like an end of the run. */
function guardProcess(
  { tell, schedule, log }: RunPorts,
  exit: (code: number) => never,
  onSignal: (signal: string) => void
): void {
  const fail = (text: string, thrown?: unknown): never => {
    log(thrown === undefined ? text : `${text}\n${stackOf(thrown)}`)
    tell({ kind: 'problem', text })
    return exit(1)
  }
  // So that a script cannot call it either.
  process.exit = (code) => fail(`the script called process.exit(${code ?? ''})`)
  const onStray = (how: string) => (thrown: unknown) => {
    // A stop closes pages while calls that nobody waits for are in progress.
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
  // An endless loop that never waits blocks this timer too, which the service notices. The first beat says that there is something to watch.
  tell({ kind: 'beat' })
  setInterval(() => tell({ kind: 'beat' }), BEAT_MS).unref()
}

/** The log of the run: what failed, with stack traces, and everything that the script prints. It does not grow without limit. */
function openLog(path: string): (text: string) => void {
  const file = openSync(path, 'w')
  let bytes = 0
  const write = (chunk: string | Uint8Array): void => {
    if (bytes > MAX_BYTES) return
    bytes += chunk.length
    const isFull = bytes > MAX_BYTES
    try {
      writeSync(file, Buffer.from(isFull ? FULL : chunk))
    } catch {
      // A failing log does not end the run: a full disk shows in the rows.
    }
  }
  for (const stream of [process.stdout, process.stderr]) {
    const print = stream.write.bind(stream) as (...all: unknown[]) => boolean
    stream.write = (chunk: string | Uint8Array, ...rest: unknown[]) => {
      write(chunk)
      return print(chunk, ...rest)
    }
  }
  return (text) => write(`${new Date().toISOString()} ${text}\n`)
}
