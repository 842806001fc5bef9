import { readdir, readFile, stat } from 'node:fs/promises'
import { join, resolve, dirname } from 'node:path'
import { exitCodeOf } from '../../gate/verdict/exit-code.js'
import { INPUT_GROUPS, INPUTS, INPUT_NAMES, type InputName, describeInput } from '../../contract/inputs.js'
import { messageOf, when } from '../../contract/text.js'
import { SettingsError } from '../../gate/errors.js'
import { findK6Here } from '../plans/check-k6.js'
import { resolvePlanFiles, resolveBaselinePath, type BaselinePath } from '../../gate/settings/plan-files.js'
import { resolveResultFiles } from '../../gate/settings/result-files.js'
import { runGate } from '../../gate/run-gate.js'
import { defaultName, readSettings, type Settings, type Skip } from '../../gate/settings/settings.js'
import { groupUnused } from '../../gate/settings/unused-inputs.js'
import type { Outcome } from '../../analysis/outcome.js'
import { printVerdict } from '../../report/verdict-document.js'
import { isBranchWord } from '../../gate/settings/baseline-settings.js'
import { flagsOf, UsageError, type Arguments, type Flag } from '../arguments.js'
import { ABOUT_CONFIG, findConfig } from '../config-path.js'
import { ABOUT_REGIONS, readRegionsFlag, checkOutputFolder, OUTPUT_FOLDER } from '../output-folder.js'
import { occasionIn, openGateTerminal, type GateTerminal } from '../gate-terminal.js'
import { ABOUT_JUNIT, ABOUT_SUMMARY, openSummary, withJUnit, type WriteJUnit } from '../junit-file.js'
import { describeOutcome } from '../outcome-text.js'
import type { CommandPorts } from '../ports.js'

/** What differs at a terminal, where there is no workflow, job or step. */
const ABOUT_HERE: Readonly<Partial<Record<InputName, string>>> = {
  config: ABOUT_CONFIG,
  'base-url':
    'Address of the load-test service (https), used as written; where its API does not answer there, `/api` is added. Or `local`, the embedded service on this machine. The API token comes from LOADGATE_TOKEN, or an ID token from the file that LOADGATE_ID_TOKEN_FILE names. Default: LOADGATE_BASE_URL, or `local` if that is not set.',
  files:
    'Path or glob, relative to the current directory. The first must match exactly one file, the plan; repeat the flag for its data files. One that starts with `!` excludes files. Two files with the same base name are an error. Required unless `results`, `run-id` or `repeat` is given.',
  results:
    "Judge these files, which a load-test tool has written, instead of a run: a path or glob, relative to the current directory; repeat the flag for more, or give a YAML map from names to paths. They are recognized by their content: JMeter's CSV and XML, k6's CSV and JSON, vegeta's and hey's CSV, each also as gzip. Default: none.",
  name: 'Name of the run. Default: `owner/repo` of the git remote `origin`, or the name of the folder.',
  notes: 'Notes kept with the run. Default: none.',
  project:
    'Project of the service that the run belongs to. Default: with a service of loadgate the same as that of `name`, otherwise none.',
  regions: ABOUT_REGIONS,
  'on-missing-token':
    'What to do if neither LOADGATE_TOKEN nor LOADGATE_ID_TOKEN_FILE is set and the service needs one: `fail`, or `skip`, which ends with the verdict `skipped` and exit code 0. Default: `fail`.',
  'stop-on-cancel': 'Stop the run on Ctrl-C. Default: `true`.',
  baseline:
    'What to compare with: the path of a baseline document (`loadgate baseline record` writes one); or `side-by-side`, which runs base and head in turns. `auto` compares with recorded runs in GitHub Actions, and with nothing here; `off` compares with nothing, and refuses lines that name `baseline`. Default: `auto`.',
  'fail-on':
    '`breach` ends with exit code 1 when a threshold is broken and with 2 when one is inconclusive; `never` ends with 0 in these two cases. Default: `breach`.'
}

/** Inputs that mean nothing outside a workflow, or must not be on a command line. */
const NOT_FLAGS: readonly InputName[] = [
  ...(['token', 'oidc-audience', 'github-token', 'matrix', 'comment'] as const),
  ...(['artifact-name', 'retention-days', 'baseline-branch'] as const)
]

/** Flags that can be repeated, and how their values are joined for the input. */
const JOINTS: Readonly<Partial<Record<InputName, string>>> = {
  ...{ files: '\n', results: '\n', grids: '\n', tags: '\n', thresholds: '\n', 'ignore-parameters': '\n' },
  ...{ 'override-hosts': ', ', 'override-parameters': ', ', 'baseline-parameters': ', ' }
}

