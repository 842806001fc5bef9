import { partsOfLoad } from '../counts/scan-result.js'
import type { ScanResult, SamplePart, TidyBucket, TimeLineScan } from '../counts/scan-result.js'
import type { OverTime } from '../stalls/over-time.js'
import { axisOf, drawSamples, drawTidy, type Span } from './series.js'
import { countTimes, SampleIndex, sumSamples, type Place } from './sample-figures.js'
import { findOverTime, type StallSource } from './find-over-time.js'
import { isInScope, overTimeOf } from './measurements.js'
import type { AnyScope, Figures, Measurements, Source, ErrorCount } from './measurements.js'
import { sumTidy, TidyIndex } from './tidy-figures.js'

interface IndexedRun {
  readonly sources: readonly IndexedSource[]
  readonly span: Span | undefined
}

interface IndexedSource {
  readonly scan: ScanResult
  readonly samples: SampleIndex | undefined
  readonly tidy: TidyIndex | undefined
}

/** A label's figures are cheap to compute again, and those of ten thousand would take too much memory. */
const MAX_KEPT_LABELS = 1000

export function mergeScans(results: readonly ScanResult[], stallsBy?: StallSource): Measurements {
  return mergeRuns([results], stallsBy && [stallsBy])
}

/** Several runs, one after the other: throughput is over the time in which they ran, and the series has them end to end. */
export function mergeRuns(
  scans: readonly (readonly ScanResult[])[],
  stallsBy: readonly StallSource[] = scans.map((each) => ({ scans: each }))
): Measurements {
  const runs = scans.map(indexRun)
  const results = scans.flat()
  const sources = runs.flatMap((run) => run.sources)
  const span = spanOf(sources)
  const areApart = runs.some((run) => !isOneClock(run.sources))
  const seconds = secondsOf(runs)
  const cache = {
    all: new Map<string, Figures | undefined>(),
    labels: new Map<string, Figures | undefined>()
  }
  const sum = (scope: AnyScope): Figures | undefined => {
    const { label, region, grid } = scope
    const around = () => (label === undefined ? undefined : overTimeOf(figures({ region, grid })))
    const inSeconds = areApart ? secondsIn(runs, scope) : seconds
    return sumScope(sources, scope, inSeconds, () => findOverTime(stallsBy, scope, around()?.stalls ?? []))
  }
  const figures = ({ label, region, grid }: AnyScope): Figures | undefined => {
    const key = JSON.stringify([label, region, grid])
    const known = label === undefined ? cache.all : cache.labels
    if (known.has(key)) return known.get(key)
    if (cache.labels.size >= MAX_KEPT_LABELS) cache.labels.clear()
    const found = sum({ label, region, grid })
    known.set(key, found)
    return found
  }
  return {
    sources: results.map(describe),
    startMs: span?.startMs,
    endMs: span?.endMs,
    labels: listOf(sources.flatMap(({ samples, tidy }) => [...((samples ?? tidy)?.labels ?? [])])),
    regions: listOf(results.map(({ region }) => region)),
    grids: listOf(results.map(({ grid }) => grid)),
    ...(areApart && { areClocksApart: true }),
    ...(areApart ? { series: undefined } : drawSeries(runs)),
    figures,
    errors(scope) {
      const parts = chooseSources(sources, scope).flatMap(({ scan }) => scan.parts)
      return sumErrors(parts, scope.label)
    }
  }
}

function chooseSources(sources: readonly IndexedSource[], scope: AnyScope): readonly IndexedSource[] {
  if (scope.region === undefined && scope.grid === undefined) return sources
  return sources.filter(({ scan }) => isInScope(scan, scope))
}

function placesIn(chosen: readonly IndexedSource[], label: string | undefined): readonly Place[] {
  const [only, ...others] = chosen
  if (only !== undefined && others.length === 0) return only.samples?.placesOf(label) ?? []
  return chosen.flatMap(({ samples }) => samples?.placesOf(label) ?? [])
}

