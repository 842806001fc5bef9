import { availableParallelism } from 'node:os'
import { type FastifyInstance, type FastifyRequest, type FastifyServerOptions, LogController } from 'fastify'
import type { ServiceConfig } from './config/config.js'
import { TeamAccounts } from './accounts/accounts.js'
import { openAuditLog } from './accounts/audit-log.js'
import { requireAuthorities } from './accounts/oidc/fetch-json.js'
import { renameUsers, type UserIssuers } from './accounts/oidc/rename-users.js'
import { openIssuers } from './accounts/oidc/issued-tokens.js'
import { SignOn } from './accounts/login/sign-on.js'
import { openSessionRows } from './accounts/sessions.js'
import { remindOfEnds } from './accounts/token-end.js'
import { createSingleToken, createSingleUser } from './accounts/users.js'
import { type Clock, systemClock } from '../contract/clock.js'
import { createFront, createLoopbackFront } from './http/front.js'
import type { Limits } from './http/limits.js'
import { createMetrics, addMetricsRoute, requireMetricsToken } from './metrics/metrics.js'
import { NO_QUOTAS } from './config/parse-quotas.js'
import { type NodeQuota, Queue, type RunOwner } from './queue/queue.js'
import { describeHold } from './store/queue-hold.js'
import { DiskUse } from './quotas/disk-use.js'
import { nodeQuotasOf } from './quotas/limits.js'
import { requireQuotas } from './quotas/quotas.js'
import { UploadBook } from './quotas/uploads.js'
import { requirePinRoom } from './retention/prune.js'
import { startRetention } from './retention/retention.js'
import type { Service, ServiceOptions, ServiceQuotas } from './server.js'
import { requireLock, SqliteStore } from './store/sqlite-store.js'
import { readPackageVersion, VERSION_HEADER } from './version.js'
import { clauseOf } from './errors.js'
import { inTransaction, openDatabase } from './store/database.js'
import { explainDatabase } from './store/database-errors.js'
import { probeFolder } from './store/data-folder.js'

export interface ServeRequest extends Pick<ServiceOptions, 'log'> {
  readonly rehearse: boolean
  readonly serviceName: string | undefined
  readonly signal: AbortSignal
  /** For one person on this machine, or as the config file says. */
  readonly setUp: SingleUser | ServiceConfig
}

export interface SingleUser extends Pick<ServiceConfig, 'dataDir' | 'regions'> {
  readonly port: number
  readonly token: string | undefined
}

export interface ServePorts {
  readonly start: (options: ServiceOptions) => Promise<Service>
  readonly pages: NonNullable<ServiceOptions['pages']>
  readonly clock?: Clock
  readonly limits?: Limits
}

export type ServedService = Awaited<ReturnType<typeof serve>>

