import type { NodeFacts, Outcome } from '../outcome.js'
import type { Judgement, OnStall } from '../thresholds/judge/judgement.js'
import type { Evidence } from '../thresholds/judge/evidence.js'
import { count, formatDuration, capitalize, joinClauses, asSentence } from '../../contract/text.js'
import type { Apdex } from './apdex.js'
import {
  findLongPause,
  findCutOff,
  spansOfGrids,
  spansOfNodes,
  hasEverySpan,
  mayEndBeforePause,
  wholeOf,
  type Results
} from './reached-load.js'
import { brokenByTool } from '../thresholds/judge/tool-lines.js'
import { lostLoad, quoteLines } from './remote-errors.js'
import type { Measurements } from '../results/figures/measurements.js'
import { isDecisive, isNotJudged, overallVerdict } from '../thresholds/judge/judge.js'

/** A run that ended before this share of its duration, by the service's times, was stopped early. */
const LEAST_SHARE = 0.9

export interface RunEvidence {
  readonly status: string
  readonly hasEndedWell: boolean
  readonly remoteErrors: readonly string[]
  readonly shortfalls: readonly string[]
  readonly requestedSeconds: number | undefined
  readonly tookMs: number | undefined
  /** The service reports every stop, and every tool that did not finish. */
  readonly reportsStops: boolean
  readonly nodes: readonly NodeFacts[] | undefined
  readonly results: Results | undefined
  /** Which of the results are missing, in a sentence. */
  readonly lackOfResults: string | undefined
  readonly foreign?: readonly string[]
  readonly gaps: readonly string[]
  /** Whether a long pause is one of them. */
  readonly onStall?: OnStall
}

/** What lines are judged by. An apdex may be why there is none; `missing` says in clauses what the results lack. */
export function toJudge(
  results: Pick<Results, 'measurements' | 'warmUp'> | undefined,
  { apdex, missing, onStall }: { apdex: Apdex | string; missing: readonly string[]; onStall: OnStall }
): Evidence {
  const { measurements, warmUp } = results ?? {}
  return {
    ...(typeof apdex === 'string' ? { apdex: undefined, apdexProblem: apdex } : { apdex }),
    ...{ measurements, onStall },
    ...(warmUp !== undefined && { warmUp }),
    ...((measurements === undefined || missing.length > 0) && {
      measurementsProblem: joinClauses(missing) || 'there are no result CSVs'
    })
  }
}

/** The verdict on a run. Without complete evidence it is never `passed`. */
export function decideRun(judgements: readonly Judgement[], evidence: RunEvidence): Decision {
  const broken = brokenByTool(judgements)
  // A plan that ends itself at a broken line of its own is cut short for that reason.
  if (broken.length > 0) return { verdict: 'failed', reason: countAndFirst(broken, 'broken') }
  const reason = describeCut(evidence)
  if (reason !== undefined) return { verdict: 'inconclusive', reason }
  return decideVerdict(judgements, describeGap(evidence))
}

/** Why the run is not the one that was requested: nothing in it can be judged. */
export function describeCut(evidence: RunEvidence): string | undefined {
  const wrong = describeBadEnd(evidence) ?? describeForeign(evidence.foreign)
  if (wrong !== undefined) return wrong
  const earlyEnd = describeEarlyEnd(evidence)
  // Lost load is why a run ends early or records nothing.
  return earlyEnd && (describeLoss(evidence) ?? earlyEnd)
}

export function describeGap(evidence: RunEvidence): string | undefined {
  return (
    evidence.lackOfResults ??
    describeLoss(evidence) ??
    describeOtherRows(evidence) ??
    evidence.gaps[0] ??
    findLongPause(evidence.results, evidence.onStall).gap ??
    gapInMeasurements(evidence.results?.measurements) ??
    describeShortfallWithErrors(evidence)
  )
}

