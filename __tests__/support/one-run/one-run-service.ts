import { ACCOUNT } from '../fake-documents.js'
import { makeCsv } from '../gate/gate-service.js'
import type { Choice } from '../data/seeded-choice.js'

/** A run as the service itself knows it. */
export interface ModelRun {
  readonly id: string
  readonly isOurs: boolean
  readonly tags: string
  readonly name: string
  readonly madeMs: number
  readonly endsMs: number
  /** Laid over the document: what is odd about it. */
  readonly oddities: Record<string, unknown>
  stoppedMs: number | undefined
}

export interface Asked {
  readonly method: string
  readonly path: string
  readonly body: string
}

export interface Answered {
  readonly status: number
  readonly body: string
}

const ODDITIES: readonly Record<string, unknown>[] = [
  {},
  { duration: 0.5 },
  { _embedded: { run_files: [{ uuid: 'f' }] } },
  { tag_list: [7, null, { name: 'x' }] },
  { tag_list: 'loadgate,nightly' },
  { started: 'soon', stopped: {} },
  { status: null },
  { name: ['x'], threads: 'ten' },
  { uuid: null },
  { uuid: '../../x' }
]
/** Entries that are no runs at all. */
const NO_RUNS: readonly unknown[] = [null, 7, 'x', [], {}]
const HOUR_MS = 3_600_000

/**
 * A service with the effects of the API and none of its speed: pages that shift while they are read, lists that lag, entries that come
 * twice or make no sense, runs that take their time to stop and refuse to when they have ended. Everything by the seed.
 */
export class ModelService {
  readonly runs: ModelRun[] = []
  /** Which of the grids that were created have been terminated. */
  readonly grids = new Map<string, boolean>()
  /** What was done to runs that are not the step's. */
  readonly touched: string[] = []
  stops = 0
  #count = 0
  readonly #choice: Choice
  readonly #now: () => number
  readonly #pageSize: number
  readonly #listLagMs: number
  readonly #showLagMs: number
  readonly #stoppingMs: number
  readonly #refusesEndedStop: number
  readonly #lastPageLeadsOn: boolean
  /** How many more runs somebody else starts while pages are read. */
  #shifts: number
  readonly #repeatsEntries: boolean
  /** Of the step's runs. */
  readonly durationMs: number

  constructor(choice: Choice, options: { now: () => number; isCalm: boolean; isEndless: boolean }) {
    this.#choice = choice
    this.#now = options.now
    const { isCalm } = options
    this.#pageSize = choice.between(3, 6)
    this.#listLagMs = isCalm || choice.chance(0.5) ? 0 : choice.between(1, 8_000)
    this.#showLagMs = isCalm || choice.chance(0.7) ? 0 : choice.between(1, 10_000)
    this.#stoppingMs = isCalm || choice.chance(0.5) ? 0 : choice.between(1, 6_000)
    this.#refusesEndedStop = choice.of([200, 404, 409, 422])
    this.#lastPageLeadsOn = choice.chance(0.3)
    this.#shifts = isCalm || choice.chance(0.5) ? 0 : choice.between(1, 6)
    this.#repeatsEntries = !isCalm && choice.chance(0.3)
    this.durationMs = options.isEndless ? 10 * HOUR_MS : choice.between(15_000, 90_000)
    for (let count = choice.between(0, 12); count > 0; count--)
      this.#addForeign(isCalm ? {} : choice.of(ODDITIES))
  }

  get ours(): ModelRun[] {
    return this.runs.filter(({ isOurs }) => isOurs)
  }

  /** One that can be repeated. */
  addRepeatable(): ModelRun {
    const run = this.#add({ isOurs: false, name: 'again', endsMs: this.#now() - HOUR_MS })
    return run
  }