function sumScope(
  sources: readonly IndexedSource[],
  scope: AnyScope,
  seconds: number,
  findOverTimes: Figures['overTime']
): Figures | undefined {
  const chosen = chooseSources(sources, scope)
  const places = placesIn(chosen, scope.label)
  const isAside = places.some(isOfAside)
  const samples = sumSamples(places)
  const tidy = sumTidy(chosen.flatMap((source) => source.tidy?.bucketsOf(scope.label) ?? NO_BUCKETS))
  const count = samples.samples + tidy.samples
  if (count === 0) return undefined
  const ofLoad = isAside ? sumSamples(places.filter((place) => !isOfAside(place))).samples : count
  let known: OverTime | string | undefined
  const failures = samples.failures + tidy.failures
  // If some of the samples have no times, there is no percentile of all.
  const times = tidy.samples > 0 ? undefined : samples.times
  const sampleMs = samples.samples > 0 ? samples.times?.sumMs : 0
  return {
    samples: count,
    failures,
    errorRate: failures / count,
    isAside,
    throughput: seconds > 0 && ofLoad > 0 ? ofLoad / seconds : undefined,
    meanMs: sampleMs === undefined || tidy.sumMs === undefined ? undefined : (sampleMs + tidy.sumMs) / count,
    minMs: times?.minMs,
    maxMs: times?.maxMs,
    concurrency: samples.samples > 0 || tidy.users.size === 0 ? undefined : meanOf(tidy.users),
    percentileMs: (percent) => times?.all.percentile(percent),
    apdex(targetMs) {
      if (times === undefined) return undefined
      const satisfied = times.passed.countUpTo(targetMs)
      const tolerated = times.passed.countUpTo(4 * targetMs) - satisfied
      return (satisfied + tolerated / 2) / count
    },
    countTimes: () => times && countTimes(times),
    overTime: () => (known ??= findOverTimes())
  }
}

const NO_BUCKETS: readonly TidyBucket[] = []

function isOfAside({ part }: Place): boolean {
  return part.isAside === true
}

function meanOf(users: ReadonlyMap<number, number>): number {
  return [...users.values()].reduce((sum, value) => sum + value, 0) / users.size
}

/** From the first start to the last end; undefined if a CSV with rows has no times. */
function spanOf(sources: readonly IndexedSource[]): Span | undefined {
  const spans = sources.flatMap(({ scan, tidy }): readonly Span[] =>
    tidy === undefined ? partsOfLoad(scan) : [tidy]
  )
  if (sources.some(({ scan }) => isUntimed(scan))) return undefined
  const startMs = Math.min(...spans.map((span) => span.startMs))
  const endMs = Math.max(...spans.map((span) => span.endMs))
  return startMs <= endMs ? { startMs, endMs } : undefined
}

/** Whether it has rows without known times. */
export function isUntimed({ rows, parts }: ScanResult): boolean {
  return rows > 0 && parts.some(({ hasTimes }) => !hasTimes)
}

/** Zero if the time of a run is unknown. */
function secondsOf(runs: readonly IndexedRun[]): number {
  if (runs.some(({ span }) => span === undefined)) return 0
  return runs.reduce((sum, { span }) => sum + (span === undefined ? 0 : span.endMs - span.startMs), 0) / 1000
}

/** Where clocks differ, only the time of grids with the same one is known. */
function secondsIn(runs: readonly IndexedRun[], scope: AnyScope): number {
  const chosen = runs.map(({ sources }) => chooseSources(sources, scope))
  const known = chosen.filter(isOneClock).map((sources) => ({ sources, span: spanOf(sources) }))
  return known.length < runs.length ? 0 : secondsOf(known)
}

function isOneClock(sources: readonly IndexedSource[]): boolean {
  return new Set(sources.map(({ scan: { clockMs = 0 } }) => clockMs)).size <= 1
}

function indexRun(scans: readonly ScanResult[]): IndexedRun {
  const sources = scans.map((scan) => ({
    scan,
    samples: scan.shape === 'samples' ? new SampleIndex(scan) : undefined,
    tidy: scan.shape === 'tidy' ? new TidyIndex(scan) : undefined
  }))
  return { sources, span: spanOf(sources) }
}

