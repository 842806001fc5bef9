import type { Run } from '../../contract/api.js'
import type { AbsoluteThreshold } from '../../analysis/thresholds/grammar/threshold.js'
import { nameOf, type Source } from '../collect/fetch-results.js'
import { sourcesIn } from '../collect/grid-fetches.js'
import { withDeadline } from '../deadline.js'
import { asSentence, formatDuration, messageOf } from '../../contract/text.js'
import type { Failure } from '../errors.js'
import type { EarlyStop } from '../findings.js'
import type { Gate } from '../gate.js'
import { hasEnded, phaseOf } from '../run/run-status.js'
import type { Settings } from '../settings/settings.js'
import { decisiveLines, findBreach, judgementOf, type Breach } from './breaches.js'
import { gatherEvidence, type LiveEvidence, type LiveTimes } from './live-evidence.js'
import { LiveCsv, LiveReadingError } from './live-csv.js'
import { LiveGrid, type LiveWarmUp } from './live-grid.js'

/** Half a window; polls may be more frequent. */
const LOOK_EVERY_MS = 5_000
/** The watch waits for it. */
const LONGEST_LOOK_MS = 5_000
/** Nodes need a while to start, and a service to restart. */
const TELL_AFTER_MS = 60_000
const GIVE_UP_AFTER_MS = 5 * 60_000
/** A run that is this far counts as complete, and there is not much left to save. */
const LATEST_SHARE = 0.9
/** Samples cannot be further than the clock, but the clocks of two machines differ. */
const CLOCK_SLACK_MS = 30_000
/** By how much the time of a sample may be outside the run: machines whose clocks differ by more are rare. */
const FOREIGN_AFTER_MS = 5 * 60_000

interface Options {
  readonly signal: AbortSignal
  readonly stop: (run: Run) => Promise<{ readonly run: Run; readonly failure?: Failure }>
}

/** Reads the samples of a run in step with its polls, and stops it once a threshold is broken for good, or has been for a minute. */
export class EarlyStopper {
  readonly #lines: readonly AbsoluteThreshold[]
  readonly #sources = new Map<string, { readonly csv: LiveCsv; readonly grid: LiveGrid }>()
  readonly #warmUp: LiveWarmUp | undefined
  /** The run has not started before. */
  #sinceMs: number
  #lastLookMs = -Infinity
  #failingSinceMs: number | undefined
  #hasTold = false
  #isOver: boolean
  stopped: EarlyStop | undefined

  constructor(
    private readonly gate: Gate,
    private readonly options: Options
  ) {
    this.#lines = decisiveLines(gate.settings.thresholds)
    const { warmUpMs } = gate.settings
    this.#warmUp = warmUpMs > 0 ? { ms: warmUpMs, firstMs: Infinity } : undefined
    this.#sinceMs = gate.ports.clock.now()
    this.#isOver = this.#lines.length === 0
  }

