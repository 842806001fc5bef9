import type { Calibration, FigureNoise, LineCalibration } from '../baseline/calibration.js'
import { formatChange, formatSize } from '../baseline/format-change.js'
import type { Settings } from '../gate/settings/settings.js'
import type { Outcome } from '../report/outcome.js'
import { REHEARSAL } from '../report/outcome.js'
import { formatValue } from '../thresholds/format.js'
import type { Metric } from '../thresholds/grammar/threshold.js'
import { describeScope } from '../thresholds/quoting.js'
import { table } from './screen.js'

export interface CalibratedRun {
  readonly number: number
  readonly outcome: Outcome
}

export interface CalibrationReport {
  readonly calibration: Calibration
  readonly runs: readonly CalibratedRun[]
  readonly settings: Settings
  readonly folder: string
}

const METRICS: Readonly<Record<string, Metric>> = { throughput: 'throughput', error_rate: 'error_rate' }

export function describeCalibration(report: CalibrationReport): string {
  const { calibration, runs, folder } = report
  const rehearsal = isRehearsal(runs) ? ` (${REHEARSAL})` : ''
  return [
    '',
    `Calibration of ${calibration.runs} runs of the same plan${rehearsal}: how much its figures vary although nothing changed.`,
    '',
    table(['figure', 'typical', 'noise from run to run', ''], calibration.figures.map(figureRow)),
    '',
    ...(calibration.problem === undefined
      ? [...describeFindings(calibration), ...advise(report).map((line) => `- ${line}`)]
      : [`Nothing can be concluded from these runs: ${calibration.problem}`]),
    '',
    `The files of each run are in ${folder}`,
    ''
  ].join('\n')
}

function describeFindings({ lines, falseAlarms, unmatched }: Calibration): string[] {
  const shares = falseAlarms.map(
    ({ recordedRuns, share }) => `${perThousand(share)} with ${countRuns(recordedRuns)}`
  )
  return [
    ...describeLines(lines),
    ...unmatched.map((text) => `Matches nothing in these runs: ${text}`),
    ...(unmatched.length > 0 ? [''] : []),
    `False alarms to expect in 1,000 runs without a change: ${shares.join(', ')}.`,
    ''
  ]
}

function figureRow({ name, typical, noise, isDrifting }: FigureNoise): string[] {
  const metric = METRICS[name] ?? 'mean'
  return [name, formatValue(metric, typical), formatSize(metric, noise * 100), isDrifting ? 'drifts' : '']
}

/** The smallest change that each line finds nine times out of ten. */
function describeLines(lines: readonly LineCalibration[]): string[] {
  const [first] = lines
  if (first === undefined) return []
  const headings = [
    'line',
    'noise',
    ...first.recorded.map(({ runs }) => countRuns(runs)),
    ...first.sideBySide.map(({ rounds }) => `${rounds} rounds`)
  ]
  const rows = lines.map((line) => {
    const { threshold, scope, noise, recorded, sideBySide } = line
    const place = describeScope(scope).trim().replace(/^of /, '')
    const worst = place === '' ? '' : ` (noisiest: ${place})`
    const sign = threshold.operator.startsWith('>') ? -1 : 1
    return [
      `${threshold.text}${worst}`,
      formatSize(threshold.metric, noise * 100),
      ...[...recorded, ...sideBySide].map(({ changePct }) =>
        isNeverJudged(line) ? '–' : formatChange(threshold.metric, sign * Math.abs(changePct))
      )
    ]
  })
  return [
    'The smallest change that is found nine times out of ten, after so many recorded runs, or with so many rounds side by side:',
    table(headings, rows),
    '',
    ...lines.filter(isNeverJudged).map(describeTooFewSamples),
    ...(lines.some(isNeverJudged) ? [''] : [])
  ]
}

/** However quiet the runs are, such a line is always unsure. */
function isNeverJudged({ needsSamples }: LineCalibration): boolean {
  return needsSamples !== undefined
}