function describeForeign(foreign: readonly string[] = []): string | undefined {
  const [first, ...others] = foreign
  const more = others.length === 0 ? '' : ` (and ${others.length} more like it)`
  return first && `${capitalize(first)}${more}. Check where the CSVs come from.`
}

function describeBadEnd({ status, hasEndedWell, remoteErrors }: RunEvidence): string | undefined {
  if (hasEndedWell) return undefined
  const words = remoteErrors.length === 0 ? '' : ` The service says: ${quoteLines(remoteErrors)}`
  return `The run ended as "${status}", not "finished".${words}`
}

function describeEarlyEnd(evidence: RunEvidence): string | undefined {
  const { requestedSeconds: seconds, results, tookMs } = evidence
  if (seconds === undefined) return undefined
  const wanted = formatDuration(seconds * 1000)
  const span = results && findCutOff(spansOfGrids(results), seconds)
  if (span !== undefined)
    return `The samples of grid ${span.gridId} span ${formatDuration(span.ms)} of the ${wanted} requested: the run was stopped early, or the plan ends by itself, by a loop count or a duration of its own.`
  const node = results && findCutOff(spansOfNodes(evidence.nodes ?? [], results), seconds)
  if (node !== undefined)
    return `The samples of node ${node.number ?? ''} of grid ${node.gridId} span ${formatDuration(node.ms)} of the ${wanted} requested: it did only a part of its share of the load. Check what ended the plan there.`
  if (results !== undefined && hasEverySpan(results, seconds)) return undefined
  if (tookMs === undefined || tookMs >= seconds * 1000 * LEAST_SHARE) return undefined
  if (evidence.reportsStops && results && mayEndBeforePause(results, tookMs, seconds)) return undefined
  return `The run ended after ${formatLess(tookMs, wanted)} of the ${wanted} requested: it was stopped early.`
}

/** Whole seconds of a run of a few seconds may hide the difference. */
function formatLess(ms: number, wanted: string): string {
  const whole = formatDuration(ms)
  return whole === wanted ? `${(Math.floor(ms / 100) / 10).toFixed(1)} s` : whole
}

/** A service may report lost load explicitly. */
function describeLoss({ remoteErrors }: RunEvidence): string | undefined {
  const lost = lostLoad(remoteErrors)
  return lost.length > 0 ? `Part of the load was lost: ${quoteLines(lost)}` : undefined
}

function describeOtherRows({ nodes, results }: RunEvidence): string | undefined {
  const [first] = results === undefined ? [] : findOtherRows(nodes, results)
  return first && `${capitalize(first)}.`
}

/** Any other error counts as lost load if the requested load was not reached. */
function describeShortfallWithErrors({ remoteErrors, shortfalls }: RunEvidence): string | undefined {
  const [shortfall] = shortfalls
  if (remoteErrors.length === 0 || shortfall === undefined) return undefined
  return `${shortfall} The service says: ${quoteLines(remoteErrors)}`
}

/** Grids whose results have other rows than their nodes counted, in clauses: a file cut at the end of a row, or replaced, looks whole. */
export function findOtherRows(nodes: readonly NodeFacts[] | undefined, results: Results): string[] {
  const sources = wholeOf(results)?.sources ?? []
  return [...new Set(sources.map(({ grid }) => grid))].flatMap((grid) => {
    const recorded = recordedRows(nodes, grid)
    const found = sum(sources.flatMap((source) => (source.grid === grid ? source.rows : [])))
    if (recorded === undefined || found === recorded) return []
    const what = found < recorded ? 'they are not complete' : 'they are not those of this run alone'
    return `the results of grid ${grid} have ${count(found, 'row')}, and its nodes had recorded ${recorded} when the run ended: ${what}`
  })
}

export function knowsRows(nodes: readonly NodeFacts[] | undefined, results: Results): boolean {
  return (wholeOf(results)?.sources ?? []).every(({ grid }) => recordedRows(nodes, grid) !== undefined)
}

