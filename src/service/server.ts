import { vocabularyOf } from '../contract/vocabulary.js'
import type { Regions } from '../contract/regions/regions.js'
import { messageOf } from '../contract/text.js'
import { type Clock, systemClock } from '../contract/clock.js'
import { removeFolder } from '../contract/files.js'
import type { ServiceFacts } from './service-facts.js'
import type { ServiceConfig } from './config/config.js'
import { Engines } from './engines/engine.js'
import { createBrowserEngine } from './engines/browser/browser.js'
import { createK6Engine } from './engines/k6/k6.js'
import { createGatlingEngine } from './engines/gatling/gatling.js'
import { createJMeterEngine } from './engines/jmeter/jmeter.js'
import { createRehearsalEngine } from './engines/rehearsal.js'
import { createSeleniumEngine } from './engines/selenium/selenium.js'
import { Grids } from './runs/grids.js'
import { addGuards } from './api/guards.js'
import { keepLogs, type LogRequest, keepSamples } from './runs/keep-logs.js'
import type { Pages } from './pages/send-page.js'
import { Isolation } from './nodes/machine/isolation.js'
import { createMachinePlace } from './nodes/machine/machine-place.js'
import { toolEnvironment } from './engines/tool-environment.js'
import { Processes, type ProcessGroup } from './nodes/machine/processes.js'
import { checkRegion, openPlaces, type PlaceParts, type Places } from './places.js'
import { downloadRoutes } from './api/download-routes.js'
import { addRoutes } from './api/routes.js'
import { RunPages } from './pages/run-pages.js'
import { LiveSamples } from './runs/live-samples.js'
import { Runs, type WantedRoom } from './runs/runs.js'
import type { UploadBook } from './quotas/uploads.js'
import { Verdicts } from './judging/verdicts.js'
import { SeenRuns } from './store/seen-runs.js'
import { Store } from './store/store.js'
import type { RunRecord } from '../contract/records.js'
import { type AuditLog, noAudit } from './accounts/audit-log.js'
import type { SignOn } from './accounts/login/sign-on.js'
import { whyNotStart } from './accounts/permissions.js'
import { ProjectAccess } from './accounts/project-access.js'
import { createSingleToken, createSingleUser, type Accounts, type User } from './accounts/users.js'
import { createApp } from './api/app.js'
import { createLoopbackFront, type Front } from './http/front.js'
import { Queue } from './queue/queue.js'
import { readLoad } from './nodes/machine/load-sample.js'
import { ToolRegistry } from './nodes/machine/tool-registry.js'
import { loginRoutes } from './pages/page-access.js'
import { signOnRoutes } from './pages/sign-on-routes.js'
import { pageRoutes } from './pages/page-routes.js'

export interface ServiceQuotas {
  /** Throws if there is no room for a new run. */
  readonly requireRoom: (wanted: WantedRoom, queue: Queue) => void
  /** Throws if a run cannot be kept for ever. */
  readonly requirePinRoom: (run: RunRecord) => Promise<void>
  readonly uploads: UploadBook
}

export interface ServiceOptions
  extends Pick<PlaceParts, 'onClusters' | 'onLeft' | 'signal'>, Partial<Pick<PlaceParts, 'env' | 'clock'>> {
  readonly dataDir: string
  /** Runs and grids; by default they are forgotten when the service ends. */
  readonly store?: Store | undefined
  /** By default one user, with the token. */
  readonly accounts?: Accounts | undefined
  /** By default people log in with tokens only. */
  readonly signOn?: SignOn | undefined
  /** By default nothing is recorded. */
  readonly audit?: AuditLog | undefined
  /** Makes the queue once the places are known; by default nobody waits. */
  readonly queue?: ((placeOf: Places['placeOf']) => Queue) | undefined
  /** By default the service is for callers on this machine, on any free port. */
  readonly front?: Front | undefined
  /** Random unless given. */
  readonly token?: string | undefined
  /** Real tools, or a rehearsal with synthetic samples. */
  readonly engine: 'real' | 'rehearsal'
  /** The seed of the rehearsal's samples. */
  readonly seed?: number
  /** Receives single lines, including the tools' output: untrusted, so whoever shows them must escape them. */
  readonly log: (line: string) => void
  /** Shows how far an installation is, on a terminal: a line in place of the one before, or none. Untrusted as well. */
  readonly progress?: ((line: string | undefined) => void) | undefined
  /** The name (brand) in the paths and fields of the service, if it has its own. */
  readonly serviceName?: string | undefined
  /** Called for every process group as it starts, so that it can be ended if this process is killed. */
  readonly onProcess?: (group: ProcessGroup) => void
  /** The registry of this user's tools, if the caller has ended the orphans in it already. */
  readonly registry?: Pick<ToolRegistry, 'note' | 'forget'>
  /** Whether the data folder outlives the process: then it records the running tools too, whatever the home folder is at the next start. */
  readonly isLasting?: boolean
  /**
   * For plans that are strangers here: those on this machine have homes of their own, and if this is root, users. Where that is not possible they
   * run as root, with a line in the log, or are not run at all.
   */
  readonly isolatesPlans?: 'where possible' | 'always'
  readonly maxUploadBytes?: number
  /** What users and projects may have; by default everything. */
  readonly quotas?: ServiceQuotas | undefined
  /** Renders the web pages; without it there are none. Loaded with the first request for one. */
  readonly pages?: () => Promise<Pages>
  /** Measures this machine while tools run. */
  readonly readLoad?: typeof readLoad
  /** Where the nodes of each region run; without it, every region is this machine. */
  readonly regions?: Regions | undefined
  /** Identifies what this service creates on clusters; by default it is kept in the data folder. */
  readonly marker?: string | undefined
  readonly places?: Places | undefined
  /** Who sees and creates the runs of each project; without it, every user sees everything. */
  readonly projects?: ServiceConfig['projects']
}

