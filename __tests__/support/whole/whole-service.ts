import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { apdexOf } from './whole-oracle.js'
import {
  CSV_FAULTS,
  GRID_FAULTS,
  HALF_THE_ROWS,
  JSON_FAULTS,
  LATE_FAULTS,
  RUN_FAULTS,
  sendCsv,
  sendJson
} from './whole-faults.js'
import type { CsvFault, Exchange, JsonFault } from './whole-faults.js'
import { makeRandom } from '../data/seeded-random.js'
import { ACCOUNT } from '../fake-documents.js'
import { pick, upTo } from './whole-plan.js'
import type { Random, TrueGrid, TruePlan } from './whole-plan.js'

/** Where a fault strikes, how, and how often; for ever is Infinity. */
export interface Strike {
  readonly operation: string
  readonly fault: string
  left: number
}

const OTHERS_MARKER = 'loadgate-00000000-0000-4000-8000-000000000000'

/** Chooses what goes wrong: nothing, some things for a while, or one thing for ever beside them. */
export function makeStrikes(random: Random, plan: TruePlan, kind: 'none' | 'passing' | 'lasting'): Strike[] {
  if (kind === 'none') return []
  const operations = ['create', 'list', 'run', 'report', ...plan.grids.map(({ id }) => id)]
  const passing = operations
    .filter(() => random() < 0.7)
    .flatMap((operation) =>
      Array.from({ length: 1 + upTo(random, 2) }, () => {
        return { operation, fault: pick(random, faultsOf(operation, plan)), left: 1 + upTo(random, 1) }
      })
    )
  if (kind === 'passing') return passing
  const operation = pick(random, operations.slice(2))
  const worst = worstFor(operation, plan)
  // What nothing but a comparison with the request can tell comes up often enough.
  const lasting = random() < 0.4 && worst.length > 0 ? worst : faultsOf(operation, plan)
  return [
    ...passing.filter((strike) => strike.operation !== operation),
    { operation, fault: pick(random, lasting), left: Infinity }
  ]
}

function worstFor(operation: string, { origin, durationSeconds, grids }: TruePlan): string[] {
  if (operation === 'run') return origin === 'existing' ? [] : Object.keys(GRID_FAULTS)
  // Rows that are missing are known by their times, where each sample has one and somebody said how long it should take.
  const isTold = durationSeconds !== undefined && grids.every(({ shape }) => shape === 'samples')
  return operation !== 'report' && isTold ? ['half the rows'] : []
}

function faultsOf(operation: string, { origin }: TruePlan): string[] {
  switch (operation) {
    case 'create':
      return ['lost after it was made', 'refused after it was made']
    case 'list':
    case 'report':
      return Object.keys(JSON_FAULTS)
    case 'run':
      return Object.keys({ ...RUN_FAULTS, ...LATE_FAULTS }).filter(
        (fault) => origin !== 'existing' || !(fault in GRID_FAULTS)
      )
    default:
      return Object.keys(CSV_FAULTS)
  }
}

/** The service of one plan on loopback: one run, its report and its CSVs, and whatever strikes them. */
export class WholeService {
  readonly #plan: TruePlan
  readonly #strikes: readonly Strike[]
  readonly #randomFor: (operation: string) => Random
  readonly #server: Server
  readonly #statuses = ['queued', 'running', 'finished']
  #tags: string[] = []
  #isMade: boolean

  private constructor(plan: TruePlan, strikes: readonly Strike[], randomFor: (operation: string) => Random) {
    this.#plan = plan
    this.#strikes = strikes
    this.#randomFor = randomFor
    this.#isMade = plan.origin === 'existing'
    this.#server = createServer((req, res) => void this.#receive(req, res))
  }

