// The entry of dist/tools/element.mjs: compiles a script, or runs a compiled one. Its only argument is a file with the order.
import { readFileSync } from 'node:fs'
import { compile } from './compile/compile.js'
import { type CompileOrder, type RunOrder, Schedule } from './run/run-order.js'
import { createTell } from './messages.js'
import { describeFailure } from './run/failures.js'
import { guardProcess, openLog } from './run/guard-process.js'
import { run } from './run/run.js'

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
