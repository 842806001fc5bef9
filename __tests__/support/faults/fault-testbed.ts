import { readFileSync, readdirSync, readlinkSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startService } from '../../../src/service/server.js'
import type { Service } from '../../../src/service/server.js'
import { Store } from '../../../src/service/store/store.js'
import { createRun, get, postJson, runForm, specFields, waitForStatus } from '../../service/support.js'
import type { Doc } from '../../service/support.js'
import { ArtifactService } from '../step/artifact-service.js'
import { FaultProxy } from './fault-proxy.js'
import { Step } from '../step/step.js'
import type { StepResult } from '../step/step.js'

const REALTIME = '-Jrehearsal.realtime=true'
const FOREIGN_TAG = 'loadgate-00000000-0000-4000-8000-000000000000'
/** Few samples, none of them failed: every threshold below holds. */
const CALM = '-Jrehearsal.errors=0'

export const SPEC =
  '- { region: us-east-1, instance_quantity: 1, instance_type: m5.large, infrastructure: demand, stop_after: 10 }'
export const OTHER_SPEC = SPEC.replace('us-east-1', 'eu-west-1')

/** Everything a gate meets: a service with other people's things on it, a proxy in between, an artifact store and a runner's files. */
export class FaultTestbed {
  readonly step = new Step()
  readonly #folder: string
  readonly #store: Store
  /** What was there before the step: other people's. */
  readonly #others = { runs: new Set<string>(), grids: new Set<string>() }

  private constructor(
    readonly service: Service,
    readonly proxy: FaultProxy,
    readonly artifacts: ArtifactService,
    store: Store
  ) {
    this.#folder = store.folder.path
    this.#store = store
  }

  static async open(token: string): Promise<FaultTestbed> {
    const folder = await mkdtemp(join(tmpdir(), 'loadgate-fault-'))
    const store = new Store(folder)
    const log = (): void => undefined
    const service = await startService({ dataDir: folder, store, engine: 'rehearsal', token, log })
    const proxy = await FaultProxy.start(service.url)
    const testbed = new FaultTestbed(service, proxy, await new ArtifactService().start(), store)
    testbed.step.env = { ...testbed.artifacts.env }
    testbed.step.inputs = {
      'base-url': proxy.url,
      token,
      files: 'plan.jmx',
      grids: `${SPEC}\n${OTHER_SPEC}`,
      duration: '10',
      threads: '2',
      'override-parameters': CALM,
      thresholds: 'apdex >= 0.5\np95 < 60s',
      'poll-interval': '1s',
      timeout: '60s'
    }
    await testbed.addOthersRun({
      tag_list: FOREIGN_TAG,
      duration: '600',
      override_parameters: `${CALM} ${REALTIME}`
    })
    return testbed
  }

  /** The run takes the time that it says. */
  runInRealTime(seconds: number): void {
    this.step.inputs.duration = String(seconds)
    this.step.inputs['override-parameters'] = `${CALM} ${REALTIME}`
  }

  async addOthersRun(fields: Record<string, string>): Promise<string> {
    const id = await createRun(this.service, runForm(fields, specFields()))
    this.#others.runs.add(id)
    const { json } = await waitForStatus(this.service, `/runs/${id}`, ['running', 'finished'])
    for (const { uuid } of json._embedded.grids) this.#others.grids.add(uuid)
    return id
  }

  /** One whose repeat would take its time. */
  async addStoppedRun(fields: Record<string, string>): Promise<string> {
    const id = await this.addOthersRun({ ...fields, override_parameters: `${CALM} ${REALTIME}` })
    await get(this.service, `/runs/${id}/stop`)
    return id
  }

  async addOthersGrid(): Promise<string> {
    const grid = {
      region: 'us-west-1',
      instance_quantity: 1,
      instance_type: 'm5.large',
      infrastructure: 'demand',
      stop_after: 10
    }
    const { uuid } = (await postJson(this.service, '/grids', { grid })).json
    this.#others.grids.add(uuid)
    await waitForStatus(this.service, `/grids/${uuid}`, ['started'])
    return uuid
  }

  /** Runs that came into being since the step began. */
  async ownRuns(): Promise<Doc[]> {
    return (await this.#runs()).filter(({ uuid }) => !this.#others.runs.has(uuid))
  }

  /** Other people's runs and grids that are no longer as they were. */
  async disturbed(): Promise<string[]> {
    const runs = (await this.#runs()).filter(
      (run) => this.#others.runs.has(run.uuid) && !['running', 'finished'].includes(run.status)
    )
    const foreign = (await this.#runs()).filter(
      ({ tag_list, status }) => tag_list.includes(FOREIGN_TAG) && status !== 'running'
    )
    const grids = await Promise.all([...this.#others.grids].map((id) => get(this.service, `/grids/${id}`)))
    const ended = grids.map(({ json }) => json).filter(({ status }) => status !== 'started')
    return [...runs, ...foreign, ...ended].map(({ uuid, status }) => `${uuid} is ${status}`)
  }

  /** Grids that came into being since the step began and that may still cost money. */
  liveGrids(): string[] {
    return this.#store
      .activeGrids()
      .filter(({ id }) => !this.#others.grids.has(id))
      .map(({ id }) => id)
  }

  async report(runId: string): Promise<string> {
    return (await get(this.service, `/runs/${runId}/report`)).json.summary
  }

  /** What the service itself holds of a run, by the names that the artifact has. */
  async csvs(runId: string): Promise<Map<string, string>> {
    const { json } = await get(this.service, `/runs/${runId}`)
    const files = new Map<string, string>()
    for (const { region, href } of json._embedded.results) {
      const url = new URL(href)
      const gridId = url.searchParams.get('grid_id') ?? ''
      files.set(`results/${region}-${gridId}.csv`, (await get(this.service, url.pathname + url.search)).text)
    }
    return files
  }

  artifactOf(result: StepResult): Map<string, Buffer> {
    return (
      this.artifacts.artifacts.get(`loadgate-${result.outputs['run-id'] ?? ''}`) ?? new Map<string, Buffer>()
    )
  }

  /** Processes that were started for this step and are still alive. */
  livingProcesses(): string[] {
    if (process.platform !== 'linux') return []
    return readdirSync('/proc').filter((pid) => {
      if (!/^\d+$/.test(pid) || Number(pid) === process.pid) return false
      try {
        const environment = readFileSync(`/proc/${pid}/environ`, 'latin1')
        return (
          environment.includes(this.step.folder) ||
          readlinkSync(`/proc/${pid}/cwd`).startsWith(this.step.folder)
        )
      } catch {
        return false // it has gone, or it is somebody else's
      }
    })
  }

  async close(): Promise<void> {
    await this.proxy.close()
    await this.artifacts.stop()
    await this.service.close()
    this.step.remove()
    await rm(this.#folder, { recursive: true, force: true })
  }

  async #runs(): Promise<RunDoc[]> {
    return (await get(this.service, '/runs')).json._embedded.runs as readonly RunDoc[] as RunDoc[]
  }
}

interface RunDoc extends Doc {
  readonly tag_list: readonly string[]
}
