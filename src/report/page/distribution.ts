import type { Figures } from '../../analysis/results/figures/measurements.js'

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

export type Histogram = NonNullable<ReturnType<typeof makeHistogram>>

/** Bin `i` has the share of samples above `edgesMs[i]` up to `edgesMs[i + 1]`. Undefined if the CSVs have no individual response times. */
export function makeHistogram(figures: Figures, edgesMs: readonly number[]) {
  if (figures.percentileMs(100) === undefined) return undefined
  // Anything faster than the first edge belongs to the first bin.
  const ranks = edgesMs.map((edgeMs, i) => (i === 0 ? 0 : countUpTo(figures, edgeMs)))
  const shares = ranks.slice(1).map((rank, i) => round((rank - (ranks[i] ?? 0)) / figures.samples))
  return { edgesMs, shares }
}

/** Shares of the samples by response time, at the limits of the apdex. Undefined as well. */
export function makeZones(figures: Figures, targetMs: number) {
  if (figures.percentileMs(100) === undefined) return undefined
  const satisfied = countUpTo(figures, targetMs)
  const tolerated = countUpTo(figures, 4 * targetMs)
  const share = (count: number): number => round(count / figures.samples)
  return {
    targetMs,
    satisfied: share(satisfied),
    tolerated: share(tolerated - satisfied),
    frustrated: share(figures.samples - tolerated)
  }
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

/** How many samples took at most this long, by binary search for the last rank whose value did. */
function countUpTo(figures: Figures, ms: number): number {
  let atMost = 0
  let above = figures.samples + 1
  while (above - atMost > 1) {
    const middle = Math.floor((atMost + above) / 2)
    const value = figures.percentileMs((middle / figures.samples) * 100) ?? Infinity
    if (value <= ms) atMost = middle
    else above = middle
  }
  return atMost
}

function round(share: number): number {
  return Number(share.toPrecision(4))
}
