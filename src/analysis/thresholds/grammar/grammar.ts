/* eslint-disable @typescript-eslint/no-confusing-void-expression -- a complaint returns undefined, for whoever reads to return */
import { suggestWord } from '../../../contract/nearest.js'
import { quote } from '../quoting.js'
import { baselineRuleOf, factsOf, METRIC_WORDS, metricNamed, PERCENTILE } from '../metrics.js'
import type { BaselineRule, NamedMetric, Unit } from '../metrics.js'
import { directionOf, readAllowance, toBaseUnit, UNIT_SYNONYMS } from './allowance-grammar.js'
import { LineReader, readPlainNumber } from './line-reader.js'
import {
  type Operator,
  type Threshold,
  type AbsoluteThreshold,
  type BaselineThreshold,
  SELECTOR_KEYS,
  type Pattern,
  type Selector,
  type SelectorKey
} from './threshold.js'
import { shorten } from '../../../contract/text.js'

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

function readThreshold(reader: LineReader, line: number): Threshold | undefined {
  const level = readLevel(reader)
  const start = reader.skipSpace()
  const metric = readMetric(reader)
  const { selector, places } = readSelector(reader)
  const operatorAt = reader.skipSpace()
  const operator = readOperator(reader, metric)
  reader.skipSpace()
  const limit = seesBaseline(reader)
    ? readBaselineLimit(reader, { metric, metricAt: start, operator, operatorAt, gridAt: places.grid })
    : readLimit(reader, metric)
  const restAt = reader.skipSpace()
  if (!reader.isAtEnd)
    reader.giveUp(restAt, `${reader.describeNext()} after the threshold; one threshold per line`)
  if (!metric || !operator || !limit) return undefined
  return { text: reader.textBetween(start).trim(), line, level, ...metric, selector, operator, ...limit }
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
  const word = reader.expect(/[^\s:{}<>=!~≤≥≠"]+/y, 'a metric', ACCEPTED_METRICS)
  if (word === undefined) return undefined
  const metric = metricNamed(word)
  if (metric) return metric
  const percent = PERCENTILE.exec(word)?.[1]
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
    METRIC_WORDS.find((metric) => factsOf({ metric }).synonyms?.includes(word.toLowerCase())) ??
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
  const word = reader.expect(/[<>=!~≤≥≠]+/y, 'an operator', OPERATORS.join(', '))
  if (word === undefined) return undefined
  const operator = OPERATORS.find((known) => known === word)
  if (operator) return operator
  const meant = suggestOperator(reader, word, metric)
  return reader.complain(
    at,
    `unknown operator ${quote(word)}; known operators are ${OPERATORS.join(', ')}${meant ? `: did you mean "${meant}"?` : ''}`
  )
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
  return typeof baselineRuleOf(metric) === 'string' ? undefined : directionOf(metric).operators[0]
}

type Limit = Pick<AbsoluteThreshold, 'value' | 'unit'>

const BASELINE_AFTER_NUMBER = /[^"]*\bbaseline\b/iy

/** Reads a limit of its own. Without a known metric it only looks for a number. */
function readLimit(reader: LineReader, metric: NamedMetric | undefined): Limit | undefined {
  const at = reader.skipSpace()
  const digits = readPlainNumber(reader, 'a limit', metric ? factsOf(metric).example : '800ms')
  if (digits !== undefined && reader.sees(BASELINE_AFTER_NUMBER))
    return reader.giveUp(
      at,
      'baseline comes first, then how much worse it may be, such as p95 <= baseline + 10%'
    )
  const beforeUnit = reader.at
  const unitAt = reader.skipSpace()
  const written = reader.take(/[^\s\d,;"#][^\s,;"#]*/y) ?? ''
  if (digits === undefined || !metric) return undefined

  const unitProblem = describeUnitProblem(metric, digits, written)
  if (unitProblem !== undefined) return reader.complain(written ? unitAt : beforeUnit, unitProblem)
  const unit = written as Unit
  const value = toBaseUnit(digits, unit)
  if (value > (factsOf(metric).largest ?? Infinity)) reader.complain(at, describeTooLarge(metric, digits))
  return { value, unit }
}

function describeUnitProblem(metric: NamedMetric, digits: string, unit: string): string | undefined {
  const { name } = metric
  const { units } = factsOf(metric)
  if (units.length === 0) {
    if (unit === '') return undefined
    const meant = metric.metric === 'failures' && unit === '%' ? ': did you mean "error_rate"?' : ''
    return `${name} takes no unit, but has ${quote(unit)}${meant}`
  }
  if (unit === '')
    return `${name} needs a unit (${units.join(' or ')}): did you mean ${guessLimit(units, digits)}?`
  if (units.some((known) => known === unit)) return undefined
  const synonym = UNIT_SYNONYMS.get(unit.toLowerCase())
  const meant = units.find((known) => known === synonym) ?? suggestWord(unit, units)
  return `unknown unit ${quote(unit)}; ${name} takes ${units.join(' or ')}${meant ? `: did you mean "${meant}"?` : ''}`
}

function guessLimit([unit]: readonly Unit[], digits: string): string {
  const number = Number(digits)
  if (unit === 'ms') return number < 10 ? `${digits}s` : `${digits}ms`
  // Other tools write a ratio here.
  const asRatio = unit === '%' && number > 0 && number < 1 ? `${Number(`${digits}e2`)}% or ` : ''
  return `${asRatio}${digits}${unit ?? ''}`
}

function describeTooLarge(metric: NamedMetric, digits: string): string {
  const { called = metric.name, units, largest = Infinity } = factsOf(metric)
  if (units[0] === '%') return `${called} is at most ${largest * 100}%, not ${digits}%`
  const meant = Number(digits) <= largest * 100 ? `: did you mean ${Number(`${digits}e-2`)}?` : ''
  return `${called} is at most ${largest}, not ${digits}${meant}`
}

/** What people may call the baseline; suggested, not accepted. */
const BASELINE_SYNONYMS = ['base', 'main', 'master', 'previous', 'prev', 'last', 'reference']
const EXACT = /baseline(?!\w)/y
const IN_TWO_WORDS = /base[\s_-]+line(?!\w)/iy
const WORD = /[a-z]\w*/iy

interface LeftSide {
  readonly metric: NamedMetric | undefined
  readonly metricAt: number
  readonly operator: Operator | undefined
  readonly operatorAt: number
  readonly gridAt: number | undefined
}

type BaselineLimit = Pick<BaselineThreshold, 'operator' | 'allowance'>

/** Whether the right-hand side is about a baseline, spelt correctly or not. */
function seesBaseline(reader: LineReader): boolean {
  if (reader.sees(EXACT) || reader.sees(IN_TWO_WORDS)) return true
  const word = reader.peek(WORD) ?? ''
  return BASELINE_SYNONYMS.includes(word.toLowerCase()) || suggestWord(word, ['baseline']) !== undefined
}

function readBaselineLimit(reader: LineReader, left: LeftSide): BaselineLimit | undefined {
  const rule = findRule(reader, left)
  if (left.gridAt !== undefined)
    reader.complain(
      left.gridAt,
      'grid cannot be used with baseline, because the ids of grids change from run to run: use region'
    )
  const operator = rule && left.metric ? checkOperator(reader, left, rule, left.metric) : undefined
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
  return reader.complain(metricAt, rule)
}

function checkOperator(
  reader: LineReader,
  { operator, operatorAt }: LeftSide,
  { example }: BaselineRule,
  metric: NamedMetric
): BaselineThreshold['operator'] | undefined {
  if (operator === undefined) return undefined
  const { operators, sign } = directionOf(metric)
  const accepted = operators.find((known) => known === operator)
  if (accepted) return accepted
  const { name } = metric
  const problem =
    operator === '=='
      ? 'two runs are never exactly equal, so == baseline would always fail'
      : `${name} ${operator} baseline would fail a run for a ${factsOf(metric).better} ${name}, which is better`
  const usual = `${name} ${operators[0] ?? ''} baseline ${sign} ${example}`
  return reader.complain(operatorAt, `${problem}: write ${usual}`)
}

function readWord(reader: LineReader): void {
  const at = reader.skipSpace()
  if (reader.take(EXACT) !== undefined) return
  const word = reader.take(IN_TWO_WORDS) ?? reader.take(WORD) ?? ''
  reader.complain(at, `unknown word ${quote(word)}: did you mean "baseline"?`)
}

const ACCEPTED_KEYS = 'label, region, grid'

type KeyPlaces = Readonly<Partial<Record<SelectorKey, number>>>

/** Reads `{key="value", …}` if there is one. */
function readSelector(reader: LineReader): { selector: Selector; places: KeyPlaces } {
  const selector: Partial<Record<SelectorKey, Pattern>> = {}
  const places: Partial<Record<SelectorKey, number>> = {}
  reader.skipSpace()
  if (reader.take(/\{/y) === undefined) return { selector, places }
  do {
    const at = reader.skipSpace()
    const key = readKey(reader)
    const pattern = readPattern(reader)
    if (key && pattern) {
      if (selector[key]) reader.complain(at, `${key} is given twice; once each: ${ACCEPTED_KEYS}`)
      selector[key] = pattern
      places[key] ??= at
    }
  } while (reader.expect(/[,}]/y, ', or }') === ',')
  return { selector, places }
}

/** Undefined for an unknown key; the problem is then recorded. */
function readKey(reader: LineReader): SelectorKey | undefined {
  const at = reader.at
  const word = reader.expect(/[^\s=,{}<>!~"]+/y, 'a key', ACCEPTED_KEYS)
  if (word === undefined) return undefined
  const key = SELECTOR_KEYS.find((known) => known === word)
  if (!key) {
    const meant = suggestWord(word, SELECTOR_KEYS)
    reader.complain(
      at,
      `unknown key ${quote(word)}; known keys are ${ACCEPTED_KEYS}${meant ? `: did you mean "${meant}"?` : ''}`
    )
  }
  reader.expect(/=(?![=~])/y, '= after the key', `${shorten(word)}="value"`)
  return key
}

function readPattern(reader: LineReader): Pattern | undefined {
  const quoteAt = reader.skipSpace()
  if (reader.expect(/"/y, 'a value in double quotes') === undefined) return undefined
  const pieces = ['']
  const textAt = reader.at
  for (;;) {
    const at = reader.at
    const token = reader.take(/[^"\\*]+|\\.|["*]/suy)
    if (token === undefined) return reader.giveUp(quoteAt, 'the quote is not closed; a value ends with "')
    if (token === '"') return { text: reader.textBetween(textAt, at), pieces }
    if (token === '*') pieces.push('')
    else pieces.push((pieces.pop() ?? '') + unescape(reader, token, at))
  }
}

function unescape(reader: LineReader, token: string, at: number): string {
  if (!token.startsWith('\\')) return token
  const character = token.slice(1)
  if (!['"', '\\', '*'].includes(character))
    reader.complain(at, `unknown escape ${quote(token)}; \\", \\\\, \\*`)
  return character
}
