/** The service's documents, as its API document has them. */

export const NOT_FOUND = { error: 'Sorry, we cannot find that resource.' }

export const ACCOUNT = {
  _links: { self: { href: '/api/account' } },
  email: 'a@example.com',
  _embedded: { users: [], credentials: [] }
}

export interface GridFields {
  readonly id: string
  readonly status: string
  readonly region?: string
  readonly nodeCount?: number
  /** The service has two words for the same list. */
  readonly nodesKey?: 'nodes' | 'resources'
  /** Of the run that it was created with. */
  readonly batchId?: string | undefined
}

export function gridDocument(grid: GridFields): Record<string, unknown> {
  return {
    _links: { self: { href: `/api/grids/${grid.id}` } },
    uuid: grid.id,
    ...(grid.batchId !== undefined && { batch_id: grid.batchId }),
    name: `grid ${grid.id}`,
    region: grid.region ?? 'us-east-1',
    origin: 'somewhere',
    instance_quantity: grid.nodeCount ?? 2,
    instance_type: 'm5.large',
    infrastructure: 'demand',
    stop_after: 60,
    status: grid.status,
    [grid.nodesKey ?? 'nodes']: []
  }
}

export interface RunFields {
  readonly id: string
  readonly status: string
  readonly serviceUrl: string
  readonly grids: readonly Pick<GridFields, 'id' | 'region' | 'nodeCount' | 'batchId'>[]
  readonly batchId?: string | undefined
  readonly gridStatus?: (id: string) => string
  readonly tags: readonly string[]
  readonly apdex: string | null
  readonly permalink: string
  readonly word?: string
  readonly name?: string
  readonly duration?: number | null
  readonly started?: string | null
  readonly stopped?: string | null
  readonly remoteErrors?: unknown
  /** With its grids and results, as where one run is shown. */
  readonly isFull?: boolean
}

export function runDocument(run: RunFields): Record<string, unknown> {
  const { word = 'run', gridStatus = () => 'started' } = run
  const hasEnded = ['finished', 'stopped', 'problem'].includes(run.status)
  return {
    _links: { self: { href: `/api/${word}s/${run.id}` } },
    uuid: run.id,
    ...(run.batchId !== undefined && run.isFull !== false && { batch_id: run.batchId }),
    apdex: hasEnded ? run.apdex : null,
    tool: 'jmeter-5.6.3',
    name: run.name ?? 'a run',
    notes: null,
    threads: null,
    rampup: null,
    duration: run.duration ?? null,
    tag_list: run.tags,
    status: run.status,
    permalink: run.permalink,
    remote_errors: hasEnded ? (run.remoteErrors ?? null) : null,
    started: run.started ?? null,
    stopped: hasEnded ? (run.stopped ?? null) : null,
    _embedded:
      run.isFull === false
        ? { [`${word}_files`]: [] }
        : {
            grids: run.grids.map((grid) => gridDocument({ ...grid, status: gridStatus(grid.id) })),
            files: [],
            results: run.grids.map(({ id, region }) => ({
              name: id,
              region,
              href: `${run.serviceUrl}/${word}s/${run.id}/result.csv?grid_id=${id}`
            })),
            archives: []
          }
  }
}

/** One page of all runs, newest first. */
export function listDocument<Run>(
  all: readonly Run[],
  { page, pageSize, word = 'run' }: { page: number; pageSize: number; word?: string },
  show: (run: Run) => unknown
): Record<string, unknown> {
  const last = Math.max(1, Math.ceil(all.length / pageSize))
  const link = (number: number): { href: string } => ({ href: `/api/${word}s?page=${number}` })
  return {
    _links: { self: link(page), last: link(last), ...(page < last && { next: link(page + 1) }) },
    total: all.length,
    _embedded: { [`${word}s`]: all.slice((page - 1) * pageSize, page * pageSize).map(show) }
  }
}
