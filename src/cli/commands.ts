import { isId } from '../contract/vocabulary.js'
import { suggestName } from '../contract/nearest.js'
import * as api from './commands/api-commands.js'
import { UsageError, asksForHelp, readArguments, type Arguments, type Flag } from './arguments.js'
import { JSON_FLAG, RECORD_FLAGS, runRecordCommand, runShowCommand } from './commands/baseline-commands.js'
import { CALIBRATE_FLAGS, runCalibrateCommand } from './commands/calibrate-command.js'
import { CHECK_FLAGS, runCheckCommand } from './commands/check-command.js'
import { DEMO_FLAGS, runDemoCommand, type DemoPorts } from './commands/demo-command.js'
import { GATE_FLAGS, runGateCommand } from './commands/gate-command.js'
import { renderHelp, renderOverview } from './help.js'
import { INIT_FLAGS, runInitCommand, type InitPorts } from './commands/init-command.js'
import { noteInJUnit } from './junit-file.js'
import { PRUNE_FLAGS, runPruneCommand, type PrunePorts } from './commands/prune-command.js'
import { REPORT_FLAGS, areFiles, runReportCommand } from './commands/report-command.js'
import { strikeOut } from './screen.js'
import { SERVE_FLAGS, runServeCommand, type ServePorts } from './commands/serve-command.js'
import { runTrendCommand, type TrendPorts } from './commands/trend-command.js'
import * as user from './commands/user-commands.js'

export type CommandPorts = DemoPorts &
  InitPorts &
  PrunePorts &
  ServePorts &
  TrendPorts &
  user.UserPorts & { readonly version: string }

/** One form of a command: what it does depends on the words after it. */
export interface Form {
  /** As typed, for example `run <id>`. */
  readonly usage: string
  /** Those that have an effect here. */
  readonly flags: readonly Flag[]
  /** What to type instead if a flag is given that has none. */
  readonly instead?: string
  run(args: Arguments, ports: CommandPorts): Promise<number>
}

interface CommandText {
  /** As typed, for example `grid create`. */
  readonly name: string
  readonly operands: string
  readonly about: string
  /** Its word is a path rather than an id. */
  readonly takesPath?: true
  /** Its word is the name of a user. */
  readonly takesName?: true
  readonly forms: readonly [Form, ...Form[]]
  /** The form selected by the words; the first one by default. */
  formOf?(words: readonly string[], ports: CommandPorts): Form
}

interface Command extends CommandText {
  /** Of all its forms, each once. */
  readonly flags: readonly Flag[]
}

/** The only command that takes either. */
const REPORT_OPERANDS = '<id | folder | CSV…>'
const JUDGE_A_RUN = '`loadgate run --run-id <id> --thresholds …` judges a run of the service'

type ApiCommand = Parameters<typeof api.runApiCommand>[0]

function apiForm(usage: string, command: ApiCommand, flags: readonly Flag[] = []): Form {
  return {
    usage,
    flags: [...api.CONNECTION_FLAGS, ...flags],
    run: (args, ports) => api.runApiCommand(command, args, ports)
  }
}

function apiCommand(
  name: string,
  operands: string,
  about: string,
  command: ApiCommand,
  flags: readonly Flag[] = []
): CommandText {
  return { name, operands, about, forms: [apiForm(`${name} ${operands}`.trim(), command, flags)] }
}

/** A command that takes one path. */
function pathCommand(
  name: string,
  operands: string,
  about: string,
  form: Pick<Form, 'flags' | 'run'>
): CommandText {
  return { name, operands, about, takesPath: true, forms: [{ usage: `${name} ${operands}`, ...form }] }
}

/** A command that takes the name of a user. */
function userCommand(name: string, about: string, form: Pick<Form, 'flags' | 'run'>): CommandText {
  const operands = '<name>'
  return { name, operands, about, takesName: true, forms: [{ usage: `${name} ${operands}`, ...form }] }
}

