import { availableParallelism } from 'node:os'
import {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
  LogController
} from 'fastify'
import type { Regions } from '../contract/regions/regions.js'
import type { ServiceConfig } from './config/config.js'
import { openAccounts } from './accounts/accounts.js'
import { openAuditLog } from './accounts/audit-log.js'
import { openSessionRows } from './accounts/session-rows.js'
import { createSingleToken, createSingleUser } from './accounts/users.js'
import { type Clock, systemClock } from '../contract/clock.js'
import { createLoopbackFront, type Front, addProbes } from './http/front.js'
import type { Limits } from './http/limits.js'
import { createPublicFront } from './http/public-front.js'
import {
  createMetrics,
  type Metrics,
  addMetricsRoute,
  refuseMetrics,
  requireMetricsToken
} from './metrics/metrics.js'
import { createQueue, type NodeQueue } from './queue/node-queue.js'
import { startRetention } from './retention/retention.js'
import type { Service, ServiceOptions } from './server.js'
import { SqliteStore } from './store/sqlite-store.js'
import { readPackageVersion, VERSION_HEADER } from './version.js'
import { clauseOf } from './errors.js'
import { inTransaction, openDatabase } from './store/database.js'
import { explainDatabase } from './store/database-errors.js'
import { requireLock } from './store/service-claim.js'
import { probeFolder } from './store/data-folder.js'
import type { Store } from './store/store.js'

export interface ServeRequest {
  readonly rehearse: boolean
  readonly serviceName: string | undefined
  /** Receives single lines: untrusted, so whoever shows them must escape them. */
  readonly log: (line: string) => void
  /** Ends the start, with its reason: clusters may take their time. */
  readonly signal: AbortSignal
  /** For one person on this machine, or as the config file says. */
  readonly setUp: SingleUser | ServiceConfig
}

export interface SingleUser {
  readonly dataDir: string
  readonly port: number
  /** Random unless given. */
  readonly token: string | undefined
  readonly regions: Regions | undefined
}

export interface ServePorts {
  readonly start: (options: ServiceOptions) => Promise<Service>
  readonly pages: NonNullable<ServiceOptions['pages']>
  readonly clock?: Clock
  readonly limits?: Limits
}

export interface ServedService {
  readonly url: string
  /** The one token; undefined where there are users with tokens of their own. */
  readonly token: string | undefined
  /** The address and port on this machine, where they may differ from those of the url. */
  readonly listening?: string
  /** Nobody can use it yet. */
  readonly hasNoUsers: boolean
  /** Takes no new runs, waits for those at work as long as the config file says, and ends. */
  close(): Promise<void>
}

/** `loadgate serve`: everything of a service that outlives a step. */
export async function serve(request: ServeRequest, ports: ServePorts): Promise<ServedService> {
  return 'listen' in request.setUp
    ? serveTeam(request.setUp, request, ports)
    : serveOne(request.setUp, request, ports)
}

/** For one person, on this machine only. */
async function serveOne(
  { dataDir, port, token, regions }: SingleUser,
  request: ServeRequest,
  { start, pages, clock = systemClock }: ServePorts
): Promise<ServedService> {
  const { log } = request
  const store = openStore(dataDir, { log, clock })
  const readiness = createReadiness(store, clock)
  const secret = token ?? createSingleToken()
  const accounts = createSingleUser(secret, { clock, rows: openSessionRows(store.database) })
  const service = await startOrClose(store, () =>
    start({
      ...commonOptions(request, { pages, clock }),
      ...{ dataDir, store, log, regions, accounts, token: secret },
      front: createLoopbackFront(port),
      // One person's runs do not wait for each other; those that share the machine say so.
      queue: (placeOf) =>
        createMachineQueue(placeOf, {
          maxNodes: Infinity,
          whyNotNow: () => readiness.whyNot() ?? whyNotWritable(store),
          ...{ clock, log }
        })
    })
  )
  return { url: service.url, token: service.token, hasNoUsers: false, close: () => service.close() }
}

