import { RESULTS_FOLDER } from '../collect/collect.js'
import { cleanUpRun } from '../cleanup/main-step.js'
import { endTwins } from '../cleanup/clean-up.js'
import { failureOf, type Failure } from '../errors.js'
import type { Findings } from '../findings.js'
import { followRun, withTimeout, type RunOptions } from '../follow-run.js'
import type { Gate } from '../gate.js'
import { asideGroupsOf } from '../preflight.js'
import { findTwins } from '../run/find-run.js'
import { withoutCommit } from '../../contract/api/run-source.js'
import { settleGrids } from '../run/make-grids.js'
import { hasEnded, phaseOf } from '../run/run-status.js'
import { overlayParameters } from '../settings/override-parameters.js'
import type { Settings } from '../settings/settings.js'
import { describeGap, isInDoubt } from '../verdict/conclude.js'
import type { GridChoice } from '../../client/documents/requests.js'
import type { Run } from '../../contract/api.js'
import { asSentence, formatDuration } from '../../contract/text.js'
import {
  describeTooFew,
  describeUnequal,
  evidenceOf,
  folderOf,
  joinRounds,
  keptOf,
  leastPairs,
  problemIn,
  type Done,
  type Segment,
  type Side
} from './rounds.js'

/** What has run so far. */
interface Progress extends Done {
  readonly rounds: Done['rounds'][number][]
  /** More, once they are to be confirmed. */
  planned: number
  /** How many rounds are in blocks that ended with enough pairs. */
  finished: number
  readonly segments: Segment[]
  /** What is known about the latest segment, the only one that may still be running. */
  latest: Findings
}

/** Runs segments one after the other on the same grids; the next one starts only when the one before has ended. */
interface Runner {
  readonly gate: Gate
  /** Ends with the time of all segments. */
  readonly signal: AbortSignal
  readonly grids: readonly GridChoice[]
  /** A group may be named after a parameter, and the base has its own. */
  readonly asideGroups: Readonly<Record<Side, readonly string[]>>
  readonly done: Progress
  readonly endMs: number
}

/** Runs base and head in turns, each segment a run of its own, cleans up, and returns what is known about the head and its comparison. */
export async function followSideBySide(gate: Gate): Promise<Findings> {
  const { ports, settings } = gate
  const { origin, timeoutMs } = settings
  const done: Progress = { rounds: [], planned: roundsOf(gate), finished: 0, segments: [], latest: {} }
  const endMs = ports.clock.now() + timeoutMs
  const run = async (signal: AbortSignal): Promise<undefined> => {
    const chosen = origin.kind === 'files' ? origin.grids : []
    const grids = await settleGrids(gate, chosen, signal, { areShared: true })
    const base = await asideGroupsOf({ ...settings, ...settingsOf(settings, 'base') })
    const asideGroups = { base, head: gate.asideGroups ?? [] }
    const runner = { gate, signal, grids, asideGroups, done, endMs }
    for (const side of ['base', 'head'] as const) await warmUp(runner, side)
    await runBlocks(runner)
  }
  const failed = await withTimeout(gate, 'The comparison side by side', run).catch((thrown: unknown) =>
    thrown instanceof SegmentError ? done.latest.failure : failureOf(thrown)
  )
  const found = withoutUnfinished(gate, done, failed)
  const endedMs = ports.clock.now()
  const last = { ...done.latest, endedMs, ...(failed !== undefined && { failure: failed }) }
  const unclean = await cleanUpRun(gate, last).then(() => undefined, failureOf)
  const failure = found.failure ?? unclean
  return { ...joinRounds(gate, found), endedMs, ...(failure !== undefined && { failure }) }
}

/** A confirming block that fails leaves those before, which alone are compared; a cancellation or the timeout is still reported as one. */
function withoutUnfinished(
  { ports }: Gate,
  done: Progress,
  failure: Failure | undefined
): Done & { readonly failure?: Failure | undefined } {
  const { finished, planned, rounds } = done
  const reason = failure?.message ?? describeTooFew(rounds, planned)
  if (finished === 0 || reason === undefined || (failure !== undefined && failure.kind !== 'error'))
    return { ...done, failure }
  const note = `Confirming failed, so the first ${finished} rounds alone are compared: ${asSentence(reason)}`
  ports.log.warning(note)
  return { ...done, rounds: rounds.slice(0, finished), planned: finished, notes: [note] }
}

function roundsOf({ settings: { baseline } }: Gate): number {
  return baseline.source.kind === 'side-by-side' ? baseline.source.rounds : 0
}

/** One segment for each side that is not judged: caches fill and code is compiled. */
async function warmUp(runner: Runner, side: Side): Promise<void> {
  const stage = `warm-up: ${side}`
  const { problem } = await followSegment(runner, { side, stage, resultsFolder: null, isNamed: false })
  if (problem !== undefined)
    runner.gate.ports.log.warning(`The warm-up of the ${side} may not count: ${problem}.`)
}

