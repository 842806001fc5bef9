import { readdir, readFile } from 'node:fs/promises'
import { basename, dirname, join, posix } from 'node:path'
import type { Engine, NodeOrder, NodeOutcome, NodeWork, PlanRequest } from '../engine.js'
import { describeExit, limitLines } from '../../lines.js'
import { findOnce, hasSamples, joinVersions } from '../engine.js'
import { hostAgent, SIGN } from '../host-agent.js'
import { type InstallPorts, runToEnd } from '../install/run-to-end.js'
import {
  ENVIRONMENT_FILE,
  linkIntoFolders,
  parseEnvironment,
  placeVariables,
  planParameters
} from '../environment-file.js'
import { asSentence, capitalize, messageOf } from '../../../contract/text.js'
import { askAboutPlan } from '../../plans/ask.js'
import type { Answer } from '../../plans/questions.js'
import { readThreadNames } from '../../samples/row-cutter.js'
import { planSecrets, redactLog } from '../redact-log.js'
import { jmeterParameters } from '../secret-file.js'
import { GET_PLUGIN, refuseForJMeter, refuseProperties } from '../../../analysis/plans/check/request.js'
import { jvmFolders } from '../tool-environment.js'
import { ToolError } from '../../errors.js'
import type { ImageShell } from '../../nodes/load-node.js'
import { findHome, listFiles, requireImageJava, runInImage } from '../image/image-program.js'
import {
  findJMeter,
  type JMeter,
  javaArguments,
  type JvmPlace,
  readVersion,
  VERSION_ARGUMENTS
} from './install.js'
import { type GivenFiles, readGivenFiles } from './given-files.js'
import { type LogFindings, LossFinder, MISSING_CLASS, readLogEntries } from './losses.js'
import { MissingThreads } from './missing-threads.js'
import { refuseOwnResolvers } from './own-resolvers.js'

/** The columns of JMeter's results file, whatever its own properties say. */
const SAVED_COLUMNS = [
  'timestamp_format=ms',
  'output_format=csv',
  'print_field_names=true',
  // Flush every row, so that it can be read at once and survives a kill. This costs one system call per sample.
  'autoflush=true',
  'default_delimiter=,',
  ...[
    ...['time', 'label', 'response_code', 'response_message', 'thread_name', 'data_type', 'successful'],
    ...['assertion_results_failure_message', 'bytes', 'sent_bytes', 'thread_counts', 'url', 'latency'],
    ...['idle_time', 'connect_time']
  ].map((column) => `${column}=true`),
  ...['encoding', 'filename', 'hostname', 'sample_count'].map((column) => `${column}=false`)
].map((setting) => `-Jjmeter.save.saveservice.${setting}`)

const SETTINGS = [
  ...SAVED_COLUMNS,
  // No port to which anyone on this machine could send a "stop".
  '-Jjmeterengine.nongui.port=0',
  // Threads started by a plan must not keep JMeter alive after the test.
  '-Jjmeterengine.force.system.exit=true'
]

const NOISE =
  /StatusConsoleListener The use of package scanning|^(?:NOTE: )?Picked up J\w+_OPTIONS: "-javaagent:|^(?:Creating summariser <|Created the tree successfully using |Tidying up \.\.\. )/
/**
 * `summary = 1513 in 00:00:20 = 75.6/s Avg: 24 Min: 1 Max: 310 Err: 0 (0.00%)`: one node's, so far, with setUp and warm-up and without
 * transactions that stand for their requests, so that it contradicts the figures of the run. JMeter's log has it too.
 */
const SUMMARY = /^.{1,200} [+=] +\d+ in \d\d:\d\d:\d\d = +[\d.,]+\/s Avg: /
/** What JMeter prints once it reads the plan. */
const STARTED = /^(?:Creating summariser|Created the tree) /
const KEPT_LINES = 80
/** Each line is looked through for secrets: a plan that prints without end must not keep the service busy. */
const SHOWN_LINES = 2000
const MAX_WORDS = 4000
const SHOWN_NOTES = 3
/** Printed by JMeter's logging if the disk is full, when the log itself cannot say so. */
const DISK_FULL = /No space left on device|Unable to write to stream/
/** JMeter's last line after a test, however it ended; a script may have printed something before it. */
const END_OF_RUN = /\.\.\. end of run\s*$/

