import type { Clock } from '../../../../contract/clock.js'
import { clauseOf } from '../../../errors.js'
import { messageOf } from '../../../../contract/text.js'
import { type Cluster, ClusterError, type ExecStreams, isRefusal } from '../../kubernetes/cluster.js'
import { NodeError } from '../../load-node.js'
import { type PodTimings, RefusedError } from '../timings.js'

export interface ContactParts {
  readonly cluster: Cluster
  readonly pod: string
  /** Aborted with a `NodeError` when the pod is lost. */
  readonly lost: AbortSignal
  /** Asks the cluster now. */
  readonly whyLost: () => Promise<NodeError | undefined>
  readonly clock: Clock
  readonly timings: PodTimings
  readonly log: (line: string) => void
}

/** One try; `alive` says that the cluster was reached. */
export type Attempt<T> = (signal: AbortSignal, alive: () => void) => Promise<T>

export interface Reply {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** 128 and the number of the signal. */
const KILLED = 137

/** Talks to one pod. A cut stream is no loss: it tries again until the cluster says otherwise, or nothing for too long. */
export class PodContact {
  constructor(readonly parts: ContactParts) {}

  /** Whatever is tried must be harmless if it is done twice. */
  async keepTrying<T>(
    signal: AbortSignal | undefined,
    attempt: Attempt<T>,
    refusedMs = this.parts.timings.refusedMs
  ): Promise<T> {
    const { clock, lost, log, pod, timings } = this.parts
    const either = AbortSignal.any(signal === undefined ? [lost] : [lost, signal])
    let failingSinceMs: number | undefined
    let refusedSinceMs: number | undefined
    let delayMs = timings.firstRetryMs
    const alive = (): void => {
      failingSinceMs = undefined
      refusedSinceMs = undefined
      delayMs = timings.firstRetryMs
    }
    for (;;) {
      this.#throwIfOver(signal)
      try {
        return await attempt(either, alive)
      } catch (thrown) {
        this.#throwIfOver(signal)
        if (!(thrown instanceof ClusterError)) throw thrown
        refusedSinceMs = isRefusal(thrown) ? (refusedSinceMs ?? clock.now()) : undefined
        if (refusedSinceMs !== undefined && clock.now() - refusedSinceMs >= refusedMs)
          throw refused(pod, thrown)
        if (failingSinceMs === undefined) log(`the pod ${pod}: ${thrown.message} Trying again.`)
        failingSinceMs ??= clock.now()
        await this.#throwIfLost(thrown, clock.now() - failingSinceMs)
        await this.pause(delayMs, either)
        delayMs = Math.min(2 * delayMs, timings.lastRetryMs)
      }
    }
  }

  /** Runs a short script with arguments and returns what it says. */
  ask(
    script: string,
    args: readonly string[],
    options: {
      signal?: AbortSignal | undefined
      limitMs?: number
      /** How long the cluster may refuse it, if not as long as usual. */
      refusedMs?: number
    } = {}
  ): Promise<Reply> {
    const { limitMs = this.parts.timings.askMs } = options
    const attempt = async (signal: AbortSignal): Promise<Reply> => {
      const said = { stdout: [] as Uint8Array[], stderr: [] as Uint8Array[] }
      const streams: ExecStreams = {
        onStdout: (bytes) => void said.stdout.push(bytes),
        onStderr: (bytes) => void said.stderr.push(bytes)
      }
      const { code } = await this.exec(script, args, streams, { signal, limitMs })
      // A command that is killed looks like this when its pod is deleted.
      if (code === KILLED) await this.#throwWhyLost()
      const text = (chunks: Uint8Array[]): string => Buffer.concat(chunks).toString('utf8')
      return { code, stdout: text(said.stdout), stderr: text(said.stderr) }
    }
    return this.keepTrying(options.signal, attempt, options.refusedMs)
  }

  /** Runs a script once. Past its limit, which counts once the stream is open, that is a `ClusterError`, as if the stream had been cut. */
  async exec(
    script: string,
    args: readonly string[],
    streams: ExecStreams,
    { signal, limitMs }: { signal: AbortSignal; limitMs?: number }
  ): Promise<{ code: number }> {
    const { cluster, pod, clock } = this.parts
    const limit = new AbortController()
    let cancel = (): void => undefined
    const onOpen = (): void => {
      streams.onOpen?.()
      if (limitMs === undefined) return
      const late = new ClusterError(`A command in the pod ${pod} took longer than ${limitMs} ms.`)
      cancel = clock.after(limitMs, () => limit.abort(late))
    }
    try {
      const command = ['sh', '-c', script, 'sh', ...args]
      return await cluster.exec(pod, command, { ...streams, onOpen }, AbortSignal.any([signal, limit.signal]))
    } catch (thrown) {
      if (!signal.aborted) limit.signal.throwIfAborted()
      throw thrown
    } finally {
      cancel()
    }
  }

  /** Ends early, without an error, when the signal aborts. */
  pause(delayMs: number, signal: AbortSignal): Promise<void> {
    return this.parts.clock.sleep(delayMs, signal).catch(() => undefined)
  }

  #throwIfOver(signal: AbortSignal | undefined): void {
    this.parts.lost.throwIfAborted()
    signal?.throwIfAborted()
  }

  /** The cluster may not be reachable for this question either. */
  async #throwWhyLost(): Promise<void> {
    const why = await this.parts.whyLost().catch(() => undefined)
    if (why !== undefined) throw why
  }

  async #throwIfLost(thrown: ClusterError, failingMs: number): Promise<void> {
    const { timings, pod } = this.parts
    await this.#throwWhyLost()
    if (failingMs < timings.giveUpMs) return
    throw new NodeError(
      `The pod ${pod} could not be reached for ${Math.round(failingMs / 60_000)} minutes: "${messageOf(thrown)}"; ` +
        'check the connection to the cluster.',
      { cause: thrown }
    )
  }
}

function refused(pod: string, thrown: ClusterError): RefusedError {
  return new RefusedError(
    `The pod ${pod} could not be used any more: ${clauseOf(thrown)}. See whether the credentials of the kubeconfig are valid for the ` +
      'whole run, and whether its user may still list pods and run commands in them (pods/exec).',
    { cause: thrown }
  )
}
