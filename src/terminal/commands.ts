import { isId } from '../service/decode.js'
import * as api from './api-commands.js'
import { UsageError, readArguments } from './arguments.js'
import type { Arguments, Flag } from './arguments.js'
import { DEMO_FLAGS, runDemoCommand } from './demo-command.js'
import type { DemoWorld } from './demo-command.js'
import { GATE_FLAGS, runGateCommand } from './gate-command.js'
import { REPORT_FLAGS, areFiles, runReportCommand } from './report-command.js'
import { SERVE_FLAGS, runServeCommand } from './serve-command.js'
import type { ServeWorld } from './serve-command.js'

export type World = DemoWorld & ServeWorld & { readonly version: string }

interface Command {
  /** As typed, `grid create` for one. */
  readonly name: string
  readonly operands: string
  readonly about: string
  readonly flags: readonly Flag[]
  run(args: Arguments, world: World): Promise<number>
}

/** The one command that takes either. */
const REPORT_OPERANDS = '<id | folder | CSV…>'

type ApiCommand = Parameters<typeof api.runApiCommand>[0]

function apiCommand(
  name: string,
  operands: string,
  about: string,
  command: ApiCommand,
  flags: readonly Flag[] = []
): Command {
  return {
    name,
    operands,
    about,
    flags: [...api.CONNECTION_FLAGS, ...flags],
    run: (args, world) => api.runApiCommand(command, args, world)
  }
}

export const COMMANDS: readonly Command[] = [
  {
    name: 'run',
    operands: '[id]',
    about: 'run the gate; with an id: show that run',
    flags: GATE_FLAGS,
    run: (args, world) =>
      args.words.length > 0 ? api.runApiCommand(api.showRun, args, world) : runGateCommand(args, world)
  },
  {
    name: 'serve',
    operands: '',
    about: 'run the embedded service on loopback until Ctrl-C',
    flags: SERVE_FLAGS,
    run: runServeCommand
  },
  apiCommand('runs', '', 'list the runs', api.listRuns),
  apiCommand('stop', '<id>', 'stop a run', api.stopRun),
  apiCommand('repeat', '<id>', 'repeat a run', api.repeatRun),
  {
    name: 'report',
    operands: REPORT_OPERANDS,
    about: 'show the report of a run; with CSVs at hand: make the page and judge them',
    flags: [...api.CONNECTION_FLAGS, ...REPORT_FLAGS],
    run: (args, world) =>
      areFiles(args.words, world)
        ? runReportCommand(args, world)
        : api.runApiCommand(api.showReport, args, world)
  },
  apiCommand('results', '<id>', 'download the CSVs of a run', api.downloadResults, api.RESULTS_FLAGS),
  apiCommand('grid create', '', 'make a grid', api.createGrid, api.GRID_FLAGS),
  apiCommand('grid show', '<id>', 'show a grid', api.showGrid),
  apiCommand('grid terminate', '<id>', 'terminate a grid', api.terminateGrid),
  apiCommand('account', '', 'show the account', api.showAccount),
  { name: 'demo', operands: '', about: 'try the gate on a demo shop', flags: DEMO_FLAGS, run: runDemoCommand }
]

/** Runs what was typed and answers the exit code. */
export async function runCommandLine(args: readonly string[], world: World): Promise<number> {
  const { out } = world.screen
  const wantsHelp = args.includes('--help') || args.includes('-h') || args[0] === 'help'
  const command = findCommand(args[0] === 'help' ? args.slice(1) : args)
  if (args[0] === '--version') out.write(`${world.version}\n`)
  else if (command === undefined && (wantsHelp || args.length === 0)) out.write(renderOverview())
  else if (command === undefined) throw new UsageError(unknownCommand(args[0] ?? ''))
  else if (wantsHelp) out.write(renderHelp(command))
  else {
    const given = readArguments(args.slice(command.name.split(' ').length), command.flags)
    if (command.operands !== REPORT_OPERANDS || !areFiles(given.words, world))
      checkWords(command, given.words)
    return command.run(given, world)
  }
  return 0
}

function unknownCommand(word: string): string {
  const family = COMMANDS.filter(({ name }) => name.startsWith(`${word} `)).map(({ name }) => name)
  if (family.length > 0) return `"${word}" is not a command by itself; there are ${family.join(', ')}`
  return `unknown command "${word}"; \`loadgate --help\` lists them`
}

/** A word too many is a mistake, and may be a plan that was meant for --files. */
function checkWords({ name, operands, flags }: Command, words: readonly string[]): void {
  const [id] = words
  if (operands === '' && id !== undefined)
    throw new UsageError(`\`loadgate ${name}\` takes flags only, found "${id}"`)
  if (words.length > 1 || (operands.startsWith('<') && id === undefined))
    throw new UsageError(`\`loadgate ${name}\` takes one id, found ${words.length}`)
  if (id === undefined || isId(id)) return
  const advice = flags.some((flag) => flag.name === 'files') ? '; a plan is given by --files' : ''
  throw new UsageError(`"${id}" is no id: letters, digits, - and _ are accepted${advice}`)
}

function findCommand(args: readonly string[]): Command | undefined {
  return COMMANDS.find(({ name }) => name === args.slice(0, name.split(' ').length).join(' '))
}

function renderOverview(): string {
  const width = Math.max(...COMMANDS.map(({ name, operands }) => `${name} ${operands}`.length))
  const lines = COMMANDS.map(
    ({ name, operands, about }) => `  ${`${name} ${operands}`.trim().padEnd(width)}  ${about}`
  )
  return `loadgate: a performance gate

${lines.join('\n')}

\`loadgate <command> --help\` tells its flags. The API token comes from LOADGATE_TOKEN.
Exit codes: 0 passed, 1 failed, 2 inconclusive, timed out or an error, 130 cancelled.
`
}

function renderHelp({ name, operands, about, flags }: Command): string {
  const rows = flags.map(
    (flag) => [`--${flag.name}${flag.value === undefined ? '' : ` <${flag.value}>`}`, flag.about] as const
  )
  const width = Math.max(...rows.map(([flag]) => flag.length))
  const usage = `loadgate ${name} ${operands}`.trim()
  return `${usage}: ${about}\n\n${rows.map(([flag, words]) => `  ${flag.padEnd(width)}  ${words}`).join('\n')}\n`
}
