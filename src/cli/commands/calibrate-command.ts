import { join, resolve } from 'node:path'
import { calibrate } from '../../analysis/baseline/calibration.js'
import type { Calibration, FigureNoise, LineCalibration } from '../../analysis/baseline/calibration.js'
import type { ComparedRun } from '../../analysis/baseline/judge/sides.js'
import { runGate } from '../../gate/run-gate.js'
import type { Settings } from '../../gate/settings/settings.js'
import { type Outcome, REHEARSAL } from '../../analysis/outcome.js'
import { isBaselineThreshold } from '../../analysis/thresholds/grammar/threshold.js'
import { metricNamed } from '../../analysis/thresholds/metrics.js'
import { formatChange, formatSize, formatValue } from '../../analysis/thresholds/format.js'
import { describeScope } from '../../analysis/thresholds/quoting.js'
import { parseInteger } from '../../contract/setting-values.js'
import { count, when } from '../../contract/text.js'
import { flagsOf, UsageError, type Arguments, valueOf } from '../arguments.js'
import { gateFlags, nameOutputFolder, readGateSettings, sayWhySkipped } from './gate-command.js'
import { openGateTerminal, type GateTerminal } from '../gate-terminal.js'
import { checkOutputFolder } from '../output-folder.js'
import type { CommandPorts } from '../ports.js'
import { table } from '../screen.js'

const DEFAULT_RUNS = 5
const LEAST_RUNS = 3
const MOST_RUNS = 50

/** Flags of `loadgate run` that mean nothing where nothing is judged, or that are about a single run. */
const NOT_FLAGS = [
  ...['run-id', 'results', 'tool-exit-code', 'wait', 'fail-on', 'on-missing-token', 'ignore-parameters'],
  ...['confirm', 'stop-early', 'on-stall', 'on-unsure', 'on-missing-baseline', 'junit', 'summary'],
  ...['baseline', 'baseline-parameters', 'baseline-rounds']
]
const ABOUT: Readonly<Record<string, string>> = {
  thresholds: 'The lines that name `baseline`, to find out what they can find; the others have no effect.',
  output: 'Folder for the files of all runs. Default: loadgate-results/<time and process>.',
  json: 'Print the calibration as JSON on standard output, and progress on standard error.'
}

export const flags = [
  ...flagsOf(
    {
      'runs <number>': `How many times to run the plan, at least ${LEAST_RUNS} times. Default: ${DEFAULT_RUNS}.`
    },
    'What to run'
  ),
  ...gateFlags(NOT_FLAGS, ABOUT)
]

/** `loadgate calibrate`: the same plan several times against the same server, and how much its figures vary. */
export async function run(args: Arguments, ports: CommandPorts): Promise<number> {
  const wanted =
    valueOf(args, 'runs', (text) => parseInteger(text, { least: LEAST_RUNS, most: MOST_RUNS })) ??
    DEFAULT_RUNS
  const terminal = openGateTerminal(args, ports)
  const settings = await readGateSettings(args, ports, terminal.tell)
  if ('skip' in settings) return sayWhySkipped(terminal, settings)
  checkSettings(settings)
  const folder = resolve(ports.workspace, args.text('output') || nameOutputFolder())
  if (args.has('output')) await checkOutputFolder(folderOf(folder, 1))
  const runs = await runAll(terminal, settings, folder, wanted).finally(() => terminal.end())
  const last = runs.at(-1)
  if (last?.verdict === 'cancelled') {
    terminal.tell(`Cancelled in run ${runs.length} of ${wanted}: nothing was calibrated.`)
    return 130
  }
  const usable = runs.filter(isUsable)
  if (usable.length < LEAST_RUNS)
    throw new Error(
      `Only ${usable.length} of ${wanted} runs can be used, and calibration needs ${LEAST_RUNS}: ${last?.reason ?? 'there was none'}`
    )
  const calibration = calibrate(usable.map(asComparedRun), {
    thresholds: settings.thresholds.filter(isBaselineThreshold),
    noise: settings.baseline.noise
  })
  const report = { calibration, runs, settings, folder }
  if (terminal.isJson) terminal.say(`${JSON.stringify(calibrationDocument(report), null, 2)}\n`)
  else terminal.say(describeCalibration(report))
  // Runs that say nothing must not look like a calibration to a script.
  return calibration.problem === undefined ? 0 : 2
}

