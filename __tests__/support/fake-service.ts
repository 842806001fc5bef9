import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { nestParams, splitMultipart } from './data/rack-params.js'
import type { Part } from './data/rack-params.js'
import { ACCOUNT, NOT_FOUND, gridDocument, listDocument, runDocument } from './fake-documents.js'
import { FakeServiceCore, routeOf } from './fake-service-core.js'
import type { Operation } from './fake-service-core.js'

export interface Seen {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: Buffer
  readonly parts: readonly Part[]
  /** Nested as Rack would. */
  readonly params: Record<string, unknown>
}

export interface FakeGrid {
  readonly uuid: string
  readonly region: string
  readonly instance_quantity: number
  /** Of the run that it was created with. */
  readonly batchId?: string
  status: string
}

export interface FakeRun {
  readonly uuid: string
  readonly batchId?: string
  readonly tags: string[]
  readonly grids: FakeGrid[]
  /** Taken one by one, a look at the run each; the last one stays. */
  statuses: string[]
  apdex: string | null
  duration: number | null
  started: string | null
  stopped: string | null
  name: string
}

/** Answers in place of the service, or lets it answer (false). */
export type Fault = (seen: Seen, response: ServerResponse, socket: Socket) => boolean | Promise<boolean>

export const CSV_HEADER =
  'timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect'

/** When its runs take place, by its own clock. */
export const STARTED_MS = Date.UTC(2026, 0, 1)

/** Samples of 100, 200, … ms, ten of them over so many seconds, the last one or all failed when asked for. */
export function sampleCsv({
  failLast = false,
  failAll = false,
  label = 'checkout',
  seconds = 10
} = {}): string {
  const rows = Array.from({ length: 10 }, (_, index) => {
    const success = !failAll && !(failLast && index === 9)
    return `${STARTED_MS + index * seconds * 100},${(index + 1) * 100},${label},200,OK,t 1-1,text,${success},,10,10,1,1,null,1,0,0`
  })
  return `${[CSV_HEADER, ...rows].join('\n')}\n`
}

/** The fake of the service for tests of the whole action and of the command line: everything of its API that they use, in memory. `faults` may answer in its place. */
export class FakeService extends FakeServiceCore {
  readonly seen: Seen[] = []
  readonly runs = new Map<string, FakeRun>()
  readonly grids = new Map<string, FakeGrid>()
  readonly faults: Fault[] = []
  token = 'secret-token-of-22-chr'
  accepts = (authorization: string | undefined): boolean =>
    authorization === `Basic ${Buffer.from(`${this.token}:`).toString('base64')}`
  word = 'run'
  pageSize = 50
  /** For new runs. */
  statuses = ['queued', 'running', 'finished']
  apdex: string | null = '0.95 [900]'
  csv: (gridId: string) => string | undefined = (gridId) => sampleCsv().replaceAll('t 1-1', `${gridId} 1-1`)
  /** What the report has beside its summary. */
  means: Record<string, number> = { mean_response_time: 550 }
  summary = 'up to 5 users across 1 grid in us-east-1 for 1 minute'
  /** Of runs that have ended. */
  remoteErrors: unknown = null
  permalinkBase = 'https://service.example/runs'
  #count = 0

  get runList(): FakeRun[] {
    return [...this.runs.values()]
  }

  calls(method: string, path: RegExp): Seen[] {
    return this.seen.filter((seen) => seen.method === method && path.test(seen.path))
  }

  addRun(given: Partial<FakeRun> = {}): FakeRun {
    this.#count++
    const run: FakeRun = {
      uuid: `run${String(this.#count).padStart(8, '0')}`,
      tags: [],
      grids: [this.addGrid()],
      statuses: [...this.statuses],
      apdex: this.apdex,
      duration: null,
      started: null,
      stopped: null,
      name: 'a run',
      ...given
    }
    this.runs.set(run.uuid, run)
    return run
  }

  addGrid(given: Partial<FakeGrid> = {}): FakeGrid {
    this.#count++
    const grid = {
      uuid: `grid${String(this.#count).padStart(7, '0')}`,
      region: 'us-east-1',
      instance_quantity: 1,
      status: 'started',
      ...given
    }
    this.grids.set(grid.uuid, grid)
    return grid
  }