export type Service = Omit<EmbeddedService, 'keepLogs' | 'keepSamples'>

/** A service in this process, with access to its data folder. */
export type EmbeddedService = Awaited<ReturnType<typeof startService>>

const DEFAULT_MAX_UPLOAD_BYTES = 2 * 1024 ** 3

export async function startService(options: ServiceOptions) {
  const log = safeLog(options.log)
  const clock = options.clock ?? systemClock
  const store = options.store ?? new Store(options.dataDir)
  const env = options.env ?? process.env
  // Before anything else: a folder that is not writable must not leave a tool running.
  const registries = [options.registry ?? (await openRegistry(env, log))]
  if (options.isLasting) registries.push(await openRegistry(env, log, options.dataDir))
  store.claim()
  const closing = new AbortController()
  const processes = new Processes({
    onStart: (group, tempDir) => {
      for (const registry of registries) registry.note(group, tempDir)
      options.onProcess?.(group)
    },
    onEnd: (pid) => registries.forEach((registry) => registry.forget(pid)),
    onLeft: log
  })
  const places =
    options.places ??
    (await openPlaces(options.regions, {
      machine: createMachinePlace({
        ...{ processes, env: toolEnvironment(env) },
        isolation:
          options.isolatesPlans &&
          new Isolation({ ...store.folder.forPlans(), isRequired: options.isolatesPlans === 'always', log })
      }),
      marker: () => options.marker ?? store.marker(),
      ...{ env, clock, log, onClusters: options.onClusters, onLeft: options.onLeft, signal: options.signal }
    }).catch((thrown: unknown) => {
      // A service that cannot use its places does not start, and lets go of its folder.
      store.close()
      throw thrown
    }))
  const engines = createEngines(options, { clock, log, processes, signal: closing.signal })
  const placeOf: Places['placeOf'] = (region) => places.placeOf(region)
  // Inside a step there is one gate with one run at a time: nobody waits.
  const queue =
    options.queue?.(placeOf) ?? new Queue({ maxNodes: Infinity, placeOf, cores: Infinity, clock, log })
  const grids = new Grids({ store, clock, placeOf, queue, log })
  const token = options.token ?? createSingleToken()
  const accounts = options.accounts ?? createSingleUser(token, { clock })
  const access = new ProjectAccess(options.projects)
  const runs = new Runs({
    ...{ store, grids, engines, queue, clock, log },
    whyNotStart: (run) => whyNotStart(run, { accounts, access }),
    isSeenAlike: (run, other) => access.isSeenAlike(run, other),
    checkRegion: (region) => checkRegion(region, places),
    requireRoom: (wanted) => options.quotas?.requireRoom(wanted, queue),
    readLoad: options.readLoad ?? readLoad
  })
  // No run starts before the service can be reached: where it cannot, it ends again.
  queue.pause()
  await places.clearAway(await runs.adoptLeftovers())

  const front = options.front ?? (await createLoopbackFront())
  const app = createApp(front)
  const { pages: loadPages, signOn } = options
  const words = vocabularyOf(options.serviceName)
  const known = {
    ...{ words, store, access, places, accounts, signOn, queue, front, clock, log },
    seenBy: (user: User) => new SeenRuns(store, access.visibilityOf(user)),
    startedMs: clock.now()
  }
  const facts: ServiceFacts = { ...known, loadPages }
  const verdicts = new Verdicts({ store, settle: (run) => runs.settle(run), clock, log })
  const pages =
    loadPages && new RunPages({ facts: { ...known, loadPages }, verdicts, synthetic: engines.synthetic })
  const audit = options.audit ?? noAudit
  addGuards(app, facts, audit)
  const maxUploadBytes = options.maxUploadBytes ?? DEFAULT_MAX_UPLOAD_BYTES
  const live = new LiveSamples(store)
  const { uploads, requirePinRoom } = options.quotas ?? {}
  const ofRuns = { grids, runs, engines, verdicts, pages, live }
  addRoutes(app, { facts, ...ofRuns, maxUploadBytes, uploads, requirePinRoom }, [
    ...(loadPages ? loginRoutes({ ...known, loadPages }) : []),
    ...(loadPages && signOn ? signOnRoutes({ ...known, loadPages }, signOn) : []),
    ...(pages ? pageRoutes({ facts, verdicts, pages }) : []),
    ...(pages ? downloadRoutes({ facts, runs, live, verdicts, pages }) : [])
  ])
  await front.listen(app)
  queue.resume()
  audit.write({ action: 'service.start' })
  return {
    url: front.baseUrl(),
    token,
    /** Copies a run's tool logs, redacted; returns the paths of the copies. */
    keepLogs: (request: LogRequest) => keepLogs(store, { ...request, secrets: [...request.secrets, token] }),
    /** Moves all results into a folder. Only after the service was closed. Returns the paths of the files. */
    keepSamples: (folder: string) => keepSamples(store, folder),
    /** Nothing new is created or started any more; resolves when the runs at work have ended, or after this time. */
    drain: (forMs: number) => runs.drain(forMs),
    /** Stops the runs, ends all processes and closes. Results that cannot be merged in time are merged at the next start. */
    close: async ({ withinMs }: { withinMs?: number } = {}) => {
      closing.abort()
      pages?.close()
      await runs.close(withinMs)
      await processes.endAll()
      await grids.close()
      await app.close()
      audit.write({ action: 'service.stop' })
      await store
        .flushWhenFree()
        .catch((thrown: unknown) =>
          log(
            `the service ends, and its next start has to find out how runs have ended: ${messageOf(thrown)}`
          )
        )
      store.close()
    }
  }
}

