import type { NodeReply, Reply, RunFieldsReply, RunNodeReply } from '../../contract/api/replies.js'
import { describeTool, PAGE_SIZE, type ServiceFacts, queryOf } from '../service-facts.js'
import { hostname } from 'node:os'
import type { User, UserDetails } from '../accounts/users.js'
import {
  GRID_STATUSES,
  type GridRecord,
  type NodeRecord,
  RUN_STATUSES,
  type RunRecord,
  hasEnded
} from '../../contract/records.js'
import type { SeenRuns } from '../store/seen-runs.js'
import type { RunFilter, Slice } from '../store/store.js'

export const linkTo = (path: string): { href: string } => ({ href: `/api${path}` })

function timestamp(ms: number): string {
  return new Date(ms).toISOString()
}

function timestampOrNull(ms: number | null): string | null {
  return ms === null ? null : timestamp(ms)
}

/** A grid with `nodes`, as `POST /grids` and runs show it, or with `resources` instead, as it is at its own address. */
export function gridDocument(
  grid: GridRecord,
  facts: ServiceFacts,
  key: 'nodes' | 'resources' = 'nodes',
  mostNodes = Infinity
): Reply<'Grid'> {
  const { spec } = grid
  return {
    _links: { self: linkTo(`/grids/${grid.id}`) },
    uuid: grid.id,
    ...(grid.batchId === null ? {} : { batch_id: grid.batchId }),
    name: `${spec.region}-${grid.id}`,
    region: spec.region,
    // Whatever the region says, the load comes from this machine where there are no other places.
    origin: facts.places.regions ? (facts.places.placeOf(spec.region)?.name ?? 'unknown') : 'This machine',
    instance_quantity: spec.instanceQuantity,
    instance_type: spec.instanceType,
    infrastructure: spec.infrastructure,
    stop_after: spec.stopAfterMin,
    status: grid.status,
    ...(spec.ignored && {
      warnings: [`No effect here, where nothing is started in a cloud: ${spec.ignored.join(', ')}.`]
    }),
    [key as 'nodes']: nodeDocuments(grid, facts, mostNodes)
  }
}

/** A grid that nobody uses has no nodes yet: they are shown as they will be. */
function nodeDocuments(grid: GridRecord, facts: ServiceFacts, most: number): NodeReply[] {
  const { startedMs } = grid
  if (startedMs === null) return []
  const url = facts.front.baseUrl()
  const isElsewhere = facts.places.placeOf(grid.spec.region)?.outlivesService ?? false
  const here = { ip: '127.0.0.1', url, private_ip: '127.0.0.1', port: Number(new URL(url).port) }
  return Array.from({ length: Math.min(most, grid.spec.instanceQuantity) }, (_, index) => {
    return {
      // A node elsewhere is only reached through its place.
      ...(isElsewhere ? { ip: null, url: null, private_ip: null, port: null } : here),
      instance_id: grid.nodeNames?.[index] ?? `${grid.id}-${index + 1}`,
      chef: 'complete',
      started: timestamp(startedMs),
      state: grid.status === 'stopped' ? 'stopping' : 'running'
    }
  })
}

/** A run at its own address, with its results once there are any; without them as `POST /runs` shows it. */
export function runDocument(
  run: RunRecord,
  facts: ServiceFacts,
  { isCreated = false, firstSampleMs = null }: { isCreated?: boolean; firstSampleMs?: number | null } = {}
): Reply<'Run'> {
  const path = addressOf(run, facts)
  const grids = facts.store.gridsOf(run)
  const { results, archives } = partsOf(run, facts)
  return {
    ...runFields(run, facts),
    batch_id: run.batchId,
    first_sample: timestampOrNull(firstSampleMs),
    ...(run.nodes === undefined ? {} : { nodes: run.nodes.map(nodeOfRunDocument) }),
    _embedded: {
      grids: grids.map((grid) => gridDocument(grid, facts)),
      files: run.files.map(({ uuid, name }) => ({ name, href: `${path}/files/${uuid}` })),
      ...{ archives },
      ...(!isCreated && { results })
    }
  }
}

/** The address of a run, for people and programs. */
export function addressOf(run: RunRecord, facts: ServiceFacts): string {
  return `${facts.front.baseUrl()}/${facts.words.runs}/${run.id}`
}

