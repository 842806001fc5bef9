import { delimiter, dirname, join } from 'node:path'
import { describeExit, limitLines } from '../../lines.js'
import {
  type NodeOrder,
  type NodeOutcome,
  type NodeWork,
  hasSamples,
  readLogLines,
  withFinalDots
} from '../engine.js'
import { hostAgent } from '../host-agent.js'
import { heapSize, jvmOptions } from '../tool-environment.js'
import { linkIntoFolders, placeVariables, planParameters } from '../environment-file.js'
import { planSecrets, redactLog } from '../redact-log.js'
import { javaProperties } from '../secret-file.js'
import type { NodeExit } from '../../nodes/load-node.js'
import type { NodeLine } from '../../node-lines.js'
import { readAssertion } from './assertions.js'

/** A compiled simulation: the same for every node with the same tools. */
export interface Simulation {
  readonly java: string
  /** `HEAP` and `JVM_ARGS` there, if it is not this machine. */
  readonly jvm?: NodeJS.ProcessEnv
  readonly version: string
  /** Files and folders of this machine, or of the node's image. */
  readonly classPath: readonly (string | { readonly inImage: string })[]
  /** Uploaded jars, which are in the folder of each node. */
  readonly jars: readonly string[]
  readonly simulation: string
  /** Where it looks for its files, below its folder. */
  readonly subPaths: readonly string[]
  readonly variables: Readonly<Record<string, string>>
  /** Possible mistakes in its files, one sentence each. */
  readonly doubts: readonly string[]
}

/** Mostly those of Gatling's own start scripts. */
const JVM_OPTIONS = [
  '-XX:+IgnoreUnrecognizedVMOptions',
  '-XX:+ParallelRefProcEnabled',
  '-XX:MaxInlineLevel=20',
  '-XX:MaxTrivialSize=12',
  // Gatling goes on after it, with users missing.
  '-XX:+ExitOnOutOfMemoryError',
  '--add-opens=java.base/java.lang=ALL-UNNAMED',
  ...['file', 'stdout', 'stderr', 'sun.stdout', 'sun.stderr'].map((name) => `-D${name}.encoding=UTF-8`)
]
/** A plan's parameters may override these. */
const DEFAULTS = {
  // By default Gatling first visits its makers' site.
  'gatling.http.warmUpUrl': '',
  'gatling.data.console.light': 'true',
  'gatling.data.console.writePeriod': '30'
}

export async function runSimulation(plan: Simulation, work: NodeWork): Promise<NodeOutcome> {
  const { order, signal, ports } = work
  const secrets = planSecrets(order.properties, plan.variables)
  const redact = (text: string): string => redactLog(text, secrets)
  const { mark, node } = order
  const folder = dirname(order.planFile)
  await linkIntoFolders(folder, plan.subPaths)
  const console = new Console({ mark, redact, onLine: (line) => ports.log(`${order.nodeName}: ${line}`) })
  const properties = await javaProperties(order, propertiesOf(order))
  const running = node.run(
    {
      file: plan.java,
      args: javaArguments(plan, work, properties.args),
      brings: [
        folder,
        ...properties.files,
        ...plan.classPath.filter((entry) => typeof entry === 'string'),
        ...hostAgent(order).brings
      ],
      follows: [order.samplesFile],
      collects: [order.logFile],
      cwd: node.pathOf(folder),
      env: { ...node.env, ...plan.variables, ...placeVariables(order.place) },
      onLine: (line) => console.push(line)
    },
    signal
  )
  const exit = await running.finally(properties.remove)
  // The caller has stopped it, knows that load is missing, and is waiting.
  if (signal.aborted) return { problem: null }
  const errors = await readLogErrors(order.logFile, { redact, signal })
  const { version } = plan
  const problem = findProblem({ exit, said: console, firstError: errors.first, version })
  const lines = listAssertions(exit, console)
  if (problem !== null) return { problem, lines }
  const isEmpty = !(await hasSamples(order.samplesFile))
  return {
    problem: null,
    losses: [
      ...(isEmpty ? [redact(`${order.nodeName} recorded no samples: the simulation sent no request`)] : []),
      ...tell(errors.lost, (count) => `Gatling could not execute parts of the plan: it logged ${count}`)
    ],
    doubts: [...plan.doubts.map(redact), ...tell(errors.other, (count) => `Gatling logged ${count}`)],
    lines
  }
}

function tell({ count, first }: Errors, say: (count: string) => string): string[] {
  return count === 0 ? [] : [`${say(count === 1 ? '1 error' : `${count} errors`)}, the first: ${first}`]
}

