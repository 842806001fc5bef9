import type {
  AccountDocument,
  GridDocument,
  GridNodeDocument,
  RunDocument,
  RunListDocument,
  RunNodeDocument,
  Sent,
  UserDocument
} from '../../contract/api.js'
import { describeTool, PAGE_SIZE, type ServiceFacts, queryOf } from '../service-facts.js'
import { hostname } from 'node:os'
import type { User, UserDetails } from '../accounts/users.js'
import { type GridRecord, type NodeRecord, type RunRecord, hasEnded } from '../../contract/records.js'
import type { RunFilter } from '../store/store.js'

export type Document = Record<string, unknown>

const ORIGINS: Readonly<Record<string, string>> = {
  'ap-southeast-2': 'Sydney',
  'us-east-1': 'Virginia',
  'us-west-1': 'California',
  'us-west-2': 'Oregon',
  'eu-west-1': 'Ireland',
  'eu-central-1': 'Frankfurt',
  'ap-southeast-1': 'Singapore',
  'ap-northeast-1': 'Tokyo',
  'sa-east-1': 'São Paulo'
}

const linkTo = (path: string): { href: string } => ({ href: `/api${path}` })

function timestamp(ms: number): string {
  return new Date(ms).toISOString()
}

function timestampOrNull(ms: number | null): string | null {
  return ms === null ? null : timestamp(ms)
}

/** A grid as `POST /grids` and runs show it, with `nodes`. */
export function gridDocument(grid: GridRecord, facts: ServiceFacts): Sent<Omit<GridDocument, 'resources'>> {
  return { ...gridFields(grid, facts), nodes: nodeDocuments(grid, facts) }
}

/** A grid at its own address, with `resources` instead of `nodes`. */
export function gridDetailDocument(grid: GridRecord, facts: ServiceFacts): Sent<Omit<GridDocument, 'nodes'>> {
  return { ...gridFields(grid, facts), resources: nodeDocuments(grid, facts) }
}

function gridFields(grid: GridRecord, facts: ServiceFacts): Sent<Omit<GridDocument, 'nodes' | 'resources'>> {
  const { spec } = grid
  return {
    _links: { self: linkTo(`/grids/${grid.id}`) },
    uuid: grid.id,
    ...(grid.batchId === null ? {} : { batch_id: grid.batchId }),
    name: `${spec.region}-${grid.id}`,
    region: spec.region,
    origin: originOf(spec.region, facts),
    instance_quantity: spec.instanceQuantity,
    instance_type: spec.instanceType,
    infrastructure: spec.infrastructure,
    stop_after: spec.stopAfterMin,
    status: grid.status,
    ...(grid.problem === undefined ? {} : { problem: grid.problem })
  }
}

function originOf(region: string, { places }: ServiceFacts): string {
  if (places.regions !== undefined) return places.placeOf(region)?.name ?? 'unknown'
  // Whatever the region says, the load comes from this machine.
  const city = ORIGINS[region]
  return city === undefined ? 'This machine' : `This machine, instead of ${city}`
}

function nodeDocuments(grid: GridRecord, facts: ServiceFacts): Sent<GridNodeDocument>[] {
  const { startedMs } = grid
  if (startedMs === null) return []
  return Array.from({ length: grid.spec.instanceQuantity }, (_, index) => {
    const name = grid.nodeNames?.[index]
    return {
      ...addressOf(name, facts),
      instance_id: name ?? `${grid.id}-${index + 1}`,
      chef: 'complete',
      started: timestamp(startedMs),
      state: grid.status === 'stopped' ? 'stopping' : 'running'
    }
  })
}

/** Nobody speaks to a node elsewhere but through its place. */
function addressOf(name: string | undefined, facts: ServiceFacts): Sent<Pick<GridNodeDocument, 'ip'>> {
  if (name !== undefined) return { ip: null, url: null, private_ip: null, port: null }
  const url = facts.baseUrl()
  return { ip: '127.0.0.1', url, private_ip: '127.0.0.1', port: Number(new URL(url).port) }
}

/** A run as `POST /runs` shows it. */
export function createdRunDocument(run: RunRecord, facts: ServiceFacts): Sent<Omit<RunDocument, 'nodes'>> {
  return { ...runFields(run, facts), batch_id: run.batchId, _embedded: embedGridsAndFiles(run, facts) }
}

/** A run at its own address, with its results once there are any. */
export function runDocument(run: RunRecord, facts: ServiceFacts): Sent<Omit<RunDocument, 'nodes'>> {
  const grids = hasEnded(run) ? facts.store.gridsOf(run) : []
  const results = grids.map((grid) => ({
    name: `${grid.spec.region}-${grid.id}`,
    region: grid.spec.region,
    href: `${facts.baseUrl()}/${facts.words.runs}/${run.id}/result.csv?grid_id=${grid.id}`
  }))
  return {
    ...runFields(run, facts),
    batch_id: run.batchId,
    ...(run.nodes === undefined ? {} : { nodes: run.nodes.map(nodeOfRunDocument) }),
    _embedded: { ...embedGridsAndFiles(run, facts), results }
  }
}

