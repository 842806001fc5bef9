import { judgeBaselineLines } from '../../analysis/baseline/judge-lines.js'
import type { ComparisonEvidence } from '../../analysis/baseline/judge/sides.js'
import { isBaselineThreshold } from '../../analysis/thresholds/grammar/threshold.js'
import type { Settings } from '../settings/settings.js'

/** Whether a line that names `baseline` is broken or unsure, so that more evidence is worth its time. */
export function isInDoubt(settings: Settings, evidence: ComparisonEvidence): boolean {
  const lines = settings.thresholds.filter(isBaselineThreshold)
  const rules = { ...settings.baseline, onStall: settings.onStall }
  return judgeBaselineLines(lines, evidence, rules).some(
    ({ comparison }) => comparison?.outcome === 'broken' || comparison?.outcome === 'unsure'
  )
}
