import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CompileOrder } from '../../../tools/element/compile/compile-order.js'
import type { Message } from '../../../tools/element/messages.js'
import type { RunOrder } from '../../../tools/element/run/run-order.js'
import type { LoadNode } from '../../nodes/load-node.js'
import type { ToolExit } from '../../nodes/machine/processes.js'
import { packageFile } from '../install/package-file.js'
import { followMessages } from './follow-messages.js'

type Unaddressed<T> = Omit<T, 'messagesFile'>

export interface ToolProcess {
  readonly order: (workDir: string) => Unaddressed<CompileOrder> | Unaddressed<RunOrder>
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
    const orderFile = join(workDir, 'order.json')
    const messagesFile = join(workDir, 'messages')
    await writeFile(orderFile, JSON.stringify({ ...tool.order(workDir), messagesFile }))
    const messages = followMessages(messagesFile, tool.onMessage)
    const command = {
      file: process.execPath,
      args: ['--enable-source-maps', packageFile(PROGRAM), orderFile],
      brings: [],
      follows: [],
      collects: [],
      cwd: tool.cwd,
      env: { ...tool.env, TMPDIR: workDir },
      tempDir: workDir,
      onLine: tool.onLine
    }
    return await node.run(command, signal).finally(() => messages.end())
  } finally {
    await rm(workDir, { recursive: true, force: true, maxRetries: 3 })
  }
}
