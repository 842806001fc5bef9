import { isId } from '../contract/vocabulary.js'
import { suggestName } from '../contract/nearest.js'
import * as api from './commands/api-commands.js'
import { UsageError, asksForHelp, readArguments, type Arguments } from './arguments.js'
import { JSON_FLAG, RECORD_FLAGS, runRecordCommand, runShowCommand } from './commands/baseline-commands.js'
import { CALIBRATE_FLAGS, runCalibrateCommand } from './commands/calibrate-command.js'
import { CHECK_FLAGS, runCheckCommand } from './commands/check-command.js'
import { DEMO_FLAGS, runDemoCommand } from './commands/demo-command.js'
import { GATE_FLAGS, runGateCommand } from './commands/gate-command.js'
import { renderHelp, renderOverview, type FormText, type HelpText } from './help.js'
import { INIT_FLAGS, runInitCommand } from './commands/init-command.js'
import { noteInJUnit } from './junit-file.js'
import type { CommandPorts } from './ports.js'
import { PRUNE_FLAGS, runPruneCommand } from './commands/prune-command.js'
import { REPORT_FLAGS, nameFiles, runReportCommand } from './commands/report-command.js'
import { strikeOut } from './screen.js'
import { SERVE_FLAGS, runServeCommand } from './commands/serve-command.js'
import { runTrendCommand } from './commands/trend-command.js'
import * as user from './commands/user-commands.js'

/** What a command does with the words after it. */
interface Form extends FormText {
  /** What to type instead if a flag is given that has no effect here. */
  readonly instead?: string
  readonly run: api.RunCommand
}

interface Command extends HelpText {
  readonly forms: readonly [Form, ...Form[]]
}

/** The only command that takes either. */
const REPORT_OPERANDS = '<id | folder | CSV…>'
const JUDGE_A_RUN = '`loadgate run --run-id <id> --thresholds …` judges a run of the service'

const showReport: api.RunCommand = async (args, ports) => {
  // Without a service it was meant as a path.
  if (!api.namesService(args, ports))
    throw new UsageError(
      `there is no file or folder "${args.words[0] ?? ''}"; if it is the id of a run, give the address of the service with --base-url or LOADGATE_BASE_URL`
    )
  return api.showReport(args, ports)
}

