import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CompileOrder } from '../../../tools/element/compile/compile-order.js'
import { readMessage, type Message } from '../../../tools/element/messages.js'
import type { RunOrder } from '../../../tools/element/run/run-order.js'
import type { LoadNode } from '../../nodes/load-node.js'
import type { ToolExit } from '../../nodes/processes.js'
import { packageFile } from '../install/package-file.js'

type Unmarked<T> = Omit<T, 'mark'>

export interface ToolProcess {
  readonly order: (workDir: string) => Unmarked<CompileOrder> | Unmarked<RunOrder>
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  /** What the script prints. */
  readonly onLine: (line: string) => void
  readonly onMessage: (message: Message) => void
}

const PROGRAM = 'dist/tools/element.mjs'

/** Runs the program that compiles and runs scripts, in a folder for its temporary files that goes with it. */
export async function runTool(tool: ToolProcess, node: LoadNode, signal: AbortSignal): Promise<ToolExit> {
  const workDir = await mkdtemp(join(tmpdir(), 'loadgate-browser-'))
  try {
    // So that nothing else that the process prints is taken for a message.
    const mark = randomBytes(12).toString('hex')
    const orderFile = join(workDir, 'order.json')
    await writeFile(orderFile, JSON.stringify({ ...tool.order(workDir), mark }))
    const onLine = (line: string): void => {
      const message = readMessage(line, mark)
      if (message === undefined) tool.onLine(line)
      else tool.onMessage(message)
    }
    return await node.run(
      {
        file: process.execPath,
        args: ['--enable-source-maps', packageFile(PROGRAM), orderFile],
        cwd: tool.cwd,
        env: { ...tool.env, TMPDIR: workDir },
        onLine
      },
      signal
    )
  } finally {
    await rm(workDir, { recursive: true, force: true, maxRetries: 3 })
  }
}
