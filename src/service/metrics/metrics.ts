import type { Server } from 'node:http'
import { RUN_STATUSES } from '../../contract/records.js'
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'
// A CommonJS package: its names are on the default export only.
import client from 'prom-client'
import type { Queue } from '../queue/queue.js'
import type { SqliteStore } from '../store/sqlite-store.js'
import { createRangeCheck } from '../addresses.js'
import { ConfigProblem, type ServiceConfig } from '../config/config.js'
import { whyUnread, RequestError } from '../errors.js'
import { readGiven } from '../regular-file.js'
import { isSameSecret } from '../secrets.js'
import { sizeOfFolder } from '../../contract/files.js'

const WAIT_BUCKETS = [1, 5, 15, 60, 300, 900, 1800, 3600, 7200, 21600]
const LATENCY_BUCKETS = [0.005, 0.02, 0.1, 0.5, 1, 2.5, 5, 10, 30, 120]

type Registers = InstanceType<(typeof client)['Registry']>[]

/** The metrics of a service. The library is loaded here and nowhere else. */
export function createMetrics({ store, version }: { store: SqliteStore; version: string }) {
  const registry = new client.Registry()
  client.collectDefaultMetrics({ register: registry })
  const registers = [registry]
  new client.Gauge({
    ...{ name: 'loadgate_build_info', help: 'Version of loadgate and of Node.js.', registers },
    labelNames: ['version', 'node']
  }).set({ version, node: process.versions.node }, 1)
  addRunFigures(registers, store)
  return {
    /** Counts what is sent and received, and how long requests take. */
    watch: (app: FastifyInstance) => watchRequests(registers, app),
    watchQueue: (queue: Queue) => addQueueFigures(registers, queue),
    render: async () => ({ text: await registry.metrics(), type: registry.contentType })
  }
}

export type Metrics = ReturnType<typeof createMetrics>

function addGauge(
  registers: Registers,
  [name, help]: readonly [name: string, help: string],
  read: () => number | Promise<number>
): void {
  new client.Gauge({
    ...{ name: `loadgate_${name}`, help, registers },
    async collect() {
      this.set(await read())
    }
  })
}

function addRunFigures(registers: Registers, store: SqliteStore): void {
  const ended = new client.Counter({
    ...{ name: 'loadgate_runs_ended_total', help: 'Runs that have ended, by how.', registers },
    labelNames: ['status']
  })
  for (const status of ['finished', 'problem']) ended.inc({ status }, 0)
  const counted = new client.Counter({
    name: 'loadgate_samples_total',
    help: 'Samples of the runs that have ended since the start.',
    registers
  })
  store.onSettled(({ status, samples }) => {
    ended.inc({ status })
    counted.inc(samples ?? 0)
  })
  new client.Gauge({
    ...{ name: 'loadgate_runs', help: 'Runs that the service knows, by status.', registers },
    labelNames: ['status'],
    collect() {
      for (const status of RUN_STATUSES)
        this.set({ status }, store.listRuns({ filter: { status }, offset: 0, limit: 1 }).total)
    }
  })
  let measured = { atMs: -Infinity, bytes: Promise.resolve(0) }
  addGauge(registers, ['stored_bytes', 'Size of the data folder, measured now and then.'], () => {
    const nowMs = performance.now()
    if (nowMs - measured.atMs > MEASURE_EVERY_MS)
      measured = { atMs: nowMs, bytes: sizeOfFolder(store.folder.path) }
    return measured.bytes
  })
}

/** A folder of 10,000 runs takes a while to walk through. */
const MEASURE_EVERY_MS = 5 * 60_000

