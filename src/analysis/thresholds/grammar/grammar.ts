import { suggestWord } from '../../../contract/nearest.js'
import { quote } from '../quoting.js'
import {
  baselineRuleOf,
  BASELINE_SYNONYMS,
  exampleLine,
  type BaselineOperator,
  type BaselineRule
} from './baseline-rules.js'
import { LineReader, readPlainNumber } from './line-reader.js'
import { METRIC_SYNONYMS, METRIC_WORDS, METRIC_RULES, UNIT_SYNONYMS } from './metrics.js'
import { readSelector } from './selector-grammar.js'
import type {
  NamedMetric,
  Operator,
  Threshold,
  AbsoluteThreshold,
  Metric,
  Unit,
  BaselineThreshold
} from './threshold.js'
import { readAllowance } from './allowance-grammar.js'

const OPERATORS: readonly Operator[] = ['<', '<=', '>', '>=', '==']
const OPERATOR_SYNONYMS = new Map<string, Operator>([
  ['=', '=='],
  ['===', '=='],
  ['=<', '<='],
  ['=>', '>='],
  ['≤', '<='],
  ['≥', '>=']
])
const ACCEPTED_METRICS = `${METRIC_WORDS.join(', ')}, pNN such as p95 or p99.9`

/** Reads one threshold per line. Every line that is neither blank nor a comment becomes a threshold or a problem. */
export function parseThresholds(text: string): { thresholds: Threshold[]; problems: string[] } {
  const thresholds: Threshold[] = []
  const problems: string[] = []
  for (const [index, line] of text.split(/\r\n|\n|\r/u).entries()) {
    const reader = new LineReader(line, index + 1)
    reader.skipSpace()
    if (reader.isAtEnd) continue
    const threshold = readThreshold(reader, index + 1)
    problems.push(...reader.problems)
    if (threshold && reader.problems.length === 0) thresholds.push(threshold)
  }
  return { thresholds, problems }
}

/** Undefined if the reader has recorded problems. */
function readThreshold(reader: LineReader, line: number): Threshold | undefined {
  const level = readLevel(reader)
  reader.skipSpace()
  const start = reader.at
  const metric = readMetric(reader)
  const { selector, places } = readSelector(reader)
  reader.skipSpace()
  const operatorAt = reader.at
  const operator = readOperator(reader, metric)
  reader.skipSpace()
  const limit = seesBaseline(reader)
    ? readBaselineLimit(reader, { metric, metricAt: start, operator, operatorAt, gridAt: places.grid })
    : withOperator(operator, readLimit(reader, metric))
  reader.skipSpace()
  if (!reader.isAtEnd) {
    reader.giveUp(reader.at, `${reader.describeNext()} after the threshold; one threshold per line`)
  }
  if (!metric || !limit) return undefined
  return { text: reader.textBetween(start).trim(), line, level, ...metric, selector, ...limit }
}

function withOperator<T>(operator: Operator | undefined, limit: T | undefined) {
  return operator && limit && { operator, ...limit }
}

