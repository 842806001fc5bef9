import { join } from 'node:path'
import { cleanUpRun } from '../cleanup/main-step.js'
import { failureOf, type Failure } from '../errors.js'
import { asSentence, formatDuration } from '../../contract/text.js'
import type { Findings } from '../findings.js'
import { startTimeout } from '../follow-run.js'
import type { Gate } from '../gate.js'
import { RESULTS_FOLDER, type Collection } from '../collect/collect.js'
import { isInDoubt } from '../verdict/conclude.js'
import { mostThreads, wholeOf } from '../../analysis/evidence/reached-load.js'
import type { BaselineFacts, WarmUpFacts } from '../../analysis/outcome.js'
import { describeLoadChange } from '../../analysis/baseline/judge-lines.js'
import { mergeRuns } from '../../analysis/results/figures/merge.js'
import type { Measurements } from '../../analysis/results/figures/measurements.js'
import type { Run } from '../../contract/api.js'
import { readApdex, type Apdex } from '../../analysis/evidence/apdex.js'
import type { GridResult } from '../collect/fetch-results.js'
import { joinRemoteErrors } from '../../analysis/evidence/remote-errors.js'
import {
  describeTooFew,
  evidenceOf,
  folderOf,
  keptOf,
  leastPairs,
  orderOf,
  problemIn,
  type Round
} from './rounds.js'
import { SegmentError, Segments, type Segment, type Side } from './segments.js'

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

export interface Done {
  readonly rounds: readonly Round[]
  readonly planned: number
  readonly segments: readonly Segment[]
  /** What else there is to say of the comparison. */
  readonly notes?: readonly string[]
}

/** The logs of a few bad segments say what those of all do. */
const MOST_BAD_RUNS = 3

/**
 * What all rounds together say: the samples of every head segment that is evidence as those of one run, whatever its base did, and the
 * pairs to compare.
 */
function joinRounds({ ports }: Gate, { rounds, planned, segments, notes = [] }: Done): Findings {
  const heads = segments.filter(({ side, problem }) => side === 'head' && problem === undefined)
  const named = segments.find(({ side, run }) => side === 'head' && run !== undefined)?.run
  const gap = describeTooFew(rounds, planned)
  const collections = heads.flatMap(({ findings }) => findings.collection ?? [])
  const measurements =
    collections.length === 0
      ? undefined
      : mergeRuns(
          collections.map(({ scans = [], countedScans = scans }) => countedScans),
          collections.map(({ scans = [], warmUp }) => ({ scans, ...countedFrom(warmUp) }))
        )
  const run = named && joinRuns(named, heads)
  return {
    ...(run !== undefined && {
      run,
      collection: {
        ...joinCollections(collections, run),
        resultsDir: join(ports.scratchDir, RESULTS_FOLDER),
        files: filesOf(segments),
        measurements,
        ...warmUpOf(collections)
      },
      apdex: apdexOfAll(heads, measurements)
    }),
    ...(gap !== undefined && { gap }),
    comparison:
      gap === undefined ? evidenceOf(rounds) : { kind: 'none', outcome: 'not comparable', reason: gap },
    baseline: factsOf(rounds, gap, notes),
    badRuns: rounds.flatMap(badRunsIn).slice(0, MOST_BAD_RUNS)
  }
}

/** The run that the outputs name, from the start of the first head segment to the end of the last one. */
function joinRuns(named: Run, heads: readonly Segment[]): Run {
  const runs = heads.flatMap(({ run }) => run ?? [])
  const { id, permalink, startedMs } = named
  return {
    ...(runs[0] ?? named),
    id,
    permalink,
    startedMs,
    stoppedMs: (runs.at(-1) ?? named).stoppedMs,
    remoteErrors: runs.reduce<string | undefined>(
      (errors, { remoteErrors }) => joinRemoteErrors(errors, remoteErrors),
      undefined
    )
  }
}

