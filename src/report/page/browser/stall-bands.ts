import uPlot from 'uplot'
import type { StallBand } from '../../stalls.js'
import { formatWait } from '../../../analysis/thresholds/format.js'
import type { PageDocument } from '../document.js'
import type { Palette } from './palette.js'

export const NOTHING_ANSWERED = 'nothing answered'
/** So that a short one in a long run can be seen. */
const LEAST_WIDTH = 3

export function bandsOf({ stalls }: Pick<PageDocument, 'stalls'>): readonly StallBand[] {
  return stalls?.bands ?? []
}

/** What is said about a bucket in which nothing was answered for a time; undefined for any other. */
export function describeBand(
  page: Pick<PageDocument, 'stalls' | 'series'>,
  index: number
): string | undefined {
  const { bucketMs = 0, atMs = [] } = page.series ?? {}
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