const FLAGS: readonly Flag[] = [
  ...INPUT_NAMES.filter((name) => !NOT_FLAGS.includes(name)).map((name) => ({
    name,
    group: INPUTS[name].group,
    value: name === 'regions' ? 'file|yaml' : INPUTS[name].kind.value,
    about: ABOUT_HERE[name] ?? describeInput(name),
    ...(JOINTS[name] !== undefined && { joint: JOINTS[name] })
  })),
  ...flagsOf(
    {
      rehearse: 'Generate synthetic samples from a fixed seed instead of load; with `base-url` `local` only.'
    },
    'Where'
  ),
  ...flagsOf(
    {
      'output <folder>': `Folder for CSVs, report.html and verdict.json. Default: ${OUTPUT_FOLDER}/<time and process>.`,
      'junit <file>': ABOUT_JUNIT,
      'summary <file>': ABOUT_SUMMARY,
      json: 'Print verdict.json on standard output, and progress on standard error.'
    },
    'Output'
  )
]

/** In the order of their groups. */
export const flags: readonly Flag[] = INPUT_GROUPS.flatMap((group) =>
  FLAGS.filter((flag) => flag.group === group)
)

/** For a command that takes most of these flags: without some, and with other words for others. */
export function gateFlags(without: readonly string[], about: Readonly<Record<string, string>>): Flag[] {
  return flags
    .filter(({ name }) => !without.includes(name))
    .map((flag) => ({ ...flag, about: about[flag.name] ?? flag.about }))
}

/** `loadgate run`: the gate, with settings from flags named after the inputs. Returns the exit code. */
export async function run(args: Arguments, ports: CommandPorts): Promise<number> {
  const terminal = openGateTerminal(args, ports)
  const { workspace } = ports
  return withJUnit(args, { workspace, redact: terminal.redact }, (writeJUnit) =>
    runAndShow(args, ports, terminal, writeJUnit)
  )
}

async function runAndShow(args: Arguments, ports: CommandPorts, terminal: GateTerminal, write: WriteJUnit) {
  const settings = await readGateSettings(args, ports, terminal.tell)
  if ('skip' in settings) {
    await write({ verdict: 'skipped', reason: settings.skip })
    return sayWhySkipped(terminal, settings)
  }
  checkEffect(args, settings)
  const scratchDir = resolve(ports.workspace, args.text('output') || nameOutputFolder())
  if (args.has('output')) await checkOutputFolder(scratchDir)
  await requireTool(settings, args, ports)
  const summary = await openSummary(args, { workspace: ports.workspace, redact: terminal.redact })
  const gatePorts = { ...terminal.portsIn(scratchDir), ...summary }
  const outcome = await runGate(gatePorts, settings).finally(() => terminal.end())
  if (terminal.isJson) terminal.say(printVerdict(outcome))
  else {
    const place = await describeFiles(outcome, settings, scratchDir)
    terminal.say(describeOutcome(outcome, { place, width: terminal.width }))
  }
  await write(outcome)
  return exitCodeOf(outcome.verdict, settings.failOn)
}

/** k6 is not installed by itself: without it there would be a run that fails. */
async function requireTool(settings: Settings, args: Arguments, ports: CommandPorts): Promise<void> {
  const { origin, target, tool, regions } = settings
  const isHere = origin.kind === 'files' && target.kind === 'local' && regions === undefined
  if (tool !== 'k6' || !isHere || args.has('rehearse') || (await ports.hasK6())) return
  await findK6Here(process.env, ports.cancelled).catch((thrown: unknown) => {
    throw new SettingsError([`tool: ${messageOf(thrown)}`])
  })
}

/** Without a token, where the settings say to skip then. */
export function sayWhySkipped(terminal: GateTerminal, { skip: reason }: Skip): number {
  const verdict = 'skipped'
  const { isJson } = terminal
  terminal.say(isJson ? `${JSON.stringify({ verdict, reason })}\n` : `SKIPPED: ${reason}\n`)
  return exitCodeOf(verdict, 'breach')
}

