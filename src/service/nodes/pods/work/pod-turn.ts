import { constants } from 'node:os'
import { dirname } from 'node:path'
import { orAborted } from '../../../../contract/clock.js'
import { ClusterError } from '../../kubernetes/cluster.js'
import { type NodeCommand, NodeError, type NodeExit } from '../../load-node.js'
import { copyIn } from './copy-in.js'
import { followFile } from './follow-file.js'
import { FollowedFiles } from './follow-turn.js'
import { inspectTurn, stopTool, HASHED_BYTES_PER_MS, verifyCopy } from './inspect-turn.js'
import { LocalCopy } from './local-copy.js'
import { type PodRecord, readPodClock, readTurnState } from './pod-record.js'
import type { PodContact } from './pod-contact.js'
import { LATE, PodDesk } from './pod-desk.js'
import { commandScript, type PodPaths } from './pod-environment.js'
import { RefusedError } from '../timings.js'

interface TurnParts {
  readonly contact: PodContact
  readonly paths: PodPaths
  readonly record: PodRecord
  /** The folder of the turn in the pod. */
  readonly turn: string
}

/** So often a stream that waits for `go` is used, lest somebody between here and there closes it. */
const PING_MS = 5_000
/** The longest that everything after the end may take once the run was stopped. */
const LAST_STEPS_MS = 60_000

/** One piece of work in a pod, from its files to its results. What the pod says decides where to begin. */
export class PodTurn {
  /** For everything after the start: it is not over when the run is stopped, for the last results are still to come. */
  readonly #bounds = new AbortController()
  #files: FollowedFiles | undefined

  constructor(
    private readonly parts: TurnParts,
    private readonly command: NodeCommand,
    private readonly signal: AbortSignal
  ) {}

  async run(): Promise<NodeExit> {
    const isTakenUp = !(await this.#bring())
    await this.#start(isTakenUp)
    const over = new AbortController()
    // When the run is stopped, the tool is, and the work goes on until the last results are here: for a while.
    const onStop = (): void => void this.#limit(over.signal)
    if (this.signal.aborted) onStop()
    else this.signal.addEventListener('abort', onStop, { once: true })
    try {
      return await this.#finish(isTakenUp)
    } catch (thrown) {
      if (!(thrown instanceof NodeError) || this.#files === undefined) throw thrown
      throw new NodeError(
        `${thrown.message} The ${this.#files.resultBytes} bytes of its results that had arrived are kept.`,
        { cause: thrown }
      )
    } finally {
      over.abort()
      this.signal.removeEventListener('abort', onStop)
      await this.#files?.close()
    }
  }

  /** Copies everything there, unless the turn has started already. */
  async #bring(): Promise<boolean> {
    const { contact, paths, record, turn } = this.parts
    const { brings, follows, collects, cwd, tempDir } = this.command
    const { lastCopy, ...state } = await inspectTurn(contact, { home: paths.home, turn }, this.signal)
    record.noteState(state)
    if (state.started !== undefined) return false
    const written = [...follows, ...collects].map((file) => paths.fileOf(dirname(file)))
    const temporary = tempDir === undefined ? [] : [paths.fileOf(tempDir)]
    const folders = [...written, ...temporary, ...(isWithin(cwd, paths.home) ? [cwd] : [])]
    const request = { turn, command: commandScript(this.command), brings, folders, lastCopy }
    return copyIn(contact, paths, request, this.signal)
  }

  /** Waits for the others, and starts the tool, unless it runs already or has ended. */
  async #start(isTakenUp: boolean): Promise<void> {
    const desk = await this.#openDesk(this.signal)
    try {
      await this.#untilReady(desk)
      if (!isTakenUp) await this.#go(desk)
    } catch (thrown) {
      if (isTakenUp) await this.#stop().catch(() => undefined)
      throw thrown
    } finally {
      desk.close()
    }
  }