/** An addition of this service to the API: where a part of the load came from, and what is to be known of it. */
function nodeOfRunDocument(node: NodeRecord): Sent<RunNodeDocument> {
  const { grid, region, number, place, rows, threads, restarts, throttled, lost } = node
  return {
    ...{ grid, region, number, place, started: timestampOrNull(node.startedMs), rows, threads },
    ...{ first_sample: node.firstSampleMs ?? null, last_sample: node.lastSampleMs ?? null },
    ...{ cpu_limit: node.cpuLimit, restarts, throttled, clock_offset_ms: node.clockOffsetMs, lost }
  }
}

/** A run as shown by the list, a stop and a repeat. */
export function briefRunDocument(run: RunRecord, facts: ServiceFacts): Sent<Omit<RunDocument, 'nodes'>> {
  const files = run.files.map(({ uuid, name }) => ({ uuid, name }))
  return { ...runFields(run, facts), _embedded: { [facts.words.files as 'run_files']: files } }
}

function embedGridsAndFiles(
  run: RunRecord,
  facts: ServiceFacts
): Sent<Pick<RunDocument['_embedded'], 'grids' | 'files'>> {
  return {
    grids: facts.store.gridsOf(run).map((grid) => gridDocument(grid, facts)),
    files: run.files.map(({ uuid, name }) => ({
      name,
      href: `${facts.baseUrl()}/${facts.words.runs}/${run.id}/files/${uuid}`
    })),
    archives: []
  }
}

function runFields(run: RunRecord, facts: ServiceFacts): Sent<Omit<RunDocument, 'nodes' | '_embedded'>> {
  const { request } = run
  return {
    _links: { self: linkTo(`/${facts.words.runs}/${run.id}`) },
    uuid: run.id,
    apdex: run.apdex,
    tool: describeTool(run, facts),
    name: request.name,
    notes: request.notes,
    threads: request.threads,
    rampup: request.rampupSec,
    duration: request.durationSec,
    tag_list: request.tags,
    status: run.status,
    permalink: `${facts.baseUrl()}/${facts.words.runs}/${run.id}`,
    queue_position: facts.queue.positionOf(run.id),
    ...(run.user && { user: run.user.name }),
    remote_errors: run.remoteErrors,
    started: timestampOrNull(run.startedMs),
    stopped: timestampOrNull(run.stoppedMs)
  }
}

/** One page of the runs that match, newest first. */
export function runListDocument(page: number, filter: RunFilter, facts: ServiceFacts): Sent<RunListDocument> {
  const { runs, total } = facts.store.listRuns({ filter, offset: (page - 1) * PAGE_SIZE, limit: PAGE_SIZE })
  const lastPage = Math.max(1, Math.ceil(total / PAGE_SIZE))
  const linkToPage = (number: number): { href: string } =>
    linkTo(`/${facts.words.runs}${queryOf(filter, number)}`)
  return {
    _links: {
      self: linkToPage(page),
      last: linkToPage(lastPage),
      ...(page < lastPage ? { next: linkToPage(page + 1) } : {})
    },
    total,
    _embedded: {
      [facts.words.runs as 'runs']: runs.map((run) => briefRunDocument(run, facts))
    }
  }
}

export function accountDocument(user: User, facts: ServiceFacts): Sent<AccountDocument> {
  return {
    _links: { self: linkTo('/account') },
    email: user.name,
    _embedded: {
      users: shownTo(user, facts).map(userDocument),
      // Hosted grids run on this machine too, so its name replaces that of a cloud account.
      credentials: [
        { id: 1, provider: 'local', description: 'This machine', arn: hostname(), access_key_id: null }
      ]
    }
  }
}

/** An admin sees every user, anyone else sees one. */
export function shownTo(user: User, { accounts }: ServiceFacts): UserDetails[] {
  return accounts.users().filter(({ id }) => user.role === 'admin' || id === user.id)
}

export function userDocument(user: UserDetails): Sent<UserDocument> {
  return {
    _links: { self: linkTo(`/users/${user.id}`), account: linkTo('/account') },
    id: user.id,
    email: user.name,
    role: user.role,
    authentication_token: user.token ?? 'redacted',
    sign_in_count: user.signIns,
    current_sign_in_at: timestampOrNull(user.currentSignInMs),
    last_sign_in_at: timestampOrNull(user.lastSignInMs),
    created_at: timestamp(user.createdMs)
  }
}
