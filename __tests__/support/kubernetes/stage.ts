import { describe } from '@jest/globals'
import { randomBytes } from 'node:crypto'
import { cpSync, existsSync, mkdtempSync, readFileSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Command, startCommand } from '../../e2e/cli-command.js'
import { type CountingTarget, startCountingTarget } from '../tools/counting-target.js'
import { KubeApi, type KubeObject } from './api.js'
import { type Disturbances, disturbancesOf } from './disturb.js'
import { removeFolder } from '../remove-folder.js'

const { KUBECONFIG, LOADGATE_REQUIRE_KUBERNETES } = process.env
/** Where pods see this machine: by default they share its network. */
const HOST = process.env.LOADGATE_KUBERNETES_HOST ?? '127.0.0.1'
export const LISTEN_ON = HOST === '127.0.0.1' ? HOST : '0.0.0.0'
const JMETER_IMAGE = process.env.LOADGATE_KUBERNETES_IMAGE ?? 'localhost/loadgate/jmeter:5.6.3'
export const TOOLS_IMAGE = process.env.LOADGATE_KUBERNETES_TOOLS_IMAGE ?? 'localhost/loadgate/tools:1'
/** Two cores have to do for four pods, the service and the target. */
const INSTANCE_TYPES = { small: { cpu: '400m', memory: '1Gi' } }
/** A pod gets its grace period, and a busy machine takes its time. */
const GONE_WITHIN_MS = 90_000
const RUN_WITHIN_MS = 110_000

/** Skips aloud without a cluster; where one is required, its tests fail instead. */
export function describeWithCluster(name: string, tests: () => void): void {
  const isSkipped = KUBECONFIG === undefined && LOADGATE_REQUIRE_KUBERNETES === undefined
  if (isSkipped) console.warn(`Skipped: ${name}. KUBECONFIG is not set; scripts/cluster/up prints one.`)
  ;(isSkipped ? describe.skip : describe)(name, tests)
}

/** Keys of a place in `regions`, as a user writes them. */
export type PlaceKeys = Readonly<Record<string, unknown>>

export interface GridKeys {
  readonly region: string
  readonly instance_quantity: number
}

export interface GateResult {
  readonly code: number | null
  /** Everything that was said. */
  readonly text: string
  readonly verdict: string
  readonly reason: string
  readonly samples: number
}

/** A namespace of its own, a target that counts its hits, and a folder with the plan of the shop: for one test. */
export class PodStage {
  readonly folder: string
  readonly namespace = `loadgate-test-${randomBytes(4).toString('hex')}`
  readonly api: KubeApi
  readonly kubeconfig: string
  readonly cluster: Disturbances
  readonly started: Command[] = []
  target!: CountingTarget

  constructor() {
    if (KUBECONFIG === undefined || KUBECONFIG === '')
      throw new Error('KUBECONFIG is not set: scripts/cluster/up brings up a cluster and prints one')
    this.folder = mkdtempSync(join(tmpdir(), 'loadgate-pods-'))
    this.kubeconfig = KUBECONFIG
    this.api = new KubeApi(KUBECONFIG)
    this.cluster = disturbancesOf(KUBECONFIG, this.api)
  }

  async start(labels: Readonly<Record<string, string>> = {}): Promise<this> {
    for (const file of ['plan.jmx', 'users.csv']) cpSync(join('examples/shop', file), join(this.folder, file))
    this.target = await startCountingTarget(LISTEN_ON)
    const metadata = { name: this.namespace, labels }
    await this.api.request('POST', '/api/v1/namespaces', { metadata })
    return this
  }

  async close(): Promise<void> {
    for (const { child } of this.started) child.kill('SIGKILL')
    await Promise.all(this.started.map(({ ended }) => ended))
    await this.target.close()
    await this.api.request('DELETE', `/api/v1/namespaces/${this.namespace}`)
    removeFolder(this.folder)
  }

  /** The setting `regions`, as text: every region is this namespace. */
  regions(keys: PlaceKeys = {}, names: readonly string[] = ['here']): string {
    const place = {
      kubernetes: {
        namespace: this.namespace,
        image: JMETER_IMAGE,
        'image-pull-policy': 'Never',
        'host-network': HOST === '127.0.0.1',
        'instance-types': INSTANCE_TYPES,
        'start-timeout': '2m',
        ...keys
      }
    }
    return JSON.stringify(Object.fromEntries(names.map((name) => [name, place])))
  }

