import type { Figures, Scope } from '../../results/figures/measurements.js'
import { factsOf } from '../../thresholds/metrics.js'
import type { BaselineThreshold } from '../../thresholds/grammar/threshold.js'
import { doubtServiceApdex } from '../../thresholds/judge/evidence.js'
import type { ComparedRun } from '../compared-run.js'
import type { Counted } from '../statistics/classify.js'
import { scaleOf, toScale } from '../statistics/scale.js'

/** A line's figure in one run, on the scale where up is worse. */
export interface Reading extends Counted {
  readonly y: number
  /** In base units. */
  readonly figure: number
  /** Why the figure is not believed. */
  readonly doubt?: string
}

/** Undefined if the run cannot give the figure. `targetMs` is that of the apdex. */
export function readRun(
  threshold: BaselineThreshold,
  run: ComparedRun,
  { scope, targetMs }: { readonly scope: Scope; readonly targetMs: number | undefined }
): Reading | undefined {
  const figures = run.figures(scope)
  if (figures?.samples === 0) return undefined
  const figure =
    threshold.metric === 'apdex'
      ? readApdex(run, { figures, scope, targetMs })
      : figures && factsOf(threshold).read(figures, threshold)
  const y = toScale(scaleOf(threshold.metric), figure)
  if (figure === undefined || y === undefined) return undefined
  // A service's apdex may come without CSVs; it is of all samples, however many these are.
  const counted = { samples: figures?.samples ?? Infinity, failures: figures?.failures ?? 0 }
  const isServiceApdex = threshold.metric === 'apdex' && isOverall(scope)
  // Only runs whose rows are all there are compared.
  const doubt = isServiceApdex && run.apdex ? doubtServiceApdex(run.apdex, figures) : undefined
  return { y, figure, ...counted, ...(doubt !== undefined && { doubt }) }
}

function readApdex(
  { apdex }: ComparedRun,
  { figures, scope, targetMs }: { figures: Figures | undefined; scope: Scope; targetMs: number | undefined }
): number | undefined {
  if (apdex === undefined || apdex.targetMs !== targetMs) return undefined
  return isOverall(scope) ? apdex.score : figures?.apdex(targetMs)
}

function isOverall(scope: Scope): boolean {
  return Object.keys(scope).length === 0
}

export function hasSamples(run: ComparedRun, scope: Scope): boolean {
  return (run.figures(scope)?.samples ?? 0) > 0
}
