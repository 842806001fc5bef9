import type { Run } from '../../contract/api.js'
import { asSentence, formatDuration, messageOf } from '../../contract/text.js'
import { nextPollMs } from './poll-interval.js'
import { Failures, RETRY } from '../../client/retry.js'
import { hasEnded, phaseOf, describeStatus } from './run-status.js'
import type { Clock } from '../../contract/clock.js'
import type { QueueTime } from './queue-time.js'
import type { Log, Progress } from '../ports.js'

export interface WatchOptions {
  readonly show: () => Promise<Run>
  readonly log: Log
  readonly clock: Clock
  /** Aborted by the deadline or a cancelled job. */
  readonly signal: AbortSignal
  readonly longestMs: number
  /** As requested; if undefined, the run's own figure is used. */
  readonly durationSeconds: number | undefined
  /** Notes how long the run waits for others. */
  readonly queueTime?: QueueTime | undefined
  /** Called after each poll; where it is given, the log has no lines of progress of its own. */
  readonly onProgress?: ((progress: Progress) => void) | undefined
  /** Called after each poll of a run that has not ended; returns the run if it has ended it. Must not throw. */
  readonly onLook?: ((run: Run) => Promise<Run | undefined>) | undefined
}

export interface Watched {
  readonly run: Run
  /** When the watch started, by this machine's clock. */
  readonly sinceMs: number
  /** The run cannot have started before, by the same clock; undefined if it was never seen waiting. */
  readonly waitedUntilMs?: number | undefined
  /** When a poll saw the end, by the same clock. */
  readonly seenEndedMs: number
}

const LINE_EVERY_MS = 60_000

/**
 * Polls the run until it has ended; throws when the signal is aborted or the service stays down. The service has returned the run
 * before, so a 404 may be temporary: a run too new to be known everywhere, or a deployment.
 */
export async function watchRun(options: WatchOptions): Promise<Watched> {
  const watch = new Watch(options)
  for (;;) {
    const ended = await watch.look()
    if (ended) return ended
    await options.clock.sleep(watch.pauseMs(), options.signal)
  }
}

class Watch {
  readonly #options: WatchOptions
  readonly #sinceMs: number
  readonly #unknownStatuses = new Set<string>()
  #lastLineMs = -Infinity
  readonly #failures: Failures
  /** After a failed poll. */
  #failurePauseMs: number | undefined
  #run: Run | undefined
  #seenRunningMs: number | undefined
  /** The last poll before that: the run started in between. */
  #seenWaitingMs: number | undefined
  /** When the last poll was sent that found it waiting. */
  #waitedUntilMs: number | undefined

  constructor(options: WatchOptions) {
    this.#options = options
    this.#sinceMs = options.clock.now()
    this.#failures = new Failures(RETRY.watchRun, options.clock)
  }

  /** What was seen, once the run has ended. */
  async look(): Promise<Watched | undefined> {
    const run = await this.#poll()
    if (run === undefined) return undefined
    const ended = hasEnded(run.status) ? run : await this.#options.onLook?.(run)
    if (ended === undefined) return undefined
    const seenEndedMs = this.#options.clock.now()
    return { run: ended, sinceMs: this.#sinceMs, waitedUntilMs: this.#waitedUntilMs, seenEndedMs }
  }

  async #poll(): Promise<Run | undefined> {
    const { show, signal, clock } = this.#options
    signal.throwIfAborted()
    const askedMs = clock.now()
    try {
      const run = await show()
      if (phaseOf(run.status) === 'waiting') this.#waitedUntilMs = askedMs
      this.#note(run)
      return run
    } catch (error) {
      signal.throwIfAborted()
      this.#tolerate(error)
      return undefined
    }
  }

  pauseMs(): number {
    const { clock, longestMs } = this.#options
    if (this.#failurePauseMs !== undefined) return this.#failurePauseMs
    const nowMs = clock.now()
    const endMs = this.#expectedEndMs()
    return nextPollMs({
      elapsedMs: nowMs - this.#sinceMs,
      untilEndMs: endMs === undefined ? undefined : endMs - nowMs,
      longestMs
    })
  }

  #note(run: Run): void {
    const { log, clock } = this.#options
    const nowMs = clock.now()
    if (this.#failures.isFailing) log.info(`The service is responding again.`)
    this.#failures.noteAnswer()
    this.#failurePauseMs = undefined
    const position = positionOf(run)
    const before = this.#run
    const changed = run.status !== before?.status || position !== positionOf(before)
    this.#run = run
    this.#options.queueTime?.note(position, nowMs)
    const phase = phaseOf(run.status)
    if (phase === 'running') this.#seenRunningMs ??= nowMs
    else if (this.#seenRunningMs === undefined) this.#seenWaitingMs = nowMs
    if (phase === 'unknown' && !this.#unknownStatuses.has(run.status)) {
      this.#unknownStatuses.add(run.status)
      log.notice(`Unknown status "${run.status}"; still waiting.`)
    }
    const progress = this.#progress(run, nowMs)
    const { onProgress } = this.#options
    onProgress?.(progress)
    if (changed || (onProgress === undefined && nowMs - this.#lastLineMs >= LINE_EVERY_MS)) {
      log.info(`Run ${run.id} is ${describeProgress(progress)}`)
      this.#lastLineMs = nowMs
    }
  }

  #progress(run: Run, nowMs: number): Progress {
    const { status } = run
    const queuePosition = positionOf(run)
    const isRunning = phaseOf(status) === 'running' && this.#seenRunningMs !== undefined
    const sinceMs = isRunning ? (this.#seenRunningMs ?? nowMs) : this.#sinceMs
    const seconds = isRunning ? this.#durationSeconds() : undefined
    return {
      status,
      ...(queuePosition !== undefined && { queuePosition }),
      elapsedMs: nowMs - sinceMs,
      durationMs: seconds === undefined ? undefined : seconds * 1000
    }
  }

  #tolerate(error: unknown): void {
    const isFirst = !this.#failures.isFailing
    this.#failurePauseMs = this.#failures.bear(error)
    if (isFirst) this.#options.log.info(`${asSentence(messageOf(error))} Retrying.`)
  }

  #durationSeconds(): number | undefined {
    return this.#options.durationSeconds ?? this.#run?.durationSeconds
  }

  /** By this machine's clock, too early rather than too late; the service's start time is only used if it fits what was seen. */
  #expectedEndMs(): number | undefined {
    const seconds = this.#durationSeconds()
    if (seconds === undefined || this.#seenRunningMs === undefined) return undefined
    const told = this.#run?.startedMs
    const earliestMs = this.#seenWaitingMs ?? this.#sinceMs - seconds * 1000
    const isPlausible = told !== undefined && told >= earliestMs && told <= this.#seenRunningMs
    return (isPlausible ? told : (this.#seenWaitingMs ?? this.#seenRunningMs)) + seconds * 1000
  }
}

/** Undefined if it does not wait for others. */
function positionOf(run: Run | undefined): number | undefined {
  return run !== undefined && phaseOf(run.status) === 'waiting' ? run.queuePosition : undefined
}

function describeProgress(progress: Progress): string {
  const { status, elapsedMs, durationMs } = progress
  const soFar = formatDuration(elapsedMs)
  if (progress.queuePosition !== undefined) return `${describeStatus(progress)} (${soFar} so far)`
  if (durationMs !== undefined) return `${status} for ${soFar} of ${formatDuration(durationMs)}`
  return phaseOf(status) === 'running' ? `${status} for ${soFar}` : `${status} after ${soFar}`
}
