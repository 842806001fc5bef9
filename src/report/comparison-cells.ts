import type { BaselineFacts } from '../analysis/outcome.js'
import { replaceControls } from './escape.js'
import { shorten } from '../contract/text.js'
import { formatActual, formatChange, formatValue } from '../analysis/thresholds/format.js'
import type { Metric } from '../analysis/thresholds/metrics.js'
import type { Comparison, ComparisonOutcome, Judgement } from '../analysis/thresholds/judge/judgement.js'

/** The texts of a line that was compared with a baseline. */
export interface ComparisonCells {
  readonly outcome: ComparisonOutcome
  /** The sign of the outcome; it never appears without the word. */
  readonly sign: string
  readonly base: string
  /** How many runs that is based on, and the commit of the newest one, which is untrusted text. */
  readonly baseFrom: string
  readonly head: string
  /** With its interval: `+12.3 % (+2.1 to +22.5)`. */
  readonly change: string
}

const NONE = '–'
const COMMIT = /^[0-9a-f]{7,64}$/i
const SHORT_COMMIT = 7
const MOST_COMMIT = 40

/** Outcomes that are no judgement share a sign, which is never that of a line that holds. */
export const OUTCOME_SIGNS: Readonly<Record<ComparisonOutcome, string>> = {
  holds: '✅',
  broken: '❌',
  unsure: '⚠️',
  'no baseline': '⚠️',
  'not comparable': '⚠️'
}

/** Undefined for a line with a limit of its own. */
export function comparisonCells(
  judgement: Judgement,
  baseline: BaselineFacts | undefined
): ComparisonCells | undefined {
  const { comparison, threshold } = judgement
  if (comparison === undefined) return undefined
  const { outcome, base } = comparison
  const isOnlyWarned = outcome === 'broken' && threshold.level === 'warn'
  return {
    outcome,
    sign: isOnlyWarned ? OUTCOME_SIGNS.unsure : OUTCOME_SIGNS[outcome],
    base: base === undefined ? NONE : formatValue(threshold.metric, base),
    baseFrom: base === undefined ? '' : describeBase(comparison, baseline),
    head: formatActual(judgement) || NONE,
    change: describeChange(threshold.metric, comparison)
  }
}

function describeBase(
  { baseRuns, knownBaseRuns = baseRuns }: Comparison,
  baseline: BaselineFacts | undefined
): string {
  const unit = baseline?.kind === 'side-by-side' ? 'round' : 'run'
  const known = `${knownBaseRuns} ${knownBaseRuns === 1 ? unit : `${unit}s`}`
  const count = baseRuns === knownBaseRuns ? known : `newest ${baseRuns} of ${known}`
  return baseline?.commit === undefined ? count : `${count}, ${shortenCommit(baseline.commit)}`
}

/** As people know it; anything that is no commit is only cut. */
export function shortenCommit(commit: string): string {
  if (COMMIT.test(commit)) return commit.slice(0, SHORT_COMMIT)
  return shorten(replaceControls(commit), MOST_COMMIT)
}

function describeChange(metric: Metric, { changePct, interval }: Comparison): string {
  if (changePct === undefined) return NONE
  const change = formatChange(metric, changePct)
  const [low, high] = (interval ?? []).map((end) => formatChange(metric, end).replace(/ .*$/, ''))
  return high === undefined ? change : `${change} (${low} to ${high})`
}
