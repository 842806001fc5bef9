import { join, resolve } from 'node:path'
import { calibrate } from '../baseline/calibration.js'
import type { ComparedRun } from '../baseline/compared-run.js'
import { runGate } from '../gate/run-gate.js'
import type { Settings } from '../gate/settings/settings.js'
import type { Outcome } from '../report/outcome.js'
import { isBaselineThreshold } from '../thresholds/grammar/threshold.js'
import { UsageError } from './arguments.js'
import type { Arguments, Flag } from './arguments.js'
import { calibrationDocument, calibrationExitCode, describeCalibration } from './calibration-text.js'
import type { CalibratedRun } from './calibration-text.js'
import { GATE_FLAGS, nameOutputFolder, readGateSettings, sayWhySkipped } from './gate-command.js'
import type { GateCommandPorts } from './gate-command.js'
import { openGateTerminal } from './gate-terminal.js'
import type { GateTerminal } from './gate-terminal.js'
import { checkOutputFolder } from './output-folder.js'

const DEFAULT_RUNS = 5
const LEAST_RUNS = 3
const MOST_RUNS = 50

/** Flags of `loadgate run` that mean nothing where nothing is judged, or that are about a single run. */
const NOT_FLAGS = [
  'run-id',
  'wait',
  'fail-on',
  'on-missing-token',
  'baseline',
  'baseline-parameters',
  'baseline-rounds',
  'on-missing-baseline',
  'on-unsure',
  'confirm',
  'stop-early',
  'on-stall',
  'junit'
]
const ABOUT: Readonly<Record<string, string>> = {
  thresholds: 'The lines that name `baseline`, to find out what they can find; the others have no effect.',
  output: 'Folder for the files of all runs. Default: loadgate-results/<time and process>.',
  json: 'Print the calibration as JSON on standard output, and progress on standard error.'
}

export const CALIBRATE_FLAGS: readonly Flag[] = [
  {
    name: 'runs',
    group: 'What to run',
    value: 'number',
    about: `How often to run the plan, at least ${LEAST_RUNS} times. Default: ${DEFAULT_RUNS}.`
  },
  ...GATE_FLAGS.filter(({ name }) => !NOT_FLAGS.includes(name)).map((flag) => ({
    ...flag,
    about: ABOUT[flag.name] ?? flag.about
  }))
]

/** `loadgate calibrate`: the same plan several times against the same server, and how much its figures vary. */
export async function runCalibrateCommand(args: Arguments, ports: GateCommandPorts): Promise<number> {
  const count = readCount(args)
  const terminal = openGateTerminal(args, ports)
  const settings = await readGateSettings(args, ports)
  if ('skip' in settings) return sayWhySkipped(terminal, settings)
  checkSettings(settings)
  const folder = resolve(ports.workspace, args.text('output') || nameOutputFolder())
  if (args.has('output')) await checkOutputFolder(folderOf(folder, 1))
  const runs = await runAll(terminal, { settings, folder, count }).finally(() => terminal.end())
  const last = runs.at(-1)
  if (last?.outcome.verdict === 'cancelled') {
    terminal.tell(`Cancelled in run ${runs.length} of ${count}: nothing was calibrated.`)
    return 130
  }
  const usable = runs.filter(isUsable)
  if (usable.length < LEAST_RUNS)
    throw new Error(
      `Only ${usable.length} of ${count} runs can be used, and calibration needs ${LEAST_RUNS}: ${last?.outcome.reason ?? 'there was none'}`
    )
  const calibration = calibrate(usable.map(asComparedRun), {
    thresholds: settings.thresholds.filter(isBaselineThreshold),
    noise: settings.baseline.noise
  })
  const report = { calibration, runs, settings, folder }
  if (terminal.isJson) terminal.say(`${JSON.stringify(calibrationDocument(report), null, 2)}\n`)
  else terminal.say(describeCalibration(report))
  return calibrationExitCode(calibration)
}

function readCount(args: Arguments): number {
  if (!args.has('runs')) return DEFAULT_RUNS
  const text = args.text('runs')
  const count = /^\d{1,4}$/.test(text) ? Number(text) : NaN
  if (!(count >= LEAST_RUNS && count <= MOST_RUNS))
    throw new UsageError(`--runs: "${text}" is not a whole number from ${LEAST_RUNS} to ${MOST_RUNS}`)
  return count
}

/** A config file may have what makes no sense here. */
function checkSettings({ origin, wait }: Settings): void {
  if (origin.kind === 'existing')
    throw new UsageError(
      'run-id names a run that exists; calibration needs files, or repeat, to start its own'
    )
  if (!wait) throw new UsageError('wait: false leaves runs behind; calibration waits for each one')
}

/** Like `loadgate run`, but with nothing to judge: one after another, each cleaned up before the next one starts. */
async function runAll(
  terminal: GateTerminal,
  { settings, folder, count }: { settings: Settings; folder: string; count: number }
): Promise<CalibratedRun[]> {
  const runs: CalibratedRun[] = []
  const plain: Settings = {
    ...settings,
    thresholds: [],
    baseline: { ...settings.baseline, source: { kind: 'off' }, confirm: 0 },
    stopEarly: false
  }
  for (let number = 1; number <= count; number++) {
    terminal.tell(`Run ${number} of ${count}`)
    const outcome = await runGate(terminal.portsIn(folderOf(folder, number)), plain)
    runs.push({ number, outcome })
    if (!isUsable({ outcome })) terminal.tell(`Run ${number} is not used: ${outcome.reason}`)
    // An error would most likely happen again, and a timeout takes long.
    if (['error', 'timed-out', 'cancelled'].includes(outcome.verdict)) break
  }
  return runs
}

function folderOf(folder: string, number: number): string {
  return join(folder, `run-${number}`)
}

function isUsable({ outcome }: { outcome: Outcome }): boolean {
  return outcome.verdict === 'passed' && outcome.measurements !== undefined
}

function asComparedRun({ outcome: { apdex, measurements } }: CalibratedRun): ComparedRun {
  return {
    apdex,
    labels: measurements?.labels ?? [],
    regions: measurements?.regions ?? [],
    figures: (scope) => measurements?.figures(scope)
  }
}
