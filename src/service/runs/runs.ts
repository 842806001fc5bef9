import { rename, rm } from 'node:fs/promises'
import { makeFolder, sizeOfFolder } from '../../contract/files.js'
import { refuseAll, RequestError } from '../errors.js'
import { count, formatDuration, joinWords, messageOf, when } from '../../contract/text.js'
import { describeRepeat, MARKER } from '../../contract/api/run-source.js'
import type { Queue, RunOwner } from '../queue/queue.js'
import { asideGroupsOf } from './aside-groups.js'
import { executeRun, Postponed } from './execute-run.js'
import { Interruption } from './interruption.js'
import { isOwn, type RunPorts } from './make-ready.js'
import { type GridWish, isActive, isUnstarted } from '../store/store.js'
import type { NodesInUse } from '../nodes/load-node.js'
import {
  type FileRecord,
  type GridRecord,
  hasEnded,
  ownerOfFiles,
  type RunRecord,
  type RunRequest,
  type RunThresholds
} from '../../contract/records.js'
import { type RunEnd, RunEndings } from './run-endings.js'
import { createId } from '../store/data-folder.js'

interface Execution {
  readonly run: RunRecord
  readonly controller: AbortController
  readonly done: Promise<void>
}

interface Ports extends RunPorts {
  readonly queue: Queue
  /** What is wrong with a region, if anything. */
  readonly checkRegion: (region: string) => string[]
  /** Throws if the owner has used up a quota, or the service its disk. */
  readonly requireRoom?: ((wanted: WantedRoom) => void) | undefined
}

/** What a new run takes. */
export interface WantedRoom extends RunOwner {
  readonly bytes: number
}

interface RunWish {
  readonly request: RunRequest
  readonly grids: readonly GridWish[]
  readonly files: readonly FileRecord[]
  readonly filesOf?: RunRecord['filesOf'] | undefined
  readonly user?: RunRecord['user'] | undefined
  readonly thresholds?: RunThresholds | undefined
  /** A new one, unless it is given. */
  readonly id?: string | undefined
}

const ENDED_UNOBSERVED: RunEnd = {
  ...{ problems: ['The service ended during this run.'], losses: [], nodes: [], endedMs: undefined }
}

/** The runner kills ten seconds after its first signal, and the tools need part of that to exit. */
const CLOSE_WITHIN_MS = 4500
/** Of the latest runs, to know after a restart whose turn was when. */
const MOST_RECALLED = 500

/** Runs and their life cycle: `queued → running → finished`, or `problem` if the plan did not run to completion. */
export class Runs {
  private readonly executions = new Map<string, Execution>()
  private readonly endings: RunEndings
  /** Callers who are creating something and have no reply yet. */
  private readonly callers = new Set<Promise<void>>()

  constructor(private readonly ports: Ports) {
    this.endings = new RunEndings(ports)
  }

  /** Takes ownership of the uploaded files and starts the run. */
  create({ uploadDir, ...wish }: RunWish & { uploadDir: string }): Promise<RunRecord> {
    return this.begin(wish, (folder) => rename(uploadDir, folder))
  }

  /** Repeats the same plan and files as a new run: on new grids like those that were created with it, and on the same others. */
  async repeat(previous: RunRecord, { user, id }: Pick<RunWish, 'user' | 'id'> = {}): Promise<RunRecord> {
    const { store, queue } = this.ports
    queue.requireOpen()
    if (!hasEnded(previous)) throw new RequestError(422, `run ${previous.id} is still ${previous.status}`)
    const known = store.gridsOf(previous)
    // With fewer grids it would be a different test.
    if (known.length < previous.gridIds.length)
      throw new RequestError(410, `run ${previous.id} cannot be repeated: its grids have been deleted`)
    if (!store.folder.hasUploads(previous))
      throw new RequestError(410, `run ${previous.id} cannot be repeated: its files have been deleted`)
    const grids = known.map((grid) => (isOwn(previous, grid) ? { spec: grid.spec } : { uuid: grid.id }))
    const files = previous.files.map(({ name }) => ({ uuid: createId(), name }))
    // They stay those of whoever uploaded them: a repeat by somebody else uses their values and does not show them.
    const owner = ownerOfFiles(previous)
    const filesOf = owner === user?.id ? undefined : (owner ?? null)
    const request = { ...previous.request, ...describeRepeat(previous.id, previous.request) }
    // Judged by the same lines, and not by the earlier results.
    const thresholds = previous.thresholds && { ...previous.thresholds }
    delete thresholds?.verdict
    return this.begin({ request, grids, files, filesOf, user, thresholds, id }, (folder) =>
      store.folder.copyUploads(previous, folder)
    )
  }

