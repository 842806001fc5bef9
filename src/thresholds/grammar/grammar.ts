import { readBaselineLimit, seesBaseline } from './baseline-grammar.js'
import { baselineRuleOf } from './baseline-rules.js'
import { LineReader } from './line-reader.js'
import { readLimit } from './limit-grammar.js'
import { METRIC_SYNONYMS, METRIC_WORDS } from './metrics.js'
import { suggestWord } from '../../values/nearest.js'
import { readSelector } from './selector-grammar.js'
import type { NamedMetric, Operator, Threshold } from './threshold.js'
import { quote } from '../quoting.js'

export type { Threshold } from './threshold.js'

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