const RUN_GATE: Form = { usage: 'run', flags: GATE_FLAGS, run: runGateCommand }
const SHOW_RUN: Form = { ...apiForm('run <id>', api.showRun), instead: JUDGE_A_RUN }
const SHOW_REPORT: Form = {
  ...apiForm('report <id>', api.showReport),
  instead: `${JUDGE_A_RUN}, and there is no file or folder of that name`,
  run: (args, ports) => {
    // Without a service it was meant as a path.
    if (!api.namesService(args, ports))
      throw new UsageError(
        `there is no file or folder "${args.words[0] ?? ''}"; if it is the id of a run, give the address of the service with --base-url or LOADGATE_BASE_URL`
      )
    return api.runApiCommand(api.showReport, args, ports)
  }
}
const REPORT_FILES: Form = {
  usage: 'report <folder | CSV…>',
  flags: [...REPORT_FLAGS, ...api.CONNECTION_FLAGS.filter(({ name }) => name === 'json')],
  instead: 'it reads local files and contacts no service',
  run: runReportCommand
}

const COMMAND_TEXTS: readonly CommandText[] = [
  {
    name: 'run',
    operands: '[id]',
    about: 'run the gate; with an id: show that run',
    forms: [RUN_GATE, SHOW_RUN],
    formOf: (words) => (words.length > 0 ? SHOW_RUN : RUN_GATE)
  },
  {
    name: 'init',
    operands: '',
    about: 'write a plan, a config file and a workflow for this repository',
    forms: [{ usage: 'init', flags: INIT_FLAGS, run: runInitCommand }]
  },
  {
    name: 'check',
    operands: '',
    about: 'check settings, plan and target before a run, in seconds',
    forms: [{ usage: 'check', flags: CHECK_FLAGS, run: runCheckCommand }]
  },
  {
    name: 'calibrate',
    operands: '',
    about: 'run the plan several times, and find out how much its figures vary',
    forms: [{ usage: 'calibrate', flags: CALIBRATE_FLAGS, run: runCalibrateCommand }]
  },
  {
    name: 'serve',
    operands: '',
    about: 'run the embedded service on loopback until Ctrl-C',
    forms: [{ usage: 'serve', flags: SERVE_FLAGS, run: runServeCommand }]
  },
  userCommand('user add', 'add a user to a service, and show the token', {
    flags: user.USER_ADD_FLAGS,
    run: user.runUserAddCommand
  }),
  {
    name: 'user list',
    operands: '',
    about: 'list the users of a service',
    forms: [{ usage: 'user list', flags: user.USER_FLAGS, run: user.runUserListCommand }]
  },
  userCommand('user rotate', 'give a user another token; the earlier one ends at once', {
    flags: user.USER_FLAGS,
    run: user.runUserRotateCommand
  }),
  userCommand('user remove', 'remove a user; the token ends at once', {
    flags: user.USER_FLAGS,
    run: user.runUserRemoveCommand
  }),
  {
    name: 'prune',
    operands: '',
    about: 'delete the runs of a service that are beyond its retention',
    forms: [{ usage: 'prune', flags: PRUNE_FLAGS, run: runPruneCommand }]
  },
  apiCommand('runs', '', 'list the runs', api.listRuns),
  apiCommand('stop', '<id>', 'stop a run', api.stopRun),
  apiCommand('repeat', '<id>', 'repeat a run', api.repeatRun),
  {
    name: 'report',
    operands: REPORT_OPERANDS,
    about: 'show the report of a run; with local CSVs: create the page and judge them',
    forms: [SHOW_REPORT, REPORT_FILES],
    formOf: (words, ports) => (areFiles(words, ports) ? REPORT_FILES : SHOW_REPORT)
  },
  apiCommand('results', '<id>', 'download the CSVs of a run', api.downloadResults, api.RESULTS_FLAGS),
  apiCommand('grid create', '', 'create a grid', api.createGrid, api.GRID_FLAGS),
  apiCommand('grid show', '<id>', 'show a grid', api.showGrid),
  apiCommand('grid terminate', '<id>', 'terminate a grid', api.terminateGrid),
  apiCommand('account', '', 'show the account', api.showAccount),
  pathCommand('baseline record', '<folder>', 'add a run of `loadgate run --output` to a baseline document', {
    flags: RECORD_FLAGS,
    run: runRecordCommand
  }),
  pathCommand('baseline show', '<file>', 'list the runs of a baseline document', {
    flags: [JSON_FLAG],
    run: runShowCommand
  }),
  pathCommand('trend', '<file | folder>', 'draw the last runs of a baseline document', {
    flags: [JSON_FLAG],
    run: runTrendCommand
  }),
  {
    name: 'demo',
    operands: '',
    about: 'try the gate on a demo shop',
    forms: [{ usage: 'demo', flags: DEMO_FLAGS, run: runDemoCommand }]
  }
]