  /** Ends the run's processes and returns when its results are ready. */
  async stop(run: RunRecord): Promise<void> {
    const execution = this.executions.get(run.id)
    if (!execution) return
    if (!hasEnded(run)) {
      run.status = 'stopping'
      this.ports.store.saveRun(run)
    }
    const atMs = this.ports.clock.now()
    execution.controller.abort(new Interruption({ what: 'stopped by a caller', atMs, isAllowed: true }))
    await execution.done
  }

  /** Continues runs whose nodes outlived their service; unstarted runs wait again; others end; grids continue. Returns which nodes are in use. */
  async adoptLeftovers(): Promise<NodesInUse[]> {
    const { store, grids, log } = this.ports
    const inUse: NodesInUse[] = []
    const unstarted: RunRecord[] = []
    for (const run of store.unsettledRuns()) {
      if (run.unmerged) await this.settle(run).catch((thrown: unknown) => log(messageOf(thrown)))
      if (hasEnded(run)) continue
      const fate = this.decideFate(run)
      if (fate === 'end') await this.endings.conclude(run, ENDED_UNOBSERVED)
      if (fate === 'wait') unstarted.push(run)
      if (fate !== 'continue') continue
      const active = store.gridsOf(run).filter(isActive)
      inUse.push(...active.map((grid) => ({ runId: run.id, gridId: grid.id })))
      log(`continuing with run ${run.id}, which a service that ended left behind`)
      this.launch(run, { isContinued: true })
    }
    // After those that have their nodes already, in their order.
    if (unstarted.length > 0) this.recallTurns(unstarted)
    for (const run of unstarted) this.waitAgain(run)
    const awaited = new Set([...this.executions.values()].flatMap(({ run }) => run.gridIds))
    for (const grid of store.activeGrids()) {
      if (grid.status === 'started' || grid.batchId === null) grids.resume(grid)
      else if (!awaited.has(grid.id)) await grids.noteRunEnd(grid)
    }
    return inUse
  }

  /** Merges the results of a run that had no space or no time for it when it ended. */
  settle(run: RunRecord): Promise<void> {
    return this.endings.settle(run)
  }

  /** Somebody is creating a run or a grid; a drain waits until they have a reply. */
  noteCaller(told: Promise<void>): void {
    this.callers.add(told)
    void told.then(() => this.callers.delete(told))
  }

  /** No run starts any more; running ones get this time to end, and callers who are uploading are told to try again. */
  async drain(forMs: number): Promise<void> {
    const { clock, log, queue } = this.ports
    queue.pause('the service is about to restart and starts no new runs or grids until then')
    const atWork = [...this.executions].filter(([id]) => !queue.isWaiting(id))
    const { size } = this.callers
    const awaited = [
      ...when(atWork.length > 0, `${count(atWork.length, 'run')} to end`),
      ...when(size > 0, `${count(size, 'upload')} to arrive`)
    ]
    if (awaited.length === 0) return
    log(`draining: waiting up to ${formatDuration(forMs)} for ${joinWords(awaited)}`)
    let callOff = (): void => undefined
    const timeUp = new Promise<void>((resolve) => (callOff = clock.after(forMs, resolve)))
    const ended = Promise.all(atWork.map(([, { done }]) => done))
    // Callers who arrive while the last ones get their replies do not prolong it: their gates try again.
    await Promise.race([ended.then(() => Promise.all(this.callers)), timeUp])
    callOff()
  }

