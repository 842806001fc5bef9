import type { ComparedRun } from '../../analysis/baseline/judge/sides.js'
import type { Findings } from '../findings.js'
import { recordRun } from '../../analysis/baseline/document/record-run.js'
import { apdexOf } from '../../analysis/evidence/apdex.js'
import { wholeOf } from '../../analysis/evidence/reached-load.js'
import { listRemoteErrors } from '../../analysis/evidence/remote-errors.js'
import type { RecordedRun } from '../../contract/baseline.js'
import { shorten } from '../../contract/text.js'
import type { Settings } from '../settings/settings.js'

export function filesOf({ collection }: Findings): string[] {
  return (collection?.grids ?? []).flatMap(({ path }) => path ?? [])
}

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

export function asRecorded(
  { thresholds }: Settings,
  { run, collection }: Findings,
  { nowMs, ...facts }: Pick<RecordedRun, 'fingerprint' | 'commit' | 'unusable'> & { readonly nowMs: number }
): RecordedRun | undefined {
  const measurements = collection?.measurements
  if (run === undefined || collection === undefined || measurements?.figures({}) === undefined)
    return undefined
  const apdex = apdexOf(run, collection)
  return recordRun(
    {
      ...facts,
      runId: run.id,
      // A service's clock may be ahead, and a run from the future would be the newest for as long.
      atMs: Math.min(nowMs, run.startedMs ?? wholeOf(collection)?.startMs ?? nowMs),
      apdex: typeof apdex === 'string' ? null : apdex
    },
    measurements,
    thresholds
  )
}

/** What the service reported of a run that finished all the same: its first error; undefined without any. */
export function describeRemoteErrors(run: Findings['run']): string | undefined {
  const [first, ...others] = listRemoteErrors(run?.remoteErrors)
  if (first === undefined) return undefined
  const more = others.length === 0 ? '' : ` and ${others.length} more`
  return `the service reported errors: "${shorten(first)}"${more}`
}
