import type { Stall } from '../results/stalls/find-stalls.js'
import { compareToLimit, measureRoom, asAbsolute, type Judged } from './judge/judgement.js'
import type { Figures } from '../results/figures/measurements.js'
import { factsOf, figureOf, metricNamed, type Metric, type Unit } from './metrics.js'
import { isAbsoluteThreshold, isBaselineThreshold, type AbsoluteThreshold } from './grammar/threshold.js'
import { quoteIfNeeded } from './quoting.js'

const MOST_DIGITS = 15
const MOST_MORE_DIGITS = 2

/** Converts base units for display; limits in seconds are shown in ms, like all other times. */
const SHOWN: Readonly<Record<Unit, { factor: number; suffix: string }>> = {
  ms: { factor: 1, suffix: ' ms' },
  s: { factor: 1, suffix: ' ms' },
  '%': { factor: 100, suffix: ' %' },
  '/s': { factor: 1, suffix: '/s' },
  '/min': { factor: 60, suffix: '/min' },
  '': { factor: 1, suffix: '' }
}

/** A value in base units, formatted: `1,240 ms`, `2.5 %`, `55.3/s`, `0.85`. Next to a limit, use `formatActual`. */
export function formatValue(metric: Metric, value: number): string {
  const unit = factsOf({ metric }).units[0] ?? ''
  const shown = value * SHOWN[unit].factor
  return write(shown, readableDigits(metric, shown), unit)
}

/** A figure by the name of its metric, formatted; a dash if it is unknown. */
export function formatFigure(name: string, figures: Figures | undefined): string {
  const value = figures && figureOf(name, figures)
  return value === undefined ? '–' : formatValue(metricNamed(name)?.metric ?? 'samples', value)
}

export function formatLimit(threshold: AbsoluteThreshold): string {
  const shown = threshold.value * SHOWN[threshold.unit].factor
  return write(shown, exactDigits(shown), threshold.unit)
}

/** The actual value with as many digits as needed to stay on its side of the limit; empty if there is none. */
export function formatActual(judged: Judged): string {
  const { actual } = judged
  if (actual === undefined) return ''
  const threshold = asAbsolute(judged)
  if (threshold === undefined)
    return isBaselineThreshold(judged.threshold) ? formatValue(judged.threshold.metric, actual) : ''
  const { value: limit, unit, metric } = threshold
  const side = Math.sign(compareToLimit(actual, limit))
  // A limit that follows from a baseline is shown rounded too.
  const isWritten = isAbsoluteThreshold(judged.threshold)
  if (side === 0) return isWritten ? formatLimit(threshold) : formatValue(metric, actual)
  const { factor } = SHOWN[unit]
  const shown = actual * factor
  let digits = readableDigits(metric, shown)
  const most = isWritten ? MOST_DIGITS : Math.min(MOST_DIGITS, digits + MOST_MORE_DIGITS)
  while (digits < most && Math.sign(compareToLimit(roundTo(shown, digits), limit * factor)) !== side) digits++
  return write(shown, digits, unit)
}

/** From so many times the limit on, a percentage is hard to read. */
const MANY_TIMES = 10

/** The distance to the limit: `55 % over`, `12 % below the limit`, `25 times the limit`; empty if there is no actual value. */
export function formatMargin(judged: Judged): string {
  const { actual } = judged
  const threshold = asAbsolute(judged)
  if (actual === undefined || threshold === undefined) return ''
  const { value: limit, operator, unit, metric } = threshold
  const difference = compareToLimit(actual, limit)
  if (difference === 0) return 'exactly at the limit'
  const whole = operator === '==' ? 'the required value' : 'the limit'
  if (limit > 0 && actual / limit >= MANY_TIMES) return `${writeNumber(actual / limit, 0)} times ${whole}`
  const { factor } = SHOWN[unit]
  const distance = Math.abs(difference) * factor
  // There is no percentage of a limit of 0.
  const amount =
    limit === 0
      ? write(distance, readableDigits(metric, distance), unit)
      : formatPercent(Math.abs(difference) / limit)
  if (operator === '==') return `${amount} ${difference > 0 ? 'above' : 'below'} ${whole}`
  if (measureRoom(actual, threshold) < 0) return `${amount} ${difference > 0 ? 'over' : 'short'}`
  return `${amount} ${difference > 0 ? 'above' : 'below'} the limit`
}