/** `loadgate serve`: everything of a service that outlives a step. For one person on this machine, or for a team. */
export async function serve(request: ServeRequest, ports: ServePorts) {
  const { setUp, rehearse, serviceName, signal } = request
  const { pages, clock = systemClock, limits } = ports
  const { dataDir, regions } = setUp
  const team = 'listen' in setUp ? setUp : undefined
  const log = team ? createJsonLog(request.log, clock) : request.log
  const headers = { [VERSION_HEADER]: readPackageVersion() }
  const front =
    'listen' in setUp
      ? await createFront(setUp, { clock, log, headers, ...(limits && { limits }) })
      : await createLoopbackFront(setUp.port)
  if (team?.metrics?.tokenFile !== undefined) await requireMetricsToken(team.metrics.tokenFile)
  if (team?.oidc) await requireAuthorities(team.oidc)
  const { login, externalUrl, oidc } = team ?? {}
  const store = openStore(dataDir, { log, clock, oidc, login })
  const metrics = team?.metrics && createMetrics({ store, version: readPackageVersion() })
  const readiness = createReadiness(store, clock)
  const token = 'listen' in setUp ? undefined : (setUp.token ?? createSingleToken())
  const issued = oidc && openIssuers(oidc, { clock, log, env: process.env, database: store.database })
  const accounts =
    token === undefined
      ? new TeamAccounts(store.database, clock, issued, login)
      : createSingleUser(token, { clock, rows: openSessionRows(store.database) })
  const signOn =
    login && externalUrl !== undefined && accounts instanceof TeamAccounts
      ? new SignOn(login, { accounts, clock, externalUrl })
      : undefined
  // It begins once the service has started.
  const later: { retention?: ReturnType<typeof startRetention> | undefined } = {}
  const keeping = { store, retention: team?.retention ?? {}, clock, log }
  const start = async (): Promise<Service> => {
    await signOn?.provider.requireFiles()
    // A full disk keeps a service from starting, and nobody else deletes what is beyond the limits.
    if (team && readiness.whyNot() !== undefined) {
      const early = startRetention(keeping)
      await early.settled()
      await early.close()
    }
    return ports.start({
      ...{ engine: rehearse ? 'rehearsal' : 'real', signal, pages, clock, serviceName },
      ...{ dataDir, store, log, regions, accounts, signOn, token, isLasting: true },
      ...(team
        ? { isolatesPlans: 'always', env: withOpenCache(process.env) }
        : { isolatesPlans: 'where possible' }),
      projects: team?.projects,
      ...(team && { audit: openAuditLog(dataDir, { clock, log }) }),
      front: team
        ? {
            ...front,
            settings: { ...front.settings, ...logSettings(request.log, clock) },
            prepare: (app) => {
              logRequests(app)
              metrics?.watch(app)
              front.prepare(app)
              addProbes(app, readiness.whyNot)
              addMetricsRoute(app, metrics, team.metrics)
            }
          }
        : front,
      ...(team && { quotas: openQuotas(team, { store, clock, later }) }),
      queue: (placeOf) => {
        // One person's runs do not wait for each other; those that share the machine say so.
        const maxNodes = team ? team.maxNodes : Infinity
        const whyNotNow = (): string | undefined => readiness.whyNot() ?? whyNotWritable(store)
        const quotasOf = (owner: RunOwner): NodeQuota[] => nodeQuotasOf(team?.quotas ?? NO_QUOTAS, owner)
        const queue = new Queue({
          ...{ placeOf, maxNodes, cores: availableParallelism(), clock, log, whyNotNow, quotasOf }
        })
        metrics?.watchQueue(queue)
        return queue
      }
    })
  }
  const service = await start().catch((thrown: unknown) => {
    // A service that does not start lets go of its folder.
    store.close()
    throw thrown
  })
  const retention = team && startRetention(keeping)
  later.retention = retention
  const reminder = team && remindOfEnds(accounts, { clock, log })
  return {
    url: service.url,
    /** The address and port on this machine, where they may differ from those of the url. */
    ...(team && { listening: front.listening() }),
    /** The one token; undefined where there are users with tokens of their own. */
    token,
    hasNoUsers: accounts.users().length === 0,
    /** Takes no new runs, waits for those at work as long as the config file says, and ends. */
    close: async () => {
      readiness.drain()
      if (team) await service.drain(team.drainMs)
      reminder?.close()
      await retention?.close()
      await service.close()
    }
  }
}

/** The tools of a team's service that is root are for the users of plans, who cannot read root's home. */
function withOpenCache(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const isChosen = Boolean(env.RUNNER_TOOL_CACHE) || Boolean(env.XDG_CACHE_HOME)
  return isChosen || process.getuid?.() !== 0 ? env : { ...env, XDG_CACHE_HOME: '/var/cache/loadgate' }
}