  /** Ends all runs in time; what is left to merge waits for the next start, and so do unstarted runs. */
  async close(withinMs = CLOSE_WITHIN_MS): Promise<void> {
    const { clock, log, queue } = this.ports
    queue.pause('the service is closing')
    const callOff = this.endings.limitTo(withinMs)
    const executions = [...this.executions]
    for (const [id, { run, controller }] of executions) {
      if (controller.signal.aborted) continue
      if (isUnstarted(run)) {
        controller.abort(new Postponed('the service was closed'))
        continue
      }
      // A run that has ended may still be closing its nodes.
      if (!hasEnded(run)) log(`ending run ${id} because the service is closing; its results so far are kept`)
      const what = 'The service was closed during this run.'
      controller.abort(new Interruption({ what, atMs: clock.now() }))
    }
    await Promise.all(executions.map(([, { done }]) => done))
    callOff()
  }

  private requirePossible({ grids: wishes, user, request }: RunWish, bytes: number): void {
    const { queue, store } = this.ports
    const owner = { user, project: request.project }
    queue.requireOpen()
    const problems = [
      ...this.checkTags(request.tags, user),
      ...wishes.flatMap((wish) => this.checkWish(wish))
    ]
    const specs = wishes.flatMap((wish) => ('spec' in wish ? wish : store.grid(wish.uuid))?.spec ?? [])
    if (problems.length === 0) problems.push(...queue.check('run', specs, owner))
    if (problems.length > 0) throw refuseAll(problems)
    this.ports.requireRoom?.({ ...owner, bytes })
  }

  /** A gate stops every run with its tag but one: nobody else can create a run with it. */
  private checkTags(tags: readonly string[], user: RunWish['user']): string[] {
    return tags
      .filter((tag) => MARKER.test(tag))
      .flatMap((tag) => {
        const [first] = this.ports.store.listRuns({ filter: { tag }, offset: 0, limit: 1 }).runs
        return when(
          first !== undefined && first.user?.id !== user?.id,
          `tag_list: ${tag} is the tag of a gate that somebody else runs; remove it`
        )
      })
  }

  private checkWish(wish: GridWish): string[] {
    if ('spec' in wish) return this.ports.checkRegion(wish.spec.region)
    const grid = this.ports.store.grid(wish.uuid)
    if (!grid) return [`there is no grid ${wish.uuid}`]
    return grid.status === 'started' ? [] : [`grid ${wish.uuid} is ${grid.status}, not started`]
  }

  /** Whose runs were at work when the first of the waiting ones came, or since. */
  private recallTurns(waiting: readonly RunRecord[]): void {
    const { store, queue } = this.ports
    const sinceMs = Math.min(...waiting.map(({ createdMs }) => createdMs))
    const { runs } = store.listRuns({ offset: 0, limit: MOST_RECALLED })
    const turns = runs.flatMap((run) =>
      run.startedMs === null || (run.stoppedMs ?? Infinity) < sinceMs ? [] : [{ run, atMs: run.startedMs }]
    )
    turns.sort((one, other) => one.atMs - other.atMs)
    queue.recall(turns.map(({ run: { user, request } }) => ({ user, project: request.project })))
  }

  /** A run whose tools may have been started is never started again. */
  private decideFate(run: RunRecord): 'wait' | 'continue' | 'end' {
    const { store, grids } = this.ports
    const all = store.gridsOf(run)
    if (run.status === 'stopping' || all.length !== run.gridIds.length) return 'end'
    // If it has nodes already, nothing has run on them: they are deleted, and it gets new ones.
    if (isUnstarted(run) && run.goMs === undefined) return 'wait'
    return all.every((grid) => grids.outlives(grid)) ? 'continue' : 'end'
  }