  /** The setting `grids`, as text. */
  grids(...grids: readonly GridKeys[]): string {
    const rest = { instance_type: 'small', infrastructure: 'demand', stop_after: 9 }
    return JSON.stringify(grids.map((grid) => ({ ...grid, ...rest })))
  }

  /** What makes the shop's plan ask this stage's target. */
  get parameters(): string {
    return `-Jhost=${HOST} -Jport=${this.target.port}`
  }

  /** The address of another service of the test, such as pages for a browser. */
  urlOf(port: number): string {
    return `http://${HOST}:${port}`
  }

  /** The command line, from the bundles. */
  command(args: readonly string[], env: Readonly<Record<string, string>> = {}): Command {
    const command = startCommand(args, { cwd: this.folder, env: { KUBECONFIG: this.kubeconfig, ...env } })
    this.started.push(command)
    return command
  }

  /** The gate on pods: one of them unless told otherwise. */
  startGate(options: {
    regions?: string
    grids?: string
    durationSec?: number
    threshold?: string
    output?: string
  }): Command {
    const { regions = this.regions(), durationSec = 5, threshold = 'error_rate < 1%' } = options
    const grids = options.grids ?? this.grids({ region: 'here', instance_quantity: 1 })
    return this.command([
      ...['run', '--base-url', 'local', '--files', 'plan.jmx\nusers.csv'],
      ...['--output', options.output ?? 'out'],
      ...['--regions', regions, '--grids', grids, '--duration', `${durationSec}s`, '--threads', '4'],
      ...['--override-parameters', this.parameters, '--thresholds', threshold]
    ])
  }

  async result(gate: Command, output = 'out'): Promise<GateResult> {
    const { code, out, err } = await gate.ended
    const file = join(this.folder, output, 'verdict.json')
    const document = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as VerdictDocument) : {}
    return {
      code,
      text: `${out}\n${err}`,
      verdict: document.verdict ?? 'none',
      reason: document.reason ?? '',
      samples: document.metrics?.overall?.samples ?? 0
    }
  }

  jobs(): Promise<KubeObject[]> {
    return this.api.list(`/apis/batch/v1/namespaces/${this.namespace}/jobs`)
  }

  pods(): Promise<KubeObject[]> {
    return this.api.list(`/api/v1/namespaces/${this.namespace}/pods`)
  }

  /** Resolves when so many pods run: what is tested must not have happened somewhere else. */
  async podsRun(count: number): Promise<KubeObject[]> {
    const deadlineMs = Date.now() + RUN_WITHIN_MS
    for (;;) {
      const pods = await this.pods()
      if (pods.filter(({ status }) => status?.phase === 'Running').length === count) return pods
      if (Date.now() > deadlineMs) throw new Error(`${pods.length} pods, instead of ${count} that run`)
      await sleep(200)
    }
  }

  /** Resolves when so many pods run and the target was asked so often. */
  async atWork(pods: number, hits = 20): Promise<KubeObject[]> {
    const running = await this.podsRun(pods)
    await this.target.reaches(hits)
    return running
  }

  /** Resolves when rows of a pod have arrived here, beyond the header. */
  async rowsArrive(output = 'out'): Promise<void> {
    const runs = join(this.folder, output, 'service', 'runs')
    const hasRows = (file: string): boolean => readFileSync(join(runs, file), 'utf8').split('\n').length > 2
    const isSamples = /^[^/]+\/nodes\/[^/]+\.csv$/
    const list = (): string[] => readdirSync(runs, { recursive: true, encoding: 'utf8' })
    while (!(existsSync(runs) && list().some((file) => isSamples.test(file) && hasRows(file))))
      await sleep(200)
  }

  /** The Jobs that are there now, and the pods that are still there when pods had time to go. */
  async leftBehind(): Promise<string[]> {
    const jobs = await this.jobs()
    const deadlineMs = Date.now() + GONE_WITHIN_MS
    let pods = await this.pods()
    while (pods.length > 0 && Date.now() < deadlineMs) {
      await sleep(200)
      pods = await this.pods()
    }
    return [...jobs, ...pods].map(({ metadata }) => metadata.name)
  }
}

interface VerdictDocument {
  readonly verdict?: string
  readonly reason?: string
  readonly metrics?: { readonly overall?: { readonly samples: number } | null }
}