/** Undefined unless each of its nodes has been counted. */
function recordedRows(nodes: readonly NodeFacts[] | undefined, grid: string): number | undefined {
  const own = (nodes ?? []).filter((node) => node.grid === grid)
  const rows = own.flatMap((node) => node.rows ?? [])
  return own.length === 0 || rows.length < own.length ? undefined : sum(rows)
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

export type Decision = Pick<Outcome, 'verdict' | 'reason'>

/** Combines the judgements. With a gap in the evidence the verdict can only be `failed` or `inconclusive`. */
export function decideVerdict(judgements: readonly Judgement[], gap: string | undefined): Decision {
  // What is missing may be the very difference from the baseline, so such a line breaks nothing then.
  const trusted = gap === undefined ? judgements : judgements.filter(({ comparison }) => !comparison)
  const overall = overallVerdict(trusted)
  const decisive = trusted.filter((judgement) => judgement.verdict === overall && isDecisive(judgement))
  if (overall === 'failed') return { verdict: 'failed', reason: countAndFirst(decisive, 'broken') }
  if (gap !== undefined) return { verdict: 'inconclusive', reason: gap }
  if (overall === 'inconclusive')
    return { verdict: 'inconclusive', reason: countAndFirst(decisive, 'inconclusive') }
  return { verdict: 'passed', reason: describePass(judgements) }
}

/** What is missing from the CSVs, regardless of the thresholds. */
export function gapInMeasurements(measurements: Measurements | undefined): string | undefined {
  const sources = measurements?.sources ?? []
  const unknown = sources.find(({ shape }) => shape === 'unknown')
  if (unknown !== undefined)
    return `A CSV cannot be read: ${unknown.problems[0] ?? ''} (grid ${unknown.grid}).`
  const broken = sources.find(({ problems }) => problems.length > 0)
  const detail = broken === undefined ? '' : `: ${broken.problems[0] ?? ''} (grid ${broken.grid})`
  if (measurements?.figures({}) === undefined) return `The results contain no samples${detail}.`
  if (broken !== undefined) return `A CSV cannot be read completely${detail}.`
  return undefined
}

function countAndFirst(judgements: readonly Judgement[], word: string): string {
  const [first] = judgements
  const count =
    judgements.length === 1 ? `1 threshold is ${word}` : `${judgements.length} thresholds are ${word}`
  return `${count}: ${first?.reason ?? ''}`
}

/** Lines that were not judged are always mentioned: a gate that compared nothing must not look like one that did. */
function describePass(judgements: readonly Judgement[]): string {
  const notJudged = judgements.filter(isNotJudged)
  const warned = judgements.filter(
    (judgement) =>
      judgement.threshold.level === 'warn' && judgement.verdict !== 'passed' && !isNotJudged(judgement)
  )
  const held = describeHeld(judgements)
  const unjudged =
    notJudged.length === 0
      ? ''
      : `${notJudged.length === 1 ? '1 line was' : `${notJudged.length} lines were`} not judged: ${notJudged[0]?.reason ?? ''}`
  const warning =
    warned.length === 0
      ? ''
      : `${warned.length === 1 ? 'There is a warning' : `There are ${warned.length} warnings`}: ${warned[0]?.reason ?? ''}`
  const rest = unjudged !== '' && warning !== '' ? `${asSentence(unjudged)} ${warning}` : unjudged + warning
  return `${held} ${rest}`.trim()
}

function describeHeld(judgements: readonly Judgement[]): string {
  if (judgements.length === 0) return 'No thresholds were given, so this is only a report.'
  const firm = judgements.filter(({ threshold }) => threshold.level === 'fail')
  if (firm.length === 0) return 'Only warn: lines were given, so nothing can fail.'
  const held = firm.filter((judgement) => !isNotJudged(judgement)).length
  if (held === 0) return ''
  if (held < firm.length) return `${held} of ${firm.length} thresholds ${held === 1 ? 'holds' : 'hold'};`
  return firm.length === 1 ? 'The threshold holds.' : `All ${firm.length} thresholds hold.`
}
