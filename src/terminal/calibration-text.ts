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
    ...describeLines(calibration.lines),
    `False alarms to expect in 1,000 runs without a change: ${calibration.falseAlarms
      .map(({ recordedRuns, share }) => `${perThousand(share)} with ${countRuns(recordedRuns)}`)
      .join(', ')}.`,
    '',
    ...advise(report).map((line) => `- ${line}`),
    '',
    `The files of each run are in ${folder}`,
    ''
  ].join('\n')
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
  const rows = lines.map(({ threshold, scope, noise, recorded, sideBySide }) => {
    const worst = Object.keys(scope).length === 0 ? '' : ` (most in ${describeScope(scope)})`
    const sign = threshold.operator.startsWith('>') ? -1 : 1
    return [
      `${threshold.text}${worst}`,
      formatSize(threshold.metric, noise * 100),
      ...[...recorded, ...sideBySide].map(({ changePct }) =>
        formatChange(threshold.metric, sign * Math.abs(changePct))
      )
    ]
  })
  return [
    'The smallest change that is found nine times out of ten, after so many recorded runs, or with so many rounds side by side:',
    table(headings, rows),
    ''
  ]
}

function advise({ calibration, runs, settings }: CalibrationReport): string[] {
  const { figures, suggestedNoise, lines } = calibration
  const tooNoisy = lines
    .filter(({ isTooNoisy }) => isTooNoisy)
    .map(({ threshold }) => `\`${threshold.text}\``)
  const drifting = figures.filter((figure) => figure.isDrifting).map(({ name }) => name)
  const unusable = runs.length - calibration.runs
  return [
    ...(isRehearsal(runs) ? ['Nothing was measured: run it without --rehearse.'] : []),
    ...(unusable > 0 ? [`${countRuns(unusable)} could not be used; the log says why.`] : []),
    ...(drifting.length > 0
      ? [
          `${drifting.join(', ')}: neighbouring runs are more alike than others. Something warms up, fills up, or changed meanwhile: warm the server up first, and reset its data before each run.`
        ]
      : []),
    ...adviseNoise(suggestedNoise, settings.baseline.noise),
    tooNoisy.length > 0
      ? `Too noisy for recorded runs: even ten of them find only changes far beyond the limit of ${tooNoisy.join(', ')}. Run longer (\`duration\`), or compare side by side (\`baseline: side-by-side\`), where the noise of the machine cancels.`
      : 'Quiet enough for recorded runs (`baseline: auto`): choose limits above the changes in the table, or compare side by side to find smaller ones.',
    'All runs were made from one machine, one after another. On runners that differ from job to job, more noise comes on top: compare side by side there.'
  ]
}

function adviseNoise(suggested: number | undefined, present: number): string[] {
  if (suggested === undefined) return []
  const [wanted, now] = [suggested, present].map((share) => `${Number((share * 100).toPrecision(3))}%`)
  return [wanted === now ? `\`noise: ${now}\` fits.` : `Set \`noise: ${wanted}\`; it is ${now} now.`]
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
    suggestedNoise: calibration.suggestedNoise ?? null,
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
