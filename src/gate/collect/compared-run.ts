import type { ComparedRun } from '../../analysis/baseline/judge/sides.js'
import type { Findings } from '../findings.js'
import { apdexOf } from '../../analysis/evidence/apdex.js'
import { wholeOf } from '../../analysis/evidence/reached-load.js'

/** The figures of a run that was collected. */
export function comparedRun({ run, collection }: Findings): ComparedRun {
  const apdex = apdexOf({ apdex: run?.apdex ?? null }, collection)
  const measurements = collection?.measurements
  return {
    apdex: typeof apdex === 'string' ? undefined : apdex,
    startMs: collection && wholeOf(collection)?.startMs,
    labels: measurements?.labels ?? [],
    regions: measurements?.regions ?? [],
    figures: (scope) => measurements?.figures(scope)
  }
}