  /** With the pod's clock read. */
  #openDesk(signal: AbortSignal): Promise<PodDesk> {
    const { contact, paths, record, turn } = this.parts
    return contact.keepTrying(signal, async (either) => {
      const desk = await PodDesk.open(contact, { home: paths.home, turn }, either)
      try {
        record.noteClock(await readPodClock(contact.parts.clock, () => desk.ask('time')))
        return desk
      } catch (thrown) {
        desk.close()
        throw thrown
      }
    })
  }

  async #untilReady(desk: PodDesk): Promise<void> {
    const { contact } = this.parts
    const over = new AbortController()
    const ping = async (): Promise<void> => {
      for (;;) {
        await contact.pause(PING_MS, over.signal)
        if (over.signal.aborted || !desk.isOpen) return
        await desk.ask('time').catch(() => undefined)
      }
    }
    void ping()
    const ready = Promise.resolve(this.command.whenReady?.())
    await orAborted(ready, AbortSignal.any([this.signal, contact.parts.lost])).finally(() => over.abort())
  }

  /** One small write on the open stream; if that is cut, again on another one, for the pod starts its turn once. */
  async #go(desk: PodDesk): Promise<void> {
    const { contact, paths, record, turn } = this.parts
    this.signal.throwIfAborted()
    try {
      await contact.keepTrying(this.signal, async (either) => {
        const open = desk.isOpen ? desk : await PodDesk.open(contact, { home: paths.home, turn }, either)
        const started = await open.ask('go').finally(() => open.close())
        if (started === LATE) throw new ClusterError(`The pod ${contact.parts.pod} did not start its work.`)
        record.noteState(readTurnState(started, ''))
      })
    } catch (thrown) {
      if (thrown !== this.signal.reason || !(await this.#stop())) throw thrown
    }
  }

  async #finish(isTakenUp: boolean): Promise<NodeExit> {
    const { signal } = this.#bounds
    this.#files = await FollowedFiles.open(this.parts, this.command, { isTakenUp, signal })
    await this.#files.follow(this.parts.record, signal)
    await this.#files.verify(signal)
    await this.#collect()
    const desk = await this.#openDesk(signal)
    desk.close()
    return this.#exit()
  }

  /** The results may take as long as they arrive; what comes after them, as long as checksums take. */
  async #limit(over: AbortSignal): Promise<void> {
    const { contact } = this.parts
    const { clock, timings, pod } = contact.parts
    const failure: unknown = await this.#stop().then(
      () => undefined,
      (thrown: unknown) => thrown
    )
    // Nothing more can be asked of the pod; what has arrived is worth more than waiting.
    if (failure instanceof RefusedError) {
      this.#bounds.abort(failure)
      return
    }
    let before: number | undefined
    let deadlineMs = Infinity
    while (!over.aborted && clock.now() < deadlineMs) {
      before = this.#files?.arrivedBytes
      await contact.pause(timings.lastBytesMs, over)
      const files = this.#files
      if (files?.isComplete === true)
        deadlineMs = Math.min(
          deadlineMs,
          clock.now() + LAST_STEPS_MS + files.resultBytes / HASHED_BYTES_PER_MS
        )
      else if (files?.arrivedBytes === before) break
    }
    if (over.aborted) return
    const words = `The last results of the pod ${pod} did not arrive in time after it was stopped: they are incomplete.`
    this.#bounds.abort(new NodeError(words))
  }

  /** Returns whether the tool had started. */
  #stop(): Promise<boolean> {
    const { contact, paths, turn } = this.parts
    const late = new AbortController()
    const cancel = contact.parts.clock.after(LAST_STEPS_MS, () =>
      late.abort(new NodeError(`The tool in the pod ${contact.parts.pod} could not be stopped in time.`))
    )
    const { canBeKilled = false } = this.command
    return stopTool(contact, { home: paths.home, turn, canBeKilled }, late.signal).finally(cancel)
  }

  async #collect(): Promise<void> {
    const { contact, paths, turn } = this.parts
    for (const local of this.command.collects) {
      const copy = await LocalCopy.start(local)
      const file = paths.fileOf(local)
      try {
        await followFile(contact, { file, turn, copy }, this.#bounds.signal)
        await verifyCopy(contact, { file, copy }, this.#bounds.signal)
      } finally {
        await copy.close()
      }
    }
  }

  /** Tools do not always notice that what they wrote is not there. */
  #throwIfDiskIsFull(): void {
    const { contact, record, paths } = this.parts
    if (record.diskTrouble === '') return
    throw new NodeError(
      `The disk of the pod ${contact.parts.pod} is full (${paths.home}: "${record.diskTrouble}"), so its results may be incomplete; ` +
        'free space on the machine, or let the plan write less.'
    )
  }

  async #exit(): Promise<NodeExit> {
    const { contact, record } = this.parts
    this.#throwIfDiskIsFull()
    const { pod, whyLost } = contact.parts
    if (record.exitCode === undefined || !Number.isSafeInteger(record.exitCode))
      throw new NodeError(`The pod ${pod} does not say how its tool ended: its results may be incomplete.`)
    const exit = readExit(record.exitCode)
    if (exit.signal !== 'SIGKILL' || record.oomKills === 0) return exit
    throw (
      (await whyLost().catch(() => undefined)) ??
      new NodeError(
        `The tool in the pod ${pod} was killed because the pod ran out of memory (oom_kill of its control group: ${record.oomKills}); ` +
          'give the node more memory or less load.'
      )
    )
  }
}

/** A shell adds the number of a signal to 128. */
function readExit(code: number): NodeExit {
  const [signal] = Object.entries(constants.signals).find(([, number]) => number === code - 128) ?? []
  return signal === undefined ? { code, signal: null } : { code: null, signal }
}

function isWithin(path: string, folder: string): boolean {
  return path.startsWith(`${folder}/`)
}
