import { readAllowance } from './allowance-grammar.js'
import { BASELINE_SYNONYMS, baselineRuleOf, exampleLine } from './baseline-rules.js'
import type { BaselineOperator, BaselineRule } from './baseline-rules.js'
import type { LineReader } from './line-reader.js'
import { suggestWord } from '../../values/nearest.js'
import type { BaselineThreshold, NamedMetric, Operator } from './threshold.js'
import { quote } from '../quoting.js'

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
export function seesBaseline(reader: LineReader): boolean {
  if (reader.sees(EXACT) || reader.sees(IN_TWO_WORDS)) return true
  const word = reader.peek(WORD)
  return word !== undefined && isMisspelt(word)
}

/** Reads `baseline`, alone or with how much worse the figure may be. */
export function readBaselineLimit(reader: LineReader, left: LeftSide): BaselineLimit | undefined {
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