/** A config file may have what makes no sense here. */
function checkSettings({ origin, wait }: Settings): void {
  if (origin.kind === 'results')
    throw new UsageError(
      'results judges files that exist, and there is no noise to measure without runs; give a plan'
    )
  if (origin.kind === 'existing')
    throw new UsageError(
      'run-id names a run that exists; calibration needs files, or repeat, to start its own'
    )
  if (!wait) throw new UsageError('wait: false leaves runs behind; calibration waits for each one')
}

/** Like `loadgate run`, but with nothing to judge: one after another, each cleaned up before the next one starts. */
async function runAll(terminal: GateTerminal, settings: Settings, folder: string, wanted: number) {
  const runs: Outcome[] = []
  const plain: Settings = {
    ...settings,
    thresholds: [],
    baseline: { ...settings.baseline, source: { kind: 'off' }, confirm: 0 },
    stopEarly: false
  }
  for (let number = 1; number <= wanted; number++) {
    terminal.tell(`Run ${number} of ${wanted}`)
    const outcome = await runGate(terminal.portsIn(folderOf(folder, number)), plain)
    runs.push(outcome)
    if (!isUsable(outcome)) terminal.tell(`Run ${number} is not used: ${outcome.reason}`)
    // An error would most likely happen again, and a timeout takes long.
    if (['error', 'timed-out', 'cancelled'].includes(outcome.verdict)) break
  }
  return runs
}

function folderOf(folder: string, number: number): string {
  return join(folder, `run-${number}`)
}

function isUsable({ verdict, measurements }: Outcome): boolean {
  return verdict === 'passed' && measurements !== undefined
}

function asComparedRun({ apdex, measurements }: Outcome): ComparedRun {
  return {
    apdex,
    labels: measurements?.labels ?? [],
    regions: measurements?.regions ?? [],
    figures: (scope) => measurements?.figures(scope)
  }
}

export interface CalibrationReport {
  readonly calibration: Calibration
  readonly runs: readonly Outcome[]
  readonly settings: Settings
  readonly folder: string
}

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
    ({ recordedRuns, share }) => `${perThousand(share)} with ${count(recordedRuns, 'run')}`
  )
  return [
    ...describeLines(lines),
    ...unmatched.map((text) => `Matches nothing in these runs: ${text}`),
    ...when(unmatched.length > 0, ''),
    `False alarms to expect in 1,000 runs without a change: ${shares.join(', ')}.`,
    ''
  ]
}

function figureRow({ name, typical, noise, isDrifting }: FigureNoise): string[] {
  const { metric } = metricNamed(name) ?? { metric: 'mean' }
  return [name, formatValue(metric, typical), formatSize(metric, noise * 100), isDrifting ? 'drifts' : '']
}

/** The smallest change that each line finds nine times out of ten. */
function describeLines(lines: readonly LineCalibration[]): string[] {
  const [first] = lines
  if (first === undefined) return []
  const headings = [
    'line',
    'noise',
    ...first.recorded.map(({ runs }) => count(runs, 'run')),
    ...first.sideBySide.map(({ rounds }) => `${rounds} rounds`)
  ]
  const rows = lines.map(({ threshold, scope, noise, recorded, sideBySide, needsSamples }) => {
    const place = describeScope(scope).trim().replace(/^of /, '')
    const sign = threshold.operator.startsWith('>') ? -1 : 1
    return [
      `${threshold.text}${place === '' ? '' : ` (noisiest: ${place})`}`,
      formatSize(threshold.metric, noise * 100),
      ...[...recorded, ...sideBySide].map(({ changePct }) =>
        needsSamples === undefined ? formatChange(threshold.metric, sign * Math.abs(changePct)) : '–'
      )
    ]
  })
  const never = lines.flatMap(describeTooFewSamples)
  return [
    'The smallest change that is found nine times out of ten, after so many recorded runs, or with so many rounds side by side:',
    table(headings, rows),
    '',
    ...never,
    ...when(never.length > 0, '')
  ]
}

