import type { Run } from '../../contract/api.js'
import { asSentence, formatDuration, messageOf } from '../../contract/text.js'
import { Failures, RETRY } from '../../client/retry.js'
import { hasEnded, phaseOf, describeStatus } from './run-status.js'
import type { Clock } from '../../contract/clock.js'
import type { Log, Progress } from '../ports.js'

export interface WatchOptions {
  readonly show: () => Promise<Run>
  readonly log: Log
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly longestMs: number
  /** As requested; if undefined, the run's own figure is used. */
  readonly durationSeconds: number | undefined
  readonly queueTime?: QueueTime | undefined
  /** Called after each poll; where it is given, the log has no lines of progress of its own. */
  readonly onProgress?: ((progress: Progress) => void) | undefined
  /** Called after each poll of a run that has not ended; returns the run if it has ended it. Must not throw. */
  readonly onLook?: ((run: Run) => Promise<Run | undefined>) | undefined
}

/** With the watch's start (a run seen waiting cannot have started before it) and when a poll saw the end, by this machine's clock. */
export type Watched = Awaited<ReturnType<typeof watchRun>>

const LINE_EVERY_MS = 60_000
const STARTING = 'starting'

/** Polls the run until it has ended; throws on abort or if the service stays down. A 404 may be temporary: the run was there before. */
export async function watchRun(options: WatchOptions) {
  const { show, log, clock, signal, longestMs, queueTime, onProgress, onLook } = options
  const failures = new Failures(RETRY.watchRun, clock)
  const unknownStatuses = new Set<string>()
  const sinceMs = clock.now()
  let lastLineMs = -Infinity
  let before: Progress | undefined
  let seenRunningMs: number | undefined
  /** The last poll that found it running without samples, and when its first sample started, both by this machine's clock. */
  let seenStartingMs: number | undefined
  let firstSampleMs: number | undefined
  /** The last poll before that: the run started in between. */
  let seenWaitingMs: number | undefined
  /** When the last poll was sent that found it waiting. */
  let waitedUntilMs: number | undefined
  for (;;) {
    signal.throwIfAborted()
    const askedMs = clock.now()
    const seen = await show().catch((thrown: unknown) => {
      signal.throwIfAborted()
      return tolerate(thrown)
    })
    if ('pauseMs' in seen) {
      await clock.sleep(seen.pauseMs, signal)
      continue
    }
    if (phaseOf(seen.status) === 'waiting') waitedUntilMs = askedMs
    note(seen)
    const run = hasEnded(seen.status) ? seen : await onLook?.(seen)
    if (run !== undefined) return { run, sinceMs, waitedUntilMs, seenEndedMs: clock.now() }
    const nowMs = clock.now()
    const endMs = expectedEndMs(seen)
    const untilEndMs = endMs === undefined ? undefined : endMs - nowMs
    await clock.sleep(nextPollMs({ elapsedMs: nowMs - sinceMs, untilEndMs, longestMs }), signal)
  }

  function tolerate(error: unknown): { pauseMs: number } {
    const isFirst = !failures.isFailing
    const pauseMs = failures.bear(error)
    if (isFirst) log.info(`${asSentence(messageOf(error))} Retrying.`)
    return { pauseMs }
  }

  function note(run: Run): void {
    const nowMs = clock.now()
    if (failures.isFailing) log.info(`The service is responding again.`)
    failures.noteAnswer()
    const position = positionOf(run)
    queueTime?.note(position, nowMs, run.waitingReason)
    const phase = phaseOf(run.status)
    if (phase === 'running') seenRunningMs ??= nowMs
    else if (seenRunningMs === undefined) seenWaitingMs = nowMs
    noteSamples(run, nowMs)
    if (phase === 'unknown' && !unknownStatuses.has(run.status)) {
      unknownStatuses.add(run.status)
      log.notice(`Unknown status "${run.status}"; still waiting.`)
    }
    const progress = progressOf(run, nowMs)
    const changed =
      progress.status !== before?.status ||
      position !== before.queuePosition ||
      progress.waitingReason !== before.waitingReason
    before = progress
    onProgress?.(progress)
    if (changed || (onProgress === undefined && nowMs - lastLineMs >= LINE_EVERY_MS)) {
      log.info(`Run ${run.id} ${describeProgress(progress)}`)
      lastLineMs = nowMs
    }
  }

  /** The service's own time of the first sample is only used if it fits what was seen: its clock may be another one. */
  function noteSamples(run: Run, nowMs: number): void {
    if (run.firstSampleMs === null && seenRunningMs !== undefined) seenStartingMs = nowMs
    if (typeof run.firstSampleMs !== 'number' || firstSampleMs !== undefined) return
    const isPlausible = run.firstSampleMs >= (seenStartingMs ?? sinceMs) && run.firstSampleMs <= nowMs
    firstSampleMs = isPlausible ? run.firstSampleMs : (seenStartingMs ?? seenRunningMs ?? nowMs)
  }

  /** A tool's own start is not part of the run's duration: where the service says when the load began, it counts from there. */
  function progressOf(run: Run, nowMs: number): Progress {
    const isRunning = phaseOf(run.status) === 'running'
    const isStarting = isRunning && run.firstSampleMs === null && run.status !== 'stopping'
    const queuePosition = positionOf(run)
    const runningSinceMs = isRunning ? (firstSampleMs ?? seenRunningMs) : undefined
    const seconds = runningSinceMs === undefined || isStarting ? undefined : durationOf(run)
    return {
      status: isStarting ? STARTING : run.status,
      ...(queuePosition !== undefined && { queuePosition }),
      ...(queuePosition !== undefined &&
        run.waitingReason !== undefined && { waitingReason: run.waitingReason }),
      elapsedMs: nowMs - (runningSinceMs ?? sinceMs),
      durationMs: seconds === undefined ? undefined : seconds * 1000
    }
  }

  function durationOf(run: Run): number | undefined {
    return options.durationSeconds ?? run.durationSeconds
  }

  /** By this machine's clock, too early rather than too late; the service's start time is only used if it fits what was seen. */
  function expectedEndMs(run: Run): number | undefined {
    const seconds = durationOf(run)
    if (seconds === undefined || seenRunningMs === undefined) return undefined
    const told = run.startedMs
    const earliestMs = seenWaitingMs ?? sinceMs - seconds * 1000
    const isPlausible = told !== undefined && told >= earliestMs && told <= seenRunningMs
    return (isPlausible ? told : (seenWaitingMs ?? seenRunningMs)) + seconds * 1000
  }
}