/** The rounds, and further blocks of as many while a line is broken or unsure and `confirm` allows it. */
async function runBlocks(runner: Runner): Promise<void> {
  const { gate, done, endMs } = runner
  const { ports, settings } = gate
  const size = roundsOf(gate)
  for (let confirmed = 0; ; confirmed++) {
    const beganMs = ports.clock.now()
    while (done.rounds.length < done.planned) {
      await runRound(runner)
      // What can no longer become evidence is not worth its load.
      if (done.rounds.filter(problemIn).length > done.planned - leastPairs(done.planned)) return
    }
    done.finished = done.rounds.length
    const isOpen = confirmed < settings.baseline.confirm && isInDoubt(settings, evidenceOf(done.rounds))
    if (!isOpen) return
    const tookMs = ports.clock.now() - beganMs
    if (ports.clock.now() + tookMs > endMs) {
      ports.log.warning(
        `A line is broken or unsure, and there is no time left to confirm it: ${size} more rounds take ${formatDuration(tookMs)}. Raise timeout.`
      )
      return
    }
    ports.log.info(`A line is broken or unsure: ${size} more rounds follow (confirm).`)
    done.planned += size
  }
}

async function runRound(runner: Runner): Promise<void> {
  const { gate, done } = runner
  const number = done.rounds.length + 1
  const follow = async (side: Side): Promise<Segment> => {
    const segment = await followSegment(runner, {
      side,
      stage: `round ${number} of ${done.planned}: ${side}`,
      resultsFolder: `${RESULTS_FOLDER}/${folderOf(number, side)}`,
      isNamed: number === 1 && side === 'head',
      // At first it says that nothing works, and twice in a row that nothing works any more.
      mayBeRefused: keptOf(done.rounds).length > 0 && done.segments.at(-1)?.run !== undefined
    })
    done.segments.push(segment)
    return segment
  }
  // A B | B A | A B …: a machine that drifts helps neither side.
  const early = number % 2 === 1 ? await follow('base') : undefined
  const head = await follow('head')
  const base = early ?? (await follow('base'))
  const round = { number, base, head, problem: describeUnequal(gate, base, head) }
  done.rounds.push(round)
  const problem = problemIn(round)
  if (problem !== undefined) gate.ports.log.warning(`Not compared: ${problem}`)
}

interface SegmentRequest extends Pick<RunOptions, 'resultsFolder' | 'isNamed'> {
  readonly side: Side
  readonly stage: string
  /** Whether the comparison goes on without it if the service refuses it. */
  readonly mayBeRefused?: boolean
}

/** A segment could not be started, watched or stopped: the rounds end here. */
class SegmentError extends Error {}

/** The grids wait for the next segment meanwhile. */
const LONGEST_COLLECTION_MS = 60_000

async function followSegment(
  runner: Runner,
  { side, mayBeRefused = false, ...request }: SegmentRequest
): Promise<Segment> {
  const { gate, signal, grids, done } = runner
  const { saved, settings } = gate
  signal.throwIfAborted()
  saved.beginAnotherRun({ leaveIfKilled: !settings.stopOnCancel })
  // Until its run is known, only the state says what to look for.
  done.latest = {}
  const own = settingsOf(settings, side)
  const findings = await followRun(
    { ...gate, asideGroups: runner.asideGroups[side] },
    {
      ...request,
      ...{ settings: own, within: signal, grids, longestCollectionMs: LONGEST_COLLECTION_MS }
    }
  )
  done.latest = findings
  const { run, failure } = findings
  // Without a marker to look for, nothing was created.
  const isRefused = saved.state.marker === undefined && !signal.aborted
  if (run === undefined && mayBeRefused && failure?.kind === 'error' && isRefused)
    return { side, run, findings: {}, problem: failure.message }
  const isOnlyUncollected = run !== undefined && hasEnded(run.status) && !signal.aborted
  if (run === undefined || (failure !== undefined && !isOnlyUncollected))
    throw new SegmentError(failure?.message ?? 'there is no run')
  const twin = await findTwin(runner, run)
  const gap = describeGap({ ...settings, ...own }, findings)
  const badEnd =
    phaseOf(run.status) === 'ended well' ? undefined : `it ended as "${run.status}", not "finished"`
  const problem = failure?.message ?? gap ?? twin ?? problemOf(side, findings)
  return { side, run, findings, problem: request.resultsFolder === null ? badEnd : problem }
}

/** A duplicate doubles the load and must not run into the next segment. The embedded service has no proxy that could cause one. */
async function findTwin({ gate, signal }: Runner, run: Run): Promise<string | undefined> {
  const { local, saved, client, ports } = gate
  if (local !== undefined) return undefined
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

function settingsOf(settings: Settings, side: Side): Partial<Settings> {
  const { source } = settings.baseline
  if (side === 'head' || source.kind !== 'side-by-side') return {}
  return {
    overrideParameters: overlayParameters(settings.overrideParameters, source.parameters),
    notes: withoutCommit(settings.notes)
  }
}

/** A head that fails is a finding; a base that fails is nothing to compare with. */
function problemOf(side: Side, { collection }: Findings): string | undefined {
  const all = collection?.measurements?.figures({})
  if (side === 'head' || all === undefined || all.failures <= all.samples / 2) return undefined
  return `${all.failures} of ${all.samples} samples failed: check that the server of the base is running`
}
