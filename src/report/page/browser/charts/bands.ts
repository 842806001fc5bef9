import uPlot from 'uplot'
import type { StallBand } from '../../../stalls.js'
import { formatWait } from '../../../../analysis/thresholds/format.js'
import type { PageDocument } from '../../build-document.js'
import type { Palette } from './drawing.js'

export const NOTHING_ANSWERED = 'nothing answered'
/** So that a short one in a long run can be seen. */
const LEAST_WIDTH = 3

interface Axis {
  readonly bucketMs: number
  readonly atMs: readonly number[]
}

export function bandsOf({ stalls }: Pick<PageDocument, 'stalls'>): readonly StallBand[] {
  return stalls?.bands ?? []
}

/** What is said about a bucket in which nothing was answered for a time; undefined for any other. */
export function describeBand(page: Pick<PageDocument, 'stalls'> & { readonly series: Axis }, index: number) {
  const { bucketMs, atMs } = page.series
  const fromMs = atMs[index] ?? NaN
  const here = bandsOf(page).filter(([bandMs, ms]) => bandMs < fromMs + bucketMs && bandMs + ms > fromMs)
  const longestMs = Math.max(0, ...here.map(([, ms]) => ms))
  return longestMs === 0 ? undefined : `${NOTHING_ANSWERED} for ${formatWait(longestMs)}`
}

/** All of them, for those who do not see the charts. */
export function countBands(page: Pick<PageDocument, 'stalls'>): string {
  const count = bandsOf(page).length
  return count === 0 ? '' : `, ${NOTHING_ANSWERED} ${count === 1 ? 'once' : `${count} times`}`
}

/** Behind everything else, each with a line where it begins and ends. */
export function drawBands(plot: uPlot, bands: readonly StallBand[], palette: Palette): void {
  const { ctx, bbox } = plot
  const edge = uPlot.pxRatio
  // An edge between two pixels would be pale.
  const pixelOf = (atMs: number): number => Math.round(plot.valToPos(atMs / 1000, 'x', true))
  ctx.save()
  ctx.beginPath()
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height)
  ctx.clip()
  for (const [atMs, ms] of bands) {
    const start = pixelOf(atMs)
    const width = Math.max(LEAST_WIDTH * edge, pixelOf(atMs + ms) - start)
    ctx.fillStyle = palette['stall-band']
    ctx.fillRect(start, bbox.top, width, bbox.height)
    ctx.fillStyle = palette.stall
    ctx.fillRect(start, bbox.top, edge, bbox.height)
    ctx.fillRect(start + width - edge, bbox.top, edge, bbox.height)
  }
  ctx.restore()
}

/** Where one of several runs ends and the next one begins. */
export function drawSeams(plot: uPlot, seamsMs: readonly number[], palette: Palette): void {
  const { ctx, bbox } = plot
  for (const atMs of seamsMs) {
    const x = Math.round(plot.valToPos(atMs / 1000, 'x', true))
    if (x < bbox.left || x > bbox.left + bbox.width) continue
    ctx.fillStyle = palette.muted
    ctx.fillRect(x, bbox.top, uPlot.pxRatio, bbox.height)
  }
}

export const NOT_COUNTED = 'warm-up, not counted'

type Times = Pick<PageDocument, 'warmUp'> & { readonly series: Pick<Axis, 'atMs'> }
type Values = readonly (number | null)[]

/** True if nothing counts of a bucket that begins in the warm-up. */
export function isInWarmUp({ series, warmUp }: Times, index: number): boolean {
  if (warmUp?.untilMs == null) return false
  return (series.atMs[index] ?? 0) < warmUp.untilMs && warmUp.counted?.throughput[index] == null
}

/** What does not count, with the neighbours to which its line leads. */
export function greyPart(whole: Values, counted: Values): Values {
  const differs = (i: number): boolean => i in whole && whole[i] !== counted[i]
  return whole.map((value, i) => (differs(i - 1) || differs(i) || differs(i + 1) ? value : null))
}

/** A band behind everything else, up to a line where the warm-up ends. */
export function drawBand(plot: uPlot, untilMs: number, palette: Palette): void {
  const { ctx, bbox } = plot
  const end = plot.valToPos(untilMs / 1000, 'x', true)
  const width = Math.min(bbox.width, end - bbox.left)
  if (width <= 0) return
  ctx.save()
  ctx.fillStyle = palette['warm-up-band']
  ctx.fillRect(bbox.left, bbox.top, width, bbox.height)
  if (width < bbox.width) {
    ctx.fillStyle = palette['warm-up']
    ctx.fillRect(end, bbox.top, uPlot.pxRatio, bbox.height)
  }
  ctx.restore()
}
