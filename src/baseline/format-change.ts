import type { Metric } from '../thresholds/grammar/threshold.js'
import { writeNumber } from '../thresholds/write-number.js'

/** A change as a comparison states it, with its sign: `+12.3 %`, `-0.45 pp`, `+0.02`. */
export function formatChange(metric: Metric, changePct: number): string {
  const size = formatSize(metric, changePct)
  if (/^[0.,]+\D*$/.test(size)) return size
  return `${changePct < 0 ? '-' : '+'}${size}`
}

/** The same without its sign. */
export function formatSize(metric: Metric, changePct: number): string {
  const size = Math.abs(changePct)
  if (metric === 'apdex') return writeNumber(size / 100, 3)
  if (metric === 'error_rate') return `${writeNumber(size, 2)} pp`
  return `${writeNumber(size, size >= 100 ? 0 : 1)} %`
}
