import type { BaselineDocument, RecordedRun } from '../../contract/baseline.js'
import type { VerdictDocument } from '../../contract/verdict.js'
import { asComparedRun } from './document/compared.js'
import { isSameFingerprint } from './document/fingerprint.js'
import { LEVEL, tQuantile, describeBase } from './statistics/evidence-of-change.js'
import { assumeSpread, leastSpread } from './statistics/classify.js'
import { fromScale, SCALES, toScale } from './statistics/scale.js'

export interface Trend {
  readonly branch: string
  /** Oldest first. */
  readonly points: readonly TrendPoint[]
  /** Where the next run is expected, per figure; absent if nothing is comparable. */
  readonly bands: { readonly p95Ms?: Band; readonly throughput?: Band; readonly errorRate?: Band }
}

type TrendPart = NonNullable<VerdictDocument['trend']>
type PointPart = TrendPart['points'][number]

export interface TrendPoint extends Omit<PointPart, 'unusable' | 'p95Ms' | 'throughput' | 'errorRate'> {
  /** Why the run is not part of the baseline; undefined if it is. */
  readonly unusable: string | undefined
  readonly p95Ms: number | undefined
  readonly throughput: number | undefined
  readonly errorRate: number | undefined
}

/** In base units. */
export type Band = NonNullable<TrendPart['bands']['p95Ms']>

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

/** Where the next run would not be called different, by earlier figures, oldest first. `samples` are those of one run. */
export function expectedBand(
  values: readonly number[],
  metric: 'time' | 'throughput' | 'error_rate',
  { noise, samples }: { readonly noise: number; readonly samples?: number }
): Band | undefined {
  const scale = SCALES[metric]
  const base = values.flatMap((value) => toScale(scale, value) ?? [])
  if (base.length === 0) return undefined
  const counted =
    samples === undefined || metric !== 'error_rate'
      ? []
      : base.map((rate) => ({ samples, failures: rate * samples }))
  const { centre, centreRuns, spread, dof } = describeBase(
    base,
    assumeSpread(metric, { noise, base: counted }),
    leastSpread(metric, { base: counted })
  )
  const reach = tQuantile(1 - LEVEL, dof) * spread * Math.sqrt(1 + 1 / centreRuns)
  const [low, high] = [centre - reach, centre + reach]
    .map((y) => clip(fromScale(scale, y), metric))
    .sort((a, b) => a - b) as [number, number]
  return { low, centre: fromScale(scale, centre), high }
}

function clip(value: number, metric: 'time' | 'throughput' | 'error_rate'): number {
  return Math.max(0, metric === 'error_rate' ? Math.min(1, value) : value)
}
