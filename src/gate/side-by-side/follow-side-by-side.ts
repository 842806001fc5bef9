import { cleanUpRun } from '../cleanup/main-step.js'
import { asSentence, failureOf } from '../errors.js'
import type { Failure } from '../errors.js'
import type { Findings } from '../findings.js'
import { startTimeout } from '../follow-run.js'
import type { Gate } from '../gate.js'
import { formatDuration } from '../../values/durations.js'
import { RESULTS_FOLDER } from '../collect/collect.js'
import { isInDoubt } from '../verdict/doubt.js'
import { joinRounds } from './join-rounds.js'
import type { Done } from './join-rounds.js'
import { describeTooFew, evidenceOf, folderOf, keptOf, leastPairs, orderOf, problemIn } from './rounds.js'
import type { Round } from './rounds.js'
import { SegmentError, Segments } from './segments.js'
import type { Segment, Side } from './segments.js'
import { mostThreads, wholeOf } from '../../evidence/reached-load.js'
import type { Collection } from '../collect/collect.js'

/** What has run so far. */
interface Progress {
  readonly rounds: Round[]
  /** How many rounds there are to be; more, once they are to be confirmed. */
  planned: number
  /** How many of them are in blocks that came to their end with enough pairs. */
  finished: number
  /** The segments of rounds, in the order in which they ran. */
  readonly segments: Segment[]
}

/** Runs base and head in turns, each segment a run of its own, cleans up, and returns what is known of the head and of its comparison. */
export async function followSideBySide(gate: Gate): Promise<Findings> {
  const { ports } = gate
  const deadline = startTimeout(gate, 'The comparison side by side')
  const runner = new Segments(gate, deadline)
  const done: Progress = { rounds: [], planned: roundsOf(gate), finished: 0, segments: [] }
  let failure: Failure | undefined
  try {
    await runner.open()
    for (const side of ['base', 'head'] as const) await warmUp(gate, runner, side)
    await runBlocks(gate, runner, done)
  } catch (thrown) {
    failure = thrown instanceof SegmentError ? runner.latest.failure : failureOf(thrown)
  } finally {
    deadline.release()
  }
  const found = withoutUnfinished(gate, done, failure)
  const endedMs = ports.clock.now()
  const last = { ...runner.latest, endedMs, ...(failure !== undefined && { failure }) }
  const unclean = await cleanUpRun(gate, last).then(() => undefined, failureOf)
  failure = found.failure ?? unclean
  return { ...joinRounds(gate, found), endedMs, ...(failure !== undefined && { failure }) }
}

/**
 * A confirming block that does not come to its end takes nothing away from the blocks before: they alone are compared. A cancellation
 * or the timeout is still one.
 */
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

/** One segment for each side that nobody judges: caches fill and code is compiled. */
async function warmUp({ ports }: Gate, runner: Segments, side: Side): Promise<void> {
  const stage = `warm-up: ${side}`
  const { problem } = await runner.follow({ side, stage, resultsFolder: null, isNamed: false })
  if (problem !== undefined) ports.log.warning(`The warm-up of the ${side} may not count: ${problem}.`)
}

/** The rounds, and further blocks of as many while a line is broken or unsure and `confirm` allows it. */
async function runBlocks(gate: Gate, runner: Segments, done: Progress): Promise<void> {
  const { ports, settings } = gate
  const size = roundsOf(gate)
  const endMs = runner.startedMs + settings.timeoutMs
  for (let confirmed = 0; ; confirmed++) {
    const beganMs = ports.clock.now()
    while (done.rounds.length < done.planned) {
      await runRound(gate, runner, done)
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

async function runRound(gate: Gate, runner: Segments, done: Progress): Promise<void> {
  const number = done.rounds.length + 1
  const sides = new Map<Side, Segment>()
  for (const side of orderOf(number)) {
    const segment = await runner.follow({
      side,
      stage: `round ${number} of ${done.planned}: ${side}`,
      resultsFolder: `${RESULTS_FOLDER}/${folderOf(number, side)}`,
      isNamed: number === 1 && side === 'head',
      // At first it says that nothing works, and twice in a row that nothing works any more.
      mayBeRefused: keptOf(done.rounds).length > 0 && done.segments.at(-1)?.run !== undefined
    })
    sides.set(side, segment)
    done.segments.push(segment)
  }
  const base = sides.get('base')
  const head = sides.get('head')
  if (base === undefined || head === undefined) return
  const round = { number, base, head, problem: describeUnequal(gate, base, head) }
  done.rounds.push(round)
  const problem = problemIn(round)
  if (problem !== undefined) gate.ports.log.warning(`Not compared: ${problem}`)
}

function describeUnequal({ settings }: Gate, base: Segment, head: Segment): string | undefined {
  const { durationSeconds } = settings
  const [one, other] = [base, head].map(({ findings }) => findings.collection)
  if (durationSeconds === undefined || one === undefined || other === undefined) return undefined
  return describeUnequalSpans(one, other, durationSeconds)
}

/** The two segments of a pair cover the same time, up to this share of it. */
const LARGEST_DIFFERENCE = 0.2

/** Why the two segments of a pair do not cover the same time. Slow requests end after the duration, which is no difference. */
export function describeUnequalSpans(
  base: Collection,
  head: Collection,
  durationSeconds: number
): string | undefined {
  const thinkMs = Math.max(thinkTimeMs(base), thinkTimeMs(head))
  for (const [gridId, wholeMs] of base.spansMs) {
    const spans = [wholeMs, head.spansMs.get(gridId) ?? wholeMs]
    const [shorterMs = 0, longerMs = 0] = spans
      .map((ms) => Math.min(ms, durationSeconds * 1000))
      .sort((one, other) => one - other)
    const pausesMs = [base, head].map(({ pausesMs }) => pausesMs?.get(gridId) ?? 0)
    const allowedMs = Math.max(LARGEST_DIFFERENCE * longerMs, 2 * Math.max(thinkMs, ...pausesMs))
    if (longerMs - shorterMs > allowedMs) {
      const [baseSpan = '', headSpan = ''] = spans.map(seconds)
      return `the samples of grid ${gridId} span ${baseSpan} of the base and ${headSpan} of the head`
    }
  }
  return undefined
}

/** How long a user waits between two requests on average; a plan may wait that long before its first one, and at the end. */
function thinkTimeMs(collection: Collection): number {
  const { samples = 0, meanMs = 0 } = wholeOf(collection)?.figures({}) ?? {}
  const users = mostThreads(collection) ?? 0
  const spanMs = Math.max(0, ...collection.spansMs.values())
  if (samples === 0 || users === 0) return 0
  // Between the starts of a user's first and last request; with one request for each user, at least half of the time.
  const periods = Math.max(0.5, samples / users - 1)
  return Math.max(0, (spanMs - meanMs) / periods - meanMs)
}

function seconds(ms: number): string {
  return `${Number((ms / 1000).toFixed(1))} s`
}