/** For a team, as the config file says. */
async function serveTeam(
  config: ServiceConfig,
  request: ServeRequest,
  ports: ServePorts
): Promise<ServedService> {
  const { pages, clock = systemClock } = ports
  const { dataDir, regions, maxNodes } = config
  const log = createJsonLog(request.log, clock)
  const headers = { [VERSION_HEADER]: readPackageVersion() }
  const front = await createPublicFront(config, {
    ...{ clock, log, headers },
    ...(ports.limits && { limits: ports.limits })
  })
  if (config.metrics?.tokenFile !== undefined) await requireMetricsToken(config.metrics.tokenFile)
  const store = openStore(dataDir, { log, clock })
  const metrics = config.metrics && createMetrics({ store, version: readPackageVersion() })
  const readiness = createReadiness(store, clock)
  const accounts = openAccounts(store.database, clock)
  const keeping = { store, retention: config.retention, clock, log }
  const service = await startOrClose(store, async () => {
    if (readiness.whyNot() !== undefined) await makeRoom(keeping)
    return ports.start({
      ...commonOptions(request, { pages, clock }),
      ...{ dataDir, store, log, regions, accounts },
      audit: openAuditLog(dataDir, { clock, log }),
      front: equipFront(front, { config, metrics, log: request.log, clock, whyNotReady: readiness.whyNot }),
      queue: (placeOf) => {
        const whyNotNow = (): string | undefined => readiness.whyNot() ?? whyNotWritable(store)
        const queue = createMachineQueue(placeOf, { maxNodes, whyNotNow, clock, log })
        metrics?.watchQueue(queue)
        return queue
      }
    })
  })
  const retention = startRetention(keeping)
  return {
    url: service.url,
    listening: front.listening(),
    token: undefined,
    hasNoUsers: accounts.users().length === 0,
    close: async () => {
      readiness.drain()
      await service.drain(config.drainMs)
      await retention.close()
      await service.close()
    }
  }
}

function commonOptions(
  { rehearse, serviceName, signal }: ServeRequest,
  { pages, clock }: { pages: ServePorts['pages']; clock: Clock }
): Pick<ServiceOptions, 'engine' | 'signal' | 'pages' | 'clock' | 'serviceName'> {
  return {
    engine: rehearse ? 'rehearsal' : 'real',
    ...{ signal, pages, clock },
    ...(serviceName !== undefined && { serviceName })
  }
}

function createMachineQueue(
  placeOf: Parameters<NonNullable<ServiceOptions['queue']>>[0],
  parts: Pick<Parameters<typeof createQueue>[0], 'maxNodes' | 'whyNotNow' | 'clock' | 'log'>
): NodeQueue {
  return createQueue({ placeOf, cores: availableParallelism(), ...parts })
}

/** What is seen from outside: probes, figures, and a log line per request. */
function equipFront(
  front: Front,
  {
    config,
    metrics,
    log,
    clock,
    whyNotReady
  }: {
    config: ServiceConfig
    metrics: Metrics | undefined
    log: (line: string) => void
    clock: Clock
    whyNotReady: () => string | undefined
  }
): Front {
  return {
    ...front,
    settings: { ...front.settings, ...logSettings(log, clock) },
    prepare: (app) => {
      logRequests(app)
      metrics?.watch(app)
      front.prepare?.(app)
      addProbes(app, whyNotReady)
      if (metrics && config.metrics) addMetricsRoute(app, metrics, config.metrics)
      else refuseMetrics(app)
    }
  }
}

/** A full disk keeps a service from starting, and nobody else deletes what is beyond the limits. */
async function makeRoom(parts: Parameters<typeof startRetention>[0]): Promise<void> {
  const retention = startRetention(parts)
  await retention.settled()
  await retention.close()
}

/** A service that does not start lets go of its folder. */
async function startOrClose(store: SqliteStore, start: () => Promise<Service>): Promise<Service> {
  try {
    return await start()
  } catch (thrown) {
    store.close()
    throw thrown
  }
}