function joinCollections(
  collections: readonly Collection[],
  run: Run
): Omit<Collection, 'resultsDir' | 'measurements' | 'warmUp'> {
  const report = collections[0]?.report
  return {
    run,
    // The service's figures and its sentences about them are those of one segment.
    report: report && { ...report, means: {}, summary: undefined },
    reportProblem: undefined,
    grids: joinGrids(collections),
    missingGrids: [],
    doubts: [...new Set(collections.flatMap(({ doubts = [] }) => doubts))],
    ...shortestSpans(collections),
    scans: collections.flatMap(({ scans = [] }) => scans)
  }
}

function countedFrom(warmUp: WarmUpFacts | undefined): { fromMs?: number } {
  return warmUp?.startMs === undefined ? {} : { fromMs: warmUp.startMs + warmUp.ms }
}

/** Each segment has its own warm-up. */
function warmUpOf(collections: readonly Collection[]): Pick<Collection, 'warmUp'> {
  const each = collections.flatMap(({ warmUp }) => warmUp ?? [])
  const [first] = each
  if (first === undefined) return {}
  const sum = (count: (one: WarmUpFacts) => number): number => each.reduce((all, one) => all + count(one), 0)
  return {
    warmUp: {
      ms: first.ms,
      samples: sum(({ samples }) => samples),
      failures: sum(({ failures }) => failures),
      whole: mergeRuns(collections.map(({ scans = [] }) => scans))
    }
  }
}

/** Each grid once, with the size of all its CSVs. */
function joinGrids(collections: readonly Collection[]): GridResult[] {
  const grids = new Map<string, GridResult>()
  for (const grid of collections.flatMap((collection) => collection.grids)) {
    const known = grids.get(grid.gridId)
    grids.set(grid.gridId, known === undefined ? grid : { ...known, bytes: known.bytes + grid.bytes })
  }
  return [...grids.values()]
}

/** Each segment has to last as long as requested: its shortest span is what counts. */
function shortestSpans(collections: readonly Collection[]): Pick<Collection, 'spansMs' | 'pausesMs'> {
  const spansMs = new Map<string, number>()
  const pausesMs = new Map<string, number>()
  for (const collection of collections)
    for (const [grid, ms] of collection.spansMs)
      if (ms < (spansMs.get(grid) ?? Infinity)) {
        spansMs.set(grid, ms)
        pausesMs.set(grid, collection.pausesMs?.get(grid) ?? 0)
      }
  return { spansMs, pausesMs }
}

/** Computed from all samples of the head, with the target that the service uses. */
function apdexOfAll(heads: readonly Segment[], measurements: Measurements | undefined): Apdex | string {
  const told = heads.map(({ run }) => readApdex(run?.apdex ?? null))
  const known = told.find((apdex) => typeof apdex !== 'string')
  if (known === undefined)
    return told.find((apdex) => typeof apdex === 'string') ?? 'no head segment is complete'
  const score = measurements?.figures({})?.apdex(known.targetMs)
  return score === undefined
    ? 'the CSVs do not have the time of each sample, from which the apdex of all rounds is computed'
    : { score, targetMs: known.targetMs }
}

/** The CSVs of every segment, compared or not. */
function filesOf(segments: readonly Segment[]): string[] {
  return segments.flatMap(({ findings }) =>
    (findings.collection?.grids ?? []).flatMap(({ path }) => path ?? [])
  )
}

function factsOf(rounds: readonly Round[], gap: string | undefined, notes: readonly string[]): BaselineFacts {
  const dropped = rounds.flatMap((round) => problemIn(round) ?? [])
  return {
    state: gap === undefined ? 'compared' : 'not comparable',
    kind: 'side-by-side',
    branch: undefined,
    commit: undefined,
    runs: keptOf(rounds).flatMap(({ base }) => base.run?.id ?? []),
    reason: gap,
    notes: [
      ...[describeLoadChange(evidenceOf(rounds)) ?? []].flat(),
      ...dropped.map((problem) => `Not compared: ${problem}`),
      ...notes
    ]
  }
}

function badRunsIn({ number, base, head }: Round): { runId: string; folder: string }[] {
  return [base, head].flatMap(({ problem, run, side }) =>
    problem === undefined || run === undefined ? [] : [{ runId: run.id, folder: folderOf(number, side) }]
  )
}
