import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { nestParams, splitMultipart } from './data/rack-params.js'
import type { Part } from './data/rack-params.js'

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
  status: string
}

export interface FakeRun {
  readonly uuid: string
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

/** Samples of 100, 200, … ms, ten of them over so many seconds, the last one or all failed when asked for. */
export function sampleCsv({
  failLast = false,
  failAll = false,
  label = 'checkout',
  seconds = 10
} = {}): string {
  const rows = Array.from({ length: 10 }, (_, index) => {
    const success = !failAll && !(failLast && index === 9)
    return `${1_700_000_000_000 + index * seconds * 100},${(index + 1) * 100},${label},200,OK,t 1-1,text,${success},,10,10,1,1,null,1,0,0`
  })
  return `${[CSV_HEADER, ...rows].join('\n')}\n`
}

/** The service of the API document, in memory and on loopback, with a hand on every answer. */
export class FakeService {
  readonly seen: Seen[] = []
  readonly runs = new Map<string, FakeRun>()
  readonly grids = new Map<string, FakeGrid>()
  readonly faults: Fault[] = []
  token = 'secret-token-of-22-chr'
  word = 'run'
  pageSize = 50
  /** For new runs. */
  statuses = ['queued', 'running', 'finished']
  apdex: string | null = '0.95 [500]'
  csv: (gridId: string) => string | undefined = () => sampleCsv()
  summary = 'up to 5 users across 1 grid in us-east-1 for 1 minute'
  /** Of runs that have ended. */
  remoteErrors: unknown = null
  permalinkBase = 'https://service.example/runs'
  #server: Server | undefined
  #count = 0
  readonly #sockets = new Set<Socket>()

  get url(): string {
    return `http://127.0.0.1:${(this.#server?.address() as AddressInfo).port}`
  }

  get runList(): FakeRun[] {
    return [...this.runs.values()]
  }

  calls(method: string, path: RegExp): Seen[] {
    return this.seen.filter((seen) => seen.method === method && path.test(seen.path))
  }

