import type { LineReader } from './line-reader.js'
import { METRIC_RULES, UNIT_SYNONYMS } from './metrics.js'
import { suggestWord } from '../../values/nearest.js'
import { readPlainNumber } from './plain-number.js'
import type { AbsoluteThreshold, Metric, NamedMetric, Unit } from './threshold.js'
import { quote } from '../quoting.js'

type Limit = Pick<AbsoluteThreshold, 'value' | 'unit'>

const BASELINE_AFTER_NUMBER = /[^"]*\bbaseline\b/iy

/** Reads a limit of its own. Without a known metric it only looks for a number. */
export function readLimit(reader: LineReader, metric: NamedMetric | undefined): Limit | undefined {
  reader.skipSpace()
  const at = reader.at
  const digits = readPlainNumber(reader, { subject: 'a limit', example: showExample(metric) })
  if (digits !== undefined && reader.sees(BASELINE_AFTER_NUMBER)) {
    reader.giveUp(at, 'baseline comes first, then how much worse it may be, such as p95 <= baseline + 10%')
    return undefined
  }
  const beforeUnit = reader.at
  reader.skipSpace()
  const unitAt = reader.at
  const written = reader.take(/[^\s\d,;"#][^\s,;"#]*/y) ?? ''
  if (digits === undefined || !metric) return undefined

  const unitProblem = describeUnitProblem(metric, digits, written)
  if (unitProblem !== undefined) {
    reader.complain(written ? unitAt : beforeUnit, unitProblem)
    return undefined
  }
  const unit = written as Unit
  const value = toBaseUnit(digits, unit)
  if (value > (METRIC_RULES[metric.metric].largest ?? Infinity)) {
    reader.complain(at, describeTooLarge(metric.metric, digits))
  }
  return { value, unit }
}

function describeUnitProblem(
  { metric, name }: NamedMetric,
  digits: string,
  unit: string
): string | undefined {
  const { units } = METRIC_RULES[metric]
  if (units.length === 0) {
    if (unit === '') return undefined
    const meant = metric === 'failures' && unit === '%' ? ': did you mean "error_rate"?' : ''
    return `${name} takes no unit, but has ${quote(unit)}${meant}`
  }
  if (unit === '')
    return `${name} needs a unit (${units.join(' or ')}): did you mean ${guessLimit(metric, digits)}?`
  if (units.some((known) => known === unit)) return undefined
  const synonym = UNIT_SYNONYMS.get(unit.toLowerCase())
  const meant = units.find((known) => known === synonym) ?? suggestWord(unit, units)
  return `unknown unit ${quote(unit)}; ${name} takes ${units.join(' or ')}${meant ? `: did you mean "${meant}"?` : ''}`
}

function showExample(metric: NamedMetric | undefined): string {
  if (metric?.metric === 'apdex') return '0.85'
  const unit = METRIC_RULES[metric?.metric ?? 'mean'].units[0]
  return { ms: '800ms', s: '1.5s', '%': '1%', '/s': '50/s', '/min': '600/min', '': '100' }[unit ?? '']
}

function guessLimit(metric: Metric, digits: string): string {
  const number = Number(digits)
  if (metric === 'throughput') return `${digits}/s`
  if (metric === 'error_rate') {
    // Other tools write a ratio here.
    return number > 0 && number < 1 ? `${Number(`${digits}e2`)}% or ${digits}%` : `${digits}%`
  }
  return number < 10 ? `${digits}s` : `${digits}ms`
}

function describeTooLarge(metric: Metric, digits: string): string {
  if (metric !== 'apdex') return `an error rate is at most 100%, not ${digits}%`
  const meant = Number(digits) <= 100 ? `: did you mean ${Number(`${digits}e-2`)}?` : ''
  return `an apdex is at most 1, not ${digits}${meant}`
}

function toBaseUnit(digits: string, unit: Unit): number {
  if (unit === '%') return Number(`${digits}e-2`)
  if (unit === 's') return Number(`${digits}e3`)
  if (unit === '/min') return Number(digits) / 60
  return Number(digits)
}