/** The buckets of the series of these runs, and where the first one begins in the time of each run's own rows; undefined without one. */
export function findAxis(scans: readonly (readonly ScanResult[])[]) {
  const runs = scans.map(indexRun)
  const layout = runs.every(({ sources }) => isOneClock(sources)) ? layOut(runs) : undefined
  const lines = layout?.laid.flatMap((run) => run.lines.flatMap((grid) => grid.lines)) ?? []
  const axis = layout && axisOf(lines, layout.span)
  if (layout === undefined || axis === undefined) return undefined
  const { bucketMs, first, buckets } = axis
  const originsMs = layout.laid.map(({ span }, i) => {
    const movedMs = span.startMs - (runs[i]?.span?.startMs ?? span.startMs)
    return first * bucketMs - movedMs
  })
  return { bucketMs, buckets, originsMs }
}

/** The runs end to end, and the time that they take; undefined if that of one of them is unknown. */
function layOut(runs: readonly IndexedRun[]) {
  const timed = runs.flatMap(({ sources, span }) =>
    span === undefined ? [] : [{ span, lines: linesOf(sources), tidy: tidyOf(sources) }]
  )
  if (timed.length < runs.length) return undefined
  const laid = layEndToEnd(timed)
  const startMs = laid[0]?.span.startMs
  const endMs = laid.at(-1)?.span.endMs
  return startMs === undefined || endMs === undefined ? undefined : { laid, span: { startMs, endMs } }
}

function drawSeries(runs: readonly IndexedRun[]): Pick<Measurements, 'series' | 'seamsMs'> {
  const layout = layOut(runs)
  if (layout === undefined) return { series: undefined }
  const { laid, span } = layout
  const series =
    drawSamples(joinGrids(laid.map(({ lines }) => lines)), span) ??
    drawTidy(
      laid.flatMap(({ tidy }) => tidy.buckets),
      Math.max(...laid.map(({ tidy }) => tidy.bucketMs)),
      { ...span, endMs: span.endMs - 1 }
    )
  if (series === undefined || laid.length < 2) return { series }
  const bucketOf = ({ startMs }: Span): number => Math.floor(startMs / series.bucketMs)
  const seamsMs = laid.slice(1).map((run) => (bucketOf(run.span) - bucketOf(span)) * series.bucketMs)
  return { series, seamsMs }
}

function linesOf(sources: readonly IndexedSource[]): GridLines[] {
  return sources.flatMap(({ scan, samples }) =>
    samples === undefined
      ? []
      : [{ grid: scan.grid, lines: scan.parts.filter(({ counts }) => counts).map(({ line }) => line) }]
  )
}

function tidyOf(sources: readonly IndexedSource[]): TimedRun['tidy'] {
  const tidy = sources.flatMap((source) => source.tidy ?? [])
  return {
    buckets: tidy.flatMap((index) => index.bucketsOf(undefined)),
    bucketMs: Math.max(...tidy.map(({ bucketMs }) => bucketMs))
  }
}

function describe(scan: ScanResult): Source {
  const { grid, region, shape, header, rows, asideGroups } = scan
  const aside = asideGroups && { aside_groups: [...asideGroups] }
  return { grid, region, shape, header, rows, problems: listProblems(scan), ...aside }
}

function listProblems({ shape, header, rows, problems, problemCount }: ScanResult): string[] {
  const texts = problems.map(({ row, text }) => (row === 0 ? text : `row ${row}: ${text}`))
  if (problemCount > problems.length)
    texts.push(`${problemCount - problems.length} more rows could not be read`)
  if (texts.length > 0) return texts
  if (shape === 'unknown') return [header === '' ? 'it is empty' : 'its header is not recognized']
  return rows === 0 ? ['it has a header but no rows'] : []
}

function listOf(names: readonly string[]): string[] {
  return [...new Set(names)].sort()
}

const SHOWN_PER_LABEL = 20