  protected override async receive(
    request: IncomingMessage,
    body: Buffer,
    response: ServerResponse
  ): Promise<void> {
    const type = request.headers['content-type'] ?? ''
    const parts = type.startsWith('multipart/') ? splitMultipart(body, type) : []
    const seen: Seen = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      body,
      parts,
      params: nestParams(parts)
    }
    this.seen.push(seen)
    for (const fault of this.faults) if (await fault(seen, response, request.socket)) return
    this.answer(seen, response)
  }

  /** The service's own answer. */
  answer(seen: Seen, response: ServerResponse): void {
    if (!this.accepts(seen.headers.authorization)) {
      json(response, 401, { error: 'HTTP Basic: Access denied.' })
      return
    }
    const { operation, id, query } = routeOf(seen.method, seen.path, this.word)
    switch (operation) {
      case 'account':
        json(response, 200, ACCOUNT)
        break
      case 'createGrid':
        this.#createGrid(seen, response)
        break
      case 'showGrid':
      case 'terminateGrid':
        this.#grid(response, this.grids.get(id), operation === 'terminateGrid')
        break
      case 'createRun': {
        const run = this.createRun(seen.params[this.word] as Record<string, unknown>)
        json(response, 201, this.#runDocument(run, { status: 'queued', isFull: true }))
        break
      }
      case 'listRuns':
        this.#list(response, Number(query.get('page') ?? '1'))
        break
      case 'unknown':
        json(response, 404, NOT_FOUND)
        break
      case 'showRun':
      case 'stopRun':
      case 'repeatRun':
      case 'report':
      case 'result':
      case 'resultSize':
        this.#run(response, this.runs.get(id), { operation, gridId: query.get('grid_id') ?? '' })
    }
  }

  #createGrid(seen: Seen, response: ServerResponse): void {
    const given = seen.params.grid as Record<string, string>
    const grid = this.addGrid({
      region: given.region ?? '',
      instance_quantity: Number(given.instance_quantity),
      status: 'queued'
    })
    json(response, 201, documentOf(grid, 'nodes'))
    grid.status = 'started'
  }

  #grid(response: ServerResponse, grid: FakeGrid | undefined, isTerminated: boolean): void {
    if (grid === undefined) {
      json(response, 404, NOT_FOUND)
      return
    }
    if (isTerminated) grid.status = 'stopped'
    json(response, 200, documentOf(grid, 'resources'))
  }

  #list(response: ServerResponse, page: number): void {
    const { pageSize, word } = this
    const newestFirst = [...this.runList].reverse()
    const show = (run: FakeRun): unknown =>
      this.#runDocument(run, { status: run.statuses[0] ?? '', isFull: false })
    json(response, 200, listDocument(newestFirst, { page, pageSize, word }, show))
  }

  /** What POST /runs commits, apart from its answer. */
  createRun(given: Record<string, unknown>): FakeRun {
    const batchId = `batch${this.#count}`
    const grids = (given.grids as Record<string, string>[]).map((grid) =>
      grid.uuid === undefined
        ? this.addGrid({
            region: grid.region ?? '',
            instance_quantity: Number(grid.instance_quantity),
            batchId,
            status: 'starting'
          })
        : (this.grids.get(grid.uuid) ?? this.addGrid({ uuid: grid.uuid }))
    )
    const duration = given.duration === undefined ? null : Number(given.duration)
    return this.addRun({
      batchId,
      grids,
      tags: String(given.tag_list).split(','),
      duration,
      started: new Date(STARTED_MS).toISOString(),
      stopped: new Date(STARTED_MS + (duration ?? 60) * 1000).toISOString(),
      name: String(given.name)
    })
  }

  #run(
    response: ServerResponse,
    run: FakeRun | undefined,
    { operation, gridId }: { operation: Operation; gridId: string }
  ): void {
    if (run === undefined) json(response, 404, NOT_FOUND)
    else if (operation === 'showRun') {
      const status = run.statuses.length > 1 ? (run.statuses.shift() ?? '') : (run.statuses[0] ?? '')
      json(response, 200, this.#runDocument(run, { status, isFull: true }))
    } else if (operation === 'stopRun') {
      run.statuses = ['finished']
      json(response, 200, this.#runDocument(run, { status: 'finished', isFull: false }))
    } else if (operation === 'repeatRun') {
      const again = this.addRun({ grids: run.grids, duration: run.duration, name: run.name })
      json(response, 200, this.#runDocument(again, { status: 'queued', isFull: false }))
    } else if (operation === 'report') json(response, 200, { summary: this.summary, ...this.means })
    else this.#csv(response, gridId)
  }

  #csv(response: ServerResponse, gridId: string): void {
    const csv = this.csv(gridId)
    if (csv === undefined) json(response, 404, NOT_FOUND)
    else
      response
        .writeHead(200, { 'content-type': 'text/csv', 'content-length': Buffer.byteLength(csv) })
        .end(csv)
  }

  #runDocument(
    run: FakeRun,
    { status, isFull }: { status: string; isFull: boolean }
  ): Record<string, unknown> {
    return runDocument({
      ...run,
      id: run.uuid,
      status,
      isFull,
      word: this.word,
      serviceUrl: this.url,
      grids: run.grids.map(({ uuid, region, instance_quantity: nodeCount, batchId }) => ({
        ...{ id: uuid, region, nodeCount, batchId }
      })),
      gridStatus: (id) => run.grids.find(({ uuid }) => uuid === id)?.status ?? 'stopped',
      permalink: `${this.permalinkBase}/${run.uuid}`,
      remoteErrors: this.remoteErrors
    })
  }
}

function documentOf(grid: FakeGrid, nodesKey: 'nodes' | 'resources'): Record<string, unknown> {
  const { uuid: id, region, instance_quantity: nodeCount, status } = grid
  return gridDocument({ id, region, nodeCount, status, nodesKey })
}

export function json(response: ServerResponse, status: number, document: unknown): void {
  response
    .writeHead(status, {
      'content-type': 'application/json',
      'x-request-id': 'req-1',
      date: new Date(STARTED_MS).toUTCString()
    })
    .end(JSON.stringify(document))
}
