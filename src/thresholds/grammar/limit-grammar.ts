import type { LineReader } from './line-reader.js'
import { METRIC_RULES, UNIT_SYNONYMS } from './metrics.js'
import { suggestWord } from './nearest.js'
import type { AbsoluteThreshold, Metric, NamedMetric, Unit } from './threshold.js'
import { quote } from '../quoting.js'

type Limit = Pick<AbsoluteThreshold, 'value' | 'unit'>

/** Anything that may be meant as a number, so that it is rejected as a whole and not in part. */
const NUMBER_LIKE = /[+-]?(?:0x[\da-f]*|\.?\d(?:[.,_]?\d)*\.?(?:e[+-]?\d+)?)/iy
const PLAIN_NUMBER = /^\d+(?:\.\d+)?$/u
const MOST_CHARACTERS = 20

/** Reads the right-hand side. Without a known metric it only looks for a number. */
export function readLimit(reader: LineReader, metric: NamedMetric | undefined): Limit | undefined {
  reader.skipSpace()
  const at = reader.at
  if (reader.sees(/baseline\b/iy)) {
    reader.giveUp(at, `baselines are not supported yet; give a number, such as ${showExample(metric)}`)
    return undefined
  }
  const digits = readNumber(reader, metric)
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

/** The digits as written: conversions shift their decimal point, so there is no rounding. */
function readNumber(reader: LineReader, metric: NamedMetric | undefined): string | undefined {
  const at = reader.at
  const word = reader.take(NUMBER_LIKE)
  if (word === undefined) {
    reader.giveUp(at, `expected a number, but ${reader.describeNext()}; such as ${showExample(metric)}`)
    return undefined
  }
  if (word.startsWith('-')) {
    reader.complain(at, `a limit is never negative, but ${quote(word)} is`)
    return undefined
  }
  if (!PLAIN_NUMBER.test(word)) {
    reader.complain(
      at,
      `${quote(word)} is not a plain number; digits with or without decimals, such as 1200 or 0.5`
    )
    return undefined
  }
  if (word.length > MOST_CHARACTERS) {
    reader.complain(at, `the number is too long; at most ${MOST_CHARACTERS} characters`)
    return undefined
  }
  return word
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
