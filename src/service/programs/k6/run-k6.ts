import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { formatDuration, messageOf } from '../../../contract/text.js'
import { splitLines } from '../../lines.js'
import { conclude, describeFailure, type Ending } from './ending.js'
import {
  describeConfig,
  doubtShape,
  findDottedHost,
  loadArguments,
  longestMs,
  refuseOptions,
  type ScriptOptions,
  shapeOf,
  shapeVariables,
  type TestOptions
} from './options.js'
import type { K6Facts, K6Order } from './order.js'
import { Samples } from './samples.js'
import { K6Words, readLogLine } from './words.js'

export interface RunPorts {
  /** What k6 gets, with the variables of the script. */
  readonly env: NodeJS.ProcessEnv
  /** Aborted by a signal, which k6 has then had too: it is in the same process group. */
  readonly signal: AbortSignal
  /** For a pipe, a config and a summary. */
  readonly tempDir: string
  readonly log: (line: string) => void
  readonly limits?: Partial<Limits>
}

interface Limits {
  /** For reading the script with all that it imports and opens. */
  readonly readMs: number
  /** Beyond what the script can take: for starting VUs, which k6 does not limit, and for handleSummary(), which has 2 minutes. */
  readonly slackMs: number
  /** Between an interrupt and a kill. */
  readonly graceMs: number
}

const LIMITS: Limits = { readMs: 180_000, slackMs: 300_000, graceMs: 10_000 }
const MAX_OUTPUT = 1 << 26

/** k6 stays by itself: no reports of use, no other binary in its place. */
const QUIET = {
  K6_NO_USAGE_REPORT: 'true',
  K6_AUTO_EXTENSION_RESOLUTION: 'false',
  // The form of its summary that is read here.
  K6_NEW_MACHINE_READABLE_SUMMARY: 'false',
  K6_CSV_TIME_FORMAT: 'unix_milli',
  K6_CSV_SAVE_INTERVAL: '1s'
}

/** Runs the script to its end, and writes its requests as they are answered. */
export async function runK6(order: K6Order, ports: RunPorts): Promise<K6Facts> {
  const limits = { ...LIMITS, ...ports.limits }
  const config = join(ports.tempDir, 'config.json')
  writeFileSync(config, JSON.stringify(describeConfig(order)))
  const inspect = <T>(extra: readonly string[], variables = {}): Promise<T> =>
    inspectScript<T>(order, [`--config=${config}`, ...extra], {
      env: { ...ports.env, ...QUIET, ...variables },
      limitMs: limits.readMs
    })
  try {
    const script = await inspect<ScriptOptions>([])
    const refusal = refuseOptions(script, order) ?? refuseHosts(order, ports.env)
    if (refusal !== undefined) return failed(refusal)
    const shape = shapeOf(script, order)
    const options = await inspect<TestOptions>(['--execution-requirements'], shapeVariables(shape, script))
    if (ports.signal.aborted) return failed('it was stopped before it started')
    if (options.maxVUs === 0) return { ...failed(null), isIdle: true }
    const args = [`--config=${config}`, ...loadArguments(shape, options)]
    const facts = await runScript(order, { args, options, limits, ports })
    return { ...facts, doubts: [...doubtShape(script, shape, order), ...facts.doubts] }
  } catch (thrown) {
    return failed(messageOf(thrown))
  }
}

function failed(problem: string | null): K6Facts {
  return { problem, losses: [], doubts: [], lines: [], requests: 0, isIdle: false }
}

function refuseHosts({ script, hosts }: K6Order, env: NodeJS.ProcessEnv): string | undefined {
  if (hosts.length === 0) return undefined
  const values = Object.values(env).map((value) => value ?? '')
  const host = findDottedHost([readFileSync(script, 'latin1'), ...values], hosts)
  return host === undefined
    ? undefined
    : `k6 replaces no host with a final dot, so ${host} would be looked up in spite of override-hosts: write ${host.slice(0, -1)}`
}

