/** The tone of a word; the colour never appears without the word. */
export type Tone = 'good' | 'bad' | 'doubtful' | 'neutral'

/** In per cent; the limit is the change that a threshold allows. */
interface Change {
  readonly pct: number
  readonly low: number
  readonly high: number
  readonly limitPct: number | null
}

const GAUGE_WIDTH = 120
/** The picture of a change reaches this much further than what it shows. */
const CHANGE_MARGIN = 1.15
/** Position of the limit as a share of the width; values beyond 1.5 times the limit are cut off. */
const LIMIT_AT = 2 / 3
const SPARK = { width: 96, height: 20 }

/** Icons of a verdict; they repeat the word next to them, so screen readers skip them. */
export const VERDICT_PICTURES = {
  good: sign('<path d="M7 12.5l3.5 3.5L17 9"/>'),
  bad: sign('<path d="M8 8l8 8M16 8l-8 8"/>'),
  doubtful: sign('<path d="M12 7v6.5M12 17v.01"/>'),
  neutral: sign('<path d="M8 12h8"/>')
} as const

function sign(path: string): string {
  return `<svg class="sign" viewBox="0 0 24 24" aria-hidden="true"><circle cx="12" cy="12" r="11"/>${path}</svg>`
}

export function gaugePicture({ ratio }: { readonly ratio: number | null }, tone: string): string {
  if (ratio === null) return ''
  const limit = GAUGE_WIDTH * LIMIT_AT
  const width = Math.max(2, Math.min(GAUGE_WIDTH, limit * ratio)).toFixed(1)
  return `<svg class="gauge ${tone}" viewBox="0 0 ${GAUGE_WIDTH} 16" width="${GAUGE_WIDTH}" height="16" aria-hidden="true"><rect class="track" y="5" width="${GAUGE_WIDTH}" height="6" rx="3"/><rect class="bar" y="5" width="${width}" height="6" rx="3"/><path class="limit" d="M${limit} 1v14"/></svg>`
}

/** The change as a dot within its interval, from less on the left to more on the right; no change and the limit as marks. */
export function changePicture({ change }: { readonly change: Change | null }, tone: string): string {
  if (change === null) return ''
  const { pct, low, high, limitPct } = change
  // An interval that reaches far beyond everything else only has to be seen to do so.
  const size = Math.max(Math.abs(pct), Math.abs(limitPct ?? 0), 1e-9)
  const reach = Math.max(size, Math.min(2 * size, Math.max(Math.abs(low), Math.abs(high)))) * CHANGE_MARGIN
  return intervalPicture(change, tone, reach)
}

/** On a scale that reaches as far to both sides. */
export function intervalPicture({ pct, low, high, limitPct }: Change, tone: string, reach: number): string {
  const at = (value: number): string =>
    (((Math.max(-reach, Math.min(reach, value)) / reach + 1) * GAUGE_WIDTH) / 2).toFixed(1)
  const limit = limitPct === null ? '' : `<path class="limit" d="M${at(limitPct)} 1v14"/>`
  const width = (Number(at(high)) - Number(at(low))).toFixed(1)
  return `<svg class="gauge ${tone}" viewBox="0 0 ${GAUGE_WIDTH} 16" width="${GAUGE_WIDTH}" height="16" aria-hidden="true"><rect class="track" y="7" width="${GAUGE_WIDTH}" height="2" rx="1"/><path class="zero" d="M${at(0)} 3v10"/><rect class="bar interval" x="${at(low)}" y="5" width="${width}" height="6" rx="3"/><circle class="bar" cx="${at(pct)}" cy="8" r="4"/>${limit}</svg>`
}

export function sparkPicture(heights: string): string {
  if (heights === '') return ''
  const { width, height } = SPARK
  const step = width / heights.length
  const tops = Array.from(heights, (digit, i) => {
    const y = height - 1 - (Number(digit) / 9) * (height - 2)
    return `${((i + 0.5) * step).toFixed(1)} ${y.toFixed(1)}`
  })
  const line = `M0 ${height - 1}L${tops.join('L')}L${width} ${height - 1}`
  return `<svg class="spark" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" aria-hidden="true"><path d="${line}"/></svg>`
}