/** Of two forms, the words say which is meant. */
const FORMS: readonly [about: string, form: Form, ...others: Form[]][] = [
  [
    'run the gate; with an id: show that run',
    { usage: 'run', flags: GATE_FLAGS, run: runGateCommand },
    { usage: 'run <id>', flags: api.CONNECTION_FLAGS, instead: JUDGE_A_RUN, run: api.showRun }
  ],
  [
    'write a plan, a config file and a workflow for this repository',
    { usage: 'init', flags: INIT_FLAGS, run: runInitCommand }
  ],
  [
    'check settings, plan and target before a run, in seconds',
    { usage: 'check', flags: CHECK_FLAGS, run: runCheckCommand }
  ],
  [
    'run the plan several times, and find out how much its figures vary',
    { usage: 'calibrate', flags: CALIBRATE_FLAGS, run: runCalibrateCommand }
  ],
  [
    'run the embedded service on loopback until Ctrl-C',
    { usage: 'serve', flags: SERVE_FLAGS, run: runServeCommand }
  ],
  [
    'add a user to a service, and show the token',
    { usage: 'user add <name>', flags: user.USER_ADD_FLAGS, run: user.runUserAddCommand }
  ],
  [
    'list the users of a service',
    { usage: 'user list', flags: user.USER_FLAGS, run: user.runUserListCommand }
  ],
  [
    'give a user another token; the earlier one ends at once',
    { usage: 'user rotate <name>', flags: user.USER_FLAGS, run: user.runUserRotateCommand }
  ],
  [
    'remove a user; the token ends at once',
    { usage: 'user remove <name>', flags: user.USER_FLAGS, run: user.runUserRemoveCommand }
  ],
  [
    'delete the runs of a service that are beyond its retention',
    { usage: 'prune', flags: PRUNE_FLAGS, run: runPruneCommand }
  ],
  ['list the runs', { usage: 'runs', flags: api.CONNECTION_FLAGS, run: api.listRuns }],
  ['stop a run', { usage: 'stop <id>', flags: api.CONNECTION_FLAGS, run: api.stopRun }],
  ['repeat a run', { usage: 'repeat <id>', flags: api.CONNECTION_FLAGS, run: api.repeatRun }],
  [
    'show the report of a run; with local CSVs: create the page and judge them',
    {
      usage: 'report <id>',
      flags: api.CONNECTION_FLAGS,
      instead: `${JUDGE_A_RUN}, and there is no file or folder of that name`,
      run: showReport
    },
    {
      usage: 'report <folder | CSV…>',
      flags: REPORT_FLAGS,
      instead: 'it reads local files and contacts no service',
      run: runReportCommand
    }
  ],
  [
    'download the CSVs of a run',
    { usage: 'results <id>', flags: api.RESULTS_FLAGS, run: api.downloadResults }
  ],
  ['create a grid', { usage: 'grid create', flags: api.GRID_FLAGS, run: api.createGrid }],
  ['show a grid', { usage: 'grid show <id>', flags: api.CONNECTION_FLAGS, run: api.showGrid }],
  ['terminate a grid', { usage: 'grid terminate <id>', flags: api.CONNECTION_FLAGS, run: api.terminateGrid }],
  ['show the account', { usage: 'account', flags: api.CONNECTION_FLAGS, run: api.showAccount }],
  [
    'add a run of `loadgate run --output` to a baseline document',
    { usage: 'baseline record <folder>', flags: RECORD_FLAGS, run: runRecordCommand }
  ],
  [
    'list the runs of a baseline document',
    { usage: 'baseline show <file>', flags: [JSON_FLAG], run: runShowCommand }
  ],
  [
    'draw the last runs of a baseline document',
    { usage: 'trend <file | folder>', flags: [JSON_FLAG], run: runTrendCommand }
  ],
  ['try the gate on a demo shop', { usage: 'demo', flags: DEMO_FLAGS, run: runDemoCommand }]
]

/** The operands of the two commands with two forms. */
const OPERANDS: Readonly<Record<string, string>> = { run: '[id]', report: REPORT_OPERANDS }

export const COMMANDS: readonly Command[] = FORMS.map(([about, ...forms]) => {
  const [, name = '', operands = ''] = /^([a-z ]*[a-z])\s*(.*)$/.exec(forms[0].usage) ?? []
  const all = forms.flatMap((form) => form.flags)
  const flags = all.filter((flag, at) => all.findIndex((other) => other.name === flag.name) === at)
  return { name, operands: OPERANDS[name] ?? operands, about, flags, forms }
})

/** Runs what was typed and returns the exit code. */
export async function runCommandLine(args: readonly string[], ports: CommandPorts): Promise<number> {
  const { out, err } = ports.screen
  const [first = ''] = args
  const isHelp = first === 'help' || asksForHelp(args.slice(0, 1), [])
  const rest = isHelp ? args.slice(1) : args
  const command = findCommand(rest)
  if (first === '--version' && args.length === 1) out.write(`${ports.version}\n`)
  else if (args.length === 0) {
    // A script whose variable is not set must not look like a passed gate.
    err.write(`${renderOverview(COMMANDS)}\nloadgate: no command given.\n`)
    return 2
  } else if (command === undefined && isOverviewAsked(isHelp, rest)) out.write(renderOverview(COMMANDS))
  else if (command === undefined) return orNoteInJUnit(args, ports, () => refuseCommand(rest[0] ?? ''))
  else if (isHelp || asksForHelp(rest, command.flags)) out.write(renderHelp(command))
  else return runCommand(command, args.slice(command.name.split(' ').length), ports)
  return 0
}

