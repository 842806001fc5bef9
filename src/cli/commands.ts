import { isId } from '../contract/vocabulary.js'
import { suggestName } from '../contract/nearest.js'
import * as api from './commands/api-commands.js'
import { UsageError, asksForHelp, readArguments } from './arguments.js'
import * as baseline from './commands/baseline-commands.js'
import * as calibrate from './commands/calibrate-command.js'
import * as check from './commands/check-command.js'
import * as demo from './commands/demo-command.js'
import * as gate from './commands/gate-command.js'
import { renderHelp, renderOverview, type FormText, type HelpText } from './help.js'
import * as init from './commands/init-command.js'
import { noteInJUnit } from './junit-file.js'
import type { CommandPorts, Runnable } from './ports.js'
import * as queue from './commands/queue-commands.js'
import * as report from './commands/report-command.js'
import { secretsOf, strikeOut } from './screen.js'
import * as serve from './commands/serve-command.js'
import * as trend from './commands/trend-command.js'
import * as service from './commands/service-commands.js'

interface Form extends FormText, Runnable {
  /** What to type instead if a flag is given that has no effect here. */
  readonly instead?: string
}

interface Command extends HelpText {
  readonly forms: readonly [Form, ...Form[]]
}

/** The only command that takes either. */
const REPORT_OPERANDS = '<id | folder | CSV…>'
const JUDGE_A_RUN = '`loadgate run --run-id <id> --thresholds …` judges a run of the service'

const showReport: Omit<Form, 'usage'> = {
  ...api.showReport,
  instead: `${JUDGE_A_RUN}, and there is no file or folder of that name`,
  run: (args, ports) => {
    // Without a service it was meant as a path.
    if (!api.namesService(args, ports))
      throw new UsageError(
        `there is no file or folder "${args.words[0] ?? ''}"; if it is the id of a run, give the address of the service with --base-url or LOADGATE_BASE_URL`
      )
    return api.showReport.run(args, ports)
  }
}

const TABLE: readonly [usage: string, about: string, what: Omit<Form, 'usage'>][] = [
  ['run', 'run the gate; with an id: show that run', gate],
  ['init', 'write a plan, a config file and a workflow for this repository', init],
  ['check', 'check settings, plan and target before a run, in seconds', check],
  ['calibrate', 'run the plan several times, and find out how much its figures vary', calibrate],
  ['serve', 'run the service: for one person on loopback, or with --config for a team', serve],
  ['user add <name>', 'add a user to a service, and show the token', service.add],
  ['user list', 'list the users of a service', service.list],
  ['user rotate <name>', 'give a user another token; the earlier one ends at once', service.rotate],
  ['user remove <name>', 'remove a user; the token ends at once', service.remove],
  ['queue resume', 'let the held queue of a service go, after a restored backup', queue.resume],
  ['queue hold', 'start no queued run of a service until `queue resume`', queue.hold],
  ['queue', 'show who waits in the queue of a service, and whether it is held', queue.show],
  ['prune', 'delete the runs of a service that are beyond its retention', service.prune],
  ['runs', 'list the runs', api.listRuns],
  ['stop <id>', 'stop a run', api.stopRun],
  ['repeat <id>', 'repeat a run', api.repeatRun],
  ['pin <id>', 'keep a run of a loadgate service, whatever its retention', api.pinRun],
  ['unpin <id>', 'let a loadgate service delete a run that was pinned', api.unpinRun],
  ['report <id>', 'show the report of a run; with local CSVs: create the page and judge them', showReport],
  ['results <id>', 'download the CSVs of a run', api.downloadResults],
  ['grid create', 'create a grid', api.createGrid],
  ['grid show <id>', 'show a grid', api.showGrid],
  ['grid terminate <id>', 'terminate a grid', api.terminateGrid],
  ['account', 'show the account', api.showAccount],
  [
    'baseline record <folder>',
    'add a run of `loadgate run --output` to a baseline document',
    baseline.record
  ],
  ['baseline show <file>', 'list the runs of a baseline document', baseline.show],
  ['trend <file | folder>', 'draw the last runs of a baseline document', trend],
  ['demo', 'try the gate on a demo shop', demo]
]

/** For commands with two forms: the words decide which one is meant. */
const SECOND_FORMS: Readonly<Record<string, Form>> = {
  run: { usage: 'run <id>', instead: JUDGE_A_RUN, ...api.showRun },
  report: {
    usage: 'report <folder | CSV…>',
    instead: 'it reads local files and contacts no service',
    ...{ flags: report.flags, run: report.run }
  }
}
/** The operands of the two commands with two forms. */
const OPERANDS: Readonly<Record<string, string>> = { run: '[id]', report: REPORT_OPERANDS }

export const COMMANDS: readonly Command[] = TABLE.map(([usage, about, what]) => {
  const [, name = '', operands = ''] = /^([a-z ]*[a-z])\s*(.*)$/.exec(usage) ?? []
  const { [name]: second } = SECOND_FORMS
  const first = { usage, ...what }
  const forms: Command['forms'] = second ? [first, second] : [first]
  const all = forms.flatMap((form) => form.flags)
  const flags = all.filter((flag, at) => all.findIndex((other) => other.name === flag.name) === at)
  return { name, operands: OPERANDS[name] ?? operands, about, flags, forms }
})

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
  else if (isHelp || (await orNoteInJUnit(args, ports, () => asksForHelp(rest, command.flags))))
    out.write(renderHelp(command))
  else return runCommand(command, args.slice(command.name.split(' ').length), ports)
  return 0
}

/** A CI system may show the JUnit file of an earlier build, whatever the mistake. */
async function orNoteInJUnit<T>(args: readonly string[], ports: CommandPorts, read: () => T): Promise<T> {
  try {
    return read()
  } catch (thrown) {
    const redact = (text: string): string => strikeOut(text, secretsOf(ports))
    await noteInJUnit(args, thrown, { workspace: ports.workspace, redact })
    throw thrown
  }
}

async function runCommand(command: Command, args: readonly string[], ports: CommandPorts): Promise<number> {
  const { form, given } = await orNoteInJUnit(args, ports, () => readForm(command, args, ports))
  return form.run(given, ports)
}

function readForm(command: Command, args: readonly string[], ports: CommandPorts) {
  const given = readArguments(args, command.flags)
  // As a path it would be the working directory, with whatever is there.
  if (given.words.includes(''))
    throw new UsageError(`an argument of \`loadgate ${command.name}\` is empty; is a variable not set?`)
  const areFiles = command.operands === REPORT_OPERANDS && report.nameFiles(given.words, ports)
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

/** An ignored threshold would make a gate that always passes. */
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
