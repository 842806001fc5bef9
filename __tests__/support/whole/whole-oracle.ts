import { pick } from './whole-plan.js'
import type { Random, TrueGrid, TruePlan, TrueRow } from './whole-plan.js'

export interface TrueScope {
  readonly label?: string
  readonly region?: string
  readonly grid?: string
}

/** Figures by the textbook, from the rows as they were meant. Undefined is what the CSVs of the scope cannot say. */
export interface TrueFigures {
  readonly samples: number
  readonly failures: number
  readonly meanMs: number
  readonly minMs: number | undefined
  readonly maxMs: number | undefined
  readonly throughput: number | undefined
  percentileMs(percent: number): number | undefined
}

const APDEX_TARGET_MS = 500

export function figuresOf(plan: TruePlan, scope: TrueScope): TrueFigures | undefined {
  const grids = plan.grids.filter(
    ({ id, region }) => (scope.grid ?? id) === id && (scope.region ?? region) === region
  )
  const isIn = (row: TrueRow): boolean =>
    scope.label === undefined ? row.isCounted : row.label === scope.label
  const some = grids
    .map((grid) => ({ grid, rows: grid.rows.filter(isIn) }))
    .filter(({ rows }) => rows.length > 0)
  const times = some.flatMap(({ rows }) => rows.map(({ elapsedMs }) => elapsedMs)).sort((a, b) => a - b)
  if (times.length === 0) return undefined
  const hasTimes = some.every(({ grid }) => grid.shape === 'samples')
  return {
    samples: times.length,
    failures: some.flatMap(({ rows }) => rows).filter(({ isFailure }) => isFailure).length,
    meanMs: times.reduce((sum, ms) => sum + ms, 0) / times.length,
    minMs: hasTimes ? times[0] : undefined,
    maxMs: hasTimes ? times.at(-1) : undefined,
    throughput: plan.grids.every(isOfSamples) ? times.length / spanSeconds(plan) : undefined,
    percentileMs: (percent) =>
      hasTimes ? times[Math.max(0, Math.ceil((percent * times.length) / 100 - 1e-9) - 1)] : undefined
  }
}

const isOfSamples = ({ shape }: TrueGrid): boolean => shape === 'samples'

function spanSeconds({ grids }: TruePlan): number {
  const rows = grids.flatMap((grid) => grid.rows)
  const startMs = Math.min(...rows.map((row) => row.startMs))
  const endMs = Math.max(...rows.map((row) => row.startMs + row.elapsedMs))
  return (endMs - startMs) / 1000
}

/** All scopes that have figures. */
export function scopesOf({ grids }: TruePlan): TrueScope[] {
  const labels = new Set(grids.flatMap(({ rows }) => rows.map(({ label }) => label)))
  const regions = new Set(grids.map(({ region }) => region))
  return [
    {},
    ...[...labels].map((label) => ({ label })),
    ...[...regions].map((region) => ({ region })),
    ...grids.map(({ id }) => ({ grid: id }))
  ]
}

/** The service's own figure, as it writes it. */
export function apdexOf({ grids }: TruePlan): { readonly score: number; readonly text: string } {
  const rows = grids.flatMap((grid) => grid.rows).filter(({ isCounted }) => isCounted)
  const good = rows.filter(({ isFailure }) => !isFailure)
  const satisfied = good.filter(({ elapsedMs }) => elapsedMs <= APDEX_TARGET_MS).length
  const tolerated = good.filter(({ elapsedMs }) => elapsedMs <= 4 * APDEX_TARGET_MS).length - satisfied
  const text = ((satisfied + tolerated / 2) / rows.length).toFixed(2)
  return { score: Number(text), text: `${text} [${APDEX_TARGET_MS}]` }
}

type Metric = 'apdex' | 'error_rate' | 'failures' | 'samples' | 'mean' | 'p50' | 'p95' | 'p99'

/** A line, and what is true of it. */
export interface TrueThreshold {
  readonly text: string
  readonly metric: Metric
  readonly verdict: 'passed' | 'failed' | 'inconclusive'
  /** Held by times or an apdex of which more than half are of failed requests. */
  readonly isDoubtful: boolean
}