/** Why nothing can be written down right now; undefined if it can. */
export function whyNotWritable(store: Pick<SqliteStore, 'flush' | 'database'>): string | undefined {
  try {
    store.flush()
    inTransaction(store.database, () => undefined)
    return undefined
  } catch (thrown) {
    const cause = thrown instanceof Error ? (thrown.cause ?? thrown) : thrown
    return `the service's state cannot be written (${clauseOf(cause)})`
  }
}

/** The store of a service in its data folder. Throws if another service is using the folder. */
export function openStore(
  dataDir: string,
  { log, clock = systemClock }: { log: (line: string) => void; clock?: Clock | undefined }
): SqliteStore {
  const database = openDatabase(dataDir, 'service')
  let lock: { release(): void } | undefined
  try {
    lock = requireLock(database, dataDir)
    const store = new SqliteStore(dataDir, database, { log, clock, lock })
    store.folder.discardUploads()
    return store
  } catch (thrown) {
    lock?.release()
    database.close()
    throw explainDatabase(thrown, dataDir)
  }
}

/** Anyone may ask; the disk is asked no more often than this. */
const PROBE_EVERY_MS = 2000
/** A disk that is almost full takes a few bytes still. */
const PROBE_BYTES = 64 * 1024

export interface Readiness {
  /** Undefined if new runs are welcome. */
  readonly whyNot: () => string | undefined
  /** From now on they are not. */
  readonly drain: () => void
}

/** Whether the service can take new runs: it can keep what it is given, and is not about to end. */
function createReadiness({ folder }: Pick<Store, 'folder'>, clock: Clock): Readiness {
  let isDraining = false
  let probedMs = -Infinity
  let failure: string | undefined
  return {
    whyNot: () => {
      if (isDraining) return 'the service is about to end and takes no new runs'
      // A clock that was set back must not keep an old answer.
      const sinceMs = clock.now() - probedMs
      if (sinceMs >= PROBE_EVERY_MS || sinceMs < 0) {
        probedMs = clock.now()
        failure = probe(folder.path)
      }
      return failure
    },
    drain: () => {
      isDraining = true
    }
  }
}

function probe(folder: string): string | undefined {
  try {
    probeFolder(folder, PROBE_BYTES)
    return undefined
  } catch (thrown) {
    return `the data folder cannot be written: ${clauseOf(thrown)}`
  }
}

type WriteLine = (line: string) => void

/** One JSON object per line, in the same form as those of the web framework. */
function createJsonLog(write: WriteLine, clock: Clock): (line: string) => void {
  return (msg) => write(JSON.stringify({ level: 'info', time: new Date(clock.now()).toISOString(), msg }))
}

/** The web framework's own logger, without what may hold a secret: no headers, no queries. */
function logSettings(write: WriteLine, clock: Clock): Pick<FastifyServerOptions, 'logger' | 'logController'> {
  return {
    // One line per request, when it has ended: see `logRequests`.
    logController: new LogController({ disableRequestLogging: true }),
    logger: {
      level: 'info',
      base: null,
      timestamp: () => `,"time":"${new Date(clock.now()).toISOString()}"`,
      formatters: { level: (level) => ({ level }) },
      serializers: { req: () => ({}), res: () => ({}) },
      stream: { write: (line) => write(line.trimEnd()) }
    }
  }
}

/** Who asked for what, from where, and how it went. */
function logRequests(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    // The framework's own hook for the end is not called for whoever hangs up.
    reply.raw.once('close', () => request.log.info(describe(request, reply), 'request'))
    done()
  })
}

function describe(request: FastifyRequest, reply: FastifyReply): Record<string, unknown> {
  return {
    method: request.method,
    path: pathOf(request),
    route: request.routeOptions.url ?? null,
    status: reply.raw.headersSent ? reply.statusCode : null,
    ms: Math.round(reply.elapsedTime),
    address: request.ip,
    user: (request.user as FastifyRequest['user'] | undefined)?.name ?? null,
    ...(!reply.raw.writableFinished && { hung_up: true })
  }
}

/** A token may be in the query. */
function pathOf({ originalUrl }: FastifyRequest): string {
  return originalUrl.replace(/[?#].*$/s, '').slice(0, 300)
}
