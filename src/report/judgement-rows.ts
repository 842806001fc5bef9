import type { BaselineFacts } from '../baseline/baseline-facts.js'
import { formatActual, formatMargin } from '../thresholds/format.js'
import type { Judgement } from '../thresholds/judge/judgement.js'
import { comparisonCells } from './comparison-cells.js'
import type { ComparisonCells } from './comparison-cells.js'
import { overTimeCells, type OverTimeCells } from './over-time-cells.js'

export interface JudgementRow {
  readonly threshold: string
  readonly actual: string
  readonly margin: string
  /** A word; of a line that names `baseline`, its outcome. */
  readonly verdict: string
  readonly reason: string
  /** Only of a line that names `baseline`. */
  readonly comparison?: ComparisonCells
  /** Only where the figure over time is worse than the one by samples. */
  readonly overTime?: OverTimeCells
}

const ORDER = ['failed', 'inconclusive', 'passed']

export function judgementRows(judgements: readonly Judgement[], baseline?: BaselineFacts): JudgementRow[] {
  return worstFirst(judgements).map((judgement) => rowOf(judgement, baseline))
}

/** Broken ones first, as people look for them. */
export function worstFirst(judgements: readonly Judgement[]): Judgement[] {
  return [...judgements].sort((a, b) => rank(a) - rank(b))
}

function rank({ verdict, threshold }: Judgement): number {
  return ORDER.indexOf(verdict) * 2 + (threshold.level === 'warn' ? 1 : 0)
}

function rowOf(judgement: Judgement, baseline: BaselineFacts | undefined): JudgementRow {
  const { threshold, reason } = judgement
  const comparison = comparisonCells(judgement, baseline)
  const overTime = overTimeCells(judgement)
  return {
    threshold: threshold.level === 'warn' ? `warn: ${threshold.text}` : threshold.text,
    actual: formatActual(judgement) || '–',
    margin: formatMargin(judgement) || '–',
    verdict: wordOf(judgement),
    reason,
    ...(comparison && { comparison }),
    ...(overTime && { overTime })
  }
}

function wordOf({ verdict, threshold, comparison }: Judgement): string {
  const isWarning = verdict === 'failed' && threshold.level === 'warn'
  if (comparison === undefined) return isWarning ? 'warning' : verdict
  return isWarning ? `warning: ${comparison.outcome}` : comparison.outcome
}
