import type { FastifyContextConfig, FastifyReply, FastifyRequest } from 'fastify'
import type { Vocabulary } from '../contract/vocabulary.js'
import { RUN_STATUSES, type RunRecord } from '../contract/records.js'
import type { SignOn } from './accounts/login/sign-on.js'
import type { Accounts, User } from './accounts/users.js'
import type { ProjectAccess } from './accounts/project-access.js'
import type { Clock } from '../contract/clock.js'
import type { Front } from './http/front.js'
import type { Pages } from './pages/send-page.js'
import type { Places } from './places.js'
import type { Queue } from './queue/queue.js'
import type { SeenRuns } from './store/seen-runs.js'
import type { RunData, RunFilter } from './store/store.js'
import { RequestError } from './errors.js'

/** What the documents need to know about the service. */
export interface ServiceFacts {
  readonly words: Vocabulary
  /** For a run that a user was given. */
  readonly store: RunData
  readonly access: ProjectAccess
  /** The runs and grids of a user: the only way from a request to one. */
  readonly seenBy: (user: User) => SeenRuns
  readonly places: Places
  readonly accounts: Accounts
  /** Single sign-on; absent if people log in with tokens only. */
  readonly signOn?: SignOn | undefined
  readonly queue: Queue
  readonly front: Front
  readonly clock: Clock
  readonly log: (line: string) => void
  /** Renders the web pages, loaded with the first request for one; undefined for a service without pages. */
  readonly loadPages: (() => Promise<Pages>) | undefined
  readonly startedMs: number
}

/** A path, who may use it, what it changes, and the answer. */
export type Route = readonly [
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  path: string,
  config: FastifyContextConfig,
  handler: (request: FastifyRequest, reply: FastifyReply) => unknown
]

export const route = (...row: Route): Route => row

export const PAGE_SIZE = 50

/** A run's tool by the service's name for it, with its version once that is known. */
export function describeTool({ request, toolVersion }: RunRecord, { words }: ServiceFacts): string {
  const name = words.toolName(request.tool)
  return toolVersion === null ? name : `${name}-${toolVersion}`
}

export function findRun(request: FastifyRequest, facts: ServiceFacts): RunRecord {
  const run = facts.seenBy(request.user).run((request.params as { id: string }).id)
  if (!run) throw cannotFind()
  return run
}

export function cannotFind(): RequestError {
  return new RequestError(404, 'Sorry, we cannot find that resource.')
}

/** Remembers the last few results of work that takes seconds and is asked for again. What has failed is tried again. */
export class Recent<T> {
  readonly #known = new Map<string, Promise<T>>()

  constructor(
    private readonly most: number,
    /** Whether it will be the same next time. If not, only those who ask meanwhile share it. */
    private readonly isLasting: (made: T) => boolean = () => true
  ) {}

  get(key: string, make: () => Promise<T>): Promise<T> {
    const known = this.#known.get(key)
    if (known) return known
    const made = make()
    const forget = (): boolean => this.#known.delete(key)
    made.then((value) => this.isLasting(value) || forget(), forget)
    this.#known.set(key, made)
    const [oldest] = this.#known.keys()
    if (this.#known.size > this.most && oldest !== undefined) this.#known.delete(oldest)
    return made
  }
}

const KEYS = ['name', 'project', 'tag', 'user', 'status'] as const
/** In characters; the list cannot be filtered by a longer text. */
export const LONGEST_FILTER = 300

/** Reads `?name=&project=&tag=&user=&status=`; what is empty does not limit the list. */
export function readRunFilter(request: FastifyRequest): RunFilter {
  const query = request.query as Readonly<Record<string, unknown>>
  const filter: Record<string, string> = {}
  for (const key of KEYS) {
    const value = query[key]
    if (value === undefined || value === '') continue
    if (typeof value !== 'string') throw new RequestError(400, `${key} is given more than once`)
    if (value.length > LONGEST_FILTER)
      throw new RequestError(400, `${key} must not be longer than ${LONGEST_FILTER} characters`)
    filter[key] = value
  }
  const { status } = filter
  if (status !== undefined && !RUN_STATUSES.some((known) => known === status))
    throw new RequestError(
      400,
      `There is no status ${JSON.stringify(status)}; runs are ${RUN_STATUSES.join(', ')}.`
    )
  return filter
}

/** The filter and the page as the end of an address: nothing for the first page of all runs. */
export function queryOf(filter: RunFilter, page?: number): string {
  const all = { ...filter, page: page?.toString() }
  const given = [...KEYS, 'page' as const].flatMap((key): [string, string][] =>
    all[key] === undefined ? [] : [[key, all[key]]]
  )
  return given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`
}
