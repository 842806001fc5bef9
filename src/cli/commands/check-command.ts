import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { checkBeforeRun } from '../../gate/preflight.js'
import { SettingsError } from '../../gate/errors.js'
import { startDeadline, withDeadline } from '../../gate/deadline.js'
import { tokenFor } from '../../gate/gate.js'
import { withoutSecrets } from '../../contract/setting-values.js'
import { isSecret, markedValues } from '../../gate/settings/secret-parameters.js'
import { readParameters } from '../../gate/settings/override-parameters.js'
import type { Settings, Skip } from '../../gate/settings/settings.js'
import type { Finding } from '../../analysis/plans/check/request.js'
import type { Target } from '../../analysis/plans/check/jmx-target.js'
import { capitalize, count, messageOf } from '../../contract/text.js'
import { vocabularyOf } from '../../contract/vocabulary.js'
import { ServiceClient } from '../../client/client.js'
import { RefusedError } from '../../client/errors.js'
import { systemClock, type Clock } from '../../contract/clock.js'
import { probe, type ProbeResult } from '../../client/http/probe.js'
import { UsageError, type Arguments } from '../arguments.js'
import { checkK6 } from '../plans/check-k6.js'
import { gateFlags, readGateSettings } from './gate-command.js'
import { openIdTokensOf } from '../gate-terminal.js'
import type { CommandPorts } from '../ports.js'
import { plain, say, strikeOut } from '../screen.js'

/** Flags of `loadgate run` that change nothing in what is checked. */
const NOT_FLAGS = [
  ...['run-id', 'repeat', 'results', 'tool-exit-code'],
  ...['name', 'notes', 'project', 'tags', 'output', 'junit', 'summary']
]

export const flags = gateFlags(NOT_FLAGS, {
  rehearse: 'Check for a rehearsal, which needs no tool and no target.',
  json: 'Print the findings as JSON.'
})

const NOTHING_FOUND = 'No problems found.'

/** `loadgate check`: what would go wrong with a run of these settings, found in seconds. Returns the exit code. */
export async function run(args: Arguments, ports: CommandPorts): Promise<number> {
  const findings = await findProblems(args, ports)
  const [errors = 0, warnings = 0] = ['error', 'warning'].map(
    (wanted) => findings.filter(({ level }) => level === wanted).length
  )
  say(ports, args, { errors, warnings, findings }, () => render(findings, errors, warnings))
  return errors > 0 ? 2 : 0
}

async function findProblems(args: Arguments, ports: CommandPorts): Promise<Finding[]> {
  const told: Finding[] = []
  const settings = await readOrRefuse(args, ports, (message) => told.push({ level: 'note', message }))
  if ('findings' in settings) return [...told, ...settings.findings]
  if ('skip' in settings) return [{ level: 'note', message: `The gate would be skipped: ${settings.skip}.` }]
  if (settings.origin.kind !== 'files') throw new UsageError(describeNoPlan(settings.origin))
  const secrets = markedValues(settings)
  const found = await checkSettings(settings, args, ports)
  return [...told, ...found.map(({ level, message }) => ({ level, message: strikeOut(message, secrets) }))]
}

async function checkSettings(settings: Settings, args: Arguments, ports: CommandPorts): Promise<Finding[]> {
  const plan = settings.origin.kind === 'files' ? (settings.origin.paths[0] ?? '') : ''
  const { findings: found, target } = await checkBeforeRun(settings, process.env)
  const isHere = settings.target.kind === 'local' && settings.regions === undefined
  const findings = [
    ...found,
    ...noteUnused(args, settings, ports),
    ...(args.has('rehearse')
      ? []
      : await checkScript(settings, { isHere, found, cancelled: ports.cancelled }))
  ]
  if (settings.target.kind === 'remote') return [...findings, ...(await checkService(settings, ports))]
  if (!isHere || args.has('rehearse')) return findings
  const clock = ports.clock ?? systemClock
  const [machine, answer] = await Promise.all([
    checkMachine({ tool: settings.tool, plan, workspace: ports.workspace }),
    checkTarget(settings, { target, clock, cancelled: ports.cancelled })
  ])
  // If the plan cannot be read, further findings would not help.
  const isBroken = target === undefined && findings.some(({ level }) => level === 'error')
  return [...findings, ...machine, ...(isBroken ? answer.filter(({ level }) => level !== 'note') : answer)]
}

