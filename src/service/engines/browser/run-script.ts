import { closeSync, constants, readSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { StringDecoder } from 'node:string_decoder'
import { removeFolder } from '../../../contract/files.js'
import { messageOf } from '../../../contract/text.js'
import { type Message, readMessage } from '../../programs/element/messages.js'
import type { CompileOrder, RunOrder } from '../../programs/element/run/run-order.js'
import type { LoadNode, NodeCommand, NodeExit } from '../../nodes/load-node.js'
import { limitLines } from '../../lines.js'
import { openRegularSync } from '../../regular-file.js'
import { type NodeOrder, type NodeOutcome, withFinalDots } from '../engine.js'
import { placeVariables, planParameters } from '../environment-file.js'
import { packageFile } from '../install/run-to-end.js'
import { planSecrets, redactLog } from '../redact-log.js'

interface CompiledScript {
  readonly file: string
  /** The folder whose node_modules has the browser library. */
  readonly modules: string
  /** Programs on the node; without Node's path it is the one that runs this. */
  readonly browser: string
  readonly node?: string
  /** For temporary files on the node; undefined for a folder of its own. */
  readonly tempDir?: string | undefined
  readonly variables: Readonly<Record<string, string>>
}

interface ScriptPorts {
  readonly log: (line: string) => void
  /** After this long without a sign of life the process counts as blocked. */
  readonly blockedAfterMs?: number
}

/** Steps that are under way when the time is over may finish within this time. */
const GRACE_MS = 10_000
/** For closing the browser after that. */
const CLOSING_MS = 20_000
const BLOCKED_AFTER_MS = 60_000
const MAX_LINES = 200
const MAX_PROBLEMS = 5
/** A script has far fewer to tell of. */
const MOST_MESSAGES = 10_000

export async function runScript(
  script: CompiledScript,
  order: NodeOrder,
  { signal, ports }: { signal: AbortSignal; ports: ScriptPorts }
): Promise<NodeOutcome> {
  const secrets = planSecrets(order.properties, script.variables)
  const redact = (text: string): string => redactLog(text, secrets)
  const note = (text: string): void => ports.log(redact(`${order.nodeName}: ${text}`))
  const { node, samplesFile, logFile } = order
  const folder = dirname(order.planFile)
  const watch = new Watch(ports.blockedAfterMs ?? BLOCKED_AFTER_MS, node.outageMs)
  const told: Message[] = []
  const exit = await runTool(
    {
      beside: folder,
      order: (workDir) => describeRun(script, order, workDir),
      starts: [script.browser],
      brings: [folder, script.file, join(script.modules, 'node_modules', 'playwright-core')],
      follows: [samplesFile],
      collects: [logFile],
      cwd: folder,
      env: {
        ...script.variables,
        ...Object.fromEntries(planParameters(order)),
        ...placeVariables(order.place)
      },
      ...{ node: script.node, tempDir: script.tempDir },
      onStart: () => watch.heard(),
      // A script can print whatever it received, and as much as it likes.
      onLine: limitLines(MAX_LINES, note, '… the rest of what the script prints is in its log'),
      onMessage: (message) => {
        watch.heard(message)
        if (message.kind === 'note') note(message.text)
        // The end counts in any case.
        const isTold = message.kind === 'end' || told.length < MOST_MESSAGES
        if (isTold && ['problem', 'loss', 'stopped', 'end'].includes(message.kind)) told.push(message)
      }
    },
    node,
    AbortSignal.any([signal, watch.signal])
  ).finally(() => watch.end())
  // The caller has stopped it and knows that load is missing.
  if (signal.aborted) return { problem: null }
  return judge(told, { exit, overdue: watch.overdue, scriptName: basename(order.planFile), redact })
}

function describeRun(script: CompiledScript, order: NodeOrder, workDir: string): Unaddressed<RunOrder> {
  const { node, durationSec } = order
  return {
    ...{ mode: 'run', plan: node.pathOf(script.file), modules: node.pathOf(script.modules) },
    ...{ browser: script.browser, workDir, hosts: withFinalDots(order.hosts) },
    ...{ scriptName: basename(order.planFile), folder: node.pathOf(dirname(order.planFile)) },
    ...{ samplesFile: node.pathOf(order.samplesFile), logFile: node.pathOf(order.logFile) },
    users: order.threads ?? 1,
    rampupMs: (order.rampupSec ?? 0) * 1000,
    durationMs: durationSec === null ? null : durationSec * 1000,
    graceMs: GRACE_MS
  }
}

function judge(
  told: readonly Message[],
  end: { exit: NodeExit; overdue: string | undefined; scriptName: string; redact: (text: string) => string }
): NodeOutcome {
  const { exit, overdue, redact } = end
  const textsOf = (kind: 'problem' | 'loss'): string[] =>
    told.flatMap((message) => (message.kind === kind ? [redact(message.text)] : []))
  const losses = textsOf('loss')
  const problems = [...textsOf('problem'), ...(overdue === undefined ? [] : [overdue])]
  const isEnded = told.some(({ kind }) => kind === 'end')
  const stop = told.find((message) => message.kind === 'stopped')
  const how = exit.signal === null ? `with exit code ${exit.code}` : `killed by ${exit.signal}`
  if (problems.length === 0 && stop !== undefined)
    problems.push(
      `${end.scriptName}: ${stop.signal}, which loadgate did not send, stopped its process before the end of the test`
    )
  if (problems.length === 0 && !isEnded)
    problems.push(`${end.scriptName}: its process ended before the end of the test, ${how}`)
  return { problem: problems.length === 0 ? null : problems.slice(0, MAX_PROBLEMS).join('\n'), losses }
}

/** Notices a process that does nothing any more: an endless loop that never waits blocks all of it. */
class Watch {
  readonly #abort = new AbortController()
  readonly signal = this.#abort.signal
  overdue: string | undefined
  #silence: NodeJS.Timeout | undefined
  #limit: NodeJS.Timeout | undefined

  constructor(
    private readonly blockedAfterMs: number,
    /** How late messages may be. */
    private readonly outageMs = 0
  ) {}

  /** Starts with the process or its first message: before that, files are copied and nodes wait for each other. */
  heard(message?: Message): void {
    clearTimeout(this.#silence)
    const ms = this.blockedAfterMs + this.outageMs
    this.#silence = this.#endAfter(
      ms,
      `the script blocked its process for ${ms / 1000} s; does it have an endless loop that never waits?`
    )
    if (message?.kind === 'limit')
      this.#limit = this.#endAfter(
        message.ms + CLOSING_MS + this.outageMs,
        `the script did not end ${CLOSING_MS / 1000} s after the end of the test`
      )
  }

  end(): void {
    clearTimeout(this.#silence)
    clearTimeout(this.#limit)
  }

  #endAfter(ms: number, words: string): NodeJS.Timeout {
    return setTimeout(() => {
      this.overdue ??= words
      this.#abort.abort()
    }, ms)
  }
}

type Unaddressed<T> = Omit<T, 'messagesFile'>

/** Its folder is one of this machine; its environment is added to what every tool gets. */
interface ToolProcess
  extends
    Pick<NodeCommand, 'cwd' | 'onLine'>,
    Partial<Pick<NodeCommand, 'brings' | 'starts' | 'follows' | 'collects' | 'env' | 'onStart'>> {
  /** Its paths are paths on the node. */
  readonly order: (workDir: string) => Unaddressed<CompileOrder> | Unaddressed<RunOrder>
  /** The path of Node on the node; undefined for the one that runs this. */
  readonly node?: string | undefined
  /** For temporary files on the node; undefined for a folder that goes with the process. */
  readonly tempDir?: string | undefined
  /**
   * The folder that the process works in: its order and its messages are beside it, where only the service gives names. A service that
   * continues the work finds the messages again.
   */
  readonly beside: string
  readonly onMessage: (message: Message) => void
}

const PROGRAM = 'dist/tools/element.mjs'

/** Runs the program that compiles and runs scripts, in a folder for its temporary files that goes with it. */
export async function runTool(tool: ToolProcess, node: LoadNode, signal: AbortSignal): Promise<NodeExit> {
  const { brings = [], starts = [], follows = [], collects = [], onLine, onStart = () => undefined } = tool
  const [orderFile, messagesFile] = [`${tool.beside}.order.json`, `${tool.beside}.messages`]
  // Whoever runs there may write to it from the start: nothing of the service is in it.
  const workDir = await mkdtemp(join(tmpdir(), 'loadgate-browser-'))
  try {
    const program = packageFile(PROGRAM)
    const tempDir = tool.tempDir ?? node.pathOf(workDir)
    const order = { ...tool.order(tempDir), messagesFile: node.pathOf(messagesFile) }
    await writeFile(orderFile, JSON.stringify(order))
    const messages = followMessages(messagesFile, tool.onMessage)
    const command = {
      file: tool.node ?? process.execPath,
      args: ['--enable-source-maps', node.pathOf(program), node.pathOf(orderFile)],
      starts,
      brings: [program, orderFile, ...brings],
      follows: [messagesFile, ...follows],
      collects,
      cwd: node.pathOf(tool.cwd),
      env: { ...node.env, ...tool.env, TMPDIR: tempDir },
      ...{ tempDir: workDir, onStart, onLine }
    }
    return await node.run(command, signal).finally(() => messages.end())
  } finally {
    await removeFolder(workDir)
    for (const file of [orderFile, messagesFile]) await rm(file, { force: true })
  }
}

const LOOK_EVERY_MS = 200
const CHUNK_BYTES = 2 ** 20
/** Of a line without an end, the start is enough to see that it cannot be read. */
const MOST_LETTERS = 2 ** 20
/** In one look: others wait meanwhile. */
const MOST_AT_ONCE = 4 * CHUNK_BYTES
/** In all; the plan can write to the file too, or make it as large as it likes. */
const MOST_BYTES = 64 * CHUNK_BYTES

const MESSAGES_FLAGS = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT

/** Calls back for every message that a process writes into this file, soon after it was written; a file that cannot be read is a problem of its own. */
export function followMessages(file: string, onMessage: (message: Message) => void): { end: () => void } {
  // Held open, so that nothing is lost if the file is removed.
  const descriptor = openRegularSync(file, MESSAGES_FLAGS)
  const chunk = Buffer.alloc(CHUNK_BYTES)
  const decoder = new StringDecoder('utf8')
  let position = 0
  let rest = ''
  const read = (most: number): void => {
    const until = position + most
    for (let length = -1; length !== 0 && position < Math.min(until, MOST_BYTES);) {
      length = readSync(descriptor, chunk, 0, CHUNK_BYTES, position)
      position += length
      const lines = (rest + decoder.write(chunk.subarray(0, length))).split('\n')
      // A process that was killed may not have finished its last line.
      rest = (lines.pop() ?? '').slice(0, MOST_LETTERS)
      for (const line of lines) onMessage(readMessage(line))
      if (position >= MOST_BYTES)
        onMessage({ kind: 'problem', text: 'the process that runs the script wrote too many messages' })
    }
  }
  let isBroken = false
  const look = (most: number): void => {
    try {
      if (!isBroken) read(most)
    } catch (thrown) {
      isBroken = true
      onMessage({
        kind: 'problem',
        text: `the messages of the process that runs the script cannot be read: ${messageOf(thrown)}`
      })
    }
  }
  const timer = setInterval(() => look(MOST_AT_ONCE), LOOK_EVERY_MS)
  return {
    end: () => {
      clearInterval(timer)
      look(MOST_BYTES)
      closeSync(descriptor)
    }
  }
}
