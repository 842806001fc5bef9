import { join } from 'node:path'
import type { BaselineFacts } from '../../baseline/baseline-facts.js'
import { describeLoadChange } from '../../baseline/judge-lines.js'
import { mergeRuns } from '../../results/figures/merge.js'
import type { Measurements } from '../../results/figures/measurements.js'
import type { WarmUpFacts } from '../../report/outcome.js'
import type { Run } from '../../service/documents/documents.js'
import { readApdex } from '../../evidence/apdex.js'
import type { Apdex } from '../../evidence/apdex.js'
import { RESULTS_FOLDER } from '../collect/collect.js'
import type { Collection } from '../collect/collect.js'
import type { GridResult } from '../collect/fetch-results.js'
import { joinRemoteErrors } from '../../evidence/remote-errors.js'
import type { Findings } from '../findings.js'
import type { Gate } from '../gate.js'
import { describeTooFew, evidenceOf, folderOf, keptOf, problemIn } from './rounds.js'
import type { Round } from './rounds.js'
import type { Segment } from './segments.js'

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
export function joinRounds({ ports }: Gate, { rounds, planned, segments, notes = [] }: Done): Findings {
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
