import {
  ACCOUNT,
  NOT_FOUND,
  gridDocument,
  listDocument,
  runDocument,
  type RunFields
} from '../fake-documents.js'
import { routeOf } from '../fake-service-core.js'
import type { Operation } from '../fake-service-core.js'
import { listen } from '../in-process.js'
import type { Incoming, Reply } from '../in-process.js'

export interface Answer {
  readonly status: number
  readonly headers?: Record<string, string>
  /** Text as it is, anything else as JSON. */
  readonly body: unknown
}

/** What happens to one request in place of a plain answer; `commit` lets it have its effect. */
export type Fault = (res: Reply, commit: () => Answer) => void

export const faults = {
  /** The service answers this, and nothing has happened. */
  answer:
    (status: number, body: unknown = { error: 'so it is' }, headers: Record<string, string> = {}): Fault =>
    (res) =>
      send(res, { status, headers, body }),
  /** It has happened, and the answer says otherwise. */
  answerAfter:
    (status: number): Fault =>
    (res, commit) => {
      commit()
      send(res, { status, body: '<html><title>Bad gateway</title></html>' })
    },
  dropBefore: ((res) => res.destroy()) as Fault,
  dropAfter: ((res, commit) => {
    commit()
    res.destroy()
  }) as Fault,
  /** The request is taken and nothing ever comes. */
  hold: (() => undefined) as Fault,
  holdAfter: ((_res, commit) => void commit()) as Fault,
  none: ((res, commit) => send(res, commit())) as Fault
}

export interface ServedRun {
  readonly id: string
  readonly tags: string[]
  /** One for each look at it; the last one stays. */
  statuses: string[]
  /** Laid over the document. */
  document: Record<string, unknown>
  readonly fields: readonly (readonly [string, string])[]
}

export interface ServedGrid {
  readonly id: string
  statuses: string[]
  readonly fields: readonly (readonly [string, string])[]
  isTerminated: boolean
}

export interface Seen {
  readonly operation: Operation | 'unknown'
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly fields: readonly (readonly [string, string])[]
}

export const CSV_HEADER =
  'timeStamp,elapsed,label,responseCode,responseMessage,threadName,success,bytes,allThreads'

/** When its runs take place. */
const NOW_MS = 1_760_000_000_000

/** A CSV of samples, one a second. */
export function makeCsv(rows = 10, elapsedMs = 100, startMs = NOW_MS): string {
  const lines = Array.from(
    { length: rows },
    (_, row) => `${startMs + row * 1000},${elapsedMs},checkout,200,OK,t-1,true,512,5`
  )
  return `${[CSV_HEADER, ...lines].join('\n')}\n`
}

/** The fake of the service for tests of the gate's parts, in their process: each request can be answered by a fault of `faults`. For the whole action there is FakeService. */
export class GateService {
  readonly runs: ServedRun[] = []
  readonly grids = new Map<string, ServedGrid>()
  readonly seen: Seen[] = []
  /** By grid, or by the query of an address. */
  readonly csvs = new Map<string, string>()
  /** In place of those, for a certain run. */
  csvOf: (run: ServedRun) => string | undefined = () => undefined
  /** May change a run as it is made; they are numbered from 1. */
  onRun: (run: ServedRun, number: number) => void = () => undefined
  nextStatuses = ['queued', 'running', 'finished']
  nextGridStatuses = ['queued', 'starting', 'started']
  /** Laid over every run that is made. */
  nextDocument: Record<string, unknown> = {}
  /** The grids that a run made of specifications brings along. */
  ownGrids: RunFields['grids'] = [{ id: 'grid1', region: 'us-east-1' }]
  pageSize = 50
  /** Its own clock: at the time of its samples. */
  now: () => number = () => NOW_MS
  summary = 'up to 5 users in us-east-1'
  readonly #faults = new Map<Operation, Fault[]>()
  readonly #waiting: { operation: Operation; count: number; resolve: () => void }[] = []
  readonly #asked = new Set<string>()
  #ids = 0

  readonly #listening = listen((incoming, reply) => this.#receive(incoming, reply))

  get url(): string {
    return this.#listening.url
  }

  close(): void {
    this.#listening.close()
  }

  /** The next requests of this operation meet these, one each. */
  meet(operation: Operation, ...next: Fault[]): void {
    this.#faults.set(operation, [...(this.#faults.get(operation) ?? []), ...next])
  }

  count(operation: Operation): number {
    return this.seen.filter((seen) => seen.operation === operation).length
  }

  /** How often a CSV was asked for from its start. */
  get downloads(): number {
    return this.seen.filter(({ operation, headers }) => operation === 'result' && headers.range === undefined)
      .length
  }

  order(): string[] {
    return this.seen.map(({ operation }) => operation)
  }

