import { checkBeforeRun } from '../gate/preflight.js'
import { SettingsError } from '../gate/settings/settings.js'
import { markedValues } from '../gate/settings/secret-parameters.js'
import type { Settings, Skip } from '../gate/settings/settings.js'
import type { Finding } from '../plans/check/finding.js'
import { systemClock } from '../service/clock.js'
import { UsageError } from './arguments.js'
import type { Arguments, Flag } from './arguments.js'
import { checkMachine } from './check/machine.js'
import { checkTarget } from './check/target.js'
import { GATE_FLAGS, readGateSettings } from './gate-command.js'
import type { GateCommandPorts } from './gate-command.js'
import { plain, safeJson, strikeOut } from './screen.js'

/** Flags of `loadgate run` that change nothing in what is checked. */
const NOT_FLAGS = ['run-id', 'repeat', 'name', 'notes', 'project', 'tags', 'output', 'junit', 'json']

export const CHECK_FLAGS: readonly Flag[] = [
  ...GATE_FLAGS.filter(({ name }) => !NOT_FLAGS.includes(name)).map((flag) =>
    flag.name === 'rehearse'
      ? { ...flag, about: 'Check for a rehearsal, which needs no tool and no target.' }
      : flag
  ),
  { name: 'json', group: 'Output', about: 'Print the findings as JSON.' }
]

const NOTHING_FOUND = 'No problems found.'

/** `loadgate check`: what would go wrong with a run of these settings, found in seconds. Returns the exit code. */
export async function runCheckCommand(args: Arguments, ports: GateCommandPorts): Promise<number> {
  const findings = await findProblems(args, ports)
  const count = (level: Finding['level']): number => findings.filter((found) => found.level === level).length
  const errors = count('error')
  const warnings = count('warning')
  const isJson = args.has('json')
  const text = isJson ? safeJson({ errors, warnings, findings }) : render(findings, errors, warnings)
  ports.screen.out.write(strikeOut(text, [ports.token]))
  return errors > 0 ? 2 : 0
}

async function findProblems(args: Arguments, ports: GateCommandPorts): Promise<Finding[]> {
  const read = await readOrRefuse(args, ports)
  if ('findings' in read) return read.findings
  const settings = read
  if ('skip' in settings) return [{ level: 'note', message: `The gate would be skipped: ${settings.skip}.` }]
  if (settings.origin.kind !== 'files')
    throw new UsageError(
      `${settings.origin.kind === 'existing' ? 'run-id' : 'repeat'} names a run that exists, so that there is no plan to check; remove it from the config file, or judge the run with \`loadgate run\``
    )
  const secrets = markedValues(settings)
  const found = await checkSettings(settings, args, ports)
  return found.map(({ level, message }) => ({ level, message: strikeOut(message, secrets) }))
}

async function checkSettings(
  settings: Settings,
  args: Arguments,
  ports: GateCommandPorts
): Promise<Finding[]> {
  const plan = settings.origin.kind === 'files' ? (settings.origin.paths[0] ?? '') : ''
  const { findings: found, target } = await checkBeforeRun(settings, process.env)
  const findings = [...found, ...noteUnused(args, settings, ports)]
  const isHere = settings.target.kind === 'local' && settings.regions === undefined
  if (!isHere || args.has('rehearse')) return findings
  const clock = ports.clock ?? systemClock
  const [machine, answer] = await Promise.all([
    checkMachine({ tool: settings.tool, plan, workspace: ports.workspace }),
    checkTarget(settings, { target, clock, cancelled: ports.cancelled })
  ])
  // Of a plan that cannot be read, nobody wants to know more.
  const isBroken = target === undefined && findings.some(({ level }) => level === 'error')
  return [...findings, ...machine, ...(isBroken ? answer.filter(({ level }) => level !== 'note') : answer)]
}

/** Whoever sets the variable expects the load to come from there. */
function noteUnused(args: Arguments, { target }: Settings, { baseUrl }: GateCommandPorts): Finding[] {
  const isUnused = target.kind === 'local' && !['', 'local'].includes(baseUrl) && !args.has('base-url')
  if (!isUnused) return []
  const message =
    'LOADGATE_BASE_URL is set, but base-url in the config file is local, which counts: the load comes from this machine.'
  return [{ level: 'note', message }]
}

/** Every problem of the settings is a finding. */
async function readOrRefuse(
  args: Arguments,
  ports: GateCommandPorts
): Promise<Settings | Skip | { findings: Finding[] }> {
  try {
    return await readGateSettings(args, ports)
  } catch (thrown) {
    if (!(thrown instanceof SettingsError)) throw thrown
    return { findings: thrown.problems.map((message) => ({ level: 'error', message })) }
  }
}

function render(findings: readonly Finding[], errors: number, warnings: number): string {
  const width = Math.max(...findings.map(({ level }) => level.length), 0)
  const lines = findings.map(({ level, message }) => {
    const [first = '', ...more] = plain(message).split('\n')
    return [
      `${level.padEnd(width)}  ${first}`,
      ...more.map((line) => `${' '.repeat(width + 2)}${line}`)
    ].join('\n')
  })
  const total =
    errors + warnings === 0
      ? NOTHING_FOUND
      : `${plural(errors, 'error')}, ${plural(warnings, 'warning')}.${errors > 0 ? ' Fix the errors before a run.' : ''}`
  return [...lines, total, ''].join('\n')
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
