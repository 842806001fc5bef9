import { createReadStream } from 'node:fs'
import { readdir, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { formatDuration } from '../../../contract/text.js'
import { CUT, describeExit, splitLines } from '../../lines.js'
import {
  describeConfig,
  doubtShape,
  findDottedHost,
  loadArguments,
  refuseOptions,
  type ScriptOptions,
  shapeOf,
  shapeVariables,
  type TestOptions
} from './options.js'
import type { ScriptOrder } from './order.js'
import { startK6, type K6Process } from './process.js'
import { readLogLine } from './words.js'

/** Nothing is sent to k6's makers, and no other k6 is downloaded. */
export const K6_SETTINGS = {
  K6_NO_USAGE_REPORT: 'true',
  K6_AUTO_EXTENSION_RESOLUTION: 'false',
  // The form of its summary that is read here.
  K6_NEW_MACHINE_READABLE_SUMMARY: 'false',
  K6_CSV_TIME_FORMAT: 'unix_milli',
  K6_CSV_SAVE_INTERVAL: '1s'
}
const MAX_OUTPUT = 1 << 26
const MOST_SHOWN = 200

interface ReadPorts {
  /** What k6 gets, with the variables of the script. */
  readonly env: NodeJS.ProcessEnv
  /** For a config. */
  readonly tempDir: string
  /** For reading the script with all that it imports and opens. */
  readonly limitMs: number
  /** Where nobody else ends what k6 may leave behind. */
  readonly isGroup?: boolean
  readonly onStart?: (k6: K6Process) => void
}

/** A script that can be run as requested. */
interface Script {
  readonly own: ScriptOptions
  /** With the settings of the run. */
  readonly options: TestOptions
  /** For `k6 run`. */
  readonly args: readonly string[]
  /** Settings, and options of the script, that have no effect, one sentence each. */
  readonly doubts: readonly string[]
}

/** k6 cannot read the script, in its words. */
export class ScriptError extends Error {
  constructor(
    readonly words: string,
    readonly how: { readonly code: number | null; readonly isLate: boolean }
  ) {
    super(`k6 cannot read the script: ${words}`)
  }
}

/** Reads the script's options. Throws if it cannot be read, or not be run as requested. */
export async function readScript(order: ScriptOrder, ports: ReadPorts): Promise<Script> {
  const config = join(ports.tempDir, 'config.json')
  await writeFile(config, JSON.stringify(describeConfig(order)))
  const env = { ...ports.env, ...K6_SETTINGS }
  const args = [`--config=${config}`]
  // Only with the requirements of a run is everything validated, and only without them the options are the script's own.
  const own = await inspect<ScriptOptions>(order, args, { ...ports, env })
  const refusal = refuseOptions(own, order) ?? (await refuseHosts(order, ports.env))
  if (refusal !== undefined) throw new Error(refusal)
  const shape = shapeOf(own, order)
  const options = await inspect<TestOptions>(order, [...args, '--execution-requirements'], {
    ...ports,
    env: { ...env, ...shapeVariables(shape, own) }
  })
  return {
    own,
    options,
    args: [...args, ...loadArguments(shape, options)],
    doubts: doubtShape(own, shape, order)
  }
}

async function refuseHosts(order: ScriptOrder, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  if (order.hosts.length === 0) return undefined
  // A variable may be a host or an address.
  const values = Object.values(env).map((value = '') => `//${value}\n${value}\n`)
  const host = findDottedHost(values.join(''), order.hosts) ?? (await findInFiles(order))
  return host === undefined
    ? undefined
    : `k6 replaces no host with a final dot, so ${host} would be looked up in spite of override-hosts: remove the dot`
}

/** Longer than a host can be. */
const OVERLAP = 300

/** In all uploaded files, which the script may import or read. An archive contains its files uncompressed. */
async function findInFiles({ script, hosts }: ScriptOrder): Promise<string | undefined> {
  const folder = dirname(script)
  for (const name of await readdir(folder)) {
    const file = join(folder, name)
    if (!(await stat(file)).isFile()) continue
    let rest = ''
    for await (const chunk of createReadStream(file, { encoding: 'latin1', highWaterMark: 1 << 20 })) {
      const text: string = rest + String(chunk)
      const found = findDottedHost(text, hosts)
      if (found !== undefined) return found
      rest = text.slice(-OVERLAP)
    }
    const found = findDottedHost(`${rest}\n`, hosts)
    if (found !== undefined) return found
  }
  return undefined
}

async function inspect<T>(
  { k6: file, script }: ScriptOrder,
  args: readonly string[],
  { env, limitMs, isGroup, onStart }: ReadPorts
): Promise<T> {
  const cwd = dirname(script)
  const all = ['inspect', '--no-color', '--log-format=json', '--include-system-env-vars', ...args, script]
  const k6 = startK6(file, all, { env, cwd, isGroup })
  onStart?.(k6)
  const printed = collect(k6.stdout)
  const errors: string[] = []
  splitLines(k6.stderr, (line) => {
    const { level, words } = readLogLine(line, cwd)
    if (level === 'error' && errors.length < 3) errors.push(words)
  })
  const late = new AbortController()
  const limit = setTimeout(() => {
    late.abort()
    k6.kill('SIGKILL')
  }, limitMs)
  const exit = await k6.ended.finally(() => clearTimeout(limit))
  const { code } = exit
  const isLate = late.signal.aborted
  const silence = isLate ? `it had not ended after ${formatDuration(limitMs)}` : describeExit(exit)
  if (code !== 0 || isLate) throw new ScriptError(errors.join('\n') || silence, { code, isLate })
  try {
    return JSON.parse(printed()) as T
  } catch {
    throw new Error(
      `k6 inspect printed something other than the options of ${basename(script)}: ${printed().slice(0, MOST_SHOWN)}${CUT}`
    )
  }
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
