import { constants } from 'node:os'
import { dirname } from 'node:path'
import { orAborted } from '../../../../contract/clock.js'
import { ClusterError } from '../../kubernetes/cluster.js'
import { type NodeCommand, NodeError, type NodeExit } from '../../load-node.js'
import { copyIn } from './copy-in.js'
import { followFile, LineSink, LocalCopy } from './follow-file.js'
import { inspectTurn, stopTool, HASHED_BYTES_PER_MS, verifyCopy } from './inspect-turn.js'
import { type PodRecord, readPodClock, readTurnState } from './pod-record.js'
import { type PodContact, RefusedError } from './pod-contact.js'
import { LATE, PodChannel } from './pod-channel.js'
import { commandScript } from './supervisor.js'

/** How often something is sent on a stream that waits for `go`, so that no proxy closes it. */
const PING_MS = 5_000
/** The longest that everything after the end may take once the run was stopped. */
const LAST_STEPS_MS = 60_000

/** One piece of work in a pod, from its files to its results. What the pod says decides where to begin. */
export class PodTurn {
  /** For everything after the start: it continues when the run is stopped, because the last results have not arrived. */
  readonly #bounds = new AbortController()
  /** The files that grow here as they grow in the pod, and the lines of its output. */
  readonly #results: { file: string; copy: LocalCopy }[] = []
  readonly #output: LineSink
  #isComplete = false

  constructor(
    /** `turn` is its folder in the pod. */
    private readonly parts: { contact: PodContact; record: PodRecord; turn: string },
    private readonly command: NodeCommand,
    private readonly signal: AbortSignal
  ) {
    this.#output = new LineSink(command.onLine)
  }

  async run(): Promise<NodeExit> {
    const isContinued = !(await this.#bring())
    await this.#start(isContinued)
    const over = new AbortController()
    // When the run is stopped, the tool is stopped too, and for a while the work continues until the last results are here.
    const onStop = (): void => void this.#limit(over.signal)
    if (this.signal.aborted) onStop()
    else this.signal.addEventListener('abort', onStop, { once: true })
    try {
      await this.#openResults(isContinued)
      return await this.#finish()
    } finally {
      over.abort()
      this.signal.removeEventListener('abort', onStop)
      // What arrived is on the disk, and every line was passed on.
      for (const { copy } of this.#results) await copy.close()
      this.#output.end()
    }
  }

  /** Copies everything there, unless the turn has started already. */
  async #bring(): Promise<boolean> {
    const { contact, record, turn } = this.parts
    const { brings, follows, collects, cwd, tempDir } = this.command
    const { lastCopy, ...state } = await inspectTurn(contact, turn, this.signal)
    record.noteState(state)
    if (state.started !== undefined) return false
    const folders = [...follows, ...collects].map((file) => contact.fileOf(dirname(file)))
    if (tempDir !== undefined) folders.push(contact.fileOf(tempDir))
    if (cwd.startsWith(`${contact.parts.home}/`)) folders.push(cwd)
    return copyIn(
      contact,
      { turn, command: commandScript(this.command), brings, folders, lastCopy },
      this.signal
    )
  }

  /** Waits for the others, and starts the tool, unless it runs already or has ended. */
  async #start(isContinued: boolean): Promise<void> {
    const channel = await this.#openChannel(this.signal)
    try {
      await this.#untilReady(channel)
      if (!isContinued) await this.#go(channel)
    } catch (thrown) {
      if (isContinued) await this.#stop().catch(() => undefined)
      throw thrown
    } finally {
      channel.close()
    }
  }