function propertiesOf(order: NodeOrder): Record<string, string> {
  return {
    ...DEFAULTS,
    ...Object.fromEntries(planParameters(order)),
    // These decide whether the results can be read, and that nothing is sent anywhere but to the plan's target.
    'gatling.data.enableAnalytics': 'false',
    'logback.configurationFile': 'loadgate/logback.xml',
    'loadgate.log': order.node.pathOf(order.logFile)
  }
}

function javaArguments(
  plan: Simulation,
  { order, ports }: NodeWork,
  properties: readonly string[]
): string[] {
  const { node, mark } = order
  const folder = node.pathOf(dirname(order.planFile))
  const classPath = plan.classPath.map((entry) =>
    typeof entry === 'string' ? node.pathOf(entry) : entry.inImage
  )
  return [
    ...JVM_OPTIONS,
    // For what does not use Gatling's own aliases: drivers, and other code of the plan.
    ...hostAgent(order).options,
    ...jvmOptions(plan.jvm ?? ports.env, { heap: `-Xmx${heapSize(node.memoryBytes)}`, env: node.env }),
    ...properties,
    // Gatling looks for files on the class path and in the working directory.
    ...['-cp', [...classPath, ...plan.jars.map((name) => join(folder, name)), folder].join(delimiter)],
    ...['loadgate.gatling.RunPlan', plan.simulation, join(folder, 'gatling-results')],
    ...[node.pathOf(order.samplesFile), mark],
    ...withFinalDots(order.hosts).map(({ host, address }) => `${host}/${address}`)
  ]
}

/** Errors of one kind: how many, and the first one, redacted. */
interface Errors {
  readonly count: number
  readonly first: string
}

