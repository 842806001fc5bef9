import { isAbsoluteThreshold } from '../../thresholds/grammar/threshold.js'
import type { AbsoluteThreshold, Threshold } from '../../thresholds/grammar/threshold.js'
import { findBrokenWindows } from './broken-windows.js'
import type { Breach } from './early-judgement.js'
import type { LiveEvidence } from './live-evidence.js'
import { findOutOfReach } from './out-of-reach.js'

/** The lines that can end a run: a warning never fails, and a comparison needs the whole run. */
export function decisiveLines(thresholds: readonly Threshold[]): AbsoluteThreshold[] {
  return thresholds.filter(isAbsoluteThreshold).filter(({ level }) => level === 'fail')
}

/** The first line that is reason enough to stop the run. */
export function findBreach(
  thresholds: readonly AbsoluteThreshold[],
  evidence: LiveEvidence
): Breach | undefined {
  for (const threshold of thresholds) {
    const breach = findOutOfReach(threshold, evidence) ?? findBrokenWindows(threshold, evidence)
    if (breach !== undefined) return breach
  }
  return undefined
}
