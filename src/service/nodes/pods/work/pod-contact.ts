import { resolve } from 'node:path'
import type { Clock } from '../../../../contract/clock.js'
import { clauseOf } from '../../../errors.js'
import { type Cluster, ClusterError, type ExecStreams, isRefusal } from '../../kubernetes/cluster.js'
import { NodeError } from '../../load-node.js'

/** How long things may take; tests shorten them. */
export const POD_TIMINGS = {
  /** An open stream is dead after this long without a sign of life; the pod sends one every 5 s. */
  silenceMs: 15_000,
  /** How long the cluster may be out of reach while the load goes on. */
  giveUpMs: 5 * 60_000,
  /** How long it may refuse everything: tokens are renewed, permissions are not. */
  refusedMs: 30_000,
  firstRetryMs: 250,
  lastRetryMs: 5_000,
  /** For a short question, counted once its stream is open: a thousand others may be opened before it. */
  askMs: 30_000,
  /** After a stop, how long the last bytes may take without any arriving. */
  lastBytesMs: 10_000
}

/** The node may still be working, but it can no longer be used from here. */
export class RefusedError extends NodeError {
  override name = 'RefusedError'
}

export interface ContactParts {
  readonly cluster: Cluster
  readonly pod: string
  /** The folder of the pod that is ours. */
  readonly home: string
  /** Aborted with a `NodeError` when the pod is lost. */
  readonly lost: AbortSignal
  /** Asks the cluster now. */
  readonly whyLost: () => Promise<NodeError | undefined>
  readonly clock: Clock
  readonly timings: typeof POD_TIMINGS
  readonly log: (line: string) => void
}

/** 128 and the number of the signal. */
const KILLED = 137

/** Talks to one pod. A cut stream loses nothing: it is retried until the cluster refuses, or does not answer for too long. */
export class PodContact {
  constructor(readonly parts: ContactParts) {}

  fileOf(file: string): string {
    return `${this.parts.home}/files${resolve(file)}`
  }

  /** What is tried must be harmless if it is done twice. An attempt calls `alive` when it has reached the cluster. */
  async keepTrying<T>(
    signal: AbortSignal | undefined,
    attempt: (signal: AbortSignal, alive: () => void) => Promise<T>,
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
      either.throwIfAborted()
      try {
        return await attempt(either, alive)
      } catch (thrown) {
        either.throwIfAborted()
        if (!(thrown instanceof ClusterError)) throw thrown
        const nowMs = clock.now()
        refusedSinceMs = isRefusal(thrown) ? (refusedSinceMs ?? nowMs) : undefined
        if (refusedSinceMs !== undefined && nowMs - refusedSinceMs >= refusedMs) throw refused(pod, thrown)
        if (failingSinceMs === undefined) log(`the pod ${pod}: ${thrown.message} Trying again.`)
        failingSinceMs ??= nowMs
        await this.#throwWhyLost()
        if (nowMs - failingSinceMs >= timings.giveUpMs)
          throw new NodeError(
            `The pod ${pod} could not be reached for ${Math.round((nowMs - failingSinceMs) / 60_000)} minutes: "${thrown.message}"; ` +
              'check the connection to the cluster.',
            { cause: thrown }
          )
        await this.pause(delayMs, either)
        delayMs = Math.min(2 * delayMs, timings.lastRetryMs)
      }
    }
  }

  /** Runs a short script with arguments and returns what it says. `refusedMs`: how long the cluster may refuse it, if not as usual. */
  ask(
    script: string,
    args: readonly string[],
    options: { signal?: AbortSignal | undefined; limitMs?: number; refusedMs?: number } = {}
  ): Promise<{ code: number; stdout: string; stderr: string }> {
    const { limitMs = this.parts.timings.askMs } = options
    return this.keepTrying(
      options.signal,
      async (signal) => {
        const said = { stdout: [] as Uint8Array[], stderr: [] as Uint8Array[] }
        const flood = new AbortController()
        let room = MOST_SAID_BYTES
        const keep = (chunks: Uint8Array[], bytes: Uint8Array): void => {
          room -= bytes.length
          if (room >= 0) chunks.push(bytes)
          else flood.abort(floodOf(this.parts.pod))
        }
        const streams: ExecStreams = {
          onStdout: (bytes) => keep(said.stdout, bytes),
          onStderr: (bytes) => keep(said.stderr, bytes)
        }
        const either = AbortSignal.any([signal, flood.signal])
        const { code } = await this.exec(script, args, streams, { signal: either, limitMs })
        // A command that is killed looks like this when its pod is deleted.
        if (code === KILLED) await this.#throwWhyLost()
        const text = (chunks: Uint8Array[]): string => Buffer.concat(chunks).toString('utf8')
        return { code, stdout: text(said.stdout), stderr: text(said.stderr) }
      },
      options.refusedMs
    )
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

  /** The cluster may not be reachable for this question either. */
  async #throwWhyLost(): Promise<void> {
    const why = await this.parts.whyLost().catch(() => undefined)
    if (why !== undefined) throw why
  }
}

/** A list of thousands of files has less. */
const MOST_SAID_BYTES = 8 * 1024 ** 2

function floodOf(pod: string): NodeError {
  return new NodeError(
    `A command in the pod ${pod} printed more than ${MOST_SAID_BYTES / 1024 ** 2} MB where a few lines were expected; check the programs of its image.`
  )
}

function refused(pod: string, thrown: ClusterError): RefusedError {
  return new RefusedError(
    `The pod ${pod} could not be used any more: ${clauseOf(thrown)}. See whether the credentials of the kubeconfig are valid for the ` +
      'whole run, and whether its user may still list pods and run commands in them (pods/exec).',
    { cause: thrown }
  )
}