function describeTooFewSamples({ threshold, samples, needsSamples }: LineCalibration): string {
  if (needsSamples === Infinity)
    return `Never judged: ${threshold.text}: no samples are beyond it: use a lower percentile`
  const [has, needs] = [samples ?? 0, needsSamples ?? 0].map((count) => formatValue('samples', count))
  return `Never judged: ${threshold.text}: ${has ?? ''} samples, needs ${needs ?? ''}: raise duration or threads`
}

function advise({ calibration, runs, settings }: CalibrationReport): string[] {
  if (isRehearsal(runs)) return ['Nothing was measured: run it without --rehearse.']
  const { figures, suggestedNoise, lines } = calibration
  const drifting = figures.filter((figure) => figure.isDrifting).map(({ name }) => name)
  const unusable = runs.length - calibration.runs
  return [
    ...(unusable > 0 ? [`${countRuns(unusable)} could not be used; the log says why.`] : []),
    ...(drifting.length > 0
      ? [
          `${drifting.join(', ')}: neighbouring runs are more alike than others. Something warms up, fills up, or changed meanwhile: warm the server up first, and reset its data before each run.`
        ]
      : []),
    ...adviseNoise(suggestedNoise, settings.baseline.noise),
    ...adviseLines(lines),
    'All runs were made from one machine, one after another. On runners that differ from job to job, more noise comes on top: compare side by side there.'
  ]
}

function adviseLines(lines: readonly LineCalibration[]): string[] {
  const quote = ({ threshold }: LineCalibration): string => `\`${threshold.text}\``
  const judged = lines.filter((line) => !isNeverJudged(line))
  const tooNoisy = judged.filter(({ isTooNoisy }) => isTooNoisy).map(quote)
  const never = lines.filter(isNeverJudged).map(quote)
  return [
    ...(never.length > 0
      ? [`Too few samples for ${never.join(', ')}: raise \`duration\` or \`threads\`.`]
      : []),
    ...(tooNoisy.length > 0
      ? [
          `Too noisy for recorded runs: even ten of them find only changes far beyond the limit of ${tooNoisy.join(', ')}. Run longer (\`duration\`), or compare side by side (\`baseline: side-by-side\`), where the noise of the machine cancels.`
        ]
      : judged.length > 0
        ? [
            'Quiet enough for recorded runs (`baseline: auto`): choose limits above the changes in the table, or compare side by side to find smaller ones.'
          ]
        : [])
  ]
}

function adviseNoise(suggested: number | undefined, present: number): string[] {
  if (suggested === undefined) return []
  const [wanted, now] = [suggested, present].map((share) => `${Number((share * 100).toPrecision(3))}%`)
  return [wanted === now ? `\`noise: ${now}\` fits.` : `Set \`noise: ${wanted}\`; it is ${now} now.`]
}

/** Runs that say nothing must not look like a calibration to a script. */
export function calibrationExitCode({ problem }: Calibration): number {
  return problem === undefined ? 0 : 2
}

/** For scripts. */
export function calibrationDocument({ calibration, runs, folder }: CalibrationReport): unknown {
  return {
    ...calibration,
    rehearsal: isRehearsal(runs),
    lines: calibration.lines.map(({ threshold, ...line }) => ({ text: threshold.text, ...line })),
    runList: runs.map(({ number, outcome }) => ({
      number,
      runId: outcome.run?.id ?? null,
      verdict: outcome.verdict,
      reason: outcome.reason
    })),
    suggestedNoise:
      calibration.problem === undefined && !isRehearsal(runs) ? (calibration.suggestedNoise ?? null) : null,
    folder
  }
}

function isRehearsal(runs: readonly CalibratedRun[]): boolean {
  return runs.some(({ outcome }) => outcome.rehearsal)
}

function countRuns(count: number): string {
  return `${count} ${count === 1 ? 'run' : 'runs'}`
}

/** A simulation of some thousand runs cannot tell less than one in a thousand from none. */
function perThousand(share: number): string {
  const count = Math.round(share * 1000)
  return count === 0 ? 'less than 1' : String(count)
}
