import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CompileOrder } from '../../../tools/element/compile/compile-order.js'
import type { Message } from '../../../tools/element/messages.js'
import type { RunOrder } from '../../../tools/element/run/run-order.js'
import type { LoadNode, NodeExit } from '../../nodes/load-node.js'
import { packageFile } from '../install/package-file.js'
import { followMessages } from './follow-messages.js'

type Unaddressed<T> = Omit<T, 'messagesFile'>

export interface ToolProcess {
  /** Its paths are paths on the node. */
  readonly order: (workDir: string) => Unaddressed<CompileOrder> | Unaddressed<RunOrder>
  /** Files of this machine, as in the command of a node. */
  readonly brings?: readonly string[]
  readonly follows?: readonly string[]
  readonly collects?: readonly string[]
  /** A folder of this machine. */
  readonly cwd: string
  /** In addition to what every tool gets. */
  readonly env?: NodeJS.ProcessEnv
  /** The path of Node on the node; undefined for the one that runs this. */
  readonly node?: string | undefined
  /** For temporary files on the node; undefined for a folder that goes with the process. */
  readonly tempDir?: string | undefined
  /** Identifies the work: its messages are found again by whoever takes it up. */
  readonly mark?: string
  /** Called when it has started, where the node can say. */
  readonly onStart?: () => void
  /** What the script prints. */
  readonly onLine: (line: string) => void
  readonly onMessage: (message: Message) => void
}

const PROGRAM = 'dist/tools/element.mjs'

/** Runs the program that compiles and runs scripts, in a folder for its temporary files that goes with it. */
export async function runTool(tool: ToolProcess, node: LoadNode, signal: AbortSignal): Promise<NodeExit> {
  const { mark, brings = [], follows = [], collects = [] } = tool
  const workDir = await makeWorkFolder(mark)
  try {
    const orderFile = join(workDir, 'order.json')
    const messagesFile = join(workDir, 'messages')
    const program = packageFile(PROGRAM)
    const tempDir = tool.tempDir ?? node.pathOf(workDir)
    const order = { ...tool.order(tempDir), messagesFile: node.pathOf(messagesFile) }
    await writeFile(orderFile, JSON.stringify(order))
    const messages = followMessages(messagesFile, tool.onMessage)
    const command = {
      file: tool.node ?? process.execPath,
      args: ['--enable-source-maps', node.pathOf(program), node.pathOf(orderFile)],
      brings: [program, orderFile, ...brings],
      follows: [messagesFile, ...follows],
      collects,
      cwd: node.pathOf(tool.cwd),
      env: { ...node.env, ...tool.env, TMPDIR: tempDir },
      tempDir: workDir,
      onStart: tool.onStart ?? (() => undefined),
      onLine: tool.onLine
    }
    return await node.run(command, signal).finally(() => messages.end())
  } finally {
    await rm(workDir, { recursive: true, force: true, maxRetries: 3 })
  }
}

/** Nobody else knows the mark. */
async function makeWorkFolder(mark: string | undefined): Promise<string> {
  const prefix = join(tmpdir(), 'loadgate-browser-')
  if (mark === undefined) return mkdtemp(prefix)
  await mkdir(`${prefix}${mark}`, { recursive: true, mode: 0o700 })
  return `${prefix}${mark}`
}
