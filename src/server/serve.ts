import { availableParallelism } from 'node:os'
import type { Regions } from '../regions/regions.js'
import type { ServiceConfig } from '../service-config/config.js'
import { openAccounts } from './accounts/accounts.js'
import { openAuditLog } from './accounts/audit-log.js'
import { openSessionRows } from './accounts/session-rows.js'
import { createSingleToken, createSingleUser } from './accounts/single-user.js'
import { type Clock, systemClock } from './clock.js'
import { createLoopbackFront, type Front } from './http/front.js'
import type { Limits } from './http/limits.js'
import { addProbes } from './http/probes.js'
import { createPublicFront } from './http/public-front.js'
import { createJsonLog, logRequests, logSettings } from './http/request-log.js'
import { createMetrics, type Metrics } from './metrics/metrics.js'
import { addMetricsRoute, refuseMetrics, requireMetricsToken } from './metrics/metrics-route.js'
import { createQueue, type NodeQueue } from './queue/node-queue.js'
import { createReadiness } from './readiness.js'
import { startRetention } from './retention/retention.js'
import type { Service, ServiceOptions } from './server.js'
import { openStore } from './store/open-store.js'
import type { SqliteStore } from './store/sqlite-store.js'
import { whyNotWritable } from './store/why-not-writable.js'
import { readPackageVersion, VERSION_HEADER } from './version.js'

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
