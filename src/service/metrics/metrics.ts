import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import client from 'prom-client'
import { readFile } from 'node:fs/promises'
import { type RunStatus, hasEnded, isSettled, type RunRecord } from '../../contract/records.js'
import type { Store } from '../store/store.js'
import { createRangeCheck } from '../config/addresses.js'
import { ConfigProblem, type ServiceConfig } from '../config/config.js'
import { clauseOf, RequestError } from '../errors.js'
import { isSameSecret } from '../secrets.js'
import { sizeOfFolder } from '../../contract/files.js'
import { SampleCount } from './samples.js'

// A CommonJS package: its names are on the default export only.

/** What the queue tells of itself. */
export interface QueueFigures {
  readonly length: number
  readonly nodesAtWork: number
  /** Undefined if only the places have limits. */
  readonly limit: number | undefined
  onTurn(listener: (waitedMs: number) => void): void
}

export interface Metrics {
  /** Counts what is sent and received, and how long requests take. */
  watch(app: FastifyInstance): void
  watchQueue(queue: QueueFigures): void
  /** In Prometheus text format. */
  render(): Promise<{ readonly text: string; readonly type: string }>
}

const STATUSES: readonly RunStatus[] = ['queued', 'running', 'stopping', 'finished', 'problem']
const WAIT_BUCKETS = [1, 5, 15, 60, 300, 900, 1800, 3600, 7200, 21600]
const LATENCY_BUCKETS = [0.005, 0.02, 0.1, 0.5, 1, 2.5, 5, 10, 30, 120]

type Client = typeof client

/** The figures of a service. The library is loaded here and nowhere else. */
export function createMetrics({ store, version }: { store: Store; version: string }): Metrics {
  const registry = new client.Registry()
  client.collectDefaultMetrics({ register: registry })
  const registers = [registry]
  new client.Gauge({
    ...{ name: 'loadgate_build_info', help: 'Version of loadgate and of Node.js.', registers },
    labelNames: ['version', 'node']
  }).set({ version, node: process.versions.node }, 1)
  addRunFigures(client, registers, store)
  const requests = addRequestFigures(client, registers)
  return {
    watch: requests.watch,
    watchQueue: (queue) => addQueueFigures(client, registers, queue),
    render: async () => ({ text: await registry.metrics(), type: registry.contentType })
  }
}

type Registers = InstanceType<Client['Registry']>[]

function addRunFigures(client: Client, registers: Registers, store: Store): void {
  const samples = new SampleCount(store)
  const stored = new StoredBytes(store.folder.path)
  const ended = new client.Counter({
    ...{ name: 'loadgate_runs_ended_total', help: 'Runs that have ended, by how.', registers },
    labelNames: ['status']
  })
  for (const status of ['finished', 'problem']) ended.inc({ status }, 0)
  watchRuns(store, {
    onSave: (run) => samples.note(run),
    onEnd: ({ status }) => ended.inc({ status }),
    onSettled: (run) => samples.forget(run)
  })
  new client.Gauge({
    ...{ name: 'loadgate_runs', help: 'Runs that the service knows, by status.', registers },
    labelNames: ['status'],
    collect() {
      for (const status of STATUSES)
        this.set({ status }, store.listRuns({ filter: { status }, offset: 0, limit: 1 }).total)
    }
  })
  new client.Counter({
    ...{ name: 'loadgate_samples_total', help: 'Samples of all runs since the service started.', registers },
    async collect() {
      const total = await samples.total()
      this.reset()
      this.inc(total)
    }
  })
  new client.Gauge({
    ...{ name: 'loadgate_stored_bytes', help: 'Size of the data folder, measured now and then.', registers },
    async collect() {
      this.set(await stored.read())
    }
  })
}

function addQueueFigures(client: Client, registers: Registers, queue: QueueFigures): void {
  new client.Gauge({
    ...{ name: 'loadgate_queue_length', help: 'Runs and grids that wait for nodes.', registers },
    collect() {
      this.set(queue.length)
    }
  })
  new client.Gauge({
    ...{ name: 'loadgate_nodes_at_work', help: 'Nodes at work.', registers },
    collect() {
      this.set(queue.nodesAtWork)
    }
  })
  if (queue.limit !== undefined)
    new client.Gauge({
      ...{ name: 'loadgate_nodes_limit', help: 'Nodes that may be at work at a time.', registers }
    }).set(queue.limit)
  const waits = new client.Histogram({
    ...{ name: 'loadgate_queue_wait_seconds', help: 'How long runs and grids waited for nodes.', registers },
    buckets: WAIT_BUCKETS
  })
  queue.onTurn((waitedMs) => waits.observe(waitedMs / 1000))
}

function addRequestFigures(client: Client, registers: Registers): Pick<Metrics, 'watch'> {
  const latencies = new client.Histogram({
    ...{ name: 'loadgate_http_request_duration_seconds', help: 'How long requests took.', registers },
    labelNames: ['method', 'route', 'status'],
    buckets: LATENCY_BUCKETS
  })
  const streams = new client.Gauge({
    ...{ name: 'loadgate_http_event_streams', help: 'Open pages that listen to events.', registers }
  })
  return {
    watch: (app) => {
      countBytes(client, registers, app.server)
      app.addHook('onRequest', (request, reply, done) => {
        if (isEventStream(request)) streams.inc()
        // The framework's own hook for the end is not called for whoever hangs up.
        reply.raw.once('close', () => {
          // Templates only: the paths that people send are without end.
          const route = request.routeOptions.url ?? 'none'
          const status = reply.raw.headersSent ? String(reply.statusCode) : 'none'
          if (isEventStream(request)) streams.dec()
          else latencies.observe({ method: request.method, route, status }, reply.elapsedTime / 1000)
        })
        done()
      })
    }
  }
}

