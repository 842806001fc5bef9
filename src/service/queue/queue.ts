import type { GridSpec, RunRecord } from '../../contract/records.js'
import { type Clock, steadyNow } from '../../contract/clock.js'
import { count, formatDuration } from '../../contract/text.js'
import { refuseUntilRestart } from '../errors.js'
import type { NodePlace } from '../nodes/load-node.js'
import { type Job, type Resource, WaitingLine } from './waiting-line.js'

/** Whose quotas a run counts for. */
export interface RunOwner {
  readonly user: RunRecord['user'] | undefined
  readonly project: string | null
}

/** How many nodes a user or a project may have at work. */
export interface NodeQuota {
  /** One text for each user and each project. */
  readonly key: string
  readonly most: number
  /** With the quota, and who may raise it: follows `at most 4 fit`. */
  readonly where: string
  /** For a run that waits for it. */
  readonly reason: string
}

/** A run that needs nodes in each of its grids. */
export interface Entry extends RunOwner {
  readonly id: string
  readonly grids: readonly GridSpec[]
  /** It has its nodes already, from before this service started: it does not wait. */
  readonly isContinued: boolean
}

/** Another run that had work on this machine at the same time. */
export interface Sharing {
  readonly runId: string
  readonly sharedMs: number
}

/** The nodes of a run are at work. */
export interface Turn {
  /** Its load is over; returns what disturbed it. */
  endLoad(): readonly Sharing[]
  /** Its nodes are free again. */
  leave(): void
}

interface Parts {
  /** The most nodes at work at a time, in all places together. Undefined leaves it to the places; with Infinity, runs share this machine without limit. */
  readonly maxNodes: number | undefined
  readonly placeOf: (region: string) => NodePlace | undefined
  readonly cores: number
  /** Why no run may start right now although there are nodes: a start that cannot be recorded. */
  readonly whyNotNow?: () => string | undefined
  readonly quotasOf?: ((owner: RunOwner) => readonly NodeQuota[]) | undefined
  readonly clock: Clock
  readonly log: (line: string) => void
}

/** How soon to check again whether a run may start. */
const LOOK_AGAIN_MS = 5000

/** The most processes of one run on a machine without a queue. */
const MOST_PROCESSES = 64

interface Limited extends Resource {
  /** A run or grid that needs more nodes than this can never start. */
  readonly largest: number | undefined
  /** `on this machine`: where they fit. */
  readonly where: string
  /** Of a quota. */
  readonly reason?: NodeQuota['reason']
}

interface Waiting extends Job {
  readonly entry: Entry
  readonly enteredMs: number
  readonly start: () => void
}

/** Limits the nodes at work. Without `maxNodes` a run has this machine for itself, and a cluster its own limit; with it, runs may share. */
export class Queue {
  readonly #line = new WaitingLine<Waiting>()
  readonly #resources = new Map<NodePlace, Limited>()
  readonly #quotas = new Map<string, Limited>()
  readonly #all: Limited
  /** The runs that generate load on this machine: since when, and with which others for how long. */
  readonly #loads = new Map<string, { readonly startedMs: number; readonly shared: Map<string, number> }>()
  /** Called with how long each one had waited, when its turn comes. */
  onTurn: (waitedMs: number) => void = () => undefined
  #isPaused = false
  #refusal: string | undefined
  /** Why no run may start, if so, until the next check. */
  #obstacle: { readonly why: string; readonly callOff: () => void } | undefined

  constructor(private readonly parts: Parts) {
    const most = parts.maxNodes === Infinity ? undefined : parts.maxNodes
    const where = 'into this service (max-nodes)'
    this.#all = { most, largest: most, where, isExclusive: false, isPlace: false }
  }

  get length(): number {
    return this.#line.length
  }

  get nodesAtWork(): number {
    return this.#line.useOf(this.#all)
  }

  /** Undefined if only the places have limits. */
  get limit(): number | undefined {
    return this.#all.most
  }