/** Runs plans with Apache JMeter, one process per node. */
export function createJMeterEngine(ports: InstallPorts): Engine {
  const search = { here: findOnce(() => findJMeter(ports)), inImage: findJMeterInImage }
  return {
    tools: ['jmeter'],
    refuse: refuseFiles,
    prepare: async (plan) => {
      await refuseOwnResolvers(plan)
      const nodes = await plan.nodes()
      const found = await Promise.all(
        nodes.map(async (node) => {
          const jmeter = await node.find(search)
          await requireHosts(jmeter, hostAgent({ hosts: plan.hosts, node }, SIGN), {
            ports: { ...ports, signal: plan.signal },
            env: node.env
          })
          return jmeter
        })
      )
      return {
        version: joinVersions(found.map(({ version }) => version)),
        runNode: async (order, signal) => runJMeter(await order.node.find(search), { order, signal, ports })
      }
    }
  }
}

/** Not started as a Java program, with options for its JVM. */
function isScript({ args }: JMeter): boolean {
  return args.length === 0
}

/** JMeter's own script divides them at spaces. */
function scriptOptions(env: NodeJS.ProcessEnv): string {
  return [...jvmFolders(env).filter((option) => !/\s/.test(option)), env.JVM_ARGS ?? ''].join(' ').trim()
}

/** A script may start its JVM without the variables that give hosts other addresses: then no load is generated. */
async function requireHosts(
  jmeter: JMeter,
  { variables, options }: ReturnType<typeof hostAgent>,
  { ports, env }: { ports: InstallPorts; env: NodeJS.ProcessEnv }
): Promise<void> {
  if (options.length === 0 || !isScript(jmeter)) return
  const { lines, code } = await runToEnd(
    { file: jmeter.file, args: VERSION_ARGUMENTS, env: { ...env, ...variables } },
    ports
  )
  if (lines.includes(SIGN)) return
  const why =
    code === 0
      ? `it sets or clears ${Object.keys(variables).join(' and ')}; let it keep one of them, or leave override_hosts out`
      : lines.slice(-5).join(' ').slice(0, 500)
  throw new ToolError(`override_hosts: ${jmeter.origin} does not pass the addresses on to JMeter: ${why}`)
}

async function runJMeter(jmeter: JMeter, work: NodeWork): Promise<NodeOutcome> {
  const { order, signal, ports } = work
  const files = new Set(await readdir(dirname(order.planFile)))
  const facts = await readPlan(order, files)
  const given = await readGivenFiles(order, files)
  // A plan may read the file, though JMeter does not.
  const environment = files.has(ENVIRONMENT_FILE)
    ? await readFile(join(dirname(order.planFile), ENVIRONMENT_FILE), 'utf8')
    : ''
  const { variables } = parseEnvironment(environment)
  const secrets = planSecrets([...order.properties, ...given.properties], variables)
  await linkIntoFolders(dirname(order.planFile), facts.subPaths)
  const { exit, words, isDiskFull, isEnded } = await runProcess(jmeter, work, { secrets, given })
  // The caller has stopped it, knows that load is missing, and is waiting.
  if (signal.aborted) return { problem: null }
  // The tool's output goes into the report, which anyone may read.
  const redact = (text: string): string => redactLog(text, secrets)
  // JMeter's exit code says whether it ran, not whether it ran the whole plan; its log does, with the paths that JMeter got.
  const { node } = order
  const place = { folder: node.pathOf(dirname(order.planFile)), samplesFile: node.pathOf(order.samplesFile) }
  const finder = new LossFinder({ ...place, files, stops: facts.stops })
  await readLogEntries(order.logFile, (entry) => finder.push(entry), signal)
  const found = finder.end()
  const losses = [...found.losses]
  if (isDiskFull) losses.push('JMeter: the disk was full, so samples may be missing')
  if (exit.code !== 0) {
    const problem = explain({ ...found, how: describeExit(exit), words, jmeter })
    return { problem: redact(problem), losses: losses.map(redact) }
  }
  for (const note of found.notes.slice(0, SHOWN_NOTES))
    ports.log(redact(`${order.nodeName}: its log says: ${note}`))
  losses.push(...facts.unread.map(describeUnread))
  const threads = new MissingThreads(facts.groups)
  // A script can print the words too; the log of a full disk has no end.
  const isWhole = isEnded && (isDiskFull || found.isEnded !== false)
  losses.push(...(isWhole ? [] : missingEnd(found)), ...(await missingSamples(order, found, threads)))
  // A loss tells why a group may have no samples.
  if (losses.length === 0 && threads.mayMiss())
    await readThreadNames(order.samplesFile, (thread) => threads.push(thread), signal)
  const isKnown = losses.length === 0 && !signal.aborted
  const tell = (words: string): string => redact(`JMeter: ${words}`)
  return {
    problem: null,
    losses: [...losses.map(redact), ...(isKnown ? threads.lost().map(tell) : [])],
    doubts: isKnown ? threads.idle().map(tell) : []
  }
}

