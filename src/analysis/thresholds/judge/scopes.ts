import type { Figures, Measurements, Scope } from '../../results/figures/measurements.js'
import { rankNearest } from '../../../contract/nearest.js'
import { SELECTOR_KEYS, type Selector, type SelectorKey, type Pattern } from '../grammar/threshold.js'
import { quote } from '../quoting.js'
import { matchesPieces } from '../../../contract/text.js'

const SUGGESTED_VALUES = 3

/** A scope with its figures; undefined if it has no samples. */
interface ScopeFigures {
  readonly scope: Scope
  readonly figures: Figures | undefined
}

/** What scopes are searched in. */
export type Searched = Pick<Measurements, 'labels' | 'regions' | 'grids' | 'figures'>

interface Axis {
  readonly key: SelectorKey
  readonly values: readonly string[]
}

/** Which part of a selector matches nothing, and similar values; undefined if each part matches. */
export function describeUnmatched(selector: Selector, measurements: Searched): string | undefined {
  const parts: string[] = []
  for (const key of SELECTOR_KEYS) {
    const pattern = selector[key]
    if (!pattern || matchValues(selector, key, measurements).length > 0) continue
    const values = valuesOf(measurements, key)
    const nearest = rankNearest(pattern.pieces.join(''), values, SUGGESTED_VALUES).map(quote)
    parts.push(`no ${key} matches ${quote(pattern.text)}; ${describeNearest(nearest, values.length)}`)
  }
  return parts.length > 0 ? parts.join('; ') : undefined
}

function describeNearest(nearest: readonly string[], total: number): string {
  if (nearest.length === 0) return 'there is none in the CSVs'
  return `${nearest.length < total ? `the nearest of ${total} are` : 'there is'} ${nearest.join(', ')}`
}

/**
 * Yields every combination of the values that match the selector's keys, if it has samples. A region or grid without any
 * is yielded by itself: a grid that delivered nothing must not vanish from `{grid="*"}`. (A label only exists in samples,
 * so it has some.)
 */
export function* findScopes(selector: Selector, measurements: Searched): Generator<ScopeFigures> {
  const axes = SELECTOR_KEYS.filter((key) => selector[key]).map((key) => ({
    key,
    values: matchValues(selector, key, measurements)
  }))
  if (axes.length === 0) yield { scope: {}, figures: measurements.figures({}) }
  for (const { key, values } of axes.filter((axis) => axis.key !== 'label' || axes.length === 1))
    for (const value of values) {
      const scope = { [key]: value }
      const figures = measurements.figures(scope)
      if (!figures || axes.length === 1) yield { scope, figures }
    }
  if (axes.length > 1) yield* combine({}, axes, measurements)
}

function* combine(outer: Scope, axes: readonly Axis[], measurements: Searched): Generator<ScopeFigures> {
  const [axis, ...inner] = axes
  if (!axis) return
  for (const value of axis.values) {
    const scope = { ...outer, [axis.key]: value }
    const figures = measurements.figures(scope)
    // Pruned early, so that 10,000 labels are not looked up for a grid and a region that do not match.
    if (!figures) continue
    if (inner.length === 0) yield { scope, figures }
    else yield* combine(scope, inner, measurements)
  }
}

function matchValues(selector: Selector, key: SelectorKey, measurements: Searched): string[] {
  const pattern = selector[key]
  return pattern ? valuesOf(measurements, key).filter((value) => matchesPattern(pattern, value)) : []
}

function valuesOf(measurements: Searched, key: SelectorKey): readonly string[] {
  return { label: measurements.labels, region: measurements.regions, grid: measurements.grids }[key]
}

export function matchesPattern({ pieces }: Pattern, value: string): boolean {
  return matchesPieces(pieces, value)
}