/** What can be downloaded of a run, once it has ended: a CSV per grid, and one archive of its report and logs. */
function partsOf(run: RunRecord, facts: ServiceFacts) {
  const path = addressOf(run, facts)
  const grids = hasEnded(run) ? facts.store.gridsOf(run) : []
  return {
    results: grids.map(({ id, spec: { region } }) => ({
      ...{ name: `${region}-${id}`, region, href: `${path}/result.csv?grid_id=${id}` }
    })),
    archives: hasEnded(run) ? [{ name: `${run.id}.tar.gz`, href: `${path}/archive.tar.gz` }] : []
  }
}

/** An addition of this service to the API: where a part of the load came from, and what happened there. */
function nodeOfRunDocument(node: NodeRecord): RunNodeReply {
  const { grid, region, number, place, rows, threads, restarts, throttled, lost } = node
  return {
    ...{ grid, region, number, place, started: timestampOrNull(node.startedMs), rows, threads },
    ...{ first_sample: node.firstSampleMs ?? null, last_sample: node.lastSampleMs ?? null },
    ...{ cpu_limit: node.cpuLimit, restarts, throttled, clock_offset_ms: node.clockOffsetMs, lost }
  }
}

/** A run as shown by the list, a stop and a repeat. */
export function briefRunDocument(run: RunRecord, facts: ServiceFacts): Reply<'BriefRun'> {
  const files = run.files.map(({ uuid, name }) => ({ uuid, name }))
  return { ...runFields(run, facts), _embedded: { [facts.words.files as 'run_files']: files } }
}

/** Of a run or grid in a list: the rest is at its own address. A page of them must not become a large download. */
const LISTED = { characters: 500, files: 10, lines: 10, nodes: 20 }

function listedRunDocument(run: RunRecord, facts: ServiceFacts): Reply<'BriefRun'> {
  const { characters, files, lines } = LISTED
  const cut = (text: string): string => (text.length > characters ? `${text.slice(0, characters)}…` : text)
  const { remoteErrors, toolLines, asideGroups, request } = run
  return briefRunDocument(
    {
      ...run,
      request: { ...request, notes: request.notes && cut(request.notes) },
      remoteErrors: remoteErrors && cut(remoteErrors),
      files: run.files.slice(0, files),
      ...(toolLines && {
        toolLines: toolLines.slice(0, lines).map(({ text, holds, reason }) => ({
          ...{ text: cut(text), holds },
          ...(reason !== undefined && { reason: cut(reason) })
        }))
      }),
      ...(asideGroups && { asideGroups: asideGroups.slice(0, lines).map(cut) })
    },
    facts
  )
}

function runFields(run: RunRecord, facts: ServiceFacts): RunFieldsReply {
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
    permalink: addressOf(run, facts),
    queue_position: facts.queue.positionOf(run.id),
    ...waitingReason(run, facts),
    ...(run.isPinned && { pinned: true }),
    ...(run.user && { user: run.user.name }),
    remote_errors: run.remoteErrors,
    ...(run.toolLines && { tool_thresholds: run.toolLines.map((line) => ({ ...line })) }),
    ...(run.asideGroups && { aside_groups: [...run.asideGroups] }),
    started: timestampOrNull(run.startedMs),
    stopped: timestampOrNull(run.stoppedMs)
  }
}

function waitingReason({ id }: RunRecord, { queue }: ServiceFacts): Pick<RunFieldsReply, 'waiting_reason'> {
  const reason = queue.reasonFor(id)
  return reason === undefined ? {} : { waiting_reason: reason }
}

/** A page of a list, in the shape of the API document's list of runs. */
function listDocument<T>(
  { page, total, linkOf }: { page: number; total: number; linkOf: (page: number) => string },
  embedded: T
) {
  const lastPage = Math.max(1, Math.ceil(total / PAGE_SIZE))
  return {
    _links: {
      self: linkTo(linkOf(page)),
      last: linkTo(linkOf(lastPage)),
      ...(page < lastPage ? { next: linkTo(linkOf(page + 1)) } : {})
    },
    total,
    _embedded: embedded
  }
}