const TIMES: readonly Metric[] = ['mean', 'p50', 'p95', 'p99']

/** Lines that hold or are broken clearly, for any of the scopes. */
export function makeThresholds(random: Random, plan: TruePlan): TrueThreshold[] {
  const metrics = Array.from({ length: Math.floor(random() * 5) }, () =>
    pick<Metric>(random, ['apdex', 'error_rate', 'failures', 'samples', ...TIMES])
  )
  return metrics.flatMap((metric) => makeThreshold(random, plan, metric) ?? [])
}

function makeThreshold(random: Random, plan: TruePlan, metric: Metric): TrueThreshold | undefined {
  const key =
    metric === 'apdex' ? undefined : pick(random, [undefined, undefined, 'label', 'region', 'grid'] as const)
  const scopes = key === undefined ? [{}] : scopesOf(plan).filter((scope) => key in scope)
  const figures = scopes.flatMap((scope) => figuresOf(plan, scope) ?? [])
  const values = metric === 'apdex' ? [apdexOf(plan).score] : figures.map((some) => valueOf(metric, some))
  const known = values.filter((value) => value !== undefined)
  const shouldHold = random() < 0.85
  const isLeast = metric === 'apdex' || metric === 'samples'
  const worst = known.length === 0 ? 100 : isLeast ? Math.min(...known) : Math.max(...known)
  const limit = limitFor(metric, worst, shouldHold)
  if (limit === undefined) return undefined
  const isBroken = !shouldHold && known.length > 0
  const needsSuccess = metric === 'apdex' || TIMES.includes(metric)
  const isDoubtful = needsSuccess && figures.some(({ samples, failures }) => failures * 2 > samples)
  const selector = key === undefined ? '' : `{${key}="*"}`
  return {
    text: `${metric}${selector} ${isLeast ? '>=' : '<='} ${limit}`,
    metric,
    verdict: isBroken ? 'failed' : known.length < values.length ? 'inconclusive' : 'passed',
    isDoubtful
  }
}

function valueOf(metric: Metric, figures: TrueFigures): number | undefined {
  switch (metric) {
    case 'error_rate':
      return figures.failures / figures.samples
    case 'failures':
      return figures.failures
    case 'samples':
      return figures.samples
    case 'mean':
      return figures.meanMs
    case 'apdex':
      return undefined
    case 'p50':
    case 'p95':
    case 'p99':
      return figures.percentileMs(Number(metric.slice(1)))
  }
}

/** A limit well to one side of the value; undefined where there is none on that side. */
function limitFor(metric: Metric, value: number, shouldHold: boolean): string | undefined {
  switch (metric) {
    case 'apdex': {
      const limit = shouldHold ? value : value + 0.01
      return limit <= 1 ? limit.toFixed(2) : undefined
    }
    case 'samples':
      return String(shouldHold ? value : value + 1)
    case 'failures':
      return shouldHold ? String(value) : value > 0 ? String(value - 1) : undefined
    case 'error_rate': {
      const percent = shouldHold ? Math.min(100, value * 100 + 0.5) : value * 100 - 0.5
      return percent > 0 ? `${percent.toFixed(3)}%` : undefined
    }
    case 'mean':
    case 'p50':
    case 'p95':
    case 'p99': {
      const limit = shouldHold ? Math.ceil(value) + 1 : Math.floor(value) - 1
      return limit > 0 ? `${limit}ms` : undefined
    }
  }
}

/** What the gate must say of the complete data. */
export function verdictOf(
  plan: TruePlan,
  thresholds: readonly TrueThreshold[]
): 'passed' | 'failed' | 'inconclusive' {
  if (thresholds.some(({ verdict }) => verdict === 'failed')) return 'failed'
  const isLost = plan.remoteErrors?.startsWith('load lost:') ?? false
  const isOpen = thresholds.some(({ verdict, isDoubtful }) => verdict === 'inconclusive' || isDoubtful)
  return isLost || isOpen ? 'inconclusive' : 'passed'
}