/** Undefined if it does not wait for others. */
function positionOf(run: Run): number | undefined {
  return phaseOf(run.status) === 'waiting' ? run.queuePosition : undefined
}

function describeProgress(progress: Progress): string {
  const { status, elapsedMs, durationMs, waitingReason } = progress
  const why = waitingReason === undefined ? '' : `: ${waitingReason}`
  const soFar = formatDuration(elapsedMs)
  if (progress.queuePosition !== undefined || status === STARTING)
    return `is ${describeStatus(progress)} (${soFar} so far)${why}`
  if (durationMs !== undefined) return `has been ${status} for ${soFar} of ${formatDuration(durationMs)}`
  const phase = phaseOf(status)
  if (phase === 'ended well') return `finished after ${soFar}`
  if (phase === 'ended abnormally') return `ended as "${status}" after ${soFar}`
  return phase === 'unknown' ? `has the status "${status}" after ${soFar}` : `has been ${status} for ${soFar}`
}

interface PollTimes {
  readonly elapsedMs: number
  /** Until the run is expected to end; negative when it is overdue, undefined when unknown. */
  readonly untilEndMs: number | undefined
  readonly longestMs: number
}

const FIRST_MS = 1_000
const NEAR_END_MS = 2_800
/** The next wait, as a share of the time elapsed so far. */
const GROWTH = 1 / 4
/** The same for an overdue run, by the time since its expected end. */
const OVERDUE_GROWTH = 1 / 24

/**
 * How long to wait before the next poll: short at first, then longer, up to the maximum, without sleeping past the expected end.
 * The jitter only shortens a wait, so that many jobs do not poll in step and none polls later than promised.
 */
export function nextPollMs(
  { elapsedMs, untilEndMs, longestMs }: PollTimes,
  random: () => number = Math.random
): number {
  const patient = Math.min(Math.max(elapsedMs * GROWTH, FIRST_MS), longestMs)
  const jitter = 1 - 0.15 * random()
  if (untilEndMs === undefined) return patient * jitter
  if (untilEndMs > NEAR_END_MS) return Math.min(patient * jitter, untilEndMs)
  return Math.min(longestMs, Math.max(NEAR_END_MS, -untilEndMs * OVERDUE_GROWTH)) * jitter
}

const MORE_NODES =
  'raise timeout, start fewer runs at once, or let the service have more nodes at work (max-nodes).'

/** How long the runs of a step have waited in the service's queue. */
export class QueueTime {
  #pastMs = 0
  #sinceMs: number | undefined
  #position: number | undefined
  #reason: string | undefined

  /** Called with what each poll says; undefined if the run is not in the queue. The reason is why it would not start even if it was the next one. */
  note(position: number | undefined, nowMs: number, reason?: string): void {
    if (position !== undefined) {
      this.#position = position
      this.#reason = reason
      this.#sinceMs ??= nowMs
      return
    }
    this.#pastMs = this.totalMs(nowMs)
    this.#sinceMs = undefined
  }

  totalMs(nowMs: number): number {
    // The wall clock may have been set back meanwhile.
    return this.#pastMs + (this.#sinceMs === undefined ? 0 : Math.max(0, nowMs - this.#sinceMs))
  }

  /** For the message of a timeout: the time was not the run's; undefined if it was. */
  describe(nowMs: number): string | undefined {
    const totalMs = this.totalMs(nowMs)
    if (totalMs === 0 && this.#sinceMs === undefined) return undefined
    const passed = `${formatDuration(totalMs)} of it passed in the service's queue`
    if (this.#sinceMs === undefined) return `${passed}: ${MORE_NODES}`
    const last = `${passed}, last at position ${this.#position}`
    // More time or nodes would change nothing.
    return this.#reason === undefined ? `${last}: ${MORE_NODES}` : `${last}: ${asSentence(this.#reason)}`
  }
}