  async start(): Promise<this> {
    this.#server = createServer((request, response) => {
      void this.#receive(request, response)
    })
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket)
      socket.on('close', () => this.#sockets.delete(socket))
    })
    await new Promise<void>((resolve) => this.#server?.listen(0, '127.0.0.1', resolve))
    return this
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((resolve) => this.#server?.close(resolve))
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

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    try {
      for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
    } catch {
      return
    }
    const body = Buffer.concat(chunks)
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
    const basic = Buffer.from(`${this.token}:`).toString('base64')
    if (seen.headers.authorization !== `Basic ${basic}`) {
      json(response, 401, { error: 'HTTP Basic: Access denied.' })
      return
    }
    const { pathname, searchParams } = new URL(seen.path, 'http://x')
    const [root, id, action] = pathname.replace(/^\/api\//, '').split('/')
    if (root === 'grids') this.#grid(seen, response, id)
    else if (root === 'account') json(response, 200, ACCOUNT)
    else if (root !== `${this.word}s`) json(response, 404, NOT_FOUND)
    else if (id === undefined) this.#runs(seen, response, Number(searchParams.get('page') ?? '1'))
    else this.#run(response, this.runs.get(id), { action, gridId: searchParams.get('grid_id') ?? '' })
  }

  #grid(seen: Seen, response: ServerResponse, id: string | undefined): void {
    if (seen.method === 'POST') {
      const given = seen.params.grid as Record<string, string>
      const grid = this.addGrid({
        region: given.region ?? '',
        instance_quantity: Number(given.instance_quantity),
        status: 'queued'
      })
      json(response, 201, this.#gridDocument(grid, 'nodes'))
      grid.status = 'started'
      return
    }
    const grid = this.grids.get(id ?? '')
    if (grid === undefined) {
      json(response, 404, NOT_FOUND)
      return
    }
    if (seen.method === 'DELETE') grid.status = 'stopped'
    json(response, 200, this.#gridDocument(grid, 'resources'))
  }

  #runs(seen: Seen, response: ServerResponse, page: number): void {
    if (seen.method === 'POST') {
      const given = seen.params[this.word] as Record<string, unknown>
      const run = this.createRun(given)
      json(response, 201, this.#runDocument(run, { status: 'queued', isFull: true }))
      return
    }
    const all = [...this.runList].reverse()
    const last = Math.max(1, Math.ceil(all.length / this.pageSize))
    const link = (n: number): { href: string } => ({ href: `/api/${this.word}s?page=${n}` })
    json(response, 200, {
      _links: { self: link(page), last: link(last), ...(page < last && { next: link(page + 1) }) },
      total: all.length,
      _embedded: {
        [`${this.word}s`]: all
          .slice((page - 1) * this.pageSize, page * this.pageSize)
          .map((run) => this.#runDocument(run, { status: run.statuses[0] ?? '', isFull: false }))
      }
    })
  }

  /** What POST /runs commits, apart from its answer. */
  createRun(given: Record<string, unknown>): FakeRun {
    const grids = (given.grids as Record<string, string>[]).map((grid) =>
      grid.uuid === undefined
        ? this.addGrid({
            region: grid.region ?? '',
            instance_quantity: Number(grid.instance_quantity),
            status: 'starting'
          })
        : (this.grids.get(grid.uuid) ?? this.addGrid({ uuid: grid.uuid }))
    )
    const duration = given.duration === undefined ? null : Number(given.duration)
    const started = Date.parse('2026-01-01T00:00:00.000Z')
    return this.addRun({
      grids,
      tags: String(given.tag_list).split(','),
      duration,
      started: new Date(started).toISOString(),
      stopped: new Date(started + (duration ?? 60) * 1000).toISOString(),
      name: String(given.name)
    })
  }

  #run(
    response: ServerResponse,
    run: FakeRun | undefined,
    { action, gridId }: { action: string | undefined; gridId: string }
  ): void {
    if (run === undefined) json(response, 404, NOT_FOUND)
    else if (action === undefined) {
      const status = run.statuses.length > 1 ? (run.statuses.shift() ?? '') : (run.statuses[0] ?? '')
      json(response, 200, this.#runDocument(run, { status, isFull: true }))
    } else if (action === 'stop') {
      run.statuses = ['finished']
      json(response, 200, this.#runDocument(run, { status: 'finished', isFull: false }))
    } else if (action === 'repeat') {
      const again = this.addRun({ grids: run.grids, duration: run.duration, name: run.name })
      json(response, 200, this.#runDocument(again, { status: 'queued', isFull: false }))
    } else if (action === 'report') json(response, 200, { summary: this.summary, mean_response_time: 550 })
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

  #gridDocument(grid: FakeGrid, nodes: 'nodes' | 'resources'): Record<string, unknown> {
    return {
      _links: { self: { href: `/api/grids/${grid.uuid}` } },
      uuid: grid.uuid,
      name: `grid ${grid.uuid}`,
      region: grid.region,
      origin: 'somewhere',
      instance_quantity: grid.instance_quantity,
      instance_type: 'm5.large',
      infrastructure: 'demand',
      stop_after: 60,
      status: grid.status,
      [nodes]: []
    }
  }

  #runDocument(
    run: FakeRun,
    { status, isFull }: { status: string; isFull: boolean }
  ): Record<string, unknown> {
    const hasEnded = ['finished', 'stopped', 'problem'].includes(status)
    return {
      _links: { self: { href: `/api/${this.word}s/${run.uuid}` } },
      uuid: run.uuid,
      apdex: hasEnded ? run.apdex : null,
      tool: 'jmeter-5.6.3',
      name: run.name,
      notes: null,
      threads: null,
      rampup: null,
      duration: run.duration,
      tag_list: run.tags,
      status,
      permalink: `${this.permalinkBase}/${run.uuid}`,
      remote_errors: hasEnded ? this.remoteErrors : null,
      started: run.started,
      stopped: hasEnded ? run.stopped : null,
      _embedded: isFull
        ? {
            grids: run.grids.map((grid) => this.#gridDocument(grid, 'nodes')),
            files: [],
            results: run.grids.map((grid) => ({
              name: grid.uuid,
              region: grid.region,
              href: `${this.url}/api/${this.word}s/${run.uuid}/result.csv?grid_id=${grid.uuid}`
            })),
            archives: []
          }
        : { [`${this.word}_files`]: [] }
    }
  }
}

export function json(response: ServerResponse, status: number, document: unknown): void {
  response
    .writeHead(status, { 'content-type': 'application/json', 'x-request-id': 'req-1' })
    .end(JSON.stringify(document))
}

const NOT_FOUND = { error: 'Sorry, we cannot find that resource.' }
const ACCOUNT = {
  _links: { self: { href: '/api/account' } },
  email: 'a@example.com',
  _embedded: { users: [], credentials: [] }
}
