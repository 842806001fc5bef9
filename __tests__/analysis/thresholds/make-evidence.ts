import type {
  Figures,
  Measurements,
  Scope,
  Source
} from '../../../src/analysis/results/figures/measurements.js'
import type { Evidence } from '../../../src/analysis/thresholds/judge/evidence.js'

export interface Sample {
  readonly label: string
  readonly region: string
  readonly grid: string
  readonly elapsedMs: number
  readonly isFailed: boolean
}

/** Samples of one label, one for each elapsed time. */
export function makeSamples(elapsedMs: readonly number[], common: Partial<Sample> = {}): Sample[] {
  return elapsedMs.map((elapsed) => ({
    label: 'checkout',
    region: 'us-east-1',
    grid: 'g1',
    isFailed: false,
    ...common,
    elapsedMs: elapsed
  }))
}

/** `count` samples of which the first `failures` failed, all equally fast. */
export function makeCounted(count: number, failures: number, common: Partial<Sample> = {}): Sample[] {
  return Array.from({ length: count }, (_, index) => ({
    ...makeSamples([100], common)[0]!,
    isFailed: index < failures
  }))
}

export function makeSource(changes: Partial<Source> = {}): Source {
  return {
    grid: 'g1',
    region: 'us-east-1',
    shape: 'samples',
    header: 'h',
    rows: 10,
    problems: [],
    ...changes
  }
}

export interface MeasurementChanges extends Partial<Omit<Measurements, 'figures'>> {
  /** Overrides every scope's own figures. */
  readonly changeFigures?: Partial<Figures>
  readonly spanSeconds?: number
}

/** Measurements computed in the most obvious way. */
export function makeMeasurements(samples: readonly Sample[], changes: MeasurementChanges = {}): Measurements {
  const { changeFigures = {}, spanSeconds = 10, ...rest } = changes
  return {
    sources: [makeSource()],
    startMs: 0,
    endMs: spanSeconds * 1000,
    labels: [...new Set(samples.map(({ label }) => label))],
    regions: [...new Set(samples.map(({ region }) => region))],
    grids: [...new Set(samples.map(({ grid }) => grid))],
    series: undefined,
    errors: () => [],
    ...rest,
    figures(scope) {
      const chosen = samples.filter((sample) => isInScope(sample, scope))
      return chosen.length === 0 ? undefined : { ...makeFigures(chosen, spanSeconds), ...changeFigures }
    }
  }
}

function isInScope(sample: Sample, { label, region, grid }: Scope): boolean {
  return (
    (label === undefined || label === sample.label) &&
    (region === undefined || region === sample.region) &&
    (grid === undefined || grid === sample.grid)
  )
}

export function makeFigures(samples: readonly Sample[], spanSeconds = 10): Figures {
  const sorted = samples.map(({ elapsedMs }) => elapsedMs).sort((a, b) => a - b)
  const failures = samples.filter(({ isFailed }) => isFailed).length
  return {
    samples: samples.length,
    failures,
    errorRate: failures / samples.length,
    throughput: samples.length / spanSeconds,
    meanMs: sorted.reduce((sum, elapsed) => sum + elapsed, 0) / samples.length,
    minMs: sorted[0],
    maxMs: sorted.at(-1),
    concurrency: 7,
    percentileMs: (percent) => sorted[Math.ceil((percent / 100) * sorted.length) - 1],
    apdex: (targetMs) => {
      const passed = samples.filter(({ isFailed }) => !isFailed)
      const satisfied = passed.filter(({ elapsedMs }) => elapsedMs <= targetMs).length
      const tolerated = passed.filter(({ elapsedMs }) => elapsedMs <= 4 * targetMs).length - satisfied
      return (satisfied + tolerated / 2) / samples.length
    },
    countTimes() {
      const valuesMs = [...new Set(sorted)]
      const count = (chosen: readonly Sample[]) =>
        valuesMs.map((value) => chosen.filter(({ elapsedMs }) => elapsedMs === value).length)
      return { valuesMs, counts: count(samples), failed: count(samples.filter(({ isFailed }) => isFailed)) }
    },
    overTime: () => 'these figures were made up'
  }
}

export function makeEvidence(changes: Partial<Evidence> = {}): Evidence {
  return {
    apdex: { score: 0.9, targetMs: 500 },
    measurements: makeMeasurements(makeSamples([100, 200, 300, 400])),
    ...changes
  }
}
