import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { readMessage, type Message } from '../../../src/service/programs/element/messages.js'
import type { RunOrder } from '../../../src/service/programs/element/run/run-order.js'
import { browserPath } from './browser.js'
import { removeFolder } from '../remove-folder.js'

export interface SampleRow {
  readonly label: string
  readonly success: boolean
  readonly code: string
  readonly failure: string
  readonly elapsedMs: number
  readonly idleMs: number
  readonly latencyMs: number
  readonly user: string
  readonly url: string
  /** The step whose time it is part of. */
  readonly partOf: string
}

export interface ScriptRun {
  /** Of the steps, in their order. */
  readonly rows: readonly SampleRow[]
  /** `label: passed`, or `label: <failure>`. */
  readonly steps: readonly string[]
  /** The labels of the pages' own times. */
  readonly timings: readonly SampleRow[]
  readonly problems: readonly string[]
  readonly losses: readonly string[]
  readonly notes: readonly string[]
  readonly isEnded: boolean
  /** Within which time it said that it would be over. */
  readonly limitMs: number | undefined
  /** What the script printed. */
  readonly lines: readonly string[]
  readonly log: string
  /** Everything in the results file. */
  readonly csv: string
  readonly code: number | null
}

const PROGRAM = resolve('dist/tools/element.mjs')

/** Compiles a script and runs it, each with the program of the committed bundle; a script that does not compile has problems only. */
export async function runScript(
  files: Readonly<Record<string, string>>,
  given: Partial<RunOrder> & { env?: Record<string, string>; onStart?: (pid: number) => void } = {}
): Promise<ScriptRun> {
  const folder = mkdtempSync(join(tmpdir(), 'loadgate-element-'))
  const { env = {}, onStart, ...order } = given
  const [scriptName = ''] = Object.keys(files)
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  const plan = join(folder, 'built', 'plan.mjs')
  const samplesFile = join(folder, 'samples.csv')
  const logFile = join(folder, 'element.log')
  const modules = resolve('.')
  const start = (mode: object) => runProgram(folder, { modules, ...mode }, { env, onStart })
  try {
    const script = join(folder, scriptName)
    const compiled = await start({
      ...{ mode: 'compile', script, outFile: plan, packageNames: ['@acme/element'] },
      compiler: resolve('node_modules/esbuild')
    })
    if (compiled.problems.length > 0) return { ...compiled, ...readRows(''), log: '' }
    const ran = await start({
      ...{ mode: 'run', plan, scriptName, folder, workDir: join(folder, 'work'), samplesFile, logFile },
      ...{ browser: browserPath(), hosts: [], users: 1, rampupMs: 0, durationMs: null, graceMs: 2000 },
      ...order
    })
    return { ...ran, ...readRows(readFileSync(samplesFile, 'utf8')), log: readFileSync(logFile, 'utf8') }
  } finally {
    removeFolder(folder)
  }
}

/** A script of the fixtures, with the data files that it needs. */
export function readFixture(name: string, ...others: string[]): Record<string, string> {
  return Object.fromEntries(
    [name, ...others].map((file) => [
      basename(file),
      readFileSync(join('__tests__/fixtures/element', file), 'utf8')
    ])
  )
}

async function runProgram(
  folder: string,
  order: object,
  { env, onStart }: { env: Record<string, string>; onStart: ((pid: number) => void) | undefined }
): Promise<Omit<ScriptRun, 'rows' | 'steps' | 'timings' | 'log' | 'csv'>> {
  const orderFile = join(folder, 'order.json')
  const messagesFile = join(folder, 'messages')
  rmSync(messagesFile, { force: true })
  writeFileSync(orderFile, JSON.stringify({ ...order, messagesFile }))
  const child = spawn(process.execPath, ['--enable-source-maps', PROGRAM, orderFile], {
    cwd: folder,
    env: { PATH: process.env.PATH, TMPDIR: folder, ...env },
    stdio: ['ignore', 'pipe', 'pipe']
  })
  if (child.pid !== undefined) onStart?.(child.pid)
  const lines: string[] = []
  for (const stream of [child.stdout, child.stderr])
    createInterface(stream).on('line', (line) => lines.push(line))
  const code = await new Promise<number | null>((done) => child.once('close', done))
  const told: Message[] = readFileSync(messagesFile, 'utf8').trim().split('\n').map(readMessage)
  const texts = (kind: string): string[] =>
    told.flatMap((message) => (message.kind === kind && 'text' in message ? [message.text] : []))
  return {
    ...{ code, lines, problems: texts('problem'), losses: texts('loss'), notes: texts('note') },
    limitMs: told.find((message) => message.kind === 'limit')?.ms,
    isEnded: told.some(({ kind }) => kind === 'end')
  }
}

function readRows(csv: string): Pick<ScriptRun, 'rows' | 'steps' | 'timings' | 'csv'> {
  const all = csv
    .split('\n')
    .slice(1)
    .filter((line) => line !== '')
    .map(readRow)
  const rows = all.filter(({ partOf }) => partOf === '')
  return {
    csv,
    rows,
    steps: rows.map(({ label, success, failure }) => `${label}: ${success ? 'passed' : failure}`),
    timings: all.filter(({ partOf }) => partOf !== '')
  }
}

function readRow(line: string): SampleRow {
  const fields = [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(
    ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? ''
  )
  const at = (index: number): string => fields[index] ?? ''
  return {
    ...{ elapsedMs: Number(at(1)), label: at(2), code: at(3), user: at(5), success: at(7) === 'true' },
    ...{ failure: at(8), url: at(13), latencyMs: Number(at(14)), idleMs: Number(at(15)), partOf: at(17) }
  }
}