/** What the config file allows users and projects, and all of them together. */
function openQuotas(
  { quotas = NO_QUOTAS, retention: limits }: ServiceConfig,
  parts: {
    store: SqliteStore
    clock: Clock
    later: { retention?: ReturnType<typeof startRetention> | undefined }
  }
): ServiceQuotas {
  const { store, clock } = parts
  const disk = new DiskUse(store)
  return {
    uploads: new UploadBook({ quotas, store, clock }),
    requireRoom: (wanted, queue) => {
      requireQuotas(wanted, { quotas, store, disk, queue })
      parts.later.retention?.requireRoom(wanted.bytes, disk)
    },
    requirePinRoom: (run) => requirePinRoom(store, limits, run)
  }
}

/** For what restarts the service, and what sends callers to it. */
function addProbes(app: FastifyInstance, whyNotReady: () => string | undefined): void {
  const config = { open: 'probe' } as const
  app.get('/healthz', { config }, () => ({ status: 'ok' }))
  app.get('/readyz', { config }, (_request, reply) => {
    const reason = whyNotReady()
    if (reason === undefined) return { status: 'ready' }
    return reply.code(503).header('retry-after', '10').send({ error: reason })
  })
}

/** Why the state cannot be written now; undefined if it can. */
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
  {
    log,
    clock = systemClock,
    ...issuers
  }: { log: (line: string) => void; clock?: Clock | undefined } & UserIssuers
): SqliteStore {
  const database = openDatabase(dataDir, 'service')
  let lock: ReturnType<typeof requireLock> | undefined
  try {
    lock = requireLock(database, dataDir)
    // Before their runs are read.
    renameUsers(database, issuers)
    const store = new SqliteStore(dataDir, database, { log, clock, lock })
    store.folder.discardUploads()
    return store
  } catch (thrown) {
    lock?.close()
    database.close()
    throw explainDatabase(thrown, dataDir)
  }
}

/** Anyone may ask; the disk is probed no more often than this. */
const PROBE_EVERY_MS = 2000
/** A disk that is almost full still takes a few bytes. */
const PROBE_BYTES = 64 * 1024

/** Whether the service can take and start new runs: it can keep what it is given, its queue is not held, and it is not about to end. */
function createReadiness({ folder, hold }: Pick<SqliteStore, 'folder' | 'hold'>, clock: Clock) {
  let isDraining = false
  let probedMs = -Infinity
  let failure: string | undefined
  const probe = (): void => {
    // A clock that was set back must not keep an old answer.
    const sinceMs = clock.now() - probedMs
    if (sinceMs >= 0 && sinceMs < PROBE_EVERY_MS) return
    probedMs = clock.now()
    failure = undefined
    try {
      probeFolder(folder.path, PROBE_BYTES)
    } catch (thrown) {
      failure = `the data folder cannot be written: ${clauseOf(thrown)}`
    }
  }
  return {
    /** Undefined if new runs are welcome. */
    whyNot: (): string | undefined => {
      if (isDraining) return 'the service is about to end and accepts no new runs'
      probe()
      return failure ?? (hold.why === undefined ? undefined : describeHold(hold.why))
    },
    drain: (): void => {
      isDraining = true
    }
  }
}

type WriteLine = (line: string) => void

/** One JSON object per line, in the same form as those of the web framework. */
function createJsonLog(write: WriteLine, clock: Clock): WriteLine {
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
    // The framework's own hook for the end is not called if the caller hangs up.
    reply.raw.once('close', () => {
      const line = {
        method: request.method,
        // A token may be in the query.
        path: request.originalUrl.replace(/[?#].*$/s, '').slice(0, 300),
        route: request.routeOptions.url ?? null,
        status: reply.raw.headersSent ? reply.statusCode : null,
        ms: Math.round(reply.elapsedTime),
        address: request.ip,
        user: (request.user as FastifyRequest['user'] | undefined)?.name ?? null,
        ...(!reply.raw.writableFinished && { hung_up: true })
      }
      request.log.info(line, 'request')
    })
    done()
  })
}
