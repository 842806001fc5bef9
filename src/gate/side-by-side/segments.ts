import type { Deadline } from '../deadline.js'
import type { Findings } from '../findings.js'
import { followRun, type RunOptions } from '../follow-run.js'
import type { Gate } from '../gate.js'
import { endTwins } from '../cleanup/clean-up.js'
import { findTwins } from '../run/find-twins.js'
import { settleGrids } from '../run/make-grids.js'
import { hasEnded, phaseOf } from '../run/run-status.js'
import { overlayParameters } from '../settings/override-parameters.js'
import type { Settings } from '../settings/settings.js'
import { describeGap } from '../verdict/conclude.js'
import type { GridChoice } from '../../client/documents/requests.js'
import type { Run } from '../../contract/api.js'

export type Side = 'base' | 'head'

/** One run of a pair. */
export interface Segment {
  readonly side: Side
  /** Undefined if the service refused it. */
  readonly run: Run | undefined
  readonly findings: Findings
  /** Why it cannot be compared. */
  readonly problem: string | undefined
}

export interface SegmentRequest extends Pick<RunOptions, 'resultsFolder' | 'isNamed'> {
  readonly side: Side
  readonly stage: string
  /** Whether the comparison goes on without it if the service refuses it. */
  readonly mayBeRefused?: boolean
}

/** A segment could not be started, watched or stopped: the rounds end here. */
export class SegmentError extends Error {
  override name = 'SegmentError'
}

/** The grids wait for the next segment meanwhile. */
const LONGEST_COLLECTION_MS = 60_000

/** Runs segments one after the other on the same grids; the next one starts only when the one before has ended. */
export class Segments {
  readonly #gate: Gate
  readonly #deadline: Deadline
  #grids: readonly GridChoice[] | undefined
  /** What is known of the latest one, which alone may still be running. */
  latest: Findings = {}
  readonly startedMs: number

  constructor(gate: Gate, deadline: Deadline) {
    this.#gate = gate
    this.#deadline = deadline
    this.startedMs = gate.ports.clock.now()
  }

  /** Creates the grids, once for all segments. */
  async open(): Promise<void> {
    const { origin } = this.#gate.settings
    const grids = origin.kind === 'files' ? origin.grids : []
    this.#grids = await settleGrids(this.#gate, grids, this.#deadline.signal, { areShared: true })
  }

  async follow({ side, mayBeRefused = false, ...request }: SegmentRequest): Promise<Segment> {
    const { saved, settings } = this.#gate
    this.#deadline.signal.throwIfAborted()
    saved.beginAnotherRun({ leaveIfKilled: !settings.stopOnCancel })
    // Until its run is known, nothing is: the state alone says what to look for.
    this.latest = {}
    const own = settingsOf(settings, side)
    const findings = await followRun(this.#gate, {
      ...request,
      settings: own,
      deadline: this.#deadline,
      longestCollectionMs: LONGEST_COLLECTION_MS,
      ...(this.#grids !== undefined && { grids: this.#grids })
    })
    this.latest = findings
    const { run, failure } = findings
    if (run === undefined && mayBeRefused && failure?.kind === 'error' && this.#isNothingCreated())
      return { side, run, findings: {}, problem: failure.message }
    if (run === undefined || (failure !== undefined && !this.#isOnlyUncollected(findings)))
      throw new SegmentError(failure?.message ?? 'there is no run')
    const twin = await this.#findTwin(run)
    const isDiscarded = request.resultsFolder === null
    const problem = isDiscarded
      ? badEndOf(run)
      : (failure?.message ??
        describeGap({ ...settings, ...own }, findings) ??
        twin ??
        problemOf(side, findings))
    return { side, run, findings, problem }
  }

  /** Then there is no marker to look for. */
  #isNothingCreated(): boolean {
    return this.#gate.saved.state.marker === undefined && !this.#deadline.signal.aborted
  }

  /** The run has ended, and only its results are missing. */
  #isOnlyUncollected({ run }: Findings): boolean {
    return run !== undefined && hasEnded(run.status) && !this.#deadline.signal.aborted
  }

  /** A duplicate doubles the load, and must not go on during the next segment. With the embedded service there is no proxy that could cause one. */
  async #findTwin(run: Run): Promise<string | undefined> {
    const { local, saved, client, ports } = this.#gate
    if (local !== undefined) return undefined
    const { signal } = this.#deadline
    const options = { client, clock: ports.clock, log: ports.log, signal }
    const { marker, askedMs } = saved.state
    const runs = { runId: run.id, marker, askedMs }
    // A duplicate that this look misses is found by the one at the end, or by the post step.
    const { twins } = await findTwins(runs, options)
    signal.throwIfAborted()
    const [first] = twins
    if (first === undefined) return undefined
    if (twins.some((twin) => !hasEnded(twin.run.status))) await endTwins(runs, options)
    return `the run was created twice (${first.run.id} has the same tag), so the load was not the requested one`
  }
}

function settingsOf({ baseline: { source }, overrideParameters }: Settings, side: Side): Partial<Settings> {
  if (side === 'head' || source.kind !== 'side-by-side') return {}
  return { overrideParameters: overlayParameters(overrideParameters, source.parameters) }
}

function badEndOf({ status }: Run): string | undefined {
  return phaseOf(status) === 'ended well' ? undefined : `it ended as "${status}", not "finished"`
}

/** A head that fails is a finding; a base that fails is nothing to compare with. */
function problemOf(side: Side, { collection }: Findings): string | undefined {
  const all = collection?.measurements?.figures({})
  if (side === 'head' || all === undefined || all.failures <= all.samples / 2) return undefined
  return `${all.failures} of ${all.samples} samples failed: check that the server of the base is running`
}
