import type { Measurements, Scope } from '../../analysis/results/figures/measurements.js'
import type { Selector, Threshold } from '../../analysis/thresholds/grammar/threshold.js'
import { findScopes } from '../../analysis/thresholds/judge/scopes.js'
import { describeScope, quote } from '../../analysis/thresholds/quoting.js'
import { joinWords } from '../../contract/text.js'
import type { Collection } from '../collect/collect.js'

const SHOWN = 3

/**
 * Labels that a line matches with `*`, and labels of single grids and regions, that have samples within the warm-up only. Users who log
 * in once at the start are why there is a warm-up, so they do not make such a line inconclusive, as they do one that names the label;
 * but the line must not seem to have judged them.
 */
export function describeEarlyLabels(
  thresholds: readonly Threshold[],
  collection: Pick<Collection, 'measurements' | 'warmUp'> | undefined
): string[] {
  const { warmUp, measurements } = collection ?? {}
  if (warmUp === undefined || measurements?.figures({}) === undefined) return []
  const early = listEarly(thresholds, warmUp.whole, measurements)
  if (early.length === 0) return []
  const names = early.map(({ label = '', ...place }) => `${quote(label)}${describeScope(place)}`)
  return [
    `Samples within the warm-up only, so no threshold was judged on ${early.length === 1 ? 'this label' : 'these labels'}: ${joinWords(names, SHOWN)}.`
  ]
}

function listEarly(
  thresholds: readonly Threshold[],
  whole: Measurements,
  counted: Measurements
): readonly Scope[] {
  // Several lines often have the same selector, and one may match ten thousand labels.
  const selectors = new Map(thresholds.map(({ selector }) => [JSON.stringify(selector), selector]))
  const early = new Map<string, Scope>()
  for (const selector of selectors.values())
    for (const scope of findEarly(selector, whole, counted)) early.set(JSON.stringify(scope), scope)
  return [...early.values()]
}

function* findEarly(selector: Selector, whole: Measurements, counted: Measurements): Generator<Scope> {
  const isNamed = Object.values(selector).every(({ pieces }) => pieces.length === 1)
  // Where it names what is missing, the line is inconclusive; a grid or a region of which nothing is left is a gap.
  if (isNamed || selector.label === undefined) return
  for (const { scope, figures } of findScopes(selector, whole))
    if (figures !== undefined && scope.label !== undefined && counted.figures(scope) === undefined)
      yield counted.figures({ label: scope.label }) === undefined ? { label: scope.label } : scope
}
