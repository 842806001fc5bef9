import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { closeSync, openSync, readSync } from 'node:fs'
import { StringDecoder } from 'node:string_decoder'
import type { CompileOrder, RunOrder } from '../../programs/element/run/run-order.js'
import { type Message, readMessage } from '../../programs/element/messages.js'
import type { LoadNode, NodeCommand, NodeExit } from '../../nodes/load-node.js'
import { packageFile } from '../install/run-to-end.js'

type Unaddressed<T> = Omit<T, 'messagesFile'>

/** Its folder is one of this machine; its environment is added to what every tool gets. */
interface ToolProcess
  extends
    Pick<NodeCommand, 'cwd' | 'onLine'>,
    Partial<Pick<NodeCommand, 'brings' | 'follows' | 'collects' | 'env' | 'onStart'>> {
  /** Its paths are paths on the node. */
  readonly order: (workDir: string) => Unaddressed<CompileOrder> | Unaddressed<RunOrder>
  /** The path of Node on the node; undefined for the one that runs this. */
  readonly node?: string | undefined
  /** For temporary files on the node; undefined for a folder that goes with the process. */
  readonly tempDir?: string | undefined
  /** Identifies the work: its messages are found again by whoever takes it up. */
  readonly mark?: string
  readonly onMessage: (message: Message) => void
}

const PROGRAM = 'dist/tools/element.mjs'

/** Runs the program that compiles and runs scripts, in a folder for its temporary files that goes with it. */
export async function runTool(tool: ToolProcess, node: LoadNode, signal: AbortSignal): Promise<NodeExit> {
  const { brings = [], follows = [], collects = [], onLine, onStart = () => undefined } = tool
  const workDir = await makeWorkFolder(tool.mark)
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
      ...{ tempDir: workDir, onStart, onLine }
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

const LOOK_EVERY_MS = 200
const CHUNK_BYTES = 65_536

/** Calls back for every message that a process writes into this file, soon after it was written. */
export function followMessages(file: string, onMessage: (message: Message) => void): { end: () => void } {
  // Held open, so that nothing is lost if the file is removed.
  const descriptor = openSync(file, 'a+')
  const chunk = Buffer.alloc(CHUNK_BYTES)
  const decoder = new StringDecoder('utf8')
  let position = 0
  let rest = ''
  const look = (): void => {
    for (let length = -1; length !== 0;) {
      length = readSync(descriptor, chunk, 0, CHUNK_BYTES, position)
      position += length
      const lines = (rest + decoder.write(chunk.subarray(0, length))).split('\n')
      // A process that was killed may not have finished its last line.
      rest = lines.pop() ?? ''
      for (const line of lines) onMessage(readMessage(line))
    }
  }
  const timer = setInterval(look, LOOK_EVERY_MS)
  return {
    /** Once the process has ended: reads what is left. */
    end: () => {
      clearInterval(timer)
      look()
      closeSync(descriptor)
    }
  }
}
