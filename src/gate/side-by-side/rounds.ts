import { joinToolLines } from '../../analysis/thresholds/judge/tool-lines.js'
import { join } from 'node:path'
import { RESULTS_FOLDER, type Collection } from '../collect/collect.js'
import { comparedRun, filesOf } from '../collect/compared-run.js'
import type { GridResult } from '../collect/fetch-results.js'
import type { Findings } from '../findings.js'
import type { Gate } from '../gate.js'
import { describeLoadChange } from '../../analysis/baseline/judge-lines.js'
import type { ComparisonEvidence } from '../../analysis/baseline/judge/sides.js'
import { readApdex, type Apdex } from '../../analysis/evidence/apdex.js'
import { mostThreads, wholeOf } from '../../analysis/evidence/reached-load.js'
import { joinRemoteErrors } from '../../analysis/evidence/remote-errors.js'
import type { BaselineFacts, WarmUpFacts } from '../../analysis/outcome.js'
import type { Measurements } from '../../analysis/results/figures/measurements.js'
import { mergeRuns } from '../../analysis/results/figures/merge.js'
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

/** A pair of segments, in whichever order they ran. */
export interface Round {
  readonly number: number
  readonly base: Segment
  readonly head: Segment
  /** Why the two cannot be compared, although each is complete. */
  readonly problem?: string | undefined
}

/** With fewer pairs than this share of the rounds, nothing is concluded: of 10 rounds, 8. */
export function leastPairs(rounds: number): number {
  return Math.ceil((rounds * 4) / 5)
}

/** `01-base` */
export function folderOf(round: number, side: Side): string {
  return `${String(round).padStart(2, '0')}-${side}`
}

/** Why the round cannot be compared. */
export function problemIn({ number, base, head, problem: ofBoth }: Round): string | undefined {
  const ofEach = [base, head].flatMap(({ side, problem }) =>
    problem === undefined ? [] : [`${side}: ${problem}`]
  )
  const problems = ofEach.length === 0 && ofBoth !== undefined ? [ofBoth] : ofEach
  return problems.length === 0 ? undefined : `round ${number}: ${problems.join('; ')}`
}

export function keptOf(rounds: readonly Round[]): Round[] {
  return rounds.filter((round) => problemIn(round) === undefined)
}

/** Why there are too few pairs; undefined if there are enough. */
export function describeTooFew(rounds: readonly Round[], planned: number): string | undefined {
  const kept = keptOf(rounds).length
  if (kept >= leastPairs(planned)) return undefined
  const none = rounds.length === 0 ? 'no round was completed' : 'the others did not take place'
  const [first = none] = rounds.flatMap((round) => problemIn(round) ?? [])
  const run = rounds.length < planned ? ` after ${rounds.length} of ${planned}` : ` of ${planned}`
  const pairs = kept === 1 ? '1 round' : `${kept} rounds`
  return `Only ${pairs} can be compared${run}, and at least ${leastPairs(planned)} are needed; ${first}`
}

export function evidenceOf(rounds: readonly Round[]): ComparisonEvidence {
  return {
    kind: 'side-by-side',
    rounds: rounds.length,
    pairs: keptOf(rounds).map(({ base, head }) => ({
      base: comparedRun(base.findings),
      head: comparedRun(head.findings)
    }))
  }
}

export function describeUnequal({ settings }: Gate, base: Segment, head: Segment): string | undefined {
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
      const [baseSpan = '', headSpan = ''] = spans.map((ms) => `${Number((ms / 1000).toFixed(1))} s`)
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

export interface Done {
  readonly rounds: readonly Round[]
  readonly planned: number
  readonly segments: readonly Segment[]
  /** What else there is to say of the comparison. */
  readonly notes?: readonly string[]
}

/** The logs of a few bad segments say what those of all do. */
const MOST_BAD_RUNS = 3

/** All rounds together: the samples of every usable head segment as one run's, whatever its base did, and the pairs to compare. */
export function joinRounds({ ports }: Gate, { rounds, planned, segments, notes = [] }: Done): Findings {
  const allHeads = segments.filter(({ side }) => side === 'head')
  const heads = allHeads.filter(({ problem }) => problem === undefined)
  const named = allHeads.find(({ run }) => run !== undefined)?.run
  const gap = describeTooFew(rounds, planned)
  const collections = heads.flatMap(({ findings }) => findings.collection ?? [])
  const measurements = collections.length === 0 ? undefined : mergeCounted(collections)
  const run = named && {
    ...joinRuns(named, heads),
    // Of every segment: a line of the plan itself that breaks may be why a segment ended early.
    toolLines: joinToolLines(allHeads.flatMap(({ run: each }) => each?.toolLines ?? []))
  }
  return {
    ...(run !== undefined && {
      run,
      collection: {
        ...joinCollections(collections),
        run,
        resultsDir: join(ports.scratchDir, RESULTS_FOLDER),
        // Of every segment, compared or not.
        files: segments.flatMap(({ findings }) => filesOf(findings)),
        measurements,
        ...warmUpOf(collections)
      },
      apdex: apdexOfAll(heads, measurements)
    }),
    ...(gap !== undefined && { gap }),
    comparison:
      gap === undefined ? evidenceOf(rounds) : { kind: 'none', outcome: 'not comparable', reason: gap },
    baseline: factsOf(rounds, gap, notes),
    badRuns: rounds
      .flatMap(({ number, base, head }) => [base, head].map((segment) => ({ number, ...segment })))
      .filter(({ problem }) => problem !== undefined)
      .flatMap(({ number, run, side }) => (run ? [{ runId: run.id, folder: folderOf(number, side) }] : []))
      .slice(0, MOST_BAD_RUNS)
  }
}

function mergeCounted(collections: readonly Collection[]): Measurements {
  return mergeRuns(
    collections.map(({ scans = [], countedScans = scans }) => countedScans),
    collections.map(({ scans = [], warmUp }) => ({
      scans,
      ...(warmUp?.startMs !== undefined && { fromMs: warmUp.startMs + warmUp.ms })
    }))
  )
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
    remoteErrors: runs.map(({ remoteErrors }) => remoteErrors).reduce(joinRemoteErrors, undefined)
  }
}

function joinCollections(
  collections: readonly Collection[]
): Omit<Collection, 'run' | 'resultsDir' | 'measurements' | 'warmUp'> {
  const report = collections[0]?.report
  return {
    // The service's figures and its sentences about them are those of one segment.
    report: report && { ...report, means: {}, summary: undefined },
    reportProblem: undefined,
    grids: joinGrids(collections),
    missingGrids: [],
    doubts: [...new Set(collections.flatMap(({ doubts = [] }) => doubts))],
    ...shortestSpans(collections),
    scans: collections.flatMap(({ scans = [] }) => scans),
    countedFiles: collections.flatMap(({ countedFiles = [] }) => countedFiles)
  }
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
