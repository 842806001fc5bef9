import { drawSamples, drawTidy, type Span } from './series.js'
import { countTimes, SampleIndex, sumSamples, type SampleSum } from './sample-figures.js'
import { sumErrors } from './sample-errors.js'
import { sumTidy, TidyIndex, type TidySum } from './tidy-figures.js'
import type { Figures, Measurements, Scope, Source, TimeSeries } from './measurements.js'
import type { ScanResult } from '../counts/scan-result.js'

interface IndexedSource {
  readonly scan: ScanResult
  readonly samples: SampleIndex | undefined
  readonly tidy: TidyIndex | undefined
}

/** A label's figures are cheap to compute again, and those of ten thousand would take too much memory. */
const MAX_KEPT_LABELS = 1000

/** Combines the CSVs of all grids into one population. */
export function mergeScans(results: readonly ScanResult[]): Measurements {
  const sources = results.map((scan) => ({
    scan,
    samples: scan.shape === 'samples' ? new SampleIndex(scan) : undefined,
    tidy: scan.shape === 'tidy' ? new TidyIndex(scan) : undefined
  }))
  const span = spanOf(sources)
  const cache = {
    all: new Map<string, Figures | undefined>(),
    labels: new Map<string, Figures | undefined>()
  }
  return {
    sources: results.map(describe),
    startMs: span?.startMs,
    endMs: span?.endMs,
    labels: listOf(sources.flatMap(({ samples, tidy }) => [...((samples ?? tidy)?.labels ?? [])])),
    regions: listOf(results.map(({ region }) => region)),
    grids: listOf(results.map(({ grid }) => grid)),
    series: span === undefined ? undefined : drawSeries(sources, span),
    figures({ label, region, grid }) {
      const key = JSON.stringify([label, region, grid])
      const known = label === undefined ? cache.all : cache.labels
      if (!known.has(key)) {
        if (cache.labels.size >= MAX_KEPT_LABELS) cache.labels.clear()
        known.set(key, sumScope(sources, { label, region, grid }, span))
      }
      return known.get(key)
    },
    errors(scope) {
      const parts = chooseSources(sources, scope).flatMap(({ scan }) => scan.parts)
      return sumErrors(parts, scope.label)
    }
  }
}

/** Undefined keys mean all, like absent ones. */
type AnyScope = { readonly [Key in keyof Scope]: Scope[Key] | undefined }

function chooseSources(sources: readonly IndexedSource[], scope: AnyScope): IndexedSource[] {
  return sources.filter(
    ({ scan }) =>
      (scope.region === undefined || scan.region === scope.region) &&
      (scope.grid === undefined || scan.grid === scope.grid)
  )
}

function sumScope(
  sources: readonly IndexedSource[],
  scope: AnyScope,
  span: Span | undefined
): Figures | undefined {
  const chosen = chooseSources(sources, scope)
  const samples = sumSamples(chosen.flatMap((source) => source.samples?.placesOf(scope.label) ?? []))
  const tidy = sumTidy(chosen.flatMap((source) => source.tidy?.bucketsOf(scope.label) ?? []))
  return samples.samples + tidy.samples === 0 ? undefined : makeFigures(samples, tidy, span)
}

function makeFigures(samples: SampleSum, tidy: TidySum, span: Span | undefined): Figures {
  const count = samples.samples + tidy.samples
  const failures = samples.failures + tidy.failures
  // If some of the samples have no times, there is no percentile of all.
  const times = tidy.samples > 0 ? undefined : samples.times
  const sumMs = addKnown(samples.samples > 0 ? samples.times?.sumMs : 0, tidy.sumMs)
  const seconds = span === undefined ? 0 : (span.endMs - span.startMs) / 1000
  return {
    samples: count,
    failures,
    errorRate: failures / count,
    throughput: seconds > 0 ? count / seconds : undefined,
    meanMs: sumMs === undefined ? undefined : sumMs / count,
    minMs: times?.minMs,
    maxMs: times?.maxMs,
    concurrency: samples.samples > 0 ? undefined : meanOf([...tidy.users.values()]),
    percentileMs: (percent) => times?.all.percentile(percent),
    apdex(targetMs) {
      if (times === undefined) return undefined
      const satisfied = times.passed.countUpTo(targetMs)
      const tolerated = times.passed.countUpTo(4 * targetMs) - satisfied
      return (satisfied + tolerated / 2) / count
    },
    countTimes: () => times && countTimes(times)
  }
}

function addKnown(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? undefined : a + b
}

function meanOf(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0) / values.length
}

/** From the first start to the last end; undefined if a CSV with rows has no times. */
function spanOf(sources: readonly IndexedSource[]): Span | undefined {
  const spans = sources.flatMap(({ scan, tidy }): readonly Span[] =>
    tidy === undefined ? scan.parts : [tidy]
  )
  const isUntimed = sources.some(
    ({ scan: { rows, parts } }) => rows > 0 && parts.some((part) => !part.hasTimes)
  )
  if (isUntimed) return undefined
  const startMs = Math.min(...spans.map((span) => span.startMs))
  const endMs = Math.max(...spans.map((span) => span.endMs))
  return startMs <= endMs ? { startMs, endMs } : undefined
}

function drawSeries(sources: readonly IndexedSource[], span: Span): TimeSeries | undefined {
  const lines = sources.flatMap(({ scan, samples }) =>
    samples === undefined ? [] : [scan.parts.filter(({ counts }) => counts).map(({ line }) => line)]
  )
  const tidy = sources.flatMap((source) => source.tidy ?? [])
  return (
    drawSamples(lines, span) ??
    drawTidy(
      tidy.flatMap((index) => index.bucketsOf(undefined)),
      Math.max(...tidy.map(({ bucketMs }) => bucketMs)),
      { ...span, endMs: span.endMs - 1 }
    )
  )
}

function describe(scan: ScanResult): Source {
  const { grid, region, shape, header, rows } = scan
  return { grid, region, shape, header, rows, problems: listProblems(scan) }
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