  private waitAgain(run: RunRecord): void {
    const { store, grids, log } = this.ports
    log(`run ${run.id} waits again: it had not started when the service ended`)
    for (const grid of store.gridsOf(run)) grids.postpone(grid)
    this.launch(run, { isContinued: false })
  }

  private async begin(wish: RunWish, placeFiles: (folder: string) => Promise<unknown>): Promise<RunRecord> {
    const { store } = this.ports
    this.requirePossible(wish, 0)
    const { id = createId() } = wish
    const folder = store.folder.runDir(id)
    try {
      makeFolder(folder, { mode: 0o700 })
      await placeFiles(store.folder.uploadDir(id))
      await store.secure(store.folder.uploadDir(id))
      const asideGroups = await asideGroupsOf({ ...wish, id }, store)
      const bytes = await sizeOfFolder(store.folder.uploadDir(id))
      return await this.record(id, wish, { asideGroups, bytes })
    } catch (thrown) {
      await rm(folder, { recursive: true, force: true })
      throw thrown
    }
  }

  private async record(
    id: string,
    wish: RunWish,
    { asideGroups, bytes }: { asideGroups: readonly string[]; bytes: number }
  ): Promise<RunRecord> {
    const { run } = await this.ports.store.createWhenFree(() => {
      // Another run may have been created while the files were moved, or the service is closing.
      this.requirePossible(wish, bytes)
      return this.describe(id, wish, asideGroups)
    })
    this.launch(run, { isContinued: false })
    return run
  }

  private describe(
    id: string,
    { request, grids, files, filesOf, user, thresholds }: RunWish,
    asideGroups: readonly string[]
  ): { run: RunRecord; grids: readonly GridRecord[] } {
    const { store, clock } = this.ports
    const batchId = createId()
    const createdFor = { project: request.project, privacy: request.privacy }
    const owner = user && { id: user.id, name: user.name }
    const own: GridRecord[] = []
    const gridIds = grids.map((grid) => {
      if ('uuid' in grid) return grid.uuid
      const described = this.ports.grids.describe(grid.spec, { batchId, user: owner, createdFor })
      own.push(described)
      return described.id
    })
    const run: RunRecord = {
      ...{ id, batchId, request, gridIds, files, status: 'queued' },
      ...(filesOf !== undefined && { filesOf }),
      ...(user && { user }),
      ...(thresholds && { thresholds }),
      createdMs: clock.now(),
      sequence: store.nextSequence(),
      ...{ toolVersion: null, apdex: null, samples: null, remoteErrors: null, report: null },
      ...{ startedMs: null, stoppedMs: null, asideGroups },
      mark: createId()
    }
    return { run, grids: own }
  }

  private launch(run: RunRecord, { isContinued }: { isContinued: boolean }): void {
    const { queue, grids, store, log } = this.ports
    const controller = new AbortController()
    const { signal } = controller
    const all = store.gridsOf(run)
    // At once, so that runs wait in the order in which they were created. A waiting run that loses one of its grids ends.
    const ends = isContinued ? [] : all.map((grid) => grids.endSignal(grid))
    const specs = all.map(({ spec }) => spec)
    const turn = queue.enter(
      { id: run.id, user: run.user, project: run.request.project, grids: specs, isContinued },
      AbortSignal.any([signal, ...ends])
    )
    // `executeRun` gets it a moment later.
    turn.catch(() => undefined)
    if (!queue.isWaiting(run.id)) for (const grid of all) grids.prepare(grid)
    const done = executeRun(this.ports, run, { isContinued, signal, turn, endings: this.endings })
      .catch((thrown: unknown) => log(`run ${run.id} could not be saved: ${messageOf(thrown)}`))
      .finally(() => this.executions.delete(run.id))
    this.executions.set(run.id, { run, controller, done })
  }
}
