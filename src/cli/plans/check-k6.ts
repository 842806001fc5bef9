import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { error, warning, type Finding, type RunFile } from '../../analysis/plans/check/request.js'
import { checkScenarios, variableOf } from '../../analysis/plans/check/source-plan.js'
import { messageOf } from '../../contract/text.js'
import { readParameters } from '../../gate/settings/override-parameters.js'
import { secretParameters } from '../../gate/settings/secret-parameters.js'
import type { Settings } from '../../gate/settings/settings.js'
import { readEnvironmentFile } from '../../service/engines/environment-file.js'
import { toolEnvironment } from '../../service/engines/tool-environment.js'
import { strikeOut } from '../screen.js'

const INSTALL =
  'install k6 1.0 or later (the step `uses: grafana/setup-k6-action@v1` in a workflow, a package, or `go install go.k6.io/k6@latest`), or set K6 to its path'
const LEAST_MAJOR = 1
const LONGEST_MS = 30_000
const MOST_OUTPUT = 1 << 26
const MOST_WORDS = 600
/** How k6 exits where options are not valid, thresholds among them. */
const BAD_OPTIONS = 104
/** Nothing is reported and nothing is downloaded, as in a run. */
const QUIET = { K6_NO_USAGE_REPORT: 'true', K6_AUTO_EXTENSION_RESOLUTION: 'false' }

interface Inspected {
  readonly scenarios?: Readonly<Record<string, unknown>> | null
  readonly hosts?: Readonly<Record<string, unknown>> | null
}

