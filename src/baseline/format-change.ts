import type { Metric } from '../thresholds/grammar/threshold.js'

/** A change as a comparison states it, with its sign: `+12.3 %`, `-0.45 pp`, `+0.02`. */
export function formatChange(metric: Metric, changePct: number): string {
  const size = formatSize(metric, changePct)
  if (/^[0.,]+\D*$/.test(size)) return size
  return `${changePct < 0 ? '-' : '+'}${size}`
}

/** The same without its sign. */
export function formatSize(metric: Metric, changePct: number): string {
  const size = Math.abs(changePct)
  if (metric === 'apdex') return write(size / 100, 3)
  if (metric === 'error_rate') return `${write(size, 2)} pp`
  return `${write(size, size >= 100 ? 0 : 1)} %`
}

function write(value: number, digits: number): string {
  return new Intl.NumberFormat('en-US', { maximumFractionDigits: digits }).format(value)
}
