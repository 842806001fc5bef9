import { readFile, rm, stat, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Engine, NodeOrder, NodeOutcome } from '../engine.js'
import { ToolError } from '../errors.js'
import { findJMeter, type JMeter, type Surroundings } from '../jmeter-install.js'
import { insertHostOverrides } from '../jmeter-plan.js'
import { toolEnvironment } from '../tool-environment.js'

/** The columns of a JMeter results file, whatever its own properties say. */
const SAVED_COLUMNS = [
  'timestamp_format=ms',
  'output_format=csv',
  'print_field_names=true',
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
  // No port that anybody on this machine could send a "stop" to.
  '-Jjmeterengine.nongui.port=0',
  // A plan's own threads must not keep JMeter alive after the test.
  '-Jjmeterengine.force.system.exit=true'
]

const NOISE = 'StatusConsoleListener The use of package scanning'
const KEPT_LINES = 80
const MAX_WORDS = 4000

/** Runs plans with Apache JMeter, one process a node. */
export function createJMeterEngine(around: Surroundings): Engine {
  let found: Promise<JMeter> | undefined
  const find = (): Promise<JMeter> => {
    // A failure is not remembered: what was missing may have been installed in the meantime.
    found ??= findJMeter(around).catch((thrown: unknown) => {
      found = undefined
      throw thrown
    })
    return found
  }
  return {
    tools: ['jmeter'],
    synthetic: false,
    prepare: async () => (await find()).version,
    runNode: async (order, signal) => runJMeter(await find(), { order, signal, around })
  }
}

interface Work {
  readonly order: NodeOrder
  readonly signal: AbortSignal
  readonly around: Surroundings
}

async function runJMeter(jmeter: JMeter, { order, signal, around }: Work): Promise<NodeOutcome> {
  await overrideHosts(order)
  const words: string[] = []
  const exit = await around.processes.run(
    {
      file: jmeter.file,
      args: [...jmeter.args, ...jmeterArguments(order)],
      cwd: dirname(order.planFile),
      env: toolEnvironment(around.env),
      onLine: (line) => {
        if (line.includes(NOISE)) return
        around.log(`${order.nodeName}: ${line}`)
        words.push(line)
        if (words.length > KEPT_LINES) words.shift()
      }
    },
    signal
  )
  if (signal.aborted) return { problem: null }
  if (exit.code === 0) {
    await tellWhyNoSamples(order, around.log)
    return { problem: null }
  }
  const how = exit.signal === null ? `exit code ${exit.code}` : `killed by ${exit.signal}`
  return { problem: explain({ how, words, log: await readText(order.logFile), jmeter }) }
}

/** The links of the node's folder lead to the uploads, so the changed plan takes the place of the link. */
async function overrideHosts(order: NodeOrder): Promise<void> {
  if (order.hosts.length === 0) return
  const plan = await readFile(order.planFile, 'latin1')
  await rm(order.planFile)
  await writeFile(order.planFile, insertHostOverrides(plan, order.hosts), 'latin1')
}

function jmeterArguments(order: NodeOrder): string[] {
  const given = { threads: order.threads, rampup: order.rampupSec, duration: order.durationSec }
  return [
    '-n',
    ...['-t', order.planFile, '-l', order.samplesFile, '-j', order.logFile],
    ...Object.entries(given).flatMap(([name, value]) => (value === null ? [] : [`-J${name}=${value}`])),
    ...order.properties.map(({ kind, name, value }) => `-${kind}${name}=${value}`),
    // Last, for the last one wins: the results must be readable whatever a caller overrides.
    ...SETTINGS
  ]
}

/** JMeter's own words, without what is of use to its developers only, and what can be done about it. */
export function explain(end: { how: string; words: readonly string[]; log: string; jmeter: JMeter }): string {
  const said = end.words.join('\n')
  const start = said.lastIndexOf('An error occurred:')
  const told = (start < 0 ? said : said.slice(start)).split(/\n\s*Detail:|\n---- Debugging/)[0]?.trim() ?? ''
  // Some errors have no words but those of their cause, which only the log has.
  const cause = [...end.log.matchAll(/^Caused by: (.+)$/gm)].at(-1)?.[1]?.trim()
  const parts = [
    `JMeter ${end.jmeter.version} could not run the plan (${end.how}):`,
    told.slice(0, MAX_WORDS),
    ...(cause === undefined || told.includes(cause.replace(/^[\w.]+\./, ''))
      ? []
      : [`Caused by: ${cause.slice(0, 500)}`])
  ]
  const missing = /CannotResolveClassException: ([\w.$-]+)/.exec(`${said}\n${end.log}`)?.[1]
  if (missing !== undefined) {
    parts.push(
      `The plan uses ${missing}, which this JMeter (${end.jmeter.origin}) does not have. Install the plugin into a JMeter of your own and let JMETER_HOME point to it.`
    )
  }
  return parts.join('\n')
}

/** A test may come to a regular end without a sample, and JMeter tells the reason in its log alone. */
async function tellWhyNoSamples(order: NodeOrder, log: (line: string) => void): Promise<void> {
  const { size } = await stat(order.samplesFile).catch(() => ({ size: 0 }))
  if (size > 1024) return
  const lines = (await readText(order.logFile)).split('\n')
  const errors = lines.flatMap((line, index) =>
    line.includes(' ERROR ') ? [`${line} ${lines[index + 1] ?? ''}`] : []
  )
  for (const error of errors.slice(0, 3)) log(`${order.nodeName}: ${error.slice(0, 500)}`)
}

async function readText(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((thrown: unknown) => {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw new ToolError(`${file} cannot be read`, { cause: thrown })
  })
}
