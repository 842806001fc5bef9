import { delimiter, dirname, join } from 'node:path'
import type { NodeOrder, NodeOutcome } from '../engine.js'
import { hasSamples } from '../has-samples.js'
import { heapSize, jvmOptions } from '../jvm-options.js'
import { linkIntoFolders } from '../link-into-folders.js'
import type { InstallPorts } from '../install/install-ports.js'
import { placeVariables, planParameters } from '../plan-environment.js'
import { planSecrets, redactLog } from '../redact-log.js'
import { Console } from './console.js'
import { type Errors, readLogErrors } from './log-errors.js'
import { findProblem } from './outcome.js'

/** A compiled simulation: the same for every node with the same tools. */
export interface Simulation {
  /** A path on the node. */
  readonly java: string
  /** `HEAP` and `JVM_ARGS` there, if it is not this machine. */
  readonly jvm?: NodeJS.ProcessEnv
  /** Of Gatling. */
  readonly version: string
  /** Files and folders of this machine, or of the node's image. */
  readonly classPath: readonly (string | { readonly inImage: string })[]
  /** Uploaded jars, which are in the folder of each node. */
  readonly jars: readonly string[]
  /** The name of its class. */
  readonly simulation: string
  /** Where it looks for its files, below its folder. */
  readonly subPaths: readonly string[]
  /** Environment variables that were uploaded with it. */
  readonly variables: Readonly<Record<string, string>>
  /** What may be wrong with its files, one sentence each. */
  readonly doubts: readonly string[]
}

interface Work {
  readonly order: NodeOrder
  readonly signal: AbortSignal
  readonly ports: InstallPorts
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

/** Runs a simulation on one node, to its end or until the signal aborts. */
export async function runSimulation(plan: Simulation, work: Work): Promise<NodeOutcome> {
  const { order, signal, ports } = work
  const secrets = planSecrets(order.properties, plan.variables)
  const redact = (text: string): string => redactLog(text, secrets)
  const { mark, node } = order
  const folder = dirname(order.planFile)
  await linkIntoFolders(folder, plan.subPaths)
  const console = new Console({ mark, redact, onLine: (line) => ports.log(`${order.nodeName}: ${line}`) })
  const exit = await node.run(
    {
      file: plan.java,
      args: javaArguments(plan, work),
      brings: [folder, ...plan.classPath.filter((entry) => typeof entry === 'string')],
      follows: [order.samplesFile],
      collects: [order.logFile],
      cwd: node.pathOf(folder),
      env: { ...node.env, ...plan.variables, ...placeVariables(order.place) },
      onLine: (line) => console.push(line)
    },
    signal
  )
  // Whoever stopped it knows that load is missing, and is waiting.
  if (signal.aborted) return { problem: null }
  const errors = await readLogErrors(order.logFile, { redact, signal })
  const { version } = plan
  const problem = findProblem({ exit, said: console.end(), firstError: errors.first, version })
  if (problem !== null) return { problem }
  const isEmpty = !(await hasSamples(order.samplesFile))
  return {
    problem: null,
    losses: [
      ...(isEmpty ? [redact(`${order.nodeName} recorded no samples: the simulation sent no request`)] : []),
      ...tell(errors.lost, (count) => `Gatling could not execute parts of the plan: it logged ${count}`)
    ],
    doubts: [...plan.doubts.map(redact), ...tell(errors.other, (count) => `Gatling logged ${count}`)]
  }
}

function tell({ count, first }: Errors, say: (count: string) => string): string[] {
  return count === 0 ? [] : [`${say(count === 1 ? '1 error' : `${count} errors`)}, the first: ${first}`]
}

function javaArguments(plan: Simulation, { order, ports }: Work): string[] {
  const { node, mark } = order
  const folder = node.pathOf(dirname(order.planFile))
  const properties = {
    ...DEFAULTS,
    ...Object.fromEntries(planParameters(order)),
    // These decide whether the results can be read, and that nothing is sent anywhere but to the plan's target.
    'gatling.data.enableAnalytics': 'false',
    'logback.configurationFile': 'loadgate/logback.xml',
    'loadgate.log': node.pathOf(order.logFile)
  }
  const classPath = plan.classPath.map((entry) =>
    typeof entry === 'string' ? node.pathOf(entry) : entry.inImage
  )
  return [
    ...JVM_OPTIONS,
    ...jvmOptions(plan.jvm ?? ports.env, {
      heap: `-Xmx${heapSize(node.memoryBytes)}`,
      home: plan.jvm && node.env.HOME
    }),
    ...Object.entries(properties).map(([name, value]) => `-D${name}=${value}`),
    // Gatling looks for files on the class path and in the working directory.
    ...['-cp', [...classPath, ...plan.jars.map((name) => join(folder, name)), folder].join(delimiter)],
    ...['loadgate.gatling.RunPlan', plan.simulation, join(folder, 'gatling-results')],
    ...[node.pathOf(order.samplesFile), mark],
    ...order.hosts.map(({ host, address }) => `${host}/${address}`)
  ]
}
