import uPlot from 'uplot'
import type { PageDocument } from '../document.js'
import type { Palette } from './palette.js'

export const NOT_COUNTED = 'warm-up, not counted'

type Times = Pick<PageDocument, 'series' | 'warmUp'>
type Values = readonly (number | null)[]

/** True if nothing counts of a bucket that begins in the warm-up. */
export function isInWarmUp({ series, warmUp }: Times, index: number): boolean {
  if (warmUp?.untilMs == null || series === null) return false
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