export const COMMANDS: readonly Command[] = COMMAND_TEXTS.map((command) => {
  const flags = command.forms.flatMap((form) => form.flags)
  const isFirst = ({ name }: Flag, at: number): boolean =>
    flags.findIndex((flag) => flag.name === name) === at
  return { ...command, flags: flags.filter(isFirst) }
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

async function runCommand(command: Command, args: readonly string[], ports: CommandPorts): Promise<number> {
  const { form, given } = await orNoteInJUnit(args, ports, () => readForm(command, args, ports))
  return form.run(given, ports)
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

function readForm(
  command: Command,
  args: readonly string[],
  ports: CommandPorts
): { form: Form; given: Arguments } {
  const given = readArguments(args, command.flags)
  // As a path it would be the working directory, with whatever is there.
  if (given.words.includes(''))
    throw new UsageError(`an argument of \`loadgate ${command.name}\` is empty; is a variable not set?`)
  if (command.operands !== REPORT_OPERANDS || !areFiles(given.words, ports)) checkWords(command, given.words)
  const form = command.formOf?.(given.words, ports) ?? command.forms[0]
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
  throw new UsageError(unknownCommand(word))
}

function unknownCommand(word: string): string {
  const family = COMMANDS.filter(({ name }) => name.startsWith(`${word} `)).map(({ name }) => name)
  if (family.length > 0) return `"${word}" is not a command by itself; there are ${family.join(', ')}`
  const meant = suggestName(
    word,
    COMMANDS.map(({ name }) => name)
  )
  const advice = meant === undefined ? '' : `did you mean ${meant}? `
  return `unknown command "${word}"; ${advice}\`loadgate --help\` lists them`
}

/** An extra word is a mistake, and may be a plan meant for --files. */
function checkWords(
  { name, operands, flags, takesPath, takesName }: Command,
  words: readonly string[]
): void {
  const [id] = words
  if (takesPath && words.length !== 1)
    throw new UsageError(`\`loadgate ${name}\` takes one path, ${operands}, found ${words.length}`)
  if (takesName && words.length !== 1)
    throw new UsageError(`\`loadgate ${name}\` takes one name, found ${words.length}`)
  if (takesPath || takesName) return
  if (operands === '' && id !== undefined)
    throw new UsageError(`\`loadgate ${name}\` takes flags only, found "${id}"`)
  if (operands === REPORT_OPERANDS && id === undefined)
    throw new UsageError(`\`loadgate ${name}\` takes the id of a run, a folder or CSVs, found nothing`)
  if (words.length > 1 || (operands.startsWith('<') && id === undefined))
    throw new UsageError(`\`loadgate ${name}\` takes one id, found ${words.length}`)
  if (id === undefined || isId(id)) return
  const advice = flags.some((flag) => flag.name === 'files') ? '; pass a plan with --files' : ''
  throw new UsageError(`"${id}" is not an id: letters, digits, - and _ are accepted${advice}`)
}

function findCommand(args: readonly string[]): Command | undefined {
  return COMMANDS.find(({ name }) => name === args.slice(0, name.split(' ').length).join(' '))
}
