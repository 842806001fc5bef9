import type { SamplePart, ScanResult } from '../counts/scan-result.js'
import { MOST_LABELS } from '../stalls/followed-labels.js'
import { findStalls, type ScopeRows, type Stall } from '../stalls/find-stalls.js'
import { OverTime } from '../stalls/over-time.js'
import { type AnyScope, isInScope } from './measurements.js'
import { SampleIndex, sumSamples, type SampleSum } from './sample-figures.js'

/** The rows of a run that its stalls are found by: with those of a warm-up, in which a stall may begin. */
export interface StallSource {
  readonly scans: readonly ScanResult[]
  /** Only what comes after it counts. */
  readonly fromMs?: number
}

/** With so few samples, one that waited may be the median of its label. */
const LEAST_FOR_MEDIAN = 5
/** So few may start in whole seconds by chance. */
const LEAST_FOR_COARSE = 20

/** The stalls of a scope in one run, or in several one after the other; or why they are unknown. `around` are those of all labels. */
export function findOverTime(
  runs: readonly StallSource[],
  scope: AnyScope,
  around: readonly Stall[] = []
): OverTime | string {
  const found: OverTime[] = []
  for (const run of runs) {
    const one = findInRun(run, scope, around)
    if (typeof one === 'string') return one
    found.push(one)
  }
  const [first, ...others] = found
  if (first !== undefined && others.length === 0) return first
  const isUnknown = found.some(({ threads }) => threads === undefined)
  return new OverTime(
    found.flatMap(({ stalls }) => stalls),
    found.flatMap(({ silences }) => silences).sort((one, other) => other.ms - one.ms),
    found.reduce((sum, { spanMs }) => sum + spanMs, 0),
    isUnknown ? undefined : Math.max(...found.map(({ threads = 0 }) => threads))
  )
}

function findInRun(
  { scans, fromMs = -Infinity }: StallSource,
  scope: AnyScope,
  around: readonly Stall[]
): OverTime | string {
  const chosen = scans.filter((scan) => isInScope(scan, scope) && scan.rows > 0)
  const rows = chosen.flatMap((scan, source) => {
    return scan.parts.flatMap((part) => rowsOf(part, source, scope.label))
  })
  const lack = describeLack(chosen, rows) ?? (scope.label === undefined ? undefined : describeTooMany(scans))
  if (lack !== undefined) return lack
  const startMs = Math.max(fromMs, Math.min(...rows.map(({ scan }) => scan.firstStartMs)))
  const endMs = Math.max(...rows.map(({ scan }) => scan.lastEndMs))
  const threads = countThreads(chosen)
  const medianMsOf = mediansIn(scans, chosen, scope)
  const { stalls, silences } = findStalls(rows, { threads, medianMsOf, fromMs, label: scope.label, around })
  const most = threads === undefined ? undefined : Math.max(threads, ...stalls.map(({ waiting }) => waiting))
  return new OverTime(stalls, silences, Math.max(0, endMs - startMs), most)
}

function rowsOf(part: SamplePart, source: number, label: string | undefined): ScopeRows[] {
  const { labels, stalls, counts, hasLabels } = part
  const ofLabel = label !== undefined && hasLabels ? stalls.labels.get(label) : []
  const scans = label === undefined ? (counts ? stalls.overall : []) : (ofLabel ?? [])
  return scans.map((scan) => ({ scan, labels, source }))
}

function describeLack(scans: readonly ScanResult[], rows: readonly ScopeRows[]): string | undefined {
  if (scans.some(({ shape }) => shape !== 'samples')) return 'the results do not have a row for each sample'
  if (new Set(scans.map(({ clockMs = 0 }) => clockMs)).size > 1) return 'the clocks of the grids differ'
  const parts = scans.flatMap((scan) => scan.parts)
  if (parts.some(({ hasTimes, hasElapsed }) => !hasTimes || !hasElapsed))
    return 'the results do not have the start and the duration of each sample'
  const coarse = scans.filter((scan) => !scan.parts.some(({ stalls }) => stalls.hasFineTimes))
  if (coarse.length === scans.length || coarse.some(({ rows: count }) => count >= LEAST_FOR_COARSE))
    return 'the times in the results are whole seconds'
  const hasRows = rows.some(({ scan }) => scan.lastEndMs > -Infinity)
  if (!hasRows) return describeTooMany(scans) ?? 'no threshold names the label'
  const isCut = rows.some(({ scan }) => scan.leastMs === Infinity)
  return isCut ? 'the run is too long to look for stalls in it, or in so many labels' : undefined
}

/** Where one CSV ran out of labels to follow, or would have as one with the others, which ones it followed is chance. */
function describeTooMany(scans: readonly ScanResult[]): string | undefined {
  const followed = new Set(
    scans.flatMap(({ parts }) => parts.flatMap(({ stalls }) => [...stalls.labels.keys()]))
  )
  return followed.size < MOST_LABELS ? undefined : `thresholds name ${MOST_LABELS} labels or more`
}

/** The threads of all CSVs together, as their rows say; undefined if one does not say. */
function countThreads(scans: readonly ScanResult[]): number | undefined {
  const most = scans.map(({ parts }) =>
    Math.max(-1, ...parts.filter(({ counts }) => counts).flatMap(({ line }) => Array.from(line.threads)))
  )
  return most.some((threads) => threads < 0) ? undefined : most.reduce((sum, threads) => sum + threads, 0)
}

type Medians = (label: string) => number | undefined

/** Adding up the times of a label takes long, and all labels of a place need those of many. */
const knownMedians = new WeakMap<readonly ScanResult[], Map<string, Medians>>()

function mediansIn(
  all: readonly ScanResult[],
  chosen: readonly ScanResult[],
  { region, grid }: AnyScope
): Medians {
  const places = knownMedians.get(all) ?? new Map<string, Medians>()
  knownMedians.set(all, places)
  const key = JSON.stringify([region, grid])
  const medians = places.get(key) ?? createMedians(chosen)
  places.set(key, medians)
  return medians
}

function createMedians(scans: readonly ScanResult[]): Medians {
  let indexes: readonly SampleIndex[] | undefined
  const sumOf = (label: string | undefined): SampleSum => {
    indexes ??= scans.map((scan) => new SampleIndex(scan))
    return sumSamples(indexes.flatMap((index) => [...index.placesOf(label)]))
  }
  const medianOf = ({ times }: SampleSum): number | undefined => times?.all.percentile(50)
  const known = new Map<string, number | undefined>()
  let overall: number | undefined
  return (label) => {
    if (!known.has(label)) {
      const sum = sumOf(label)
      const isEnough = sum.samples >= LEAST_FOR_MEDIAN
      known.set(label, isEnough ? medianOf(sum) : (overall ??= medianOf(sumOf(undefined))))
    }
    return known.get(label)
  }
}