  /** Why a run on these grids, or this grid alone, could never start; empty if it can. */
  check(kind: 'run' | 'grid', grids: readonly GridSpec[], owner?: RunOwner): string[] {
    return [...this.#needsOf(grids, owner)].flatMap(([{ largest, where }, nodes]) =>
      largest === undefined || nodes <= largest
        ? []
        : [`this ${kind} needs ${count(nodes, 'node')}, and at most ${largest} fit ${where}`]
    )
  }

  /** Waits until there are enough nodes, in the order of the calls; rejects with the reason of the signal, or why that is never. */
  enter(entry: Entry, signal: AbortSignal): Promise<Turn> {
    if (signal.aborted) return Promise.reject(signal.reason as Error)
    const job = { id: entry.id, user: userOf(entry), needs: this.#needsOf(entry.grids, entry) }
    if (entry.isContinued) {
      this.#line.hold(job)
      return Promise.resolve(this.#begin(entry))
    }
    // It may have been queued by a service with more nodes: a run that can never start must not hold up others.
    const problems = this.check('run', entry.grids, entry)
    if (problems.length > 0) return Promise.reject(new Error(problems.join('; ')))
    return new Promise((resolve, reject) => {
      const abort = (): void => {
        this.#line.remove(entry.id)
        this.#admit()
        reject(signal.reason as Error)
      }
      const start = (): void => {
        signal.removeEventListener('abort', abort)
        resolve(this.#begin(entry))
      }
      signal.addEventListener('abort', abort, { once: true })
      const mayStart = this.#line.hasEnoughFor(job)
      this.#line.join({ ...job, entry, enteredMs: steadyNow(this.parts.clock), start })
      // Nothing has become free for the others.
      if (mayStart) this.#admit()
      // A restarted service may have thousands of runs: their positions are computed once for all of them.
      if (this.isWaiting(entry.id)) setImmediate(() => this.#tell(entry))
    })
  }

  /** Whose runs have started lately, the longest ago first: users take turns across a restart, too. */
  recall(owners: readonly RunOwner[]): void {
    this.#line.recall(owners.map(userOf))
  }

  isWaiting(id: string): boolean {
    return this.#line.isWaiting(id)
  }

  /** From 1; null if the run is not waiting. */
  positionOf(id: string): number | null {
    return this.#line.positionOf(id)
  }

  /** Why a waiting run does not start, apart from those before it; undefined if there is no such reason. */
  reasonFor(id: string): string | undefined {
    if (!this.isWaiting(id)) return undefined
    if (this.#obstacle) return this.#obstacle.why
    const quota = this.#line.lackingOf(id).find(({ isQuota }) => isQuota) as Limited | undefined
    return quota?.reason
  }

  /** From now on no run starts: the service cannot be reached yet, or, with a reason, is about to end and accepts nothing new. */
  pause(refusal?: string): void {
    this.#isPaused = true
    this.#refusal = refusal
    this.#obstacle?.callOff()
  }

  /** Not before an upload was read: its caller would lose the reply. */
  requireOpen(): void {
    if (this.#refusal !== undefined) throw refuseUntilRestart(this.#refusal)
  }

  resume(): void {
    this.#isPaused = false
    this.#admit()
  }

  /** What kept runs from starting may be gone. */
  lookAgain(): void {
    this.#admit()
  }

  #tell({ id }: Entry): void {
    const position = this.positionOf(id)
    if (position === null) return
    const { most } = this.#all
    const use = `${this.nodesAtWork}${most === undefined ? '' : ` of at most ${most}`}`
    this.parts.log(`run ${id} waits in the queue, position ${position}: nodes at work: ${use}`)
  }

  #admit(): void {
    if (this.#isPaused || this.#line.length === 0 || this.#isHindered()) return
    for (const waiting of this.#line.admit()) this.#call(waiting)
  }

  /** Waiting runs lose nothing by waiting longer; if they started now, they would fail. */
  #isHindered(): boolean {
    const { whyNotNow, clock, log } = this.parts
    const before = this.#obstacle
    before?.callOff()
    const why = whyNotNow?.()
    if (why !== undefined && why !== before?.why) log(`no queued run starts for now: ${why}`)
    if (why === undefined && before) log('queued runs can start again')
    this.#obstacle =
      why === undefined ? undefined : { why, callOff: clock.after(LOOK_AGAIN_MS, () => this.#admit()) }
    return why !== undefined
  }

  #call({ entry, enteredMs, start }: Waiting): void {
    const { clock, log } = this.parts
    const waitedMs = Math.max(0, steadyNow(clock) - enteredMs)
    if (waitedMs >= 1000) log(`run ${entry.id} starts after ${formatDuration(waitedMs)} in the queue`)
    start()
    this.onTurn(waitedMs)
  }

  #begin(entry: Entry): Turn {
    const { clock } = this.parts
    const isOnMachine = entry.grids.some(({ region }) => isMachine(this.parts.placeOf(region)))
    if (isOnMachine) this.#loads.set(entry.id, { startedMs: steadyNow(clock), shared: new Map() })
    let isGone = false
    return {
      endLoad: () => this.#endLoad(entry.id),
      leave: () => {
        // Another turn may have begun for the same run since.
        if (isGone) return
        isGone = true
        this.#endLoad(entry.id)
        this.#line.remove(entry.id)
        this.#admit()
      }
    }
  }

  /** Returns the runs that shared the machine with it. */
  #endLoad(runId: string): Sharing[] {
    const load = this.#loads.get(runId)
    if (!load) return []
    this.#loads.delete(runId)
    for (const [otherId, other] of this.#loads) {
      const sharedMs = steadyNow(this.parts.clock) - Math.max(load.startedMs, other.startedMs)
      load.shared.set(otherId, sharedMs)
      other.shared.set(runId, sharedMs)
    }
    return [...load.shared].map(([id, sharedMs]) => ({ runId: id, sharedMs }))
  }

  #needsOf(grids: readonly GridSpec[], owner?: RunOwner): Map<Limited, number> {
    const needs = new Map<Limited, number>()
    const quotas = owner ? (this.parts.quotasOf?.(owner) ?? []).map((quota) => this.#limitedBy(quota)) : []
    for (const { region, instanceQuantity } of grids) {
      const place = this.parts.placeOf(region)
      if (place === undefined) continue
      for (const resource of [this.#resourceOf(place), this.#all, ...quotas])
        needs.set(resource, (needs.get(resource) ?? 0) + instanceQuantity)
    }
    return needs
  }

  #limitedBy({ key, most, where, reason }: NodeQuota): Limited {
    const quota = this.#quotas.get(key) ?? {
      ...{ most, largest: most, where, reason },
      ...{ isExclusive: false, isPlace: false, isQuota: true }
    }
    this.#quotas.set(key, quota)
    return quota
  }

  #resourceOf(place: NodePlace): Limited {
    const known = this.#resources.get(place)
    if (known) return known
    const isExclusive = isMachine(place) && this.parts.maxNodes === undefined
    const resource = { ...limitOf(place, this.parts), isExclusive, isPlace: true }
    this.#resources.set(place, resource)
    return resource
  }
}

function userOf({ user }: RunOwner): string {
  return String(user?.id ?? '')
}

/** Without `max-nodes`, each node on this machine has a core; where runs share it without a limit, there is one for each of them. */
function limitOf(place: NodePlace, { maxNodes, cores }: Parts): Pick<Limited, 'most' | 'largest' | 'where'> {
  if (!isMachine(place))
    return { most: place.mostNodes, largest: place.mostNodes, where: `into ${place.name}` }
  const where = `on ${place.name}`
  if (maxNodes !== undefined)
    return { most: undefined, largest: maxNodes === Infinity ? MOST_PROCESSES : undefined, where }
  const advice = "one for each core, unless max-nodes in the service's configuration allows more"
  return { most: cores, largest: cores, where: `${where}: ${advice}` }
}

function isMachine(place: NodePlace | undefined): boolean {
  return place?.outlivesService === false
}