  /** With the pod's clock read. */
  #openChannel(signal: AbortSignal): Promise<PodChannel> {
    const { contact, record, turn } = this.parts
    return contact.keepTrying(signal, async (either) => {
      const channel = await PodChannel.open(contact, turn, either)
      try {
        record.noteClock(await readPodClock(contact.parts.clock, () => channel.ask('time')))
        return channel
      } catch (thrown) {
        channel.close()
        throw thrown
      }
    })
  }

  async #untilReady(channel: PodChannel): Promise<void> {
    const { contact } = this.parts
    const over = new AbortController()
    const ping = async (): Promise<void> => {
      for (;;) {
        await contact.pause(PING_MS, over.signal)
        if (over.signal.aborted || !channel.isOpen) return
        await channel.ask('time').catch(() => undefined)
      }
    }
    void ping()
    const ready = Promise.resolve(this.command.whenReady?.())
    await orAborted(ready, AbortSignal.any([this.signal, contact.parts.lost])).finally(() => over.abort())
  }

  /** One small write on the open stream. If that is cut, again on another one: the pod starts its turn only once. */
  async #go(channel: PodChannel): Promise<void> {
    const { contact, record, turn } = this.parts
    this.signal.throwIfAborted()
    try {
      await contact.keepTrying(this.signal, async (either) => {
        const open = channel.isOpen ? channel : await PodChannel.open(contact, turn, either)
        const started = await open.ask('go').finally(() => open.close())
        if (started === LATE) throw new ClusterError(`The pod ${contact.parts.pod} did not start its work.`)
        record.noteState(readTurnState(started, ''))
      })
    } catch (thrown) {
      if (thrown !== this.signal.reason || !(await this.#stop())) throw thrown
    }
  }

  /** If the turn is continued, files continue where an earlier process left them, if they are the pod's. */
  async #openResults(isContinued: boolean): Promise<void> {
    const { contact } = this.parts
    for (const local of this.command.follows) {
      const copy = await (isContinued ? LocalCopy.continue(local) : LocalCopy.start(local))
      const file = contact.fileOf(local)
      this.#results.push({ file, copy })
      if (copy.size > 0) await verifyCopy(contact, { file, copy, isPart: true }, this.#bounds.signal)
    }
  }

  async #finish(): Promise<NodeExit> {
    const { contact } = this.parts
    const { signal } = this.#bounds
    try {
      await this.#follow(signal)
      for (const result of this.#results) await verifyCopy(contact, result, signal)
      for (const local of this.command.collects) await this.#collect(local, signal)
      const channel = await this.#openChannel(signal)
      channel.close()
      return await this.#exit()
    } catch (thrown) {
      if (!(thrown instanceof NodeError)) throw thrown
      throw new NodeError(
        `${thrown.message} The ${this.#resultBytes} bytes of its results that had arrived are kept.`,
        { cause: thrown }
      )
    }
  }

  get #resultBytes(): number {
    return this.#results.reduce((sum, { copy }) => sum + copy.size, 0)
  }

  /** Returns when the turn has ended and everything is here; one failure ends all of it. */
  async #follow(signal: AbortSignal): Promise<void> {
    const { contact, record, turn } = this.parts
    const failed = new AbortController()
    const either = AbortSignal.any([signal, failed.signal])
    const onState: PodRecord['noteState'] = (state, figures) => record.noteState(state, figures)
    const output = this.#output
    const [first, ...others] = this.#results
    const files =
      first === undefined ? [{ file: `${turn}/output`, copy: output }] : [{ ...first, output }, ...others]
    const all = files.map((file) =>
      followFile(contact, { ...file, turn, onState }, either).catch((error: unknown) => {
        failed.abort(error)
        throw error
      })
    )
    await Promise.allSettled(all)
    await Promise.all(all)
    this.#isComplete = true
  }

  async #collect(local: string, signal: AbortSignal): Promise<void> {
    const { contact, turn } = this.parts
    const copy = await LocalCopy.start(local)
    const file = contact.fileOf(local)
    try {
      await followFile(contact, { file, turn, copy }, signal)
      await verifyCopy(contact, { file, copy }, signal)
    } finally {
      await copy.close()
    }
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
    const arrivedBytes = (): number => this.#resultBytes + this.#output.size
    let deadlineMs = Infinity
    while (!over.aborted && clock.now() < deadlineMs) {
      const before = arrivedBytes()
      await contact.pause(timings.lastBytesMs, over)
      const lastStepsMs = LAST_STEPS_MS + this.#resultBytes / HASHED_BYTES_PER_MS
      if (this.#isComplete) deadlineMs = Math.min(deadlineMs, clock.now() + lastStepsMs)
      else if (arrivedBytes() === before) break
    }
    if (over.aborted) return
    const words = `The last results of the pod ${pod} did not arrive in time after it was stopped: they are incomplete.`
    this.#bounds.abort(new NodeError(words))
  }

  #stop(): Promise<boolean> {
    const { contact, turn } = this.parts
    const late = new AbortController()
    const cancel = contact.parts.clock.after(LAST_STEPS_MS, () =>
      late.abort(new NodeError(`The tool in the pod ${contact.parts.pod} could not be stopped in time.`))
    )
    const { canBeKilled = false } = this.command
    return stopTool(contact, { turn, canBeKilled }, late.signal).finally(cancel)
  }

  async #exit(): Promise<NodeExit> {
    const { contact, record } = this.parts
    const { pod, whyLost, home } = contact.parts
    // Tools do not always notice that what they wrote is not there.
    if (record.diskProblem !== '')
      throw new NodeError(
        `The disk of the pod ${pod} is full (${home}: "${record.diskProblem}"), so its results may be incomplete; ` +
          'free space on the machine, or let the plan write less.'
      )
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