/** Reads the account, as a run does before anything is created: a wrong address or token is found. */
async function checkService({ target, serviceName }: Settings, ports: CommandPorts): Promise<Finding[]> {
  if (target.kind !== 'remote') return []
  const { clock = systemClock, cancelled } = ports
  const words = vocabularyOf(serviceName)
  const token = tokenFor({ openIdTokens: openIdTokensOf(ports) }, target)
  const client = new ServiceClient({ address: target.address, token, words, clock })
  try {
    const limit = {
      error: new Error(`The service did not answer within ${LONGEST_MS / 1000} s`),
      others: [cancelled]
    }
    await withDeadline(clock, LONGEST_MS, limit, (signal) => client.account(signal))
    return []
  } catch (thrown) {
    cancelled.throwIfAborted()
    // A run goes on where something else than an account is there.
    const isSure = !(thrown instanceof RefusedError) || thrown.status === 401
    return [{ level: isSure ? 'error' : 'warning', message: capitalize(messageOf(thrown)) }]
  } finally {
    await client.close()
  }
}

/** What k6 itself says of its script, if nothing else is wrong with that file. */
async function checkScript(
  settings: Settings,
  { isHere, found, cancelled }: { isHere: boolean; found: readonly Finding[]; cancelled: AbortSignal }
): Promise<Finding[]> {
  if (settings.tool !== 'k6' || found.some(({ level }) => level === 'error')) return []
  const said = await checkK6(settings, { isHere, env: process.env, cancelled })
  return said.filter(({ message }) => !found.some((known) => known.message === message))
}

/** Whoever sets the variable expects the load to come from there. */
function noteUnused(args: Arguments, { target }: Settings, { baseUrl }: CommandPorts): Finding[] {
  if (target.kind !== 'local' || ['', 'local'].includes(baseUrl) || args.has('base-url')) return []
  const message =
    'LOADGATE_BASE_URL is set, but base-url in the config file is local, which takes precedence: the load comes from this machine.'
  return [{ level: 'note', message }]
}

/** Every problem of the settings is a finding. */
async function readOrRefuse(
  args: Arguments,
  ports: CommandPorts,
  tell: (line: string) => void
): Promise<Settings | Skip | { findings: Finding[] }> {
  try {
    return await readGateSettings(args, ports, tell)
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
      : `${count(errors, 'error')}, ${count(warnings, 'warning')}.${errors > 0 ? ' Fix the errors before a run.' : ''}`
  return [...lines, total].join('\n')
}

const LEAST_JAVA: Readonly<Record<string, number>> = {
  ...{ jmeter: 8, gatling: 11, 'java-selenium-chrome': 11, 'java-selenium-firefox': 11 }
}
const LEAST_FREE_MB = 200
const LONGEST_MS = 10_000
const INSTALL =
  'install a JDK (17 is a good choice: `apt-get install openjdk-17-jdk-headless` on Debian and Ubuntu, `brew install openjdk@17` on macOS, actions/setup-java in a workflow), or set JAVA_HOME'

interface Wanted {
  readonly tool: string
  readonly plan: string
  readonly workspace: string
}

export async function checkMachine(
  wanted: Wanted,
  { env = process.env, freeMb = readFreeMb }: { env?: NodeJS.ProcessEnv; freeMb?: typeof readFreeMb } = {}
): Promise<Finding[]> {
  const [java, space] = await Promise.all([checkJava(wanted, env), checkSpace(wanted, freeMb)])
  return [...java, ...space]
}

async function checkJava({ tool, plan }: Wanted, env: NodeJS.ProcessEnv): Promise<Finding[]> {
  const least = LEAST_JAVA[tool]
  if (least === undefined) return []
  const refuse = (what: string): Finding[] => [
    { level: 'error', message: `${tool} needs ${what}: ${INSTALL}.` }
  ]
  const { JAVA_HOME } = env
  const java = JAVA_HOME ? resolve(JAVA_HOME, 'bin', 'java') : 'java'
  const { output, isThere } = await askJava(java, env)
  if (!isThere)
    return refuse(
      `Java, and ${JAVA_HOME ? `JAVA_HOME is ${JAVA_HOME}, where no bin/java runs` : 'there is no java on the PATH'}`
    )
  const [, version = '', old, now] = /version "((?:1\.(\d+)|(\d+))[^"]*)"/.exec(output) ?? []
  if (Number(old ?? now) < least) return refuse(`Java ${least} or later, and ${java} is ${version}`)
  const lacksCompiler = /\.java$/i.test(plan) && JAVA_HOME && !existsSync(join(dirname(java), 'javac'))
  return lacksCompiler ? refuse(`a JDK to compile the plan, and in ${JAVA_HOME} there is no javac`) : []
}

