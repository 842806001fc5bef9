import { formatActual, formatMargin } from '../thresholds/format.js'
import type { Judgement } from '../thresholds/judge/judgement.js'

export interface JudgementRow {
  readonly threshold: string
  readonly actual: string
  readonly margin: string
  readonly verdict: string
  readonly reason: string
}

const ORDER = ['failed', 'inconclusive', 'passed']

export function judgementRows(judgements: readonly Judgement[]): JudgementRow[] {
  return worstFirst(judgements).map(rowOf)
}

/** Broken ones first, as people look for them. */
export function worstFirst(judgements: readonly Judgement[]): Judgement[] {
  return [...judgements].sort((a, b) => rank(a) - rank(b))
}

function rank({ verdict, threshold }: Judgement): number {
  return ORDER.indexOf(verdict) * 2 + (threshold.level === 'warn' ? 1 : 0)
}

function rowOf(judgement: Judgement): JudgementRow {
  const { threshold, verdict, reason } = judgement
  return {
    threshold: threshold.level === 'warn' ? `warn: ${threshold.text}` : threshold.text,
    actual: formatActual(judgement) || '–',
    margin: formatMargin(judgement) || '–',
    verdict: verdict === 'failed' && threshold.level === 'warn' ? 'warning' : verdict,
    reason
  }
}