/** They last as long as a page is open. */
function isEventStream({ routeOptions, method }: FastifyRequest): boolean {
  return method === 'GET' && (routeOptions.url ?? '').endsWith('/events')
}

/** Of all connections, open and closed. */
function countBytes(client: Client, registers: Registers, server: Server): void {
  const open = new Set<Socket>()
  const closed = { bytesRead: 0, bytesWritten: 0 }
  server.prependListener('connection', (socket: Socket) => {
    open.add(socket)
    socket.once('close', () => {
      open.delete(socket)
      closed.bytesRead += socket.bytesRead
      closed.bytesWritten += socket.bytesWritten
    })
  })
  const sum = (of: 'bytesRead' | 'bytesWritten'): number =>
    [...open].reduce((total, socket) => total + socket[of], closed[of])
  new client.Gauge({
    ...{ name: 'loadgate_http_connections', help: 'Open connections.', registers },
    collect() {
      this.set(open.size)
    }
  })
  for (const [name, of] of [
    ['received', 'bytesRead'],
    ['sent', 'bytesWritten']
  ] as const)
    new client.Counter({
      ...{ name: `loadgate_http_${name}_bytes_total`, help: `Bytes ${name} over the network.`, registers },
      collect() {
        this.reset()
        this.inc(sum(of))
      }
    })
}

/** For callers with the token of the file, as it is now, or from the addresses. */
export function addMetricsRoute(
  app: FastifyInstance,
  metrics: Metrics,
  { tokenFile, allow = [] }: NonNullable<ServiceConfig['metrics']>
): void {
  const isAllowed = createRangeCheck(allow)
  app.get('/metrics', { config: { open: 'probe' } }, async (request, reply) => {
    if (tokenFile === undefined) {
      if (!isAllowed(request.ip)) throw new RequestError(403, `the figures are not for ${request.ip}`)
    } else if (!(await hasToken(request, tokenFile))) {
      void reply.header('www-authenticate', 'Bearer realm="loadgate metrics"')
      throw new RequestError(401, 'send the token of the figures: Authorization: Bearer …')
    }
    const { text, type } = await metrics.render()
    return reply.type(type).send(text)
  })
}

/** For whoever scrapes a service whose config file does not say who may. */
export function refuseMetrics(app: FastifyInstance): void {
  app.get('/metrics', { config: { open: 'probe' } }, () => {
    throw new RequestError(404, 'nobody may read the figures: the config file of the service has no metrics')
  })
}

/** Read for every call, so that a changed one counts at once. */
async function hasToken({ headers }: FastifyRequest, tokenFile: string): Promise<boolean> {
  const token = await readToken(tokenFile).catch(() => '')
  const [, given = ''] = /^bearer\s+(\S+)$/i.exec(headers.authorization ?? '') ?? []
  return token !== '' && isSameSecret(given, token)
}

async function readToken(tokenFile: string): Promise<string> {
  return (await readFile(tokenFile, 'utf8')).trim()
}

/** At the start: a file that cannot be read would only be noticed when the figures are missed. */
export async function requireMetricsToken(tokenFile: string): Promise<void> {
  const token = await readToken(tokenFile).catch((thrown: unknown) => {
    throw new ConfigProblem(`metrics.token-file cannot be read: ${clauseOf(thrown)}`, { cause: thrown })
  })
  if (!/^\S{16,}$/.test(token))
    throw new ConfigProblem(
      `metrics.token-file: ${tokenFile} must hold one token of at least 16 characters, without spaces; make one with \`openssl rand -hex 32\``
    )
}

/** A folder of 10,000 runs takes a while to walk through. */
const MEASURE_EVERY_MS = 5 * 60_000

/** The size of the files in a folder. */
class StoredBytes {
  #bytes: Promise<number> | undefined
  #measuredMs = -Infinity

  constructor(private readonly folder: string) {}

  read(): Promise<number> {
    const nowMs = performance.now()
    if (this.#bytes === undefined || nowMs - this.#measuredMs > MEASURE_EVERY_MS) {
      this.#measuredMs = nowMs
      this.#bytes = sizeOfFolder(this.folder)
    }
    return this.#bytes
  }
}

interface Watcher {
  /** Something of it was saved. */
  readonly onSave: (run: RunRecord) => void
  /** Once for each. */
  readonly onEnd: (run: RunRecord) => void
  /** Nothing more will be told of it. */
  readonly onSettled: (run: RunRecord) => void
}

/** Calls back with what is saved of runs that were created or at work since the start; others are history. */
export function watchRuns(store: Store, { onSave, onEnd, onSettled }: Watcher): void {
  const known = new Set(store.unsettledRuns().map(({ id }) => id))
  const ended = new Set(store.unsettledRuns().flatMap((run) => (hasEnded(run) ? run.id : [])))
  const create = store.create.bind(store)
  store.create = (records) => {
    create(records)
    if (records.run) known.add(records.run.id)
  }
  const saveRun = store.saveRun.bind(store)
  store.saveRun = (run) => {
    saveRun(run)
    if (!known.has(run.id)) return
    onSave(run)
    if (hasEnded(run) && !ended.has(run.id)) {
      ended.add(run.id)
      onEnd(run)
    }
    if (!isSettled(run)) return
    // A service lives for months: what has settled is not remembered.
    known.delete(run.id)
    ended.delete(run.id)
    onSettled(run)
  }
}