  static async start(plan: TruePlan, strikes: readonly Strike[], seed: number): Promise<WholeService> {
    // Each operation has numbers of its own: what comes first of two that run side by side must not matter.
    const randoms = new Map<string, Random>()
    const service = new WholeService(plan, strikes, (operation) => {
      const known = randoms.get(operation) ?? makeRandom(seed * 31 + randoms.size)
      randoms.set(operation, known)
      return known
    })
    for (const operation of ['create', 'list', 'run', 'report', ...plan.grids.map(({ id }) => id)])
      service.#randomFor(operation)
    await new Promise<void>((resolve) => service.#server.listen(0, '127.0.0.1', resolve))
    return service
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #receive(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    try {
      for await (const chunk of req as AsyncIterable<Buffer>) chunks.push(chunk)
    } catch {
      return
    }
    res.on('error', () => undefined)
    const { pathname, searchParams } = new URL(req.url ?? '', 'http://x')
    const gridId = searchParams.get('grid_id') ?? ''
    const exchange = (operation: string): Exchange => ({ res, random: this.#randomFor(operation) })
    if (req.method === 'POST') this.#create(exchange('create'), Buffer.concat(chunks).toString('latin1'))
    else if (pathname === '/api/account') this.#json(exchange('account'), 'account', ACCOUNT)
    else if (pathname === '/api/runs') this.#json(exchange('list'), 'list', this.#list())
    else if (pathname === '/api/runs/run1') this.#show(exchange('run'))
    else if (pathname === '/api/runs/run1/report')
      this.#json(exchange('report'), 'report', { summary: 'as it was' })
    else this.#result(exchange(gridId), gridId, req.headers.range)
  }

  #strike(operation: string, canStrike: (fault: string) => boolean = () => true): string | undefined {
    const strike = this.#strikes.find(
      ({ operation: struck, fault, left }) => struck === operation && left > 0 && canStrike(fault)
    )
    if (strike === undefined) return undefined
    strike.left--
    return strike.fault
  }

  #create(exchange: Exchange, body: string): void {
    this.#isMade = true
    this.#tags = (/name="run\[tag_list\]"\r\n\r\n(.*?)\r\n/.exec(body)?.[1] ?? '').split(',')
    const fault = this.#strike('create')
    if (fault === undefined) sendJson(exchange, this.#document('queued'), 201)
    else if (fault.startsWith('lost')) exchange.res.destroy()
    else sendJson(exchange, { error: 'a gateway' }, 502)
  }

  #list(): Record<string, unknown> {
    const other = { uuid: 'another', status: 'running', tag_list: [OTHERS_MARKER] }
    const runs = [other, ...(this.#isMade ? [{ uuid: 'run1', status: 'running', tag_list: this.#tags }] : [])]
    return { _links: {}, total: runs.length, _embedded: { runs } }
  }

  #show(exchange: Exchange): void {
    const [status = ''] = this.#statuses
    const fault = this.#strike('run', (name) => status === 'finished' || !(name in LATE_FAULTS))
    if (this.#statuses.length > 1) this.#statuses.shift()
    const spoil: JsonFault | undefined =
      fault === undefined ? undefined : { ...RUN_FAULTS, ...LATE_FAULTS }[fault]
    if (spoil === undefined) sendJson(exchange, this.#document(status))
    else spoil(exchange, this.#document(status))
  }

  #json(exchange: Exchange, operation: string, document: Record<string, unknown>): void {
    const fault = this.#strike(operation)
    if (fault === undefined) sendJson(exchange, document)
    else JSON_FAULTS[fault]?.(exchange, document)
  }

  #result(exchange: Exchange, gridId: string, range: string | undefined): void {
    const grid = this.#plan.grids.find(({ id }) => id === gridId)
    if (grid === undefined) {
      sendJson(exchange, { error: 'Sorry, we cannot find that resource.' }, 404)
      return
    }
    const fromByte = range === undefined ? undefined : Number(/^bytes=(\d+)-$/.exec(range)?.[1])
    const fault = this.#strike(gridId)
    const answer: CsvFault | undefined =
      fault === undefined ? sendCsv : fault === 'half the rows' ? HALF_THE_ROWS : CSV_FAULTS[fault]
    answer?.(exchange, { csv: grid.csv, etag: `"${grid.id}"`, fromByte })
  }

  #document(status: string): Record<string, unknown> {
    const { grids, threads, durationSeconds, startMs, spanSeconds, remoteErrors } = this.#plan
    const hasEnded = status === 'finished'
    return {
      uuid: 'run1',
      status,
      apdex: hasEnded ? apdexOf(this.#plan).text : null,
      tool: 'jmeter-5.6.3',
      name: 'a run',
      threads,
      duration: durationSeconds ?? null,
      tag_list: this.#tags,
      permalink: 'https://service.example/run1',
      remote_errors: hasEnded ? remoteErrors : null,
      started: new Date(startMs).toISOString(),
      stopped: hasEnded ? new Date(startMs + spanSeconds * 1000).toISOString() : null,
      _embedded: {
        grids: grids.map(gridDocument),
        results: grids.map(({ id, region }) => ({
          name: id,
          region,
          href: `${this.url}/api/runs/run1/result.csv?grid_id=${id}`
        })),
        files: [],
        archives: []
      }
    }
  }
}

function gridDocument({ id, region, nodeCount }: TrueGrid): Record<string, unknown> {
  return {
    uuid: id,
    region,
    instance_quantity: nodeCount,
    infrastructure: 'demand',
    status: 'started',
    nodes: []
  }
}