async function runProcess(
  jmeter: JMeter,
  { order, signal, ports }: NodeWork,
  { secrets, given }: { readonly secrets: readonly string[]; readonly given: GivenFiles }
) {
  const words: string[] = []
  // A plan may print the secrets it received.
  const show = limitLines(
    SHOWN_LINES,
    (line) => ports.log(`${order.nodeName}: ${redactLog(line, secrets)}`),
    '… JMeter prints a lot; the rest is not shown'
  )
  const said = { isDiskFull: false, isEnded: false }
  const { node } = order
  const folder = dirname(order.planFile)
  const agent = hostAgent(order)
  const args = jmeter.argsFor?.(node) ?? jmeter.args
  const parameters = await jmeterParameters(order)
  const running = node.run(
    {
      file: jmeter.file,
      args: [
        ...(isScript(jmeter) ? [] : agent.options),
        ...args,
        ...jmeterArguments(order, given, parameters.args)
      ],
      starts: [jmeter.origin],
      brings: [folder, ...parameters.files, ...agent.brings],
      follows: [order.samplesFile],
      collects: [order.logFile],
      // On TERM it closes its results file first; on a slow node its threads then go on for seconds, and nobody records them.
      canBeKilled: true,
      cwd: node.pathOf(folder),
      env: {
        ...node.env,
        ...placeVariables(order.place),
        ...(isScript(jmeter) && { ...agent.variables, JVM_ARGS: scriptOptions(node.env) })
      },
      onLine: (line) => {
        // It has read its properties: nothing is left of them should this process be killed.
        if (STARTED.test(line)) parameters.remove()
        if (NOISE.test(line) || SUMMARY.test(line)) return
        said.isDiskFull ||= DISK_FULL.test(line)
        said.isEnded ||= END_OF_RUN.test(line)
        show(line)
        words.push(line)
        if (words.length > KEPT_LINES) words.shift()
      }
    },
    signal
  )
  const exit = await running.finally(parameters.remove)
  return { exit, words: words.map((line) => redactLog(line, secrets)), ...said }
}

/** A script can end JMeter at any time with any exit code. A plan that did not start has no end marker either. */
function missingEnd({ losses }: LogFindings): string[] {
  return losses.some((loss) => loss.startsWith('JMeter: could not start the plan'))
    ? []
    : ['JMeter exited before the end of the test, with exit code 0; does a script in the plan end it?']
}

/** A node that had work but recorded no samples, with the reason unless a loss explains it. */
async function missingSamples(
  order: NodeOrder,
  { losses, notes: [note] }: LogFindings,
  { hasNoGroup }: MissingThreads
): Promise<string[]> {
  if (await hasSamples(order.samplesFile)) return []
  if (losses.length > 0) return [`${order.nodeName} recorded no samples`]
  const why = note === undefined ? ', and its log does not say why' : `; its log says: ${note}`
  return hasNoGroup
    ? ['JMeter: the plan has no enabled thread group', `${order.nodeName} recorded no samples`]
    : [`${order.nodeName} recorded no samples${why}`]
}

/** What its text says about the plan and the files that it may include. */
async function readPlan(order: NodeOrder, files: ReadonlySet<string>): Promise<Answer<'jmeter'>> {
  const plan = basename(order.planFile)
  try {
    return await askAboutPlan('jmeter', {
      ...{ folder: dirname(order.planFile), plan },
      others: [...files].filter((name) => name !== plan),
      inputs: {
        parameters: order.properties.filter(({ kind }) => kind === 'J'),
        threads: order.threads ?? undefined,
        rampupSeconds: order.rampupSec ?? undefined,
        durationSeconds: order.durationSec ?? undefined
      }
    })
  } catch (thrown) {
    return {
      ...{ subPaths: [], stops: new Set(), groups: undefined },
      unread: [{ name: plan, why: messageOf(thrown) }]
    }
  }
}

