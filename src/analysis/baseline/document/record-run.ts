import type { Figures, Measurements, Scope } from '../../results/figures/measurements.js'
import { matchesPattern } from '../../thresholds/judge/scopes.js'
import type { Threshold } from '../../thresholds/grammar/threshold.js'
import { mostlyFailed } from '../../thresholds/judge/evidence.js'
import { RECORDED_PERCENTILES, LONGEST_NAME, LONGEST_REASON } from '../../../contract/baseline.js'
import type { RecordedRun, RecordedScope } from '../../../contract/baseline.js'
import { boundFingerprint } from './fingerprint.js'
import { makeHistogram } from './compared.js'

export interface RunToRecord extends Pick<RecordedRun, 'commit' | 'runId' | 'atMs' | 'fingerprint'> {
  readonly unusable: string | null | undefined
  readonly apdex: RecordedRun['apdex'] | undefined
}

const MOST_LABELS = 10_000
const MOST_HISTOGRAM_LABELS = 200
const MOST_REGIONS = 50
/** Labels times regions. */
const MOST_PAIRS = 5000

/** Why a run is not recorded at all: its figures come from failures, and if it counted by mistake, a slow run could pass. */
export function whyNotRecorded(measurements: Measurements): string | undefined {
  const all = measurements.figures({})
  if (all === undefined || !mostlyFailed(all)) return undefined
  return `${all.failures} of ${all.samples} samples failed, and a baseline is made of runs that work`
}

export function recordRun(
  facts: RunToRecord,
  measurements: Measurements,
  thresholds: readonly Threshold[]
): RecordedRun {
  const targetMs = facts.apdex?.targetMs
  const add = (scope: Scope, how: { named?: boolean; withHistogram: boolean }): RecordedScope[] => {
    const figures = measurements.figures(scope)
    return figures === undefined ? [] : [{ ...scope, ...recordFigures(figures, targetMs, how) }]
  }
  const regions = measurements.regions.filter(fitsName).slice(0, MOST_REGIONS)
  const labels = rankLabels(measurements, thresholds)
  const unnamed = labels.filter(({ named }) => !named).slice(0, MOST_HISTOGRAM_LABELS)
  const detailed = new Set([...labels.filter(({ named }) => named), ...unnamed])
  const pairs = regions.length > 1 ? labels.slice(0, Math.floor(MOST_PAIRS / regions.length)) : []
  return {
    ...{ commit: facts.commit.toLowerCase(), runId: facts.runId, atMs: facts.atMs },
    unusable: facts.unusable?.slice(0, LONGEST_REASON) ?? null,
    fingerprint: boundFingerprint(facts.fingerprint),
    apdex: facts.apdex ?? null,
    scopes: [
      ...add({}, { withHistogram: true }),
      ...regions.flatMap((region) => add({ region }, { withHistogram: true })),
      ...labels.flatMap((one) =>
        add({ label: one.label }, { named: one.named, withHistogram: detailed.has(one) })
      ),
      ...pairs.flatMap(({ label, named }) =>
        regions.flatMap((region) => add({ label, region }, { named, withHistogram: named }))
      )
    ]
  }
}

/** Those that thresholds name first, then those with the most samples. */
function rankLabels(measurements: Measurements, thresholds: readonly Threshold[]) {
  const patterns = thresholds.flatMap(({ selector }) => selector.label ?? [])
  return measurements.labels
    .filter(fitsName)
    .map((label) => ({
      label,
      samples: measurements.figures({ label })?.samples ?? 0,
      named: patterns.some((pattern) => matchesPattern(pattern, label))
    }))
    .sort(
      (a, b) => Number(b.named) - Number(a.named) || b.samples - a.samples || (a.label < b.label ? -1 : 1)
    )
    .slice(0, MOST_LABELS)
}

function fitsName(name: string): boolean {
  return name.length <= LONGEST_NAME
}

function recordFigures(
  figures: Figures,
  targetMs: number | undefined,
  { named = false, withHistogram }: { named?: boolean; withHistogram: boolean }
): RecordedScope {
  const { samples, failures, meanMs, throughput } = figures
  const times = withHistogram ? figures.countTimes() : undefined
  const histogram = times && makeHistogram(times)
  const apdex = targetMs === undefined ? undefined : figures.apdex(targetMs)
  return {
    ...(named && { named }),
    ...{ samples, failures },
    ...{ meanMs: round(meanMs), apdex: round(apdex), throughput: round(throughput) },
    percentilesMs: Object.fromEntries(
      RECORDED_PERCENTILES.flatMap((percent) => {
        const value = figures.percentileMs(percent)
        return value === undefined ? [] : [[String(percent), value]]
      })
    ),
    ...overTimeOf(figures),
    ...(histogram && { histogram })
  }
}

function overTimeOf(figures: Figures): Pick<RecordedScope, 'overTime'> {
  const overTime = figures.overTime()
  if (typeof overTime === 'string') return {}
  const { spanMs, stalls } = overTime.asRecorded()
  return { overTime: { spanMs, stallsMs: stalls.map(({ ms }) => ms).sort((one, other) => other - one) } }
}

/** Seven digits are more than a comparison needs. */
function round(value: number | undefined): number | null {
  return value === undefined || !Number.isFinite(value) ? null : Number(value.toPrecision(7))
}