  answer({ method, path, body }: Asked): Answered {
    if (path === '/api/account') return ok(ACCOUNT)
    if (path.startsWith('/api/grids')) return this.#answerGrid(method, path.split('/')[3])
    const [, id, action = '', query = ''] =
      /^\/api\/runs(?:\/([^/?]+))?(?:\/([^?]+))?(?:\?(.*))?$/.exec(path) ?? []
    if (id === undefined) return method === 'POST' ? this.#create(body) : this.#list(query)
    const run = this.runs.find((each) => each.id === id)
    if (run === undefined || this.#isTooNew(run, this.#showLagMs)) return refuse(404)
    switch (action) {
      case '':
        return ok(this.#document(run))
      case 'stop':
        return this.#stop(run)
      case 'repeat':
        return ok(this.#document(this.#add({ isOurs: true, name: run.name })))
      case 'report':
        return ok({ summary: 'up to 5 users' })
      default:
        return { status: 200, body: makeCsv(10, 100, Math.round(run.madeMs)) }
    }
  }

  #answerGrid(method: string, known: string | undefined): Answered {
    const id = known ?? `made${this.grids.size + 1}`
    if (known !== undefined && !this.grids.has(id)) return refuse(404)
    this.grids.set(id, method === 'DELETE' || (this.grids.get(id) ?? false))
    if (method === 'DELETE') return { status: 204, body: '' }
    const document = { uuid: id, status: 'started', region: 'us-east-1', instance_quantity: 2 }
    return ok(document, known === undefined ? 201 : 200)
  }

  /** Whether the run makes load. */
  isRunning(run: ModelRun): boolean {
    return this.#statusOf(run) !== 'finished'
  }

  #create(body: string): Answered {
    const tags = /name="run\[tag_list\]"\r\n\r\n(.*?)\r\n/.exec(body)?.[1] ?? ''
    return ok(this.#document(this.#add({ isOurs: true, tags })), 201)
  }

  #stop(run: ModelRun): Answered {
    this.stops++
    if (!run.isOurs) this.touched.push(`stop of ${run.id}`)
    if (!this.isRunning(run) && this.#refusesEndedStop !== 200) return refuse(this.#refusesEndedStop)
    run.stoppedMs ??= this.#now()
    return ok(this.#document(run))
  }

  #list(query: string): Answered {
    const page = Number(new URLSearchParams(query).get('page') ?? 1)
    const listed = this.runs.filter((run) => !this.#isTooNew(run, this.#listLagMs))
    const from = (page - 1) * this.#pageSize
    const entries = listed.slice(from, from + this.#pageSize).flatMap((run): unknown[] => {
      const entry = this.#document(run)
      return this.#repeatsEntries && this.#choice.chance(0.2)
        ? [entry, this.#choice.of(NO_RUNS), entry]
        : [entry]
    })
    const hasNext = from + this.#pageSize < listed.length
    const next = hasNext ? page + 1 : this.#lastPageLeadsOn ? page : undefined
    // Somebody starts a run while the pages are read: the next page begins with the end of this one.
    if (this.#shifts > 0 && this.#choice.chance(0.4)) {
      this.#shifts--
      this.#addForeign(this.#choice.of(ODDITIES))
    }
    return ok({
      _links: next === undefined ? {} : { next: { href: `/api/runs?page=${next}` } },
      total: listed.length,
      _embedded: { runs: entries }
    })
  }

  #isTooNew(run: ModelRun, lagMs: number): boolean {
    return run.isOurs && this.#now() < run.madeMs + lagMs
  }

  #addForeign(oddities: Record<string, unknown>): void {
    this.#add({ isOurs: false, name: 'somebody else', tags: 'loadgate-0', oddities })
  }

  #add(changes: Partial<ModelRun> & { isOurs: boolean }): ModelRun {
    const madeMs = this.#now()
    const run = {
      id: `run${++this.#count}`,
      tags: '',
      name: 'a run',
      madeMs,
      endsMs: madeMs + (changes.isOurs ? this.durationMs : HOUR_MS),
      oddities: {},
      stoppedMs: undefined,
      ...changes
    }
    this.runs.unshift(run)
    return run
  }

  #statusOf(run: ModelRun): string {
    const nowMs = this.#now()
    if (run.stoppedMs !== undefined) return nowMs < run.stoppedMs + this.#stoppingMs ? 'stopping' : 'finished'
    if (nowMs >= run.endsMs) return 'finished'
    return nowMs < run.madeMs + 2_000 ? 'queued' : 'running'
  }

  #document(run: ModelRun): Record<string, unknown> {
    const status = this.#statusOf(run)
    return {
      uuid: run.id,
      status,
      name: run.name,
      tool: 'jmeter',
      apdex: status === 'finished' ? '0.93 [500]' : null,
      tag_list: run.tags.split(','),
      started: new Date(run.madeMs).toISOString(),
      stopped: null,
      _embedded: { grids: [{ uuid: 'grid1', status: 'started', region: 'us-east-1' }] },
      ...run.oddities
    }
  }
}

function ok(document: unknown, status = 200): Answered {
  return { status, body: JSON.stringify(document) }
}

function refuse(status: number): Answered {
  return { status, body: JSON.stringify({ error: 'Sorry.' }) }
}