  /** Returns the run if it was stopped. Whatever fails here is no failure of the run. */
  async look(run: Run): Promise<Run | undefined> {
    const nowMs = this.gate.ports.clock.now()
    // It may have waited for hours, in a queue.
    if (phaseOf(run.status) === 'waiting') this.#sinceMs = nowMs
    const isDue = nowMs - this.#lastLookMs >= LOOK_EVERY_MS
    if (this.#isOver || !isDue || phaseOf(run.status) !== 'running') return undefined
    this.#lastLookMs = nowMs
    const found = await this.#find(run).catch((thrown: unknown) => this.#tolerate(thrown))
    return found && this.#stop(run, found)
  }

  async #find(run: Run) {
    const evidence = await this.#read(run)
    if (evidence === undefined || !this.#mayJudge(evidence)) return undefined
    this.#checkTimes(run, evidence)
    const breach = findBreach(this.#lines, evidence)
    return breach && { breach, evidence }
  }

  async #read(run: Run): Promise<LiveEvidence | undefined> {
    const { clock } = this.gate.ports
    const times = liveTimes(this.gate.settings, run)
    const sources = sourcesIn(this.gate, run)
    if (times === undefined || sources.length < this.#expectedGrids()) return undefined
    const error = new LiveReadingError(`reading them took longer than ${formatDuration(LONGEST_LOOK_MS)}`)
    const others = [this.options.signal]
    const isWhole = await withDeadline(clock, LONGEST_LOOK_MS, { error, others }, async (signal) => {
      // All of them to the end: the next look must not meet one of this.
      const reads = await Promise.allSettled(sources.map((source) => this.#readOn(run, source, signal)))
      const failed = reads.find((read) => read.status === 'rejected')
      if (failed !== undefined) throw signal.aborted ? signal.reason : failed.reason
      return reads.every((read) => read.status === 'fulfilled' && read.value)
    })
    this.#failingSinceMs = undefined
    // One that was listed before and is missing now is not complete either.
    if (!isWhole || this.#sources.size > sources.length) return undefined
    return gatherEvidence(
      [...this.#sources.values()].map(({ grid }) => grid),
      times
    )
  }

  #expectedGrids(): number {
    const { origin } = this.gate.settings
    return origin.kind === 'files' ? Math.max(1, origin.grids.length) : 1
  }

  /** Whether that was all that the service has of this CSV. */
  async #readOn(run: Run, source: Source, signal: AbortSignal): Promise<boolean> {
    const { gridId, region, href } = source
    const { asideGroups = this.gate.asideGroups } = run
    const { csv, grid } = this.#sources.get(nameOf(source)) ?? {
      csv: new LiveCsv(this.gate.client),
      grid: new LiveGrid({ grid: gridId, region, asideGroups }, this.#warmUp)
    }
    this.#sources.set(nameOf(source), { csv, grid })
    const { isAll } = await csv.readOn(href, signal, (bytes) => grid.take(bytes))
    if (!Number.isFinite(grid.newestMs)) throw new Error(`grid ${gridId} has no samples yet`)
    return isAll
  }

  /** Samples from before the run, or from the future, are not its own. */
  #checkTimes({ startedMs = this.#sinceMs }: Run, { whole }: LiveEvidence): void {
    const nowMs = this.gate.ports.clock.now()
    // By the service's clock, or by ours.
    const latestMs = Math.max(nowMs, startedMs + nowMs - this.#sinceMs) + FOREIGN_AFTER_MS
    const { startMs = startedMs, endMs = startedMs } = whole
    if (startMs < startedMs - FOREIGN_AFTER_MS)
      throw new LiveReadingError('there are samples from before the start of the run')
    if (endMs > latestMs) throw new LiveReadingError('there are samples from the future')
  }

  #mayJudge({ elapsedMs, durationMs }: LiveEvidence): boolean {
    if (elapsedMs >= LATEST_SHARE * durationMs) this.#isOver = true
    const watchedMs = this.gate.ports.clock.now() - this.#sinceMs
    return !this.#isOver && elapsedMs <= watchedMs + CLOCK_SLACK_MS
  }

  #tolerate(thrown: unknown): undefined {
    if (this.options.signal.aborted) return
    const { clock, log } = this.gate.ports
    this.#failingSinceMs ??= clock.now()
    const failingMs = clock.now() - this.#failingSinceMs
    const isFinal = thrown instanceof LiveReadingError
    this.#isOver = isFinal || failingMs >= GIVE_UP_AFTER_MS
    if (this.#hasTold || (!isFinal && failingMs < TELL_AFTER_MS)) return
    this.#hasTold = true
    log.info(
      `stop-early: the samples cannot be read while the run is in progress, so it is not stopped early: ${asSentence(messageOf(thrown))}`
    )
  }

  async #stop(
    run: Run,
    { breach, evidence }: { breach: Breach; evidence: LiveEvidence }
  ): Promise<Run | undefined> {
    const { client, ports } = this.gate
    const { signal } = this.options
    // It may have ended since the last poll: then it is judged as a whole.
    const seen = await client.showRun(run.id, signal).catch(() => undefined)
    if (seen === undefined || hasEnded(seen.status)) return undefined
    ports.log.notice(`Stopping run ${run.id} early: ${explain(breach, evidence)}.`)
    const ended = await this.options.stop(run)
    if (ended.failure === undefined) {
      this.stopped = describeStop(breach, evidence)
      return ended.run
    }
    this.#isOver = true
    const why = asSentence(ended.failure.message)
    if (!ports.cancelled.aborted)
      ports.log.warning(`The run could not be stopped early: ${why} Still waiting for its end.`)
    return undefined
  }
}

function describeStop(breach: Breach, { elapsedMs, durationMs, total }: LiveEvidence): EarlyStop {
  const [afterSeconds, ofSeconds] = [Math.round(elapsedMs / 1000), Math.round(durationMs / 1000)]
  const after = `stopped early after ${formatDuration(elapsedMs)} of ${formatDuration(durationMs)}`
  return {
    afterSeconds,
    ofSeconds,
    savedSeconds: Math.max(0, ofSeconds - afterSeconds),
    threshold: breach.threshold.text,
    judgement: judgementOf(breach, `${after}: ${explain(breach, { elapsedMs })}`),
    live: total
  }
}

/** Why the run is stopped, and what the verdict on it is worth. */
function explain({ words, isFinal }: Breach, { elapsedMs }: Pick<LiveEvidence, 'elapsedMs'>): string {
  return isFinal
    ? `${words}, whatever the rest of the run would have been`
    : `${words}; it might have recovered, so this is the verdict on the first ${formatDuration(elapsedMs)} only`
}

/** As a share of the duration, if nothing says when the load has settled. */
const UNSETTLED_SHARE = 0.2

/** When the run may be judged; undefined if its duration is unknown. A repeated run has its own times. */
function liveTimes(settings: Settings, run: Run): LiveTimes | undefined {
  const durationSeconds = settings.durationSeconds ?? run.durationSeconds
  if (durationSeconds === undefined || durationSeconds <= 0) return undefined
  const durationMs = durationSeconds * 1000
  const isRepeat = settings.origin.kind === 'repeat'
  const rampupSeconds = (isRepeat ? undefined : settings.rampupSeconds) ?? run.rampupSeconds ?? 0
  // A ramp-up of zero does not say when the load has settled.
  const unsettledMs = rampupSeconds > 0 ? rampupSeconds * 1000 : UNSETTLED_SHARE * durationMs
  const { warmUpMs } = settings
  const settledAfterMs = Math.max(unsettledMs, warmUpMs)
  return { durationMs, settledAfterMs, warmUpMs }
}