function describeUnread({ name, why }: Answer<'jmeter'>['unread'][number]): string {
  return `JMeter: loadgate could not read ${name} (${why}), so it is unknown whether all of it ran`
}

function jmeterArguments(order: NodeOrder, given: GivenFiles, parameters: readonly string[]): string[] {
  const { node, planFile, samplesFile, logFile } = order
  return [
    '-n',
    ...['-t', node.pathOf(planFile), '-l', node.pathOf(samplesFile), '-j', node.pathOf(logFile)],
    ...given.before,
    ...[...planParameters({ ...order, properties: [] })].map(([name, value]) => `-J${name}=${value}`),
    ...parameters,
    ...given.after,
    // Last, because the last one wins: the results must be readable whatever a caller overrides.
    ...SETTINGS
  ]
}

/** JMeter's error message, without what only its developers need, and what to do about it. */
export function explain(
  end: Pick<LogFindings, 'cause' | 'missingClass'> & {
    readonly how: string
    readonly words: readonly string[]
    readonly jmeter: JMeter
  }
): string {
  const said = end.words.join('\n')
  const start = said.lastIndexOf('An error occurred:')
  const told = (start < 0 ? said : said.slice(start)).split(/\n\s*Detail:|\n---- Debugging/)[0]?.trim() ?? ''
  const { cause, jmeter } = end
  const missing = MISSING_CLASS.exec(said)?.[1] ?? end.missingClass
  const parts = [`JMeter ${jmeter.version} could not run the plan (${end.how}):`]
  // What to do comes first: JMeter's message may be long.
  if (missing !== undefined)
    parts.push(
      `The plan uses ${missing}, which this JMeter (${jmeter.origin}) does not have. ${jmeter.image === undefined ? asSentence(capitalize(GET_PLUGIN)) : 'Add its jar to files, or use an image whose JMeter has the plugin.'}`
    )
  else if (said.includes('Problem loading XML')) parts.push(UNREADABLE)
  parts.push(told.slice(0, MAX_WORDS))
  // Some errors have no message except that of their cause, which only the log has.
  if (cause !== undefined && !told.includes(cause.replace(/^[\w.]+\./, '')))
    parts.push(`Caused by: ${cause.slice(0, 500)}`)
  return parts.join('\n')
}

const UNREADABLE =
  'The plan is not complete and valid XML. Open it in JMeter and save it again, or take the last version that worked.'

export function refuseFiles({ fileNames }: PlanRequest): string[] {
  const problem = refuseForJMeter(fileNames)
  return [...(problem === undefined ? [] : [problem]), ...refuseProperties(fileNames)]
}

/** Quick to start. */
const FOR_A_MOMENT = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-Xmx128m']

/** Finds JMeter in an image: `JMETER_HOME`, `jmeter` on the PATH, or /opt/jmeter; it is started with the image's Java. */
export async function findJMeterInImage(image: ImageShell): Promise<JMeter> {
  const jar = await findJar(image)
  const { java, jvm } = await requireImageJava(image, 'JMeter')
  const command = [java, ...FOR_A_MOMENT, '-jar', jar, '--version', '-j', '/dev/null']
  const { lines, code, how } = await runInImage(image, command)
  const version = readVersion(lines)
  const origin = `${posix.dirname(posix.dirname(jar))} of ${image.name}`
  if (code !== 0 || version === undefined)
    throw new ToolError(
      `JMeter in ${origin} did not print its version (${how}): ${lines.slice(-5).join(' ').slice(0, 500)}`
    )
  const argsFor = (node: JvmPlace = {}): string[] => javaArguments(jar, jvm, node)
  return { file: java, args: argsFor(), argsFor, version, origin, image: image.name }
}

/** JMeter's own start script sets a fixed heap, and may be a wrapper of the image: its jar is what is started. */
async function findJar(image: ImageShell): Promise<string> {
  const place = { variable: 'JMETER_HOME', script: 'jmeter', inOpt: '/opt/jmeter' }
  const jar = await findHome(image, {
    ...{ title: 'JMeter', ...place, missing: 'bin/ApacheJMeter.jar in it' },
    look: async (home) => (await listFiles(image, posix.join(home, 'bin'), 'ApacheJMeter.jar'))[0]
  })
  if (jar !== undefined) return jar
  throw new ToolError(
    `There is no JMeter in ${image.name}: JMETER_HOME is not set, there is no jmeter on its PATH, and none in ${place.inOpt}; use an image that has one, or set JMETER_HOME in it`
  )
}