/** As the helper's logging configuration writes it. */
const ERROR = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} ERROR (.*)$/
/** After these Gatling goes on with something left out. A request that could not be built has a row, unless it was for its name. */
const LOST =
  /^\S+: (?:'.*' (?:failed to execute:|crashed with ')|Condition evaluation .*crashed with message|Failed to build request name:)/
const MAX_TEXT = 500

/** The errors that Gatling logged. After most of them a simulation continues. `lost` are steps that were not executed and left no row. */
export async function readLogErrors(
  logFile: string,
  { redact, signal }: { redact: (text: string) => string; signal: AbortSignal }
) {
  const lost = { count: 0, first: '' }
  const other = { count: 0, first: '' }
  let first = ''
  const onLine = (line: string): void => {
    const text = ERROR.exec(line)?.[1]
    if (text === undefined) return
    const kind = LOST.test(text) ? lost : other
    kind.count += 1
    // Redacted before it is cut: half a secret is not found.
    if (kind.count === 1) kind.first = redact(text).slice(0, MAX_TEXT)
    if (first === '') first = kind.first
  }
  await readLogLines(logFile, onLine, signal)
  return { lost, other, first }
}

/** The exit code of Gatling that is not a failure of Gatling itself: the simulation ran, and an assertion does not hold. */
const ASSERTIONS_FAILED = 2
const MAX_WORDS = 4000
const SHOWN_LINES = 15
const WRONG_CLASSES =
  /NoSuchMethodError|NoSuchFieldError|NoClassDefFoundError|ClassNotFoundException|AbstractMethodError|IncompatibleClassChangeError|UnsupportedClassVersionError/
const MORE_MEMORY = 'Give it more memory with the environment variable HEAP, such as HEAP=-Xmx4g'
const TOO_DEEP =
  'The plan calls itself without end, or too deeply: correct it, or give it a larger stack with the environment variable JVM_ARGS, such as JVM_ARGS=-Xss4m'
const KILLED =
  'Something outside ended it. If it was not a person, the machine was probably short of memory (the kernel then kills a process; `dmesg` shows it): use a machine with more memory, fewer threads, or a smaller heap with HEAP, such as HEAP=-Xmx512m'

interface Ending {
  readonly exit: NodeExit
  readonly said: Console
  /** The first error in Gatling's log; empty if there is none. */
  readonly firstError: string
  readonly version: string
}

/** What the simulation asserts, as Gatling judged it: it says so in its exit code, and prints a line for each. */
export function listAssertions(exit: NodeExit, { isEnded, failures, assertions }: Console): NodeLine[] {
  if (!isEnded || failures.length > 0) return []
  const areBroken = exit.code === ASSERTIONS_FAILED
  if (!areBroken && exit.code !== 0) return []
  // A plan can print such lines too: none is broken unless Gatling says that one is, and then one is.
  const lines = areBroken ? assertions : assertions.filter(({ holds }) => holds)
  const isShown = !areBroken || lines.some(({ holds }) => !holds)
  const all = isShown ? lines : [...lines, { text: 'assertions of the simulation', holds: false }]
  return all.map((line) => ({ ...line, text: `Gatling: ${line.text}` }))
}

/** Why a run is a problem, in Gatling's own words; null if the whole simulation ran, whether or not its assertions hold. */
export function findProblem(ending: Ending): string | null {
  const { exit, said, version } = ending
  const gatling = `Gatling ${version}`
  if (!said.isEnded)
    return cut(`${gatling} did not run the plan to its end (${describeExit(exit)}):`, lastWords(ending))
  if (exit.code === 0 || (exit.code === ASSERTIONS_FAILED && said.failures.length === 0)) return null
  const words = said.failures.length > 0 ? said.failures : lastWords(ending)
  return cut(`${gatling} could not run the plan (${describeExit(exit)}):`, [
    ...adviceFor(words, version),
    ...words
  ])
}

function lastWords(ending: Ending): readonly string[] {
  const { lastLines } = ending.said
  const memory = lastLines.filter((line) => line.includes('java.lang.OutOfMemoryError'))
  if (memory.length > 0) return [...memory, MORE_MEMORY]
  const shown = lastLines.slice(-SHOWN_LINES)
  const cause = causeOf(ending, shown.length > 0)
  return shown.length > 0 ? [...cause, 'Its last lines:', ...shown] : [...cause, 'It printed nothing']
}

/** What may have ended it early. */
function causeOf({ exit, firstError, version }: Ending, hasStarted: boolean): string[] {
  if (exit.signal === 'SIGKILL') return [KILLED]
  if (firstError !== '')
    return [...adviceFor([firstError], version), `The first error in its log: ${firstError}`]
  return hasStarted && exit.signal === null ? ['Does the plan call System.exit?'] : []
}

function adviceFor(words: readonly string[], version: string): string[] {
  const text = words.join('\n')
  const otherVersion = `A class is missing or of another version: compile the plan with Gatling ${version}, and upload its libraries as .jar files next to it`
  if (WRONG_CLASSES.test(text)) return [otherVersion]
  return text.includes('StackOverflowError') ? [TOO_DEEP] : []
}

function cut(start: string, words: readonly string[]): string {
  return [start, ...words].join('\n').slice(0, MAX_WORDS)
}

const KEPT_LINES = 40
/** Each line is looked through for secrets: a plan that prints without end must not keep the service busy. */
const MOST_SHOWN = 2000
const FAILED = 'failed: '
const END = 'end of run'
const RULE = /^[=-]{20,}$/
/** Gatling's tables are as wide as a terminal, and a log's line has more in it. */
const FILLER = /([-# ])\1{9,}/g
/** Assertions on all requests have a line for each. */
const MOST_ASSERTIONS = 1000

/** The mark is a random word in the helper's own lines, which nothing else that is printed can have. */
interface ConsolePorts {
  readonly mark: string
  readonly redact: (text: string) => string
  readonly onLine: (line: string) => void
}

/** What Gatling's console output says about a run, without secrets. */
export class Console {
  /** The simulation ran to its end, or to an error that stopped it. */
  isEnded = false
  /** Why the simulation failed, from the outermost exception to its cause. */
  readonly failures: string[] = []
  /** As Gatling prints them. */
  readonly assertions: NodeLine[] = []
  readonly #lastLines: string[] = []
  readonly #show: (raw: string) => void

  constructor(private readonly ports: ConsolePorts) {
    // Before the line is shortened: only a whole secret is found.
    const show = (raw: string): void => ports.onLine(ports.redact(raw).replace(FILLER, '$1$1$1'))
    this.#show = limitLines(MOST_SHOWN, show, '… Gatling prints a lot; the rest is not shown')
  }

  get lastLines(): readonly string[] {
    return this.#lastLines.map((raw) => this.ports.redact(raw))
  }

  push(raw: string): void {
    const own = `loadgate ${this.ports.mark}: `
    if (raw.startsWith(`${own}${FAILED}`) && this.failures.length < KEPT_LINES)
      this.failures.push(this.ports.redact(raw.slice(own.length + FAILED.length)))
    this.isEnded ||= raw === `${own}${END}`
    if (raw.startsWith(own)) return
    if (raw.trim() === '' || RULE.test(raw)) return
    const assertion = readAssertion(raw) && readAssertion(this.ports.redact(raw))
    if (assertion !== undefined && this.assertions.length < MOST_ASSERTIONS) this.assertions.push(assertion)
    this.#lastLines.push(raw)
    if (this.#lastLines.length > KEPT_LINES) this.#lastLines.shift()
    this.#show(raw)
  }
}
