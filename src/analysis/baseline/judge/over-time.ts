import { overTimeOf, type Figures, type Scope } from '../../results/figures/measurements.js'
import { factsOf } from '../../thresholds/metrics.js'
import {
  isBaselineThreshold,
  type BaselineThreshold,
  type Threshold
} from '../../thresholds/grammar/threshold.js'
import type { Judgement, OnStall, OverTimeFigure } from '../../thresholds/judge/judgement.js'
import {
  canBreak,
  effectOf,
  hasOverTime,
  readOverTime,
  writeFigures
} from '../../thresholds/judge/over-time.js'
import type { OverTime } from '../../results/stalls/over-time.js'
import { type Compared, type ComparedRun, listScopes, sidesOf, type Sides } from './sides.js'

/** Whether a judged run had a stall in a scope that one of the lines is about. */
export function hasStalls(thresholds: readonly BaselineThreshold[], evidence: Compared): boolean {
  const sides = sidesOf(evidence)
  return thresholds
    .filter((threshold) => hasOverTime(threshold) && canBreak(threshold))
    .some(({ selector }) =>
      listScopes(selector, sides).some((scope) =>
        sides.head.some((run) => (overTimeOf(run.figures(scope))?.stalls.length ?? 0) > 0)
      )
    )
}

/** The same runs by the worse of both figures. Those that were recorded without figures over time are left out, unless all of them were. */
export function asFelt(evidence: Compared): Compared {
  const { base, head } = sidesOf(evidence)
  const known = new Map<string, boolean>()
  const isKnown = (scope: Scope): boolean => {
    const key = JSON.stringify([scope.label, scope.region])
    // A run without the scope has nothing to compare in it.
    const isKnownIn = (run: ComparedRun): boolean => typeof run.figures(scope)?.overTime() !== 'string'
    const found = known.get(key) ?? (head.every(isKnownIn) && base.some(isKnownIn))
    known.set(key, found)
    return found
  }
  const feelOne = (run: ComparedRun) => feel(run, isKnown)
  if (evidence.kind === 'recorded') return { ...evidence, base: base.map(feelOne), head: head.map(feelOne) }
  const pairs = evidence.pairs.map((pair) => ({ base: feelOne(pair.base), head: feelOne(pair.head) }))
  return { ...evidence, pairs }
}

function feel(run: ComparedRun, isKnown: (scope: Scope) => boolean): ComparedRun {
  const figures = (scope: Scope): Figures | undefined => {
    const found = run.figures(scope)
    if (found === undefined || !isKnown(scope)) return found
    const overTime = asRemembered(found)
    const worse = (own: number | undefined, choose: (own: number) => number) =>
      own === undefined ? undefined : choose(own)
    return (
      overTime && {
        ...found,
        percentileMs: (percent) =>
          worse(found.percentileMs(percent), (own) => Math.max(own, overTime.percentileMs(percent))),
        apdex: (targetMs) => worse(found.apdex(targetMs), (own) => Math.min(own, overTime.apdex(targetMs)))
      }
    )
  }
  const { apdex } = run
  const overall = run.figures({})
  if (apdex === undefined || overall === undefined || !isKnown({})) return { ...run, figures }
  const overTime = asRemembered(overall)
  if (overTime === undefined) return { ...run, figures, apdex: undefined }
  return {
    ...run,
    figures,
    apdex: { ...apdex, score: Math.min(apdex.score, overTime.apdex(apdex.targetMs)) }
  }
}

/** A recorded run has its longest stalls alone, so that is what runs are compared by. */
function asRemembered(figures: Figures): OverTime | undefined {
  return overTimeOf(figures)?.asRecorded()
}

/** What stalls do to a line: one that holds by samples and is broken by the worse figures is broken, unless `on-stall` says otherwise. */
export function addStalls(
  bySamples: Judgement,
  felt: Judgement,
  evidence: Compared,
  onStall: OnStall
): Judgement {
  const { threshold } = bySamples
  const isBroken = felt.verdict === 'failed' && bySamples.verdict !== 'failed'
  if (!isBaselineThreshold(threshold)) return bySamples
  const stalled = hasOverTime(threshold)
    ? findStalled(threshold, (isBroken ? felt : bySamples).scope ?? {}, sidesOf(evidence))
    : undefined
  if (stalled === undefined) return bySamples
  const does = effectOf(onStall, stalled.isFew)
  const overTime: OverTimeFigure = { ...stalled.figure, effect: isBroken ? does : 'none' }
  if (does === 'ignored' || !isBroken) return { ...bySamples, overTime }
  const reason = `${felt.reason}; it is ${writeFigures(threshold, overTime, stalled.startMs)}`
  return does === 'fails' ? { ...felt, reason, overTime } : { ...bySamples, overTime, warning: `${reason}.` }
}

/** The run of the head with the longest stall in the scope. */
function findStalled(threshold: Threshold, scope: Scope, { head }: Sides) {
  const all = head.flatMap((run) => {
    const figures = run.figures(scope)
    const targetMs = run.apdex?.targetMs
    const found = readOverTime(threshold, figures, targetMs)
    const isOverall = Object.keys(scope).length === 0
    const bySamples =
      threshold.metric === 'apdex' && isOverall
        ? run.apdex?.score
        : figures && factsOf(threshold).read(figures, { percentile: threshold.percentile, targetMs })
    if (found === undefined || bySamples === undefined) return []
    const { isFew, ...figure } = found
    return [{ figure: { ...figure, bySamples }, isFew, startMs: run.startMs }]
  })
  const [longest] = all.sort((one, other) => other.figure.longest.ms - one.figure.longest.ms)
  return longest
}
