import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Gate } from '../../../src/gate/gate.js'
import { SavedState, type StepState } from '../../../src/gate/saved-state.js'
import type { OutputName } from '../../../src/contract/inputs.js'
import type { Settings } from '../../../src/gate/settings/settings.js'
import type { ArtifactRequest, Log, Ports } from '../../../src/gate/ports.js'
import type { Annotation } from '../../../src/report/annotations.js'
import { knownAddress } from '../../../src/client/http/address.js'
import type { ServiceClient } from '../../../src/client/client.js'
import type { Grid, Run } from '../../../src/contract/api.js'
import type { GridSpecification } from '../../../src/client/documents/requests.js'
import { vocabularyOf } from '../../../src/contract/vocabulary.js'
import { parseThresholds } from '../../../src/analysis/thresholds/grammar/grammar.js'
import { openInProcess } from '../in-process.js'
import { ManualClock } from '../manual-clock.js'

export const TOKEN = 'a-token-of-22-letters!'

type Level = keyof Log

/** A log that keeps its lines, each as `level: line`. */
export class LogBook implements Log {
  readonly lines: string[] = []
  info = (line: string): void => this.#add('info', line)
  notice = (line: string): void => this.#add('notice', line)
  warning = (line: string): void => this.#add('warning', line)
  error = (line: string): void => this.#add('error', line)
  debug = (line: string): void => this.#add('debug', line)

  of(level: Level): string[] {
    return this.lines.flatMap((line) => (line.startsWith(`${level}: `) ? [line.slice(level.length + 2)] : []))
  }

  #add(level: Level, line: string): void {
    this.lines.push(`${level}: ${line}`)
  }
}

/** Ports that record what is done through them. `events` has everything in its order. */
export interface TestPorts extends Ports {
  readonly log: LogBook
  readonly clock: ManualClock
  readonly cancellation: AbortController
  readonly events: string[]
  readonly masked: string[]
  readonly states: StepState[]
  readonly outputs: Map<OutputName, string>
  readonly summaries: string[]
  readonly uploads: ArtifactRequest[]
  readonly annotations: Annotation[]
}

export async function makePorts(changes: Partial<Ports> = {}): Promise<TestPorts> {
  const cancellation = new AbortController()
  const ports = {
    log: new LogBook(),
    clock: new ManualClock(),
    cancellation,
    cancelled: cancellation.signal,
    occasion: { repository: 'octo/shop', ref: 'main', commit: '0123456789abcdef', url: undefined },
    scratchDir: await mkdtemp(join(tmpdir(), 'gate-test-')),
    events: [] as string[],
    masked: [] as string[],
    states: [] as StepState[],
    outputs: new Map<OutputName, string>(),
    summaries: [] as string[],
    uploads: [] as ArtifactRequest[],
    annotations: [] as Annotation[],
    mask: (secret: string) => void ports.masked.push(secret),
    saveState: (state: StepState) => void ports.states.push(state),
    setOutput: (name: OutputName, value: string) => {
      ports.outputs.set(name, value)
      ports.events.push(`output ${name}`)
    },
    writeSummary: async (markdown: string) => {
      ports.summaries.push(markdown)
      ports.events.push('summary')
    },
    annotate: (annotation: Annotation) => {
      ports.annotations.push(annotation)
      ports.events.push('annotation')
    },
    uploadArtifact: async (request: ArtifactRequest) => {
      ports.uploads.push(request)
      ports.events.push('artifact')
      return { id: '77', url: 'https://git.example/artifacts/77' }
    },
    openClient: openInProcess,
    startLocalService: () => Promise.reject(new Error('there is no embedded service here'))
  }
  return Object.assign(ports, changes)
}

/** For the post step: the embedded service has left nothing. */
export const NOTHING_LEFT = {
  openClient: openInProcess,
  endProcessGroup: () => Promise.resolve(false),
  deletePods: () => Promise.resolve(0)
}

export function makeSettings(changes: Partial<Settings> & { thresholdLines?: string } = {}): Settings {
  const { thresholdLines = '', ...rest } = changes
  return {
    target: { kind: 'remote', address: knownAddress('https://service.example/api'), token: TOKEN },
    serviceName: undefined,
    origin: { kind: 'files', paths: [], grids: [makeSpecification()] },
    regions: undefined,
    tool: 'jmeter',
    name: 'a run',
    notes: undefined,
    project: undefined,
    tags: [],
    privacy: 'private',
    threads: undefined,
    rampupSeconds: undefined,
    durationSeconds: undefined,
    overrideHosts: undefined,
    overrideParameters: undefined,
    parameterVariables: [],
    thresholds: parseThresholds(thresholdLines).thresholds,
    baseline: {
      source: { kind: 'off' },
      branch: undefined,
      noise: 0.05,
      ignoredParameters: [],
      onMissing: 'warn',
      onUnsure: 'warn',
      confirm: 0
    },
    apdexTargetMs: 500,
    toolExitCode: undefined,
    stopEarly: false,
    warmUpMs: 0,
    onStall: 'fail',
    waitFor: undefined,
    wait: true,
    timeoutMs: 7_200_000,
    pollIntervalMs: 15_000,
    stopOnCancel: true,
    failOn: 'breach',
    artifactName: undefined,
    retentionDays: undefined,
    comment: 'auto',
    githubToken: '',
    matrix: '',
    unused: [],
    ...rest
  }
}

export function makeSpecification(changes: Partial<GridSpecification> = {}): GridSpecification {
  return {
    infrastructure: 'demand',
    region: 'us-east-1',
    nodeCount: 2,
    instanceType: 'm4.large',
    stopAfterMinutes: 60,
    options: {},
    ...changes
  }
}

export function makeRun(changes: Partial<Run> = {}): Run {
  return {
    id: 'run1',
    status: 'finished',
    apdex: '0.93 [500]',
    tool: 'jmeter',
    name: 'a run',
    notes: undefined,
    threads: undefined,
    rampupSeconds: undefined,
    durationSeconds: undefined,
    tags: [],
    permalink: undefined,
    remoteErrors: undefined,
    startedMs: undefined,
    stoppedMs: undefined,
    grids: [],
    files: [],
    results: [],
    ...changes
  }
}

export function makeGrid(changes: Partial<Grid> = {}): Grid {
  return {
    id: 'grid1',
    name: undefined,
    region: 'us-east-1',
    origin: undefined,
    nodeCount: 2,
    instanceType: 'm4.large',
    infrastructure: 'demand',
    stopAfterMinutes: 60,
    status: 'started',
    nodes: [],
    ...changes
  }
}

export function makeState(changes: Partial<StepState> = {}): StepState {
  return {
    address: 'https://service.example/api',
    token: TOKEN,
    serviceName: undefined,
    marker: undefined,
    runId: undefined,
    madeGrids: [],
    processGroups: [],
    cleanupDue: false,
    ...changes
  }
}

export function makeClient(url: string, clock: ManualClock): ServiceClient {
  return openInProcess({ address: knownAddress(`${url}/api`), token: TOKEN, words: vocabularyOf(), clock })
}

export interface TestGate extends Gate {
  readonly ports: TestPorts
}

/** A gate whose client speaks to the service at the address. */
export async function makeGate(url: string, changes: Partial<Settings> = {}): Promise<TestGate> {
  const ports = await makePorts()
  return {
    ports,
    settings: makeSettings(changes),
    client: makeClient(url, ports.clock),
    saved: new SavedState(makeState({ address: `${url}/api` }), (state) => ports.saveState(state)),
    local: undefined,
    earlierResults: []
  }
}
