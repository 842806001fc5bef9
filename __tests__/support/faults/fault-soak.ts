import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { readFileSync, readdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { SPEC } from './fault-testbed.js'
import { Step } from '../step/step.js'

export interface Soak {
  readonly table: string
  readonly problems: readonly string[]
}

interface Service {
  readonly url: string
  readonly token: string
  readonly child: ChildProcess
}

interface Footprint {
  readonly memoryMiB: number
  readonly descriptors: number
  readonly processes: number
}

/** Gates that pass, fail and cannot be judged, in turn: a verdict that leaks from one to the next is seen. */
const KINDS = [
  { verdict: 'passed', thresholds: 'apdex >= 0.5\np95 < 60s' },
  { verdict: 'failed', thresholds: 'p95 < 1ms' },
  { verdict: 'inconclusive', thresholds: 'p95{label="nowhere"} < 60s' }
] as const

/** Caches and compiled code settle in the first gates. */
const MOST_WARM_UP = 10
const MOST_GROWTH_MIB = 40
const MOST_NEW_DESCRIPTORS = 2

/** Many gates against one embedded service, one after the other and all at once: what does the service keep of them? */
export async function soak({ inARow, atOnce }: { inARow: number; atOnce: number }): Promise<Soak> {
  const warmUp = Math.min(inARow, MOST_WARM_UP)
  const dataDir = await mkdtemp(join(tmpdir(), 'loadgate-soak-'))
  const service = await startInProcess(dataDir)
  try {
    const problems: string[] = []
    for (let index = 0; index < warmUp; index++) problems.push(...(await runGate(service, index)))
    const before = await footprintOf(service)
    for (let index = 0; index < inARow; index++) problems.push(...(await runGate(service, index)))
    const afterRow = await footprintOf(service)
    const crowd = await Promise.all(Array.from({ length: atOnce }, (_, index) => runGate(service, index)))
    problems.push(...crowd.flat())
    const afterCrowd = await footprintOf(service)
    problems.push(...grownBetween(before, afterRow), ...grownBetween(before, afterCrowd))
    const runs = await countRuns(service)
    if (runs !== warmUp + inARow + atOnce) problems.push(`${runs} runs were started`)
    const table = describe([
      [`after ${warmUp} gates`, before],
      [`${inARow} in a row later`, afterRow],
      [`${atOnce} at once later`, afterCrowd]
    ])
    return { table, problems }
  } finally {
    service.child.kill('SIGTERM')
    await new Promise((resolve) => service.child.once('exit', resolve))
    await rm(dataDir, { recursive: true, force: true })
  }
}

async function startInProcess(dataDir: string): Promise<Service> {
  const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url))
  const flags = [
    '--experimental-transform-types',
    '--no-warnings',
    '--import',
    here('../typescript-hooks.mjs')
  ]
  const options = JSON.stringify({ dataDir, engine: 'rehearsal' })
  const child = spawn(process.execPath, [...flags, here('../../service/serve.mjs'), options], {
    stdio: ['ignore', 'pipe', 'inherit']
  })
  const address = await new Promise<{ url: string; token: string }>((resolve, reject) => {
    child.once('exit', () => reject(new Error('the service did not start')))
    createInterface(child.stdout).on('line', (line) => {
      const { url, token } = JSON.parse(line) as { url?: string; token?: string }
      if (url !== undefined && token !== undefined) resolve({ url, token })
    })
  })
  return { ...address, child }
}

async function runGate({ url, token }: Service, index: number): Promise<string[]> {
  const kind = KINDS[index % KINDS.length]!
  const step = new Step()
  try {
    step.inputs = {
      'base-url': url,
      token,
      files: 'plan.jmx',
      grids: SPEC,
      duration: '10',
      threads: '2',
      thresholds: kind.thresholds,
      'poll-interval': '1s',
      timeout: '5m'
    }
    const { outputs, code } = await step.main()
    const post = await step.post()
    const isRight =
      outputs.verdict === kind.verdict && code === (kind.verdict === 'passed' ? 0 : 1) && post.code === 0
    return isRight
      ? []
      : [`gate ${index}: ${outputs.verdict ?? 'no verdict'} (${code ?? ''}), not ${kind.verdict}`]
  } finally {
    step.remove()
  }
}

/** Once what was under way has come to rest. */
async function footprintOf({ child }: Service): Promise<Footprint> {
  await sleep(1_000)
  const folder = `/proc/${child.pid ?? ''}`
  const [, kib = '0'] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`${folder}/status`, 'utf8')) ?? []
  const children = readFileSync(`${folder}/task/${child.pid ?? ''}/children`, 'utf8').trim()
  return {
    memoryMiB: Math.round(Number(kib) / 1024),
    descriptors: readdirSync(`${folder}/fd`).length,
    processes: children === '' ? 0 : children.split(' ').length
  }
}

function grownBetween(before: Footprint, after: Footprint): string[] {
  const problems: (string | false)[] = [
    after.memoryMiB > before.memoryMiB + MOST_GROWTH_MIB && `memory grew to ${after.memoryMiB} MiB`,
    after.descriptors > before.descriptors + MOST_NEW_DESCRIPTORS &&
      `descriptors grew to ${after.descriptors}`,
    after.processes > 0 && `${after.processes} processes were left`
  ]
  return problems.filter((problem) => problem !== false)
}

async function countRuns({ url, token }: Service): Promise<number> {
  const authorization = `Basic ${Buffer.from(`${token}:`).toString('base64')}`
  const reply = await fetch(`${url}/runs`, { headers: { authorization } })
  return ((await reply.json()) as { total: number }).total
}

function describe(rows: readonly (readonly [string, Footprint])[]): string {
  const lines = rows.map(
    ([name, { memoryMiB, descriptors, processes }]) =>
      `| ${name} | ${memoryMiB} | ${descriptors} | ${processes} |`
  )
  return [
    '| the service | memory, MiB | descriptors | child processes |',
    '|---|--:|--:|--:|',
    ...lines
  ].join('\n')
}