async function openRegistry(...parts: Parameters<typeof ToolRegistry.open>): Promise<ToolRegistry> {
  const registry = ToolRegistry.open(...parts)
  await registry.endOrphans()
  return registry
}

/** A service for one gate: its data folder is removed when it closes, because everything worth keeping was collected. */
export function discardOnClose(service: EmbeddedService, dataDir: string) {
  return {
    ...service,
    /** With a folder for the samples that nobody has collected. */
    close: async ({ keepSamplesIn, ...end }: { withinMs?: number; keepSamplesIn?: string } = {}) => {
      await service.close(end)
      if (keepSamplesIn !== undefined) await service.keepSamples(keepSamplesIn)
      await removeFolder(dataDir)
    }
  }
}

function createEngines(
  options: ServiceOptions,
  parts: { clock: Clock; log: (line: string) => void; processes: Processes; signal: AbortSignal }
): Engines {
  const { clock, log, processes, signal } = parts
  if (options.engine === 'rehearsal')
    return new Engines([createRehearsalEngine({ seed: options.seed ?? 1, clock })])
  const ports = { env: options.env ?? process.env, processes, signal, log, progress: options.progress }
  const packageNames = options.serviceName === undefined ? [] : [`@${options.serviceName}/element`]
  return new Engines([
    createJMeterEngine(ports),
    createGatlingEngine(ports),
    createSeleniumEngine(ports),
    createBrowserEngine(ports, { packageNames }),
    createK6Engine(ports)
  ])
}

/** For what tools and plans say, line by line. Control characters become spaces: redacted text around one must not join up again. */
export function safeLog(log: (line: string) => void): (text: string) => void {
  return (text) => {
    // eslint-disable-next-line no-control-regex -- control characters are what is looked for
    const plain = text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g, ' ')
    for (const line of plain.split(/[\r\n]+/)) if (line !== '') log(line)
  }
}