const sliceOf = (page: number): Slice => ({ offset: (page - 1) * PAGE_SIZE, limit: PAGE_SIZE })

export function runListDocument(
  { page, filter }: { page: number; filter: RunFilter },
  seen: SeenRuns,
  facts: ServiceFacts
): Reply<'RunList'> {
  const { runs, total } = seen.listRuns({ filter, ...sliceOf(page) })
  const linkOf = (number: number): string => `/${facts.words.runs}${queryOf(filter, number)}`
  return listDocument(
    { page, total, linkOf },
    { [facts.words.runs as 'runs']: runs.map((run) => listedRunDocument(run, facts)) }
  )
}

export function gridListDocument(page: number, seen: SeenRuns, facts: ServiceFacts): Reply<'GridList'> {
  const { grids, total } = seen.listGrids(sliceOf(page))
  return listDocument(
    { page, total, linkOf: (number) => `/grids?page=${number}` },
    { grids: grids.map((grid) => gridDocument(grid, facts, 'nodes', LISTED.nodes)) }
  )
}

export function projectListDocument(page: number, seen: SeenRuns, facts: ServiceFacts): Reply<'ProjectList'> {
  const { projects, total } = seen.listProjects(sliceOf(page))
  return listDocument(
    { page, total, linkOf: (number) => `/projects?page=${number}` },
    {
      projects: projects.map(({ name, runs }) => ({
        _links: { runs: linkTo(`/${facts.words.runs}${queryOf({ project: name })}`) },
        ...{ name, total: runs }
      }))
    }
  )
}

export function partListDocument(
  page: number,
  { run, part }: { run: RunRecord; part: 'results' | 'archives' },
  facts: ServiceFacts
): Reply<'ResultList' | 'ArchiveList'> {
  const all = partsOf(run, facts)[part]
  const { offset, limit } = sliceOf(page)
  const linkOf = (number: number): string => `/${facts.words.runs}/${run.id}/${part}?page=${number}`
  const embedded: Reply<'ResultList' | 'ArchiveList'>['_embedded'] = {
    [part as 'archives']: all.slice(offset, offset + limit)
  }
  return listDocument({ page, total: all.length, linkOf }, embedded)
}

export function accountDocument(user: User, facts: ServiceFacts): Reply<'Account'> {
  return {
    _links: { self: linkTo('/account') },
    email: user.name,
    // An addition of this service to the API, which does not list them.
    settings: { statuses: { [facts.words.runs as 'runs']: RUN_STATUSES, grids: GRID_STATUSES } },
    _embedded: { users: shownTo(user, facts).map(userDocument), credentials: listCredentials() }
  }
}

/** Hosted grids run on this machine too, so its name replaces that of a cloud account. */
export function listCredentials() {
  return [{ id: 1, provider: 'local', description: 'This machine', arn: hostname(), access_key_id: null }]
}

/** An admin sees every user, anyone else sees one. */
export function shownTo(user: User, { accounts }: ServiceFacts): UserDetails[] {
  return accounts
    .users()
    .filter(({ id }) => user.role === 'admin' || id === user.id)
    .map((one) => (one.id === user.id ? { ...one, role: user.role } : one))
}

export function userListDocument(page: number, { accounts }: ServiceFacts): Reply<'UserList'> {
  const all = accounts.users()
  const { offset, limit } = sliceOf(page)
  return listDocument(
    { page, total: all.length, linkOf: (number) => `/users?page=${number}` },
    { users: all.slice(offset, offset + limit).map(userDocument) }
  )
}

export function userDocument(user: UserDetails): Reply<'User'> {
  return {
    _links: { self: linkTo(`/users/${user.id}`), account: linkTo('/account') },
    id: user.id,
    email: user.name,
    role: user.role,
    authentication_token: user.token ?? 'redacted',
    sign_in_count: user.signIns,
    current_sign_in_at: timestampOrNull(user.currentSignInMs),
    last_sign_in_at: timestampOrNull(user.lastSignInMs),
    created_at: timestamp(user.createdMs),
    ...(user.expiresMs !== null && { token_expires_at: timestamp(user.expiresMs) }),
    ...(user.issuer !== '' && { issuer: user.issuer })
  }
}
