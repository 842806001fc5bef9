import { basename, dirname } from 'node:path'
import type { Message } from '../../../tools/element/messages.js'
import type { RunOrder } from '../../../tools/element/run/run-order.js'
import type { ToolExit } from '../../nodes/machine/processes.js'
import type { NodeOrder, NodeOutcome } from '../engine.js'
import { placeVariables, planParameters } from '../plan-environment.js'
import { planSecrets, redactLog } from '../redact-log.js'
import { toolEnvironment } from '../tool-environment.js'
import { runTool } from './tool-process.js'

/** What every node of a run shares. */
export interface CompiledScript {
  readonly file: string
  /** The folder whose node_modules has the browser library. */
  readonly modules: string
  readonly browser: string
  /** From the uploaded environment file. */
  readonly variables: Readonly<Record<string, string>>
}

export interface ScriptPorts {
  readonly env: NodeJS.ProcessEnv
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

/** Runs the script with this node's share of the users. */
export async function runScript(
  script: CompiledScript,
  order: NodeOrder,
  { signal, ports }: { signal: AbortSignal; ports: ScriptPorts }
): Promise<NodeOutcome> {
  const log = createLog(order, script, ports)
  const watch = new Watch(ports.blockedAfterMs ?? BLOCKED_AFTER_MS)
  const told: Message[] = []
  const exit = await runTool(
    {
      order: (workDir) => describeRun(script, order, workDir),
      cwd: dirname(order.planFile),
      env: describeEnvironment(script, order, ports),
      onLine: log.line,
      onMessage: (message) => {
        watch.heard(message)
        if (message.kind === 'note') log.note(message.text)
        if (['problem', 'loss', 'stopped', 'end'].includes(message.kind)) told.push(message)
      }
    },
    order.node,
    AbortSignal.any([signal, watch.signal])
  ).finally(() => watch.end())
  // Whoever stopped it knows that load is missing.
  if (signal.aborted) return { problem: null }
  return judge(told, {
    exit,
    overdue: watch.overdue,
    scriptName: basename(order.planFile),
    redact: log.redact
  })
}

function describeRun(
  script: CompiledScript,
  order: NodeOrder,
  workDir: string
): Omit<RunOrder, 'messagesFile'> {
  const { durationSec, hosts, samplesFile, logFile } = order
  return {
    ...{ mode: 'run', plan: script.file, modules: script.modules, browser: script.browser, workDir },
    ...{ scriptName: basename(order.planFile), folder: dirname(order.planFile), samplesFile, logFile, hosts },
    users: order.threads ?? 1,
    rampupMs: (order.rampupSec ?? 0) * 1000,
    durationMs: durationSec === null ? null : durationSec * 1000,
    graceMs: GRACE_MS
  }
}

function describeEnvironment(
  script: CompiledScript,
  order: NodeOrder,
  { env }: ScriptPorts
): NodeJS.ProcessEnv {
  return {
    ...toolEnvironment(env),
    ...script.variables,
    ...Object.fromEntries(planParameters(order)),
    ...placeVariables(order.place)
  }
}

/** A script can print whatever it received, and as much as it likes. */
function createLog(
  order: NodeOrder,
  script: CompiledScript,
  ports: ScriptPorts
): { line: (line: string) => void; note: (text: string) => void; redact: (text: string) => string } {
  const secrets = planSecrets(order.properties, script.variables)
  const redact = (text: string): string => redactLog(text, secrets)
  const note = (text: string): void => ports.log(redact(`${order.nodeName}: ${text}`))
  let lines = 0
  const line = (text: string): void => {
    lines++
    if (lines <= MAX_LINES) note(text)
    if (lines === MAX_LINES) note('… the rest of what the script prints is in its log')
  }
  return { line, note, redact }
}

function judge(
  told: readonly Message[],
  end: { exit: ToolExit; overdue: string | undefined; scriptName: string; redact: (text: string) => string }
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

/** Notices a process that does nothing any more: a loop without an end that never waits blocks all of it. */
class Watch {
  readonly #abort = new AbortController()
  #overdue: string | undefined
  #silence: NodeJS.Timeout
  #limit: NodeJS.Timeout | undefined

  constructor(private readonly blockedAfterMs: number) {
    this.#silence = this.#await()
  }

  get signal(): AbortSignal {
    return this.#abort.signal
  }

  /** What it was ended for, if it was. */
  get overdue(): string | undefined {
    return this.#overdue
  }

  heard(message: Message): void {
    clearTimeout(this.#silence)
    this.#silence = this.#await()
    if (message.kind !== 'limit') return
    const ms = message.ms + CLOSING_MS
    this.#limit = setTimeout(
      () => this.#end(`the script did not end ${CLOSING_MS / 1000} s after the end of the test`),
      ms
    )
  }

  end(): void {
    clearTimeout(this.#silence)
    clearTimeout(this.#limit)
  }

  #await(): NodeJS.Timeout {
    const seconds = this.blockedAfterMs / 1000
    return setTimeout(
      () =>
        this.#end(
          `the script blocked its process for ${seconds} s; does it have a loop without an end that never waits?`
        ),
      this.blockedAfterMs
    )
  }

  #end(words: string): void {
    this.#overdue ??= words
    this.#abort.abort()
  }
}
