import { dirname, join } from 'node:path'
import { messageOf } from '../../../contract/text.js'
import { splitLines } from '../../lines.js'
import { conclude, describeFailure, type Ending } from './ending.js'
import { longestMs, type TestOptions } from './options.js'
import type { K6Facts, K6Order } from './order.js'
import { startK6 } from './process.js'
import { Samples } from './samples.js'
import { K6_SETTINGS, readScript } from './script.js'
import { K6Words } from './words.js'

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

/** Runs the script to its end, and writes its requests as they are answered. */
export async function runK6(order: K6Order, ports: RunPorts): Promise<K6Facts> {
  const limits = { ...LIMITS, ...ports.limits }
  const { env, tempDir } = ports
  try {
    const { options, args, doubts } = await readScript(order, { env, tempDir, limitMs: limits.readMs })
    if (ports.signal.aborted) return failed('it was stopped before it started')
    if (options.maxVUs === 0) return { ...failed(null), isIdle: true }
    const facts = await runScript(order, { args, options, limits, ports })
    return { ...facts, doubts: [...doubts, ...facts.doubts] }
  } catch (thrown) {
    return failed(messageOf(thrown))
  }
}

function failed(problem: string | null): K6Facts {
  return { problem, losses: [], doubts: [], lines: [], requests: 0, isIdle: false }
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
  const cwd = dirname(order.script)
  const words = new K6Words(ports.log, cwd)
  const k6 = startK6(
    order.k6,
    [
      // Not quiet: only its progress says how many iterations it has interrupted. Without its server for commands, whose port another
      // k6 may have.
      ...['run', '--no-color', '--log-format=json', '--address='],
      ...[`--summary-export=${summary}`, `--out=csv=${pipe}`, ...args, order.script]
    ],
    { env: { ...ports.env, ...K6_SETTINGS }, cwd }
  )
  splitLines(k6.stdout, (line) => words.takeOutput(line))
  splitLines(k6.stderr, (line) => words.takeLog(line))
  // A second signal would end k6 before it has written what it has. One for the whole group is the first already.
  interrupt = () => {
    if (!ports.signal.aborted) k6.kill('SIGINT')
    setTimeout(() => k6.kill('SIGKILL'), limits.graceMs).unref()
  }
  const limitMs = longestMs(options) + limits.slackMs
  const late = new AbortController()
  const limit = setTimeout(() => {
    late.abort()
    interrupt()
  }, limitMs)
  const exit = await k6.ended.finally(() => {
    clearTimeout(limit)
    return samples.end()
  })
  const end: Ending = { ...exit, limitMs: late.signal.aborted ? limitMs : undefined }
  return conclude({ end, words, samples, options, summary })
}