/** A CI system may show the JUnit file of an earlier build, whatever the mistake. */
async function orNoteInJUnit<T>(args: readonly string[], ports: CommandPorts, read: () => T): Promise<T> {
  try {
    return read()
  } catch (thrown) {
    const redact = (text: string): string => strikeOut(text, [ports.token])
    await noteInJUnit(args, thrown, { workspace: ports.workspace, redact })
    throw thrown
  }
}

async function runCommand(command: Command, args: readonly string[], ports: CommandPorts): Promise<number> {
  const { form, given } = await orNoteInJUnit(args, ports, () => readForm(command, args, ports))
  return form.run(given, ports)
}

function readForm(
  command: Command,
  args: readonly string[],
  ports: CommandPorts
): { form: Form; given: Arguments } {
  const given = readArguments(args, command.flags)
  // As a path it would be the working directory, with whatever is there.
  if (given.words.includes(''))
    throw new UsageError(`an argument of \`loadgate ${command.name}\` is empty; is a variable not set?`)
  const areFiles = command.operands === REPORT_OPERANDS && nameFiles(given.words, ports)
  if (!areFiles) checkWords(command, given.words)
  const [first, second = first] = command.forms
  const form = areFiles || (command.name === 'run' && given.words.length > 0) ? second : first
  checkFlags(form, given.flags)
  return { form, given }
}

/** `loadgate help`, and `loadgate grid --help`: the first word of some commands is not a command by itself. */
function isOverviewAsked(isHelp: boolean, words: readonly string[]): boolean {
  const [first] = words
  if (first === undefined) return isHelp
  const isFamily = COMMANDS.some(({ name }) => name.startsWith(`${first} `))
  return isFamily && (isHelp ? words.length === 1 : asksForHelp(words.slice(1, 2), []))
}

/** A threshold that nobody reads would make a gate that always passes. */
function checkFlags({ usage, flags, instead }: Form, given: readonly string[]): void {
  const stray = given.filter((name) => !flags.some((flag) => flag.name === name)).map((name) => `--${name}`)
  if (stray.length === 0) return
  const verb = stray.length === 1 ? 'does' : 'do'
  throw new UsageError(
    `${stray.join(', ')} ${verb} not apply to \`loadgate ${usage}\`${instead === undefined ? '' : `; ${instead}`}`
  )
}

function refuseCommand(word: string): never {
  const names = COMMANDS.map(({ name }) => name)
  const family = names.filter((name) => name.startsWith(`${word} `))
  if (family.length > 0)
    throw new UsageError(`"${word}" is not a command by itself; there are ${family.join(', ')}`)
  const meant = suggestName(word, names)
  const advice = meant === undefined ? '' : `did you mean ${meant}? `
  throw new UsageError(`unknown command "${word}"; ${advice}\`loadgate --help\` lists them`)
}

/** An extra word is a mistake, and may be a plan meant for --files. */
function checkWords({ name, operands, flags }: Command, words: readonly string[]): void {
  const [id] = words
  const refuse = (what: string): never => {
    throw new UsageError(`\`loadgate ${name}\` takes ${what}`)
  }
  if (operands === '') return id === undefined ? undefined : refuse(`flags only, found "${id}"`)
  if (operands === REPORT_OPERANDS && id === undefined)
    refuse('the id of a run, a folder or CSVs, found nothing')
  const what = operands === '<name>' ? 'name' : /\bid\b/.test(operands) ? 'id' : `path, ${operands}`
  if (words.length > 1 || (id === undefined && operands !== '[id]'))
    refuse(`one ${what}, found ${words.length}`)
  if (what !== 'id' || id === undefined || isId(id)) return
  const advice = flags.some((flag) => flag.name === 'files') ? '; pass a plan with --files' : ''
  throw new UsageError(`"${id}" is not an id: letters, digits, - and _ are accepted${advice}`)
}

function findCommand(args: readonly string[]): Command | undefined {
  return COMMANDS.find(({ name }) => name === args.slice(0, name.split(' ').length).join(' '))
}