function addQueueFigures(registers: Registers, queue: Queue): void {
  addGauge(registers, ['queue_length', 'Runs that wait for nodes.'], () => queue.length)
  addGauge(registers, ['nodes_at_work', 'Nodes at work.'], () => queue.nodesAtWork)
  const { limit } = queue
  if (limit !== undefined)
    addGauge(registers, ['nodes_limit', 'Nodes that may be at work at a time.'], () => limit)
  const waits = new client.Histogram({
    ...{ name: 'loadgate_queue_wait_seconds', help: 'How long runs waited for nodes.', registers },
    buckets: WAIT_BUCKETS
  })
  queue.onTurn = (waitedMs) => waits.observe(waitedMs / 1000)
}

function watchRequests(registers: Registers, app: FastifyInstance): void {
  const latencies = new client.Histogram({
    ...{ name: 'loadgate_http_request_duration_seconds', help: 'How long requests took.', registers },
    labelNames: ['method', 'route', 'status'],
    buckets: LATENCY_BUCKETS
  })
  const streams = new client.Gauge({
    ...{ name: 'loadgate_http_event_streams', help: 'Open pages that listen to events.', registers }
  })
  countBytes(registers, app.server)
  app.addHook('onRequest', (request, reply, done) => {
    if (isEventStream(request)) streams.inc()
    // The framework's own hook for the end is not called if the caller hangs up.
    reply.raw.once('close', () => {
      // Route templates only: there is no end to the paths that people send.
      const route = request.routeOptions.url ?? 'none'
      const status = reply.raw.headersSent ? String(reply.statusCode) : 'none'
      if (isEventStream(request)) streams.dec()
      else latencies.observe({ method: request.method, route, status }, reply.elapsedTime / 1000)
    })
    done()
  })
}

/** They last as long as a page is open. */
function isEventStream({ routeOptions, method }: FastifyRequest): boolean {
  return method === 'GET' && (routeOptions.url ?? '').endsWith('/events')
}

function countBytes(registers: Registers, server: Server): void {
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
  addGauge(registers, ['http_connections', 'Open connections.'], () => open.size)
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

/** For callers with the token in the file, or from these addresses; for nobody if the config file does not say who. */
export function addMetricsRoute(
  app: FastifyInstance,
  metrics: Metrics | undefined,
  config: ServiceConfig['metrics']
): void {
  const isAllowed = createRangeCheck(config?.allow ?? [])
  app.get('/metrics', { config: { open: 'probe' } }, async (request, reply) => {
    if (metrics === undefined || config === undefined)
      throw new RequestError(
        404,
        'the metrics are turned off: the config file of the service has no `metrics`'
      )
    if (config.tokenFile === undefined) {
      if (!isAllowed(request.ip))
        throw new RequestError(403, `${request.ip} is not in metrics.allow of the config file`)
    } else if (!(await hasToken(request, config.tokenFile))) {
      void reply.header('www-authenticate', 'Bearer realm="loadgate metrics"')
      throw new RequestError(401, 'send the token for the metrics: Authorization: Bearer …')
    }
    const { text, type } = await metrics.render()
    return reply.type(type).send(text)
  })
}

/** Read for every call, so that a changed one counts at once. */
async function hasToken({ headers }: FastifyRequest, tokenFile: string): Promise<boolean> {
  const token = await readGiven(tokenFile).then(String, () => '')
  const [, given = ''] = /^bearer\s+(\S+)$/i.exec(headers.authorization ?? '') ?? []
  return token.trim() !== '' && isSameSecret(given, token.trim())
}

/** Called at the start: a file that cannot be read would only be noticed when the metrics are missing. */
export async function requireMetricsToken(tokenFile: string): Promise<void> {
  const token = await readGiven(tokenFile).then(String, (thrown: unknown) => {
    throw new ConfigProblem(`metrics.token-file cannot be read: ${whyUnread(thrown)}`, { cause: thrown })
  })
  if (!/^\S{16,}$/.test(token.trim()))
    throw new ConfigProblem(
      `metrics.token-file: ${tokenFile} must hold one token of at least 16 characters, without spaces; make one with \`openssl rand -hex 32\``
    )
}