async function checkSpace({ workspace }: Wanted, freeMb: typeof readFreeMb): Promise<Finding[]> {
  const free = await freeMb(workspace)
  if (free === undefined || free >= LEAST_FREE_MB) return []
  const message = `Only ${Math.floor(free)} MB are free on the disk of ${workspace}, where the results go; free up space, or choose another folder with --output.`
  return [{ level: 'warning', message }]
}

async function readFreeMb(folder: string): Promise<number | undefined> {
  const facts = await statfs(folder).catch(() => undefined)
  return facts && (facts.bavail * facts.bsize) / 2 ** 20
}

function askJava(java: string, env: NodeJS.ProcessEnv): Promise<{ output: string; isThere: boolean }> {
  return new Promise((done) => {
    execFile(java, ['-version'], { env, timeout: LONGEST_MS }, (error, stdout, stderr) =>
      done({ output: `${stderr}${stdout}`, isThere: error === null })
    )
  })
}

const LONGEST_TRY_MS = 5_000

interface Options {
  /** What the plan's first request is sent to, if it is known. */
  readonly target: Target | undefined
  readonly clock: Clock
  readonly cancelled: AbortSignal
}

/** Sends the target one request: that of `wait-for`, or the plan's first GET. */
async function checkTarget(
  { waitFor, overrideHosts, overrideParameters }: Settings,
  { target, clock, cancelled }: Options
): Promise<Finding[]> {
  const url = waitFor?.url ?? target?.url
  const find = (level: Finding['level'], message: string): Finding[] => [{ level, message }]
  if (url === undefined)
    return find(
      'note',
      'The target was not tried: its address is only known when the plan runs. `--wait-for <address>` tries that one.'
    )
  if (waitFor === undefined && overrideHosts?.toLowerCase().includes(url.hostname.toLowerCase()))
    return find('note', `The target was not tried: override-hosts gives ${url.hostname} another address.`)
  const shown = withoutSecrets(waitFor === undefined && target ? target.shown : url.href)
  const result = await tryOnce(url, { clock, cancelled })
  if ('failure' in result) {
    const message = `The target ${shown} does not answer: ${result.failure}. ${ADVICE[result.kind]}`
    // A plan with slow requests may pass.
    return find(result.kind === 'slow' ? 'warning' : 'error', message)
  }
  if ([401, 403].includes(result.status) && !readParameters(overrideParameters ?? '').some(isSecret))
    return find(
      'warning',
      `The target ${shown} answers ${result.status}: it needs a login, and override-parameters have no secret to log in with. docs/plans.md shows how a plan logs in.`
    )
  if (result.status < 500) return find('note', `The target ${shown} answers (${result.status}).`)
  // The plan may not request this path.
  const isAsked = waitFor !== undefined || target?.isOfPlan === true
  const message = `The target ${shown} answers ${result.status}, an error of the server; look into its log before a run.`
  return find(isAsked ? 'error' : 'warning', message)
}

async function tryOnce(
  url: URL,
  { clock, cancelled }: Omit<Options, 'target'>
): Promise<ProbeResult | { kind: 'slow'; failure: string }> {
  const slow = new Error('slow')
  const deadline = startDeadline(clock, LONGEST_TRY_MS, { error: slow, others: [cancelled] })
  try {
    // The tools accept any certificate too.
    return await probe(url, { signal: deadline.signal, acceptsAnyCertificate: true })
  } catch (thrown) {
    if (thrown !== slow) throw thrown
    // It accepted the connection, and has not replied yet.
    return { kind: 'slow', failure: `${url.host} did not reply within ${LONGEST_TRY_MS / 1000} s` }
  } finally {
    deadline.release()
  }
}

const CHECK_NETWORK = 'Check the address and the network between this machine and the target.'
const ADVICE = {
  'no-server':
    'Start the server first, or correct host and port: in the plan, or with override-parameters. If it is still starting, `wait-for` waits for it.',
  'unknown-host': 'Correct the host: in the plan, or with override-parameters.',
  slow: 'Is it busy, or still starting?',
  ...{ certificate: CHECK_NETWORK, other: CHECK_NETWORK }
}

function describeNoPlan({ kind }: Settings['origin']): string {
  const words = 'so that there is no plan to check; remove it from the config file, or judge'
  if (kind === 'results') return `results names files that exist, ${words} them with \`loadgate run\``
  return `${kind === 'existing' ? 'run-id' : 'repeat'} names a run that exists, ${words} the run with \`loadgate run\``
}
