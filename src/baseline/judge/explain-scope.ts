import { formatActual, formatValue } from '../../thresholds/format.js'
import type { BaselineThreshold } from '../../thresholds/grammar/threshold.js'
import { describeScope } from '../../thresholds/quoting.js'
import { formatChange, formatSize } from '../format-change.js'
import { LEAST_SAMPLES_BEYOND } from '../statistics/classify.js'
import { LEVEL } from '../statistics/evidence-of-change.js'
import { asChangePct, scaleOf } from '../statistics/scale.js'
import { tQuantile } from '../statistics/student-t.js'
import type { ComparedScope } from './compare-scope.js'
import type { JudgedScope } from './judge-scope.js'

/** From so many base runs on, further ones hardly help. */
const ENOUGH_BASE_RUNS = 10

/** One sentence: the figures, and why they lead to this outcome. */
export function explainScope(threshold: BaselineThreshold, judged: JudgedScope): string {
  const { finding } = judged
  const subject = threshold.name + describeScope(finding.scope)
  if (!('change' in finding)) return `${subject} ${finding.words}`
  return `${subject} ${describeFigures(threshold, finding, judged)}; ${describeOutcome(threshold, finding, judged)}${describeLoneBase(threshold, finding, judged.comparison.outcome === 'holds')}`
}

/** `is 480 ms, +20 % against the baseline's 400 ms (10 runs; 98 % interval +12 % to +28 %)` */
function describeFigures(
  threshold: BaselineThreshold,
  finding: ComparedScope,
  { comparison }: JudgedScope
): string {
  const { head, base, headRuns, isPaired } = finding
  const { changePct = 0, interval: [low, high] = [0, 0] } = comparison
  const actual = formatActual({ threshold, actual: head, comparison })
  const confirmed = !isPaired && headRuns > 1 ? ` (mean of ${headRuns} runs)` : ''
  const [change, from, to] = [changePct, low, high].map((pct) => formatChange(threshold.metric, pct))
  return `is ${actual}${confirmed}, ${change ?? ''} against the baseline's ${formatValue(threshold.metric, base)} (${describeBaseRuns(threshold, finding)}; 98 % interval ${from ?? ''} to ${to ?? ''})`
}

function describeBaseRuns({ metric }: BaselineThreshold, finding: ComparedScope): string {
  const { baseRuns, knownBaseRuns, before, isPaired } = finding
  if (isPaired) return `${baseRuns} rounds side by side`
  const known = `${knownBaseRuns} ${knownBaseRuns === 1 ? 'run' : 'runs'}`
  if (baseRuns === knownBaseRuns) return known
  const newest = `the newest ${baseRuns} of ${known}`
  return before === undefined || baseRuns === 1
    ? newest
    : `${newest}, as the one before differs: ${formatValue(metric, before)}`
}

/** What a reader has to know about a base of one run. */
function describeLoneBase(threshold: BaselineThreshold, finding: ComparedScope, isJudged: boolean): string {
  const { metric } = threshold
  const { baseRuns, knownBaseRuns, before, isPaired } = finding
  if (isPaired || baseRuns > 1) return ''
  if (before !== undefined)
    return `; the run before it differs: ${formatValue(metric, before)}, so the baseline is the newest run alone; another run on the baseline branch makes it firm`
  return isJudged && knownBaseRuns === 1 ? `; ${reachOfOneRun(threshold, finding)}` : ''
}

function reachOfOneRun({ metric }: BaselineThreshold, { change: { dof, se } }: ComparedScope): string {
  const found = asChangePct(scaleOf(metric), tQuantile(1 - LEVEL, dof) * se)
  return `with one base run only changes above about ${formatChange(metric, found)} can be found`
}

function describeOutcome(
  threshold: BaselineThreshold,
  finding: ComparedScope,
  { comparison, because }: JudgedScope
): string {
  const limit = `${threshold.operator} ${formatValue(threshold.metric, comparison.limit ?? NaN)} (${writtenLimit(threshold)})`
  switch (because) {
    case 'failed samples':
      return `but ${finding.doubt ?? finding.unevenFailures ?? ''}`
    case 'few samples':
      return describeFewSamples(threshold, finding)
    case 'not significant':
      return `it must be ${limit}, but the difference may be noise: ${describeReach(threshold, finding)}`
    case 'low resolution':
      return `${limit} is not exceeded, but a breach could go unnoticed: ${describeReach(threshold, finding)}`
    case undefined:
      return comparison.outcome === 'broken' ? `it must be ${limit}` : `within ${limit}`
  }
}

function describeFewSamples({ name, percentile }: BaselineThreshold, finding: ComparedScope): string {
  const { samples, samplesNeeded, isPaired } = finding
  const where = isPaired ? 'all segments of one side together have' : 'a run has'
  const has = `${where} only ${formatValue('samples', samples)} samples`
  if (percentile === undefined)
    return `${has}, and ${name} needs ${formatValue('samples', samplesNeeded)}: run longer`
  if (samplesNeeded === Infinity) return `no samples are beyond ${name}: use a lower percentile`
  return `${has}, and ${name} needs ${formatValue('samples', samplesNeeded)} (${LEAST_SAMPLES_BEYOND} beyond it): run longer, or use a lower percentile`
}

/** What these runs can find, and what would help. */
function describeReach(threshold: BaselineThreshold, finding: ComparedScope): string {
  const { metric } = threshold
  const scale = scaleOf(metric)
  const { change, knownBaseRuns: baseRuns, isPaired } = finding
  const found = formatSize(metric, asChangePct(scale, change.resolution))
  if (isPaired)
    return `${baseRuns} rounds can only find changes above ${found}; use more rounds or longer segments`
  const advice = [
    ...(baseRuns < ENOUGH_BASE_RUNS ? ['record more runs on the baseline branch'] : []),
    ...(scale.isRelative && baseRuns < ENOUGH_BASE_RUNS
      ? ['set noise to what `loadgate calibrate` measures']
      : []),
    ...(hasNoRoom(threshold) ? ['allow for some change'] : []),
    'compare side by side'
  ]
  const last = advice.length > 1 ? `${advice.slice(0, -1).join(', ')}, or ${advice.at(-1) ?? ''}` : advice[0]
  const reach =
    baseRuns === 1 ? reachOfOneRun(threshold, finding) : `these runs can only find changes above ${found}`
  return `${reach}; ${last ?? ''}`
}

function hasNoRoom({ allowance: { ratio = 0, amount = 0 } }: BaselineThreshold): boolean {
  return Math.max(ratio, amount) === 0
}

/** The part of the line that states the limit: `baseline + 10%`. */
function writtenLimit({ text }: BaselineThreshold): string {
  return text.slice(Math.max(0, text.lastIndexOf('baseline')))
}
