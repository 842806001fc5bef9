import type { ServerResponse } from 'node:http'
import { OPTIONAL_GRID_KEYS, REQUIRED_GRID_KEYS } from '../../src/contract/vocabulary.js'
import { FakeService, type Seen } from './fake-service.js'
import { routeOf } from './fake-service-core.js'

/** Where its API answers. A redirect leads from every other path of it to the one that answers. */
export type Layout = 'plain' | 'api' | 'both' | 'redirect to api' | 'redirect to plain'

const GRID_KEYS: readonly string[] = [...REQUIRED_GRID_KEYS, ...OPTIONAL_GRID_KEYS]
const RUN_KEYS: readonly string[] = [
  ...['tool', 'grids', 'name', 'notes', 'project', 'tag_list', 'privacy_flag', 'privacy', 'threads'],
  ...['rampup', 'duration', 'override_hosts', 'override_parameters']
]
/** Of any HTTP client, and the version of the API. */
const HEADERS: readonly string[] = [
  ...['accept', 'accept-encoding', 'authorization', 'connection', 'content-length', 'content-type', 'host'],
  ...['if-range', 'range', 'user-agent']
]

/**
 * A service that knows the API document and nothing else: its paths, parameters, fields and statuses, HTML for what is not there, and no
 * header that an HTTP reply does not need. `oddities` has every request that the document does not describe.
 */
export class DocumentedService extends FakeService {
  readonly oddities: string[] = []
  override statuses = ['queued', 'queued', 'finished']
  override means = {}

  constructor(readonly layout: Layout) {
    super()
  }

  /** What was asked, below the address at which it answers. */
  get asked(): string[] {
    return this.seen.map(({ method, path }) => `${method} ${path.replace(/\?.*$/, '')}`)
  }

  override answer(seen: Seen, response: ServerResponse): void {
    stripHeaders(response)
    const isBelow = seen.path.startsWith('/api/')
    const path = isBelow ? seen.path.slice('/api'.length) : seen.path
    const isHere = this.layout === 'both' || this.layout.endsWith('api') === isBelow
    if (!isHere) {
      if (path !== '/account') this.oddities.push(`${seen.method} ${seen.path} is at the wrong address`)
      this.#turnAway(path, response)
      return
    }
    this.oddities.push(...this.#odditiesOf(seen, path))
    if (routeOf(seen.method, `/api${path}`, this.word).operation === 'unknown') sendPage(response)
    else super.answer({ ...seen, path: `/api${path}` }, response)
  }

  #turnAway(path: string, response: ServerResponse): void {
    if (!this.layout.startsWith('redirect')) sendPage(response)
    else
      response
        .writeHead(301, { location: `${this.url}${this.layout === 'redirect to api' ? '/api' : ''}${path}` })
        .end()
  }

  #odditiesOf({ method, path: asked, headers, params, parts }: Seen, path: string): string[] {
    const { operation, query } = routeOf(method, `/api${path}`, this.word)
    const { grid = {}, [this.word]: run = {}, [`${this.word}_files`]: files, ...others } = params
    const { grids = [] } = run as { grids?: Record<string, string>[] }
    const [first] = parts.filter(({ filename }) => filename !== undefined)
    const unknown = [
      ...(operation === 'unknown' ? ['the path'] : []),
      ...Object.keys(headers).filter((name) => !HEADERS.includes(name)),
      ...[...query.keys()].filter((name) => !['page', 'grid_id'].includes(name)),
      ...Object.keys(grid as object).filter((name) => !GRID_KEYS.includes(name)),
      ...Object.keys(run as object).filter((name) => !RUN_KEYS.includes(name)),
      ...grids.flatMap((each) => Object.keys(each)).filter((name) => ![...GRID_KEYS, 'uuid'].includes(name)),
      ...Object.keys(others),
      ...(operation === 'createRun' && (files === undefined || first === undefined) ? ['no plan'] : []),
      ...(headers.accept === undefined ? ['no version'] : [])
    ]
    return unknown.map((what) => `${method} ${asked}: ${what}`)
  }
}

/** Only what says how to read the body. */
function stripHeaders(response: ServerResponse): void {
  response.sendDate = false
  const writeHead = response.writeHead.bind(response)
  const kept = ['content-type', 'content-length', 'location']
  response.writeHead = ((status: number, headers: Record<string, string | number> = {}) =>
    writeHead(
      status,
      Object.fromEntries(Object.entries(headers).filter(([name]) => kept.includes(name)))
    )) as typeof response.writeHead
}

function sendPage(response: ServerResponse): void {
  response
    .writeHead(404, { 'content-type': 'text/html' })
    .end(
      '<!DOCTYPE html><html><head><title>The page you were looking for does not exist (404)</title></head></html>'
    )
}
