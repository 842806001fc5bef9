import { matchesPattern } from '../../thresholds/grammar/pattern.js'
import type { Threshold } from '../../thresholds/grammar/threshold.js'
import { quote } from '../../thresholds/quoting.js'
import type { Collection } from '../collect/collect.js'
import type { Settings } from '../settings/settings.js'

const SHOWN = 3

/**
 * Labels that a line matches with `*` and that have samples within the warm-up only. Users who log in once at the start are why there is
 * a warm-up, so they do not make such a line inconclusive, as they do one that names the label; but nobody should believe it judged them.
 */
export function describeEarlyLabels(
  { thresholds }: Pick<Settings, 'thresholds'>,
  collection: Pick<Collection, 'measurements' | 'warmUp'> | undefined
): string[] {
  const { warmUp, measurements } = collection ?? {}
  if (warmUp === undefined || measurements?.figures({}) === undefined) return []
  const counted = new Set(measurements.labels)
  const early = warmUp.whole.labels.filter((label) => !counted.has(label) && isMatched(thresholds, label))
  if (early.length === 0) return []
  const shown = early.slice(0, SHOWN).map(quote).join(', ')
  const rest = early.length > SHOWN ? ` and ${early.length - SHOWN} more` : ''
  return [
    `Samples within the warm-up only, so no threshold was judged on ${early.length === 1 ? 'this label' : 'these labels'}: ${shown}${rest}.`
  ]
}

function isMatched(thresholds: readonly Threshold[], label: string): boolean {
  return thresholds.some(({ selector }) => {
    const pattern = selector.label
    return pattern !== undefined && pattern.pieces.length > 1 && matchesPattern(pattern, label)
  })
}