export async function readGateSettings(
  args: Arguments,
  ports: CommandPorts,
  tell: (line: string) => void
): Promise<Settings | Skip> {
  const regions = await readRegionsFlag(args, ports.workspace)
  const config = await findConfig(args, { workspace: ports.workspace, tell })
  const settings = await readSettings({
    read: (name) =>
      name === 'config' ? config : name === 'regions' ? regions : readFlag(name, args, ports.token),
    readConfig: (path) => readFile(resolve(ports.workspace, path), 'utf8'),
    resolveFiles: (lines) =>
      resolvePlanFiles(lines, { workspace: ports.workspace, find: ports.findFiles(ports.workspace) }),
    // A path that someone typed may be anywhere.
    resolveResults: (lines) =>
      resolveResultFiles(lines, { workspace: ports.workspace, find: ports.findFiles(ports.workspace) }),
    resolveBaseline: (text) => resolveTypedBaseline(text, ports.workspace),
    defaultName: defaultName(occasionIn(ports)),
    platform: ports.platform,
    // A rehearsal runs nowhere else, whatever is exported for the other commands.
    environment: {
      baseUrl: args.has('rehearse') ? 'local' : ports.baseUrl,
      isConfigFound: !args.has('config') && !args.has('base-url'),
      idTokenFile: ports.idTokens && { problem: await ports.idTokens.findProblem() }
    },
    variable: (name) => ports.variables?.[name]
  })
  if (args.has('rehearse') && !('skip' in settings) && settings.target.kind !== 'local')
    throw new UsageError('--rehearse only works with base-url local, and not with results')
  return settings
}

/** A config file may serve several purposes; a flag was typed for this one. */
function checkEffect(args: Arguments, settings: Settings): void {
  const stray = groupUnused(settings).flatMap(({ names, onCommandLine }) => {
    const flags = names.filter((name) => args.has(name)).map((name) => `--${name}`)
    return flags.length === 0 ? [] : [`${flags.join(', ')} would have no effect ${onCommandLine}`]
  })
  if (stray.length > 0) throw new UsageError(stray.join('\n'))
}

function readFlag(name: InputName, args: Arguments, token: string): string {
  if (name === 'token') return token
  return NOT_FLAGS.includes(name) ? '' : args.text(name)
}

/** The files that exist, for a full disk may have prevented some; and what the service still has, if the gate had no time to collect it. */
async function describeFiles(outcome: Outcome, settings: Settings, folder: string): Promise<string> {
  const { verdict, measurements, run } = outcome
  const names: readonly string[] = await readdir(folder, { recursive: true }).catch(() => [])
  const hasCsvs = names.some((name) => /^results\b.*\.csv$/.test(name))
  const csvs = verdict === 'cancelled' ? 'the CSVs so far' : 'the CSVs'
  const found = [
    ...when(names.includes('report.html'), 'the report'),
    ...when(hasCsvs, csvs),
    ...when(names.includes('verdict.json'), 'verdict.json')
  ]
  const isKept = run && measurements === undefined && settings.target.kind === 'remote' && settings.wait
  const lines = [
    ...when(found.length === 3, `The report, ${csvs} and verdict.json are in ${folder}`),
    ...when([1, 2].includes(found.length), `In ${folder} there are only ${found.join(' and ')}`),
    // Only kept if the run failed.
    ...when(
      names.some((name) => /^logs\b./.test(name)),
      `The tool's logs are in ${join(folder, 'logs')}`
    ),
    ...when(
      hasCsvs && measurements === undefined,
      `\`loadgate report ${folder} --output <folder>\` shows their figures`
    )
  ]
  return [
    ...(lines.length === 0 ? [`There are no files of this run in ${folder}`] : lines),
    ...(isKept ? [`\`loadgate results ${run.id}\` downloads the CSVs that the service has of the run`] : [])
  ].join('\n')
}

/** Two gates may start in the same second and must not overwrite each other. */
export function nameOutputFolder(): string {
  const time = new Date().toISOString().slice(0, 19).replace(/:/g, '-')
  return join(OUTPUT_FOLDER, `${time}-${process.pid}`)
}

/** The baseline document that was typed. It may be missing, but not its folder: that is a typo. */
async function resolveTypedBaseline(text: string, workspace: string): Promise<BaselinePath> {
  const found = await resolveBaselinePath(text, { workspace, isConfined: false })
  if ('problem' in found || found.exists) return found
  if (isBranchWord(text))
    return {
      problem: `"${text}" is not a file; give the path of a baseline document, which \`loadgate baseline record\` creates from the runs of that branch`
    }
  const folder = dirname(found.path)
  const facts = await stat(folder).catch(() => undefined)
  return facts?.isDirectory() ? found : { problem: `"${text}" is in a folder that does not exist: ${folder}` }
}