function sumErrors(parts: readonly SamplePart[], label: string | undefined): ErrorCount[] {
  // Rows that do not count overall count for their label; why a setUp or tearDown failed is worth knowing in any case.
  const counting = parts.filter(({ counts, isAside, hasLabels }) =>
    label === undefined ? counts || isAside : hasLabels
  )
  const isWanted = (error: { label: string }) => label === undefined || error.label === label
  const byLabel = new Map<string, Map<string, ErrorCount>>()
  for (const error of counting.flatMap(({ errors }) => errors.counts).filter(isWanted)) {
    const known = byLabel.get(error.label) ?? new Map<string, ErrorCount>()
    byLabel.set(error.label, known)
    const key = `${error.code}\n${error.message}`
    known.set(key, { ...error, count: error.count + (known.get(key)?.count ?? 0) })
  }
  const sorted = [...byLabel.values()].map((errors) => [...errors.values()].sort(compare))
  const shown = sorted.flatMap((errors) => errors.slice(0, SHOWN_PER_LABEL)).sort(compare)
  const others = sorted.flatMap((errors) => errors.slice(SHOWN_PER_LABEL))
  const left = [...others, ...counting.flatMap(({ errors }) => errors.rest).filter(isWanted)]
  const rest = left.reduce((sum, { count }) => sum + count, 0)
  return rest === 0 ? shown : [...shown, { label: undefined, code: '', message: 'other errors', count: rest }]
}

/** By count, and in a fixed order if the counts are equal. */
function compare(a: ErrorCount, b: ErrorCount): number {
  if (a.count !== b.count) return b.count - a.count
  const [textA, textB] = [a, b].map(({ label = '', code, message }) => [label, code, message].join('\n'))
  return (textA ?? '') < (textB ?? '') ? -1 : 1
}

interface GridLines {
  readonly grid: string
  readonly lines: readonly TimeLineScan[]
}

interface TimedRun {
  readonly span: Span
  readonly lines: readonly GridLines[]
  readonly tidy: { readonly buckets: readonly TidyBucket[]; readonly bucketMs: number }
}

/** Moves every run but the first to the bucket after the end of the one before, so that a chart has no gaps. */
function layEndToEnd(runs: readonly TimedRun[]): TimedRun[] {
  const widthMs = Math.max(
    ...runs.flatMap(({ lines, tidy }) => [
      tidy.bucketMs,
      ...lines.flatMap((grid) => grid.lines.map(({ bucketMs }) => bucketMs))
    ])
  )
  const laid: TimedRun[] = []
  for (const run of runs) {
    const before = laid.at(-1)
    const isMoved = before !== undefined && Number.isFinite(widthMs)
    laid.push(isMoved ? moveTo(run, Math.floor(before.span.endMs / widthMs) + 1, widthMs) : run)
  }
  return laid
}

/** Widths are powers of two of the narrowest: a whole number of the widest is one of every other. */
function moveTo(run: TimedRun, bucket: number, widthMs: number): TimedRun {
  const byMs = (bucket - Math.floor(run.span.startMs / widthMs)) * widthMs
  const moveLine = (line: TimeLineScan): TimeLineScan => ({
    ...line,
    buckets: line.buckets.map((number) => number + byMs / line.bucketMs)
  })
  return {
    span: { startMs: run.span.startMs + byMs, endMs: run.span.endMs + byMs },
    lines: run.lines.map(({ grid, lines }) => ({ grid, lines: lines.map(moveLine) })),
    tidy: { ...run.tidy, buckets: run.tidy.buckets.map((each) => ({ ...each, atMs: each.atMs + byMs })) }
  }
}

/** One list per grid (per CSV, if a grid has several): threads of different grids add up, those of one grid in several runs do not. */
function joinGrids(runs: readonly (readonly GridLines[])[]): TimeLineScan[][] {
  const grids = new Map<string, TimeLineScan[]>()
  for (const run of runs) {
    const seen = new Map<string, number>()
    for (const { grid, lines } of run) {
      const nth = seen.get(grid) ?? 0
      seen.set(grid, nth + 1)
      const key = `${grid} ${nth}`
      grids.set(key, [...(grids.get(key) ?? []), ...lines])
    }
  }
  return [...grids.values()]
}
