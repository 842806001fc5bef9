import type { BaselineDocument, RecordedRun } from '../../contract/baseline.js'
import { asComparedRun } from './document/compared.js'
import { isSameFingerprint } from './document/fingerprint.js'
import { expectedBand, type Trend, type TrendPoint } from './trend.js'

const MOST_POINTS = 30
/** As many as a run is compared with. */
const MOST_BAND_RUNS = 20

/** The last runs of the branch, then the one that was just judged, if there is one. Undefined if nothing was recorded. */
export function buildTrend(
  document: BaselineDocument | undefined,
  head: RecordedRun | undefined,
  { noise }: { noise: number }
): Trend | undefined {
  if (document === undefined || document.runs.length === 0) return undefined
  const recorded = document.runs.filter(({ runId }) => runId !== head?.runId)
  const runs = [...recorded.slice(-MOST_POINTS), ...(head === undefined ? [] : [head])]
  const points = runs.map((run, i) => makePoint(run, runs[i - 1], run === head))
  return { branch: document.branch, points, bands: drawBands(recorded, head, noise) }
}

function makePoint(run: RecordedRun, before: RecordedRun | undefined, isHead: boolean): TrendPoint {
  const figures = asComparedRun(run).figures({})
  return {
    atMs: run.atMs,
    commit: run.commit,
    runId: run.runId,
    unusable: run.unusable ?? undefined,
    isHead,
    isAfterChange: before !== undefined && !isSameFingerprint(before.fingerprint, run.fingerprint),
    p95Ms: figures?.percentileMs(95),
    throughput: figures?.throughput,
    errorRate: figures?.errorRate
  }
}

/** From the runs that are comparable with the head, or else with the newest run. */
function drawBands(
  recorded: readonly RecordedRun[],
  head: RecordedRun | undefined,
  noise: number
): Trend['bands'] {
  const usable = recorded.filter(({ unusable }) => unusable === null)
  const { fingerprint } = head ?? usable.at(-1) ?? {}
  if (fingerprint === undefined) return {}
  const all = usable
    .filter((run) => isSameFingerprint(run.fingerprint, fingerprint))
    .slice(-MOST_BAND_RUNS)
    .flatMap((run) => asComparedRun(run).figures({}) ?? [])
  const valuesOf = (values: readonly (number | undefined)[]) => values.filter((value) => value !== undefined)
  const samples = all.at(-1)?.samples
  const rates = { noise, ...(samples !== undefined && { samples }) }
  const p95Ms = expectedBand(valuesOf(all.map((one) => one.percentileMs(95))), 'time', { noise })
  const throughput = expectedBand(valuesOf(all.map((one) => one.throughput)), 'throughput', { noise })
  const errorRate = expectedBand(valuesOf(all.map((one) => one.errorRate)), 'error_rate', rates)
  return { ...(p95Ms && { p95Ms }), ...(throughput && { throughput }), ...(errorRate && { errorRate }) }
}