function readLevel(reader: LineReader): Threshold['level'] {
  const at = reader.at
  const prefix = reader.take(/[^\s:{}<>=!~≤≥≠"]*\s*:/y)
  if (prefix === undefined) return 'fail'
  const word = prefix.slice(0, -1).trim()
  if (word === 'warn') return 'warn'
  reader.complain(at, `unknown prefix ${quote(`${word}:`)}; the only one is warn:`)
  return 'fail'
}

function readMetric(reader: LineReader): NamedMetric | undefined {
  const at = reader.at
  const word = reader.take(/[^\s:{}<>=!~≤≥≠"]+/y)
  if (word === undefined) {
    reader.giveUp(at, `expected a metric, but ${reader.describeNext()}; ${ACCEPTED_METRICS}`)
    return undefined
  }
  const plain = METRIC_WORDS.find((name) => name === word)
  if (plain === 'median') return { metric: plain, name: word, percentile: 50 }
  if (plain) return { metric: plain, name: word }

  const percent = /^p((?:0|[1-9]\d{0,5})(?:\.\d{1,6})?)$/u.exec(word)?.[1]
  if (percent !== undefined && Number(percent) > 0 && Number(percent) <= 100) {
    return { metric: 'percentile', name: word, percentile: Number(percent) }
  }
  const message = percent === undefined ? describeUnknownMetric(word) : describeBadPercentile(percent)
  if (word !== 'baseline' && reader.sees(/\s*[{<>=!~≤≥≠]/y)) reader.complain(at, message)
  else reader.giveUp(at, message)
  return undefined
}

function describeUnknownMetric(word: string): string {
  if (word === 'warn') return 'expected "warn:", with a colon'
  if (word === 'baseline')
    return 'baseline comes after the operator: write what is compared first, such as p95 <= baseline + 10%'
  if (word.startsWith('-')) return 'a line starts with its metric or with warn:, not with a dash'
  const meant =
    METRIC_SYNONYMS.get(word.toLowerCase()) ??
    (/^P\d/u.test(word) ? word.toLowerCase() : suggestWord(word, METRIC_WORDS))
  return `unknown metric ${quote(word)}; known metrics are ${ACCEPTED_METRICS}${meant ? `: did you mean "${meant}"?` : ''}`
}

function describeBadPercentile(percent: string): string {
  const range = `a percentile is above 0 and at most 100, not ${percent}`
  if (Number(percent) === 0) return `${range}: did you mean "min"?`
  // Other tools write p999 and p9999 for these.
  const meant = /^99\d+$/u.test(percent) ? `: did you mean "p99.${percent.slice(2)}"?` : ''
  return range + meant
}

function readOperator(reader: LineReader, metric: NamedMetric | undefined): Operator | undefined {
  const at = reader.at
  const word = reader.take(/[<>=!~≤≥≠]+/y)
  if (word === undefined) {
    reader.giveUp(at, `expected an operator, but ${reader.describeNext()}; ${OPERATORS.join(', ')}`)
    return undefined
  }
  const operator = OPERATORS.find((known) => known === word)
  if (operator) return operator
  const meant = suggestOperator(reader, word, metric)
  reader.complain(
    at,
    `unknown operator ${quote(word)}; known operators are ${OPERATORS.join(', ')}${meant ? `: did you mean "${meant}"?` : ''}`
  )
  return undefined
}

function suggestOperator(
  reader: LineReader,
  word: string,
  metric: NamedMetric | undefined
): Operator | undefined {
  const meant = OPERATOR_SYNONYMS.get(word)
  reader.skipSpace()
  if (meant !== '==' || !metric || !seesBaseline(reader)) return meant
  // The next message would only be that == is refused.
  const rule = baselineRuleOf(metric)
  return typeof rule === 'string' ? undefined : rule.operators[0]
}

type Limit = Pick<AbsoluteThreshold, 'value' | 'unit'>

const BASELINE_AFTER_NUMBER = /[^"]*\bbaseline\b/iy

/** Reads a limit of its own. Without a known metric it only looks for a number. */
function readLimit(reader: LineReader, metric: NamedMetric | undefined): Limit | undefined {
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

const EXACT = /baseline(?!\w)/y
const IN_TWO_WORDS = /base[\s_-]+line(?!\w)/iy
const WORD = /[a-z]\w*/iy

/** What was read to the left of `baseline`, each with its position. */
export interface LeftSide {
  readonly metric: NamedMetric | undefined
  readonly metricAt: number
  readonly operator: Operator | undefined
  readonly operatorAt: number
  /** Where a selector names a grid. */
  readonly gridAt: number | undefined
}

type BaselineLimit = Pick<BaselineThreshold, 'operator' | 'allowance'>

/** Whether the right-hand side is about a baseline, spelt correctly or not. */
function seesBaseline(reader: LineReader): boolean {
  if (reader.sees(EXACT) || reader.sees(IN_TWO_WORDS)) return true
  const word = reader.peek(WORD)
  return word !== undefined && isMisspelt(word)
}

/** Reads `baseline`, alone or with how much worse the figure may be. */
function readBaselineLimit(reader: LineReader, left: LeftSide): BaselineLimit | undefined {
  const rule = findRule(reader, left)
  if (left.gridAt !== undefined) {
    reader.complain(
      left.gridAt,
      'grid cannot be used with baseline, because the ids of grids change from run to run: use region'
    )
  }
  const operator = rule && left.metric ? checkOperator(reader, left, rule, left.metric.name) : undefined
  readWord(reader)
  const allowance = readAllowance(reader, {
    metric: left.metric,
    rule,
    // A line in the wrong direction is reported once, with the whole line to write instead.
    isSignChecked: operator !== undefined
  })
  return operator && allowance && { operator, allowance }
}

function findRule(reader: LineReader, { metric, metricAt }: LeftSide): BaselineRule | undefined {
  if (!metric) return undefined
  const rule = baselineRuleOf(metric)
  if (typeof rule !== 'string') return rule
  reader.complain(metricAt, rule)
  return undefined
}

function checkOperator(
  reader: LineReader,
  { operator, operatorAt }: LeftSide,
  rule: BaselineRule,
  name: string
): BaselineOperator | undefined {
  if (operator === undefined) return undefined
  const accepted = rule.operators.find((known) => known === operator)
  if (accepted) return accepted
  const problem =
    operator === '=='
      ? 'two runs are never exactly equal, so == baseline would always fail'
      : `${name} ${operator} baseline would fail a run for a ${rule.better} ${name}, which is better`
  reader.complain(operatorAt, `${problem}: write ${exampleLine(name, rule)}`)
  return undefined
}

function readWord(reader: LineReader): void {
  reader.skipSpace()
  if (reader.take(EXACT) !== undefined) return
  const at = reader.at
  const word = reader.take(IN_TWO_WORDS) ?? reader.take(WORD) ?? ''
  reader.complain(at, `unknown word ${quote(word)}: did you mean "baseline"?`)
}

function isMisspelt(word: string): boolean {
  return BASELINE_SYNONYMS.includes(word.toLowerCase()) || suggestWord(word, ['baseline']) !== undefined
}