function formatPercent(ratio: number): string {
  const percent = ratio * 100
  if (percent < 0.01) return 'less than 0.01 %'
  // Only 0 is 100 % below a limit.
  if (percent > 99 && percent < 100) return write(Math.floor(percent * 100) / 100, 2, '%')
  return write(percent, percent >= 10 ? 0 : percent >= 1 ? 1 : 2, '%')
}

/** A sensible number of decimals; a small value keeps two significant digits. */
function readableDigits(metric: Metric, shown: number): number {
  const size = Math.abs(shown)
  if (size === 0 || !Number.isFinite(size)) return 0
  const { decimals } = factsOf({ metric })
  if (decimals !== undefined) return decimals
  if (size >= 1) return size >= 100 ? 0 : size >= 10 ? 1 : 2
  return Math.min(MOST_DIGITS, 1 - Math.floor(Math.log10(size)))
}

function exactDigits(shown: number): number {
  let digits = 0
  while (digits < MOST_DIGITS && compareToLimit(roundTo(shown, digits), shown) !== 0) digits++
  return digits
}

export function roundTo(value: number, digits: number): number {
  return Number(value.toFixed(digits))
}

function write(shown: number, digits: number, unit: Unit): string {
  return writeNumber(shown, digits) + SHOWN[unit].suffix
}

/** To create one takes longer than to use it a hundred times. */
const formats = new Map<number, Intl.NumberFormat>()

/** `1,240.5`: with at most so many decimals. */
export function writeNumber(value: number, digits: number): string {
  const format = formats.get(digits) ?? new Intl.NumberFormat('en-US', { maximumFractionDigits: digits })
  formats.set(digits, format)
  return format.format(value)
}

/** A change as a comparison states it, with its sign: `+12.3 %`, `-0.45 pp`, `+0.02`. */
export function formatChange(metric: Metric, changePct: number): string {
  const size = formatSize(metric, changePct)
  if (/^[0.,]+\D*$/.test(size)) return size
  return `${changePct < 0 ? '-' : '+'}${size}`
}

/** The same without its sign. */
export function formatSize(metric: Metric, changePct: number): string {
  const size = Math.abs(changePct)
  const { baseline, decimals = 2 } = factsOf({ metric })
  const [unit] = typeof baseline === 'string' ? [] : baseline.units
  if (unit === '') return writeNumber(size / 100, decimals)
  if (unit === 'pp') return `${writeNumber(size, 2)} pp`
  return `${writeNumber(size, size >= 100 ? 0 : 1)} %`
}

/** A time of the run, from its start: `0:08`, `12:40`, `1:02:03`. */
export function formatMoment(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000))
  const [minutes, hours] = [Math.floor(seconds / 60) % 60, Math.floor(seconds / 3600)]
  const twoDigits = (count: number): string => String(count).padStart(2, '0')
  const before = hours === 0 ? String(minutes) : `${hours}:${twoDigits(minutes)}`
  return `${before}:${twoDigits(seconds % 60)}`
}

/** How long somebody waited, rounded down: `174 ms`, `4.8 s`. With a limit, on its own side of it. */
export function formatWait(ms: number, limitMs?: number): string {
  if (ms < 1000) return `${writeNumber(Math.floor(ms), 0)} ms`
  for (const stepMs of [100, 10]) {
    const shownMs = Math.floor(ms / stepMs) * stepMs
    if (limitMs === undefined || Math.sign(shownMs - limitMs) === Math.sign(ms - limitMs))
      return `${writeNumber(shownMs / 1000, 2)} s`
  }
  return `${writeNumber(ms / 1000, 3)} s`
}

/** A limit in the same units, as exact as it was written. */
export function formatWaitLimit(ms: number): string {
  return ms < 1000 ? `${writeNumber(ms, 12)} ms` : `${writeNumber(ms / 1000, 12)} s`
}

/** `at 0:08 nothing was answered for 4.8 s while 12 users waited`; of a label alone, `nothing of checkout was answered` */
export function describeStall(
  { startMs, ms, waiting, label }: Stall,
  runStartMs: number | undefined
): string {
  const at = runStartMs === undefined ? '' : `at ${formatMoment(startMs - runStartMs)} `
  return `${at}nothing ${label === undefined ? '' : `of ${quoteIfNeeded(label)} `}was answered for ${formatWait(ms)} while ${writeNumber(waiting, 0)} users waited`
}
