// Runs a tool as its owner, to be killed: the file is the argument, the output is JSON lines.
import { Processes } from '../../src/service/nodes/machine/processes.ts'

const say = (told) => process.stdout.write(`${JSON.stringify(told)}\n`)
const processes = new Processes({ onStart: (group) => say({ group }), onEnd: (pid) => say({ ended: pid }) })
const [file, pidFile, tempDir] = process.argv.slice(2)
const { signal } = new globalThis.AbortController()
const command = {
  file,
  args: [pidFile],
  cwd: '/',
  env: { PATH: process.env.PATH },
  onLine: () => undefined,
  tempDir
}
await processes.run(command, signal)
say({ done: true })
