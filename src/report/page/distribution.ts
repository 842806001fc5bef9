import type { CountedTimes, Figures } from '../../analysis/results/figures/measurements.js'

const BINS = 72
const SPARK_BINS = 24
const SPARK_PERCENTILES = 40

/** Edges in equal steps on a logarithmic scale, at whole milliseconds like the times; the first is below all samples. */
export function makeEdges(minMs: number, maxMs: number, mostBins = BINS): number[] {
  const bins = Math.min(BINS, mostBins)
  const low = Math.max(1, Math.floor(minMs))
  const high = Math.max(low + 1, Math.ceil(maxMs))
  const steps = Array.from({ length: bins + 1 }, (_, i) => Math.round(low * (high / low) ** (i / bins)))
  return [...new Set([minMs < 1 ? 0 : low - 1, ...steps])]
}

/** Bin `i` has the share of samples above `edgesMs[i]` up to `edgesMs[i + 1]`. */
export interface Histogram {
  readonly edgesMs: readonly number[]
  readonly shares: readonly number[]
}

/** Undefined if the CSVs have no individual response times. */
export function makeHistogram(figures: Figures, edgesMs: readonly number[]): Histogram | undefined {
  const times = figures.countTimes()
  return times && { edgesMs, shares: sharesOf(times, edgesMs) }
}

/** The share of samples in each bin; anything faster than the first edge belongs to the first bin. */
export function sharesOf(
  { valuesMs, counts }: Pick<CountedTimes, 'valuesMs' | 'counts'>,
  edgesMs: readonly number[]
): number[] {
  const bins = new Array<number>(edgesMs.length - 1).fill(0)
  let bin = 0
  valuesMs.forEach((ms, i) => {
    while (bin < bins.length - 1 && ms > (edgesMs[bin + 1] ?? Infinity)) bin++
    bins[bin] = (bins[bin] ?? 0) + (counts[i] ?? 0)
  })
  const all = bins.reduce((sum, count) => sum + count, 0)
  return bins.map((count) => round(count / all))
}

/** Shares of the samples as the apdex counts them; they add up to 1. A failed sample is only counted as failed, however fast it was. */
export function makeZones(figures: Figures, targetMs: number) {
  const times = figures.countTimes()
  if (times === undefined) return undefined
  const counts = { satisfied: 0, tolerated: 0, frustrated: 0, failed: 0 }
  times.valuesMs.forEach((ms, i) => {
    const failed = times.failed[i] ?? 0
    const zone = ms <= targetMs ? 'satisfied' : ms <= 4 * targetMs ? 'tolerated' : 'frustrated'
    counts[zone] += (times.counts[i] ?? 0) - failed
    counts.failed += failed
  })
  const share = (count: number): number => round(count / figures.samples)
  return {
    targetMs,
    satisfied: share(counts.satisfied),
    tolerated: share(counts.tolerated),
    frustrated: share(counts.frustrated),
    failed: share(counts.failed)
  }
}

/** Shares as percentages that add up to 100 as they are written, with one decimal; one that is not zero is never written as zero. */
export function writeShares(shares: readonly number[]): string[] {
  const tenths = shares.map((share) => (share > 0 ? Math.max(1, Math.floor(share * 1000)) : 0))
  // The largest one takes what rounding leaves: it is the one in which a tenth shows least.
  const rest = 1000 - tenths.reduce((sum, part) => sum + part, 0)
  const largest = shares.indexOf(Math.max(...shares))
  return tenths.map((part, i) => {
    const isTiny = part === 1 && (shares[i] ?? 0) < 0.0005
    return isTiny ? '< 0.1 %' : `${(part + (i === largest ? rest : 0)) / 10} %`
  })
}

/** The distribution as digits, in ninths of the tallest. A few percentiles, smoothed, are enough; there may be thousands of labels. */
export function makeSpark(figures: Figures, [minMs, maxMs]: readonly [number, number]): string {
  const lowMs = Math.max(1, minMs)
  const width = Math.log(Math.max(maxMs, lowMs + 1) / lowMs)
  const bins = new Array<number>(SPARK_BINS).fill(0)
  for (let i = 0; i < SPARK_PERCENTILES; i++) {
    const ms = figures.percentileMs(((i + 0.5) / SPARK_PERCENTILES) * 100)
    if (ms === undefined) return ''
    const at = Math.floor((Math.log(Math.max(lowMs, ms) / lowMs) / width) * SPARK_BINS)
    const bin = Math.min(SPARK_BINS - 1, at)
    bins[bin] = (bins[bin] ?? 0) + 1
  }
  const heights = bins.map((count, i) => (bins[i - 1] ?? 0) + 2 * count + (bins[i + 1] ?? 0))
  const tallest = Math.max(...heights)
  return heights.map((height) => Math.ceil((height / tallest) * 9)).join('')
}

/** Shares by width on the logarithmic axis: whole milliseconds make bins of unequal width among short times. */
export function densities({ edgesMs, shares }: Histogram): number[] {
  return shares.map((share, i) => {
    const low = Math.max(0.5, edgesMs[i] ?? 0)
    return share / Math.log((edgesMs[i + 1] ?? low) / low)
  })
}

function round(share: number): number {
  return Number(share.toPrecision(4))
}