  /** Resolves when this many requests of the operation have come. */
  async reached(operation: Operation, count = 1): Promise<void> {
    if (this.count(operation) >= count) return
    await new Promise<void>((resolve) => this.#waiting.push({ operation, count, resolve }))
  }

  addRun(changes: Partial<ServedRun> = {}): ServedRun {
    const run = {
      id: `run${++this.#ids}`,
      tags: [],
      statuses: [...this.nextStatuses],
      document: { ...this.nextDocument },
      fields: [],
      ...changes
    }
    this.runs.unshift(run)
    this.onRun(run, this.runs.length)
    return run
  }

  /** What whoever looks at the run now sees. */
  show(id: string): unknown {
    return this.#answerRun('showRun', id).body
  }

  #receive({ method, url, headers, body }: Incoming, res: Reply): void {
    const { operation, id } = routeOf(method, url)
    const fields = fieldsOf(body.toString('latin1'))
    this.seen.push({ operation, method, path: url, headers, fields })
    res.setHeader('date', new Date(this.now()).toUTCString())
    if (operation === 'unknown') {
      send(res, notFound())
      return
    }
    const fault = this.#faults.get(operation)?.shift() ?? faults.none
    fault(res, () => this.#answer(operation, { id, url, fields }))
    for (const waiting of this.#waiting) if (this.count(waiting.operation) >= waiting.count) waiting.resolve()
  }

  #answer(
    operation: Operation,
    { id, url, fields }: { id: string; url: string; fields: Seen['fields'] }
  ): Answer {
    switch (operation) {
      case 'account':
        return ok(ACCOUNT)
      case 'createGrid': {
        const grid = {
          id: `made${++this.#ids}`,
          statuses: [...this.nextGridStatuses],
          fields,
          isTerminated: false
        }
        this.grids.set(grid.id, grid)
        return ok(gridDocument({ id: grid.id, status: 'queued' }), 201)
      }
      case 'showGrid':
      case 'terminateGrid':
        return this.#answerGrid(operation, id)
      case 'createRun': {
        const tags = (fields.find(([name]) => name === 'run[tag_list]')?.[1] ?? '').split(',')
        return ok(this.#document(this.addRun({ tags, fields }), 'queued'), 201)
      }
      case 'listRuns':
        return this.#list(Number(new URL(url, 'http://x').searchParams.get('page') ?? 1))
      case 'result':
      case 'resultSize':
        return this.#answerResult(id, url)
      case 'showRun':
      case 'stopRun':
      case 'repeatRun':
      case 'report':
        return this.#answerRun(operation, id)
    }
  }

  #answerGrid(operation: Operation, id: string): Answer {
    const grid = this.grids.get(id)
    if (grid === undefined) return notFound()
    if (operation === 'terminateGrid') {
      grid.isTerminated = true
      return { status: 204, body: '' }
    }
    return ok(gridDocument({ id, status: step(grid) }))
  }

  #answerRun(operation: Operation, id: string): Answer {
    const run = this.runs.find((served) => served.id === id)
    if (run === undefined) return notFound()
    if (operation === 'report') return ok({ summary: this.summary, mean_response_time: 100 })
    if (operation === 'repeatRun') return ok(this.#document(this.addRun(), 'queued'))
    if (operation === 'stopRun') run.statuses = ['finished']
    return ok(this.#document(run, step(run)))
  }

  #answerResult(id: string, url: string): Answer {
    const { searchParams, search } = new URL(url, 'http://x')
    const grid = searchParams.get('grid_id') ?? ''
    // No two results have the same samples.
    this.#asked.add(`${id} ${grid}`)
    const run = this.runs.find((served) => served.id === id)
    // A grid does one run after the other.
    const startMs = NOW_MS + 20_000 * (this.runs.length - 1 - this.runs.findIndex((one) => one === run))
    const elapsedMs = 100 + [...this.#asked].indexOf(`${id} ${grid}`)
    const own = (run && this.csvOf(run)) ?? makeCsv(10, elapsedMs, startMs)
    return {
      status: 200,
      headers: { 'content-type': 'text/csv' },
      body: this.csvs.get(search) ?? this.csvs.get(grid) ?? own
    }
  }

  #list(page: number): Answer {
    return ok(
      listDocument(this.runs, { page, pageSize: this.pageSize }, (run) =>
        this.#document(run, run.statuses[0] ?? 'queued')
      )
    )
  }

  #document(run: ServedRun, status: string): Record<string, unknown> {
    const references = run.fields.flatMap(([name, value]) =>
      name === 'run[grids][][uuid]' ? [{ id: value, region: 'us-east-1' }] : []
    )
    const document = runDocument({
      id: run.id,
      status,
      serviceUrl: this.url,
      grids: references.length > 0 ? references : this.ownGrids,
      tags: run.tags,
      apdex: status === 'finished' ? '0.93 [500]' : null,
      permalink: `https://service.example/${run.id}`
    })
    return { ...document, ...run.document }
  }
}

function step(served: { statuses: string[] }): string {
  const [status = 'queued'] = served.statuses
  if (served.statuses.length > 1) served.statuses.shift()
  return status
}

function ok(body: unknown, status = 200): Answer {
  return { status, body }
}

function notFound(): Answer {
  return { status: 404, body: NOT_FOUND }
}

function send(res: Reply, { status, headers = {}, body }: Answer): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  res.writeHead(status, {
    'content-type': typeof body === 'string' ? 'text/html' : 'application/json',
    ...(status !== 204 && { 'content-length': String(Buffer.byteLength(text)) }),
    ...headers
  })
  res.end(status === 204 ? undefined : text)
}

/** The plain fields of a multipart body, in their order. */
function fieldsOf(body: string): [string, string][] {
  return [...body.matchAll(/name="([^"]*)"\r\n\r\n(.*?)\r\n--/gs)].map(([, name = '', value = '']) => [
    name,
    value
  ])
}