/** What the script says of itself: a script that cannot be read says why. */
async function inspectScript<T>(
  order: K6Order,
  args: readonly string[],
  { env, limitMs }: { env: NodeJS.ProcessEnv; limitMs: number }
): Promise<T> {
  const all = [
    'inspect',
    '--no-color',
    '--log-format=json',
    '--include-system-env-vars',
    ...args,
    order.script
  ]
  const k6 = spawn(order.k6, all, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env,
    cwd: dirname(order.script)
  })
  const printed = collect(k6.stdout)
  const errors: string[] = []
  splitLines(k6.stderr, (line) => {
    const { level, words } = readLogLine(line)
    if (level === 'error' && errors.length < 3) errors.push(words)
  })
  const limit = setTimeout(() => k6.kill('SIGKILL'), limitMs)
  const code = await new Promise<number | null>((resolve, reject) => {
    k6.on('error', (error) => reject(new Error(`k6 cannot be started: ${error.message}`)))
    k6.on('close', (exitCode) => resolve(exitCode))
  }).finally(() => clearTimeout(limit))
  const said = errors.length > 0 ? errors.join('\n') : describeSilence(k6.signalCode, { code, limitMs })
  if (code !== 0) throw new Error(`k6 cannot read the script: ${said}`)
  try {
    return JSON.parse(printed()) as T
  } catch {
    throw new Error(`k6 inspect printed something else than the script's options: ${printed().slice(0, 200)}`)
  }
}

function describeSilence(
  signal: NodeJS.Signals | null,
  { code, limitMs }: { code: number | null; limitMs: number }
): string {
  if (signal === 'SIGKILL') return `it had not ended after ${formatDuration(limitMs)}`
  return signal === null ? `exit code ${code}` : `killed by ${signal}`
}

function collect(stream: Readable): () => string {
  const chunks: Buffer[] = []
  let bytes = 0
  stream.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes <= MAX_OUTPUT) chunks.push(chunk)
  })
  return () => Buffer.concat(chunks).toString()
}

interface ScriptRun {
  readonly args: readonly string[]
  readonly options: TestOptions
  readonly limits: Limits
  readonly ports: RunPorts
}

async function runScript(order: K6Order, { args, options, limits, ports }: ScriptRun): Promise<K6Facts> {
  const { samplesFile, threadPrefix } = order
  const [pipe, summary] = [join(ports.tempDir, 'samples'), join(ports.tempDir, 'summary.json')]
  let interrupt = (): void => undefined
  const samples = new Samples({ pipe, samplesFile, threadPrefix, onFailure: () => interrupt() })
  if (samples.failure !== undefined) {
    await samples.end()
    return failed(describeFailure(samples.failure))
  }
  const words = new K6Words(ports.log)
  const k6 = spawn(
    order.k6,
    [
      // Without its server for commands, whose port another k6 may have.
      ...['run', '--quiet', '--no-color', '--log-format=json', '--address='],
      ...[`--summary-export=${summary}`, `--out=csv=${pipe}`, ...args, order.script]
    ],
    { stdio: ['ignore', 'pipe', 'pipe'], env: { ...ports.env, ...QUIET }, cwd: dirname(order.script) }
  )
  splitLines(k6.stdout, (line) => words.takeOutput(line))
  splitLines(k6.stderr, (line) => words.takeLog(line))
  // A second signal would end k6 before it has written what it has. One for the whole group is the first already.
  interrupt = () => {
    if (!ports.signal.aborted) k6.kill('SIGINT')
    setTimeout(() => k6.kill('SIGKILL'), limits.graceMs).unref()
  }
  const limitMs = longestMs(options) + limits.slackMs
  let isOver = false
  const limit = setTimeout(() => {
    isOver = true
    interrupt()
  }, limitMs)
  const end = await new Promise<Ending>((resolve, reject) => {
    k6.on('error', (error) => reject(new Error(`k6 cannot be started: ${error.message}`)))
    k6.on('close', (code, signal) => resolve({ code, signal, limitMs: isOver ? limitMs : undefined }))
  }).finally(() => {
    clearTimeout(limit)
    return samples.end()
  })
  return conclude({ end, words, samples, options, summary })
}
