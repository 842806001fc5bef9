import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'
// A CommonJS package: its names are on the default export only.
import client from 'prom-client'
import type { RunStatus } from '../store/records.js'
import type { Store } from '../store/store.js'
import { SampleCount } from './samples.js'
import { StoredBytes } from './stored-bytes.js'
import { watchRuns } from './watch-runs.js'

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