/** However quiet the runs are, such a line is always unsure. */
function describeTooFewSamples({ threshold, samples = 0, needsSamples }: LineCalibration): string[] {
  if (needsSamples === undefined) return []
  const why =
    needsSamples === Infinity
      ? 'no samples are beyond it: use a lower percentile'
      : `${formatValue('samples', samples)} samples, needs ${formatValue('samples', needsSamples)}: raise duration or threads`
  return [`Never judged: ${threshold.text}: ${why}`]
}

function advise({ calibration, runs, settings }: CalibrationReport): string[] {
  if (isRehearsal(runs)) return ['Nothing was measured: run it without --rehearse.']
  const { figures, suggestedNoise, lines } = calibration
  const drifting = figures.filter((figure) => figure.isDrifting).map(({ name }) => name)
  const unusable = runs.length - calibration.runs
  return [
    ...when(unusable > 0, `${count(unusable, 'run')} could not be used; the log says why.`),
    ...when(
      drifting.length > 0,
      `${drifting.join(', ')}: neighbouring runs are more alike than others. Something warms up, fills up, or changed meanwhile: warm the server up first, and reset its data before each run.`
    ),
    ...adviseNoise(suggestedNoise, settings.baseline.noise),
    ...adviseLines(lines),
    'All runs were made from one machine, one after another. On runners that differ from job to job, more noise comes on top: compare side by side there.'
  ]
}

function adviseLines(lines: readonly LineCalibration[]): string[] {
  const quoted = (of: readonly LineCalibration[]): string =>
    of.map(({ threshold }) => `\`${threshold.text}\``).join(', ')
  const never = lines.filter(({ needsSamples }) => needsSamples !== undefined)
  const judged = lines.filter(({ needsSamples }) => needsSamples === undefined)
  const tooNoisy = judged.filter(({ isTooNoisy }) => isTooNoisy)
  const noise =
    tooNoisy.length > 0
      ? `Too noisy for recorded runs: even ten of them find only changes far beyond the limit of ${quoted(tooNoisy)}. Run longer (\`duration\`), or compare side by side (\`baseline: side-by-side\`), where the noise of the machine cancels.`
      : 'Quiet enough for recorded runs (`baseline: auto`): choose limits above the changes in the table, or compare side by side to find smaller ones.'
  return [
    ...when(never.length > 0, `Too few samples for ${quoted(never)}: raise \`duration\` or \`threads\`.`),
    ...when(judged.length > 0, noise)
  ]
}

function adviseNoise(suggested: number | undefined, present: number): string[] {
  if (suggested === undefined) return []
  const [wanted, now] = [suggested, present].map((share) => `${Number((share * 100).toPrecision(3))}%`)
  return [wanted === now ? `\`noise: ${now}\` fits.` : `Set \`noise: ${wanted}\`; it is ${now} now.`]
}

export function calibrationDocument({ calibration, runs, folder }: CalibrationReport): unknown {
  return {
    ...calibration,
    rehearsal: isRehearsal(runs),
    lines: calibration.lines.map(({ threshold, ...line }) => ({ text: threshold.text, ...line })),
    runList: runs.map(({ run, verdict, reason }, i) => {
      return { number: i + 1, runId: run?.id ?? null, verdict, reason }
    }),
    suggestedNoise:
      calibration.problem === undefined && !isRehearsal(runs) ? (calibration.suggestedNoise ?? null) : null,
    folder
  }
}

function isRehearsal(runs: readonly Outcome[]): boolean {
  return runs.some(({ rehearsal }) => rehearsal)
}

/** A simulation of some thousand runs cannot tell less than one in a thousand from none. */
function perThousand(share: number): string {
  return String(Math.round(share * 1000) || 'less than 1')
}