/** What `k6 inspect` says of the script, which reads it as a run does: with its files beside it, up to its first user. */
export async function checkK6(
  settings: Settings,
  { isHere, env }: { isHere: boolean; env: NodeJS.ProcessEnv }
): Promise<Finding[]> {
  if (settings.origin.kind !== 'files') return []
  const paths = settings.origin.paths.map((path) => resolve(path))
  const name = basename(paths[0] ?? '')
  const k6 = env.K6 ? resolve(env.K6) : 'k6'
  const missing = await findMissing(k6, env)
  if (missing !== undefined) {
    const message = `${name} could not be checked: ${missing}; ${INSTALL}.`
    return [isHere ? error(message) : { level: 'note', message }]
  }
  const folder = await mkdtemp(join(tmpdir(), 'loadgate-check-'))
  try {
    const found = await inspect({ k6, paths, name, folder, settings, env })
    const said = 'finding' in found ? [found.finding] : await judge(found.options, { paths, name, settings })
    const secrets = secretParameters(settings)
    return said.map(({ level, message }) => ({ level, message: strikeOut(message, secrets) }))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Why there is no k6 to ask; undefined if there is one. */
async function findMissing(k6: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const { output, failure } = await execute(k6, ['--version'], { env: toolEnvironment(env) })
  if (failure?.code === 'ENOENT' || failure?.code === 'EACCES')
    return env.K6 ? `K6 is ${env.K6}, where no program is` : 'there is no k6 on the PATH'
  const [, version, major] = /^k6(?:\.exe)? v?((\d+)\.\d+\.\d+)/m.exec(output) ?? []
  if (version === undefined) return `${k6} does not say which k6 it is`
  return Number(major) < LEAST_MAJOR ? `${k6} is k6 ${version}, which is too old` : undefined
}

interface Inspection {
  readonly k6: string
  readonly paths: readonly string[]
  readonly name: string
  readonly folder: string
  readonly settings: Settings
  readonly env: NodeJS.ProcessEnv
}

async function inspect(inspection: Inspection): Promise<{ options: Inspected } | { finding: Finding }> {
  const { k6, paths, name, folder } = inspection
  const files = join(folder, 'files')
  const config = join(folder, 'config.json')
  await mkdir(files)
  await writeFile(config, '{}')
  for (const path of paths) await symlink(path, join(files, basename(path)))
  let env: NodeJS.ProcessEnv
  try {
    env = await scriptEnvironment(inspection, files)
  } catch (thrown) {
    return { finding: error(messageOf(thrown)) }
  }
  const ask = (more: readonly string[]): ReturnType<typeof execute> => {
    const args = [
      'inspect',
      '--include-system-env-vars',
      '--no-color',
      '--log-format=json',
      `--config=${config}`
    ]
    return execute(k6, [...args, ...more, join(files, name)], { env, cwd: files })
  }
  // Only what a run would need is validated as in a run, and only without it the options are the script's own.
  const required = await ask(['--execution-requirements'])
  const { output, errors, failure } = required.failure === undefined ? await ask([]) : required
  if (failure?.killed)
    return {
      finding: warning(`k6 did not read ${name} within ${LONGEST_MS / 1000} s, so it could not be checked.`)
    }
  try {
    if (failure === undefined) return { options: JSON.parse(output) as Inspected }
  } catch {
    // Told below.
  }
  const words = readWords(errors, files) || `exit code ${String(failure?.code)}`
  const isMissingFile = /no such file|couldn't be found on local disk/.test(words)
  const advice = isMissingFile
    ? ' Files lie beside the script when it runs, without their folders: list the file under files, and name it ./ and its name in the script.'
    : ''
  const what =
    failure?.code === BAD_OPTIONS ? `The options of ${name} are not valid` : `k6 cannot read ${name}`
  return { finding: error(`${what}: ${words}.${advice}`) }
}

/** The variables that a run gives to the script. */
async function scriptEnvironment(
  { paths, settings, env }: Inspection,
  folder: string
): Promise<NodeJS.ProcessEnv> {
  const { threads, rampupSeconds, durationSeconds, overrideParameters = '' } = settings
  const names = paths.map((path) => basename(path))
  return {
    ...toolEnvironment(env),
    ...QUIET,
    ...(await readEnvironmentFile(folder, names)),
    ...(threads !== undefined && { THREADS: String(threads) }),
    ...(rampupSeconds !== undefined && { RAMPUP: `${rampupSeconds}s` }),
    ...(durationSeconds !== undefined && { DURATION: `${durationSeconds}s` }),
    ...Object.fromEntries(
      readParameters(overrideParameters).flatMap(({ name, value }) => [
        [name, value],
        [variableOf(name), value]
      ])
    )
  }
}

/** Of a script that k6 can read: what in its options goes against the settings. */
async function judge(
  { scenarios, hosts }: Inspected,
  { paths, name, settings }: { paths: readonly string[]; name: string; settings: Settings }
): Promise<Finding[]> {
  const [plan, ...others] = await Promise.all(paths.map(readSource))
  const { overrideHosts } = settings
  const findings: Finding[] = []
  if (overrideHosts && Object.keys(hosts ?? {}).length > 0)
    findings.push(error(`${name} sets options.hosts, which wins over override-hosts: remove one of the two.`))
  // Of an archive nobody knows what its script reads.
  if (Object.keys(scenarios ?? {}).length === 0 || plan?.text === undefined) return findings
  const { threads, rampupSeconds, durationSeconds } = settings
  const request = {
    plan: { name, text: plan.text },
    others,
    parameters: [],
    threads,
    rampupSeconds,
    durationSeconds
  }
  return [...findings, ...checkScenarios(request)]
}

async function readSource(path: string): Promise<RunFile> {
  const isSource = /\.[cm]?[jt]s$/i.test(path)
  return { name: basename(path), text: isSource ? await readFile(path, 'utf8') : undefined }
}

/** What k6 logged as errors, without the folder in which it ran and without where in k6 itself it happened. */
function readWords(errors: string, folder: string): string {
  const said = errors.split('\n').flatMap((line) => {
    if (line.trim() === '') return []
    try {
      const { level, msg } = JSON.parse(line) as { level?: unknown; msg?: unknown }
      return level === 'error' && typeof msg === 'string' ? [msg] : []
    } catch {
      return [line]
    }
  })
  return said
    .join('\n')
    .replaceAll(`file://${folder}/`, '')
    .replaceAll(`${folder}/`, '')
    .replace(/\n\tat [^\n]*\(native\)/g, '')
    .replace(/\s*\n\s*/g, ' ')
    .trim()
    .replace(/\.$/, '')
    .slice(0, MOST_WORDS)
}

interface Failure {
  /** The exit code, or why it could not be started. */
  readonly code?: string | number | null | undefined
  readonly killed?: boolean | undefined
}

function execute(
  file: string,
  args: readonly string[],
  options: { env: NodeJS.ProcessEnv; cwd?: string }
): Promise<{ output: string; errors: string; failure: Failure | undefined }> {
  const limits = { timeout: LONGEST_MS, maxBuffer: MOST_OUTPUT, killSignal: 'SIGKILL' as const }
  return new Promise((done) => {
    execFile(file, args, { ...limits, ...options }, (failure, output, errors) =>
      done({ output, errors, failure: failure ?? undefined })
    )
  })
}
