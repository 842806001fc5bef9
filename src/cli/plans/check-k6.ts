import { mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { error, warning, type Finding, type RunFile } from '../../analysis/plans/check/request.js'
import { checkScenarios } from '../../analysis/plans/check/source-plan.js'
import { messageOf } from '../../contract/text.js'
import { readParameters } from '../../gate/settings/override-parameters.js'
import { secretParameters } from '../../gate/settings/secret-parameters.js'
import type { Settings } from '../../gate/settings/settings.js'
import { parseOverrideHosts } from '../../service/engines/engine.js'
import { readEnvironmentFile } from '../../service/engines/environment-file.js'
import { findK6 } from '../../service/engines/k6/k6.js'
import { scriptVariables } from '../../service/engines/k6/run-node.js'
import { programsHere } from '../../service/engines/program-source.js'
import { redactLog, secretValues } from '../../service/engines/redact-log.js'
import { toolEnvironment } from '../../service/engines/tool-environment.js'
import { Processes } from '../../service/nodes/machine/processes.js'
import { startWatchdog } from '../../service/nodes/machine/watchdog.js'
import type { ScriptOrder } from '../../service/programs/k6/order.js'
import type { K6Process } from '../../service/programs/k6/process.js'
import { readScript, ScriptError } from '../../service/programs/k6/script.js'

const LONGEST_MS = 30_000
const MOST_WORDS = 1000
/** How k6 exits where options are not valid, thresholds among them. */
const BAD_OPTIONS = 104

interface Inspection {
  readonly k6: string
  readonly paths: readonly string[]
  readonly name: string
  readonly folder: string
  readonly settings: Settings
  readonly env: NodeJS.ProcessEnv
  readonly cancelled: AbortSignal
}

/** What `k6 inspect` says of the script, which reads it as a run does: with its files beside it, up to the first iteration. */
export async function checkK6(
  settings: Settings,
  { isHere, env, cancelled }: { isHere: boolean; env: NodeJS.ProcessEnv; cancelled: AbortSignal }
): Promise<Finding[]> {
  if (settings.origin.kind !== 'files') return []
  const paths = settings.origin.paths.map((path) => resolve(path))
  const name = basename(paths[0] ?? '')
  let k6: string
  try {
    k6 = await findK6Here(env, cancelled)
  } catch (thrown) {
    const message = `${name} could not be checked: ${messageOf(thrown)}.`
    return [isHere ? error(message) : { level: 'note', message }]
  }
  const folder = await mkdtemp(join(tmpdir(), 'loadgate-check-'))
  try {
    const said = await inspect({ k6, paths, name, folder, settings, env, cancelled })
    const variables = await readEnvironmentFile(
      join(folder, 'files'),
      paths.map((path) => basename(path))
    )
    const given = Object.entries(variables).map(([variable, value]) => ({ name: variable, value }))
    const secrets = [...secretParameters(settings), ...secretValues(given)]
    // Cut when nothing secret is left: half of it would not be found.
    return said.map(({ level, message }) => ({ level, message: shortenWords(redactLog(message, secrets)) }))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Throws if there is no k6 to ask. */
export async function findK6Here(env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<string> {
  const processes = new Processes({ onStart: () => undefined, onEnd: () => undefined })
  const { k6 } = await findK6(programsHere({ env, processes, signal, log: () => undefined }))
  return k6
}

async function inspect(inspection: Inspection): Promise<Finding[]> {
  const { k6, paths, name, folder } = inspection
  const files = join(folder, 'files')
  await mkdir(files)
  for (const path of paths) await symlink(path, join(files, basename(path)))
  try {
    const { own, doubts } = await readScript(describeOrder(inspection, { k6, script: join(files, name) }), {
      env: await scriptEnvironment(inspection, files),
      ...{ tempDir: folder, limitMs: LONGEST_MS, isGroup: true },
      onStart: (started) => watch(started, inspection)
    })
    return [...doubts.map((doubt) => warning(`${doubt}.`)), ...(await judge(own, inspection))]
  } catch (thrown) {
    return [thrown instanceof ScriptError ? describeError(thrown, name) : error(`${messageOf(thrown)}.`)]
  }
}

/** It ends with this command, even if that is killed. */
function watch({ pid, ended, kill }: K6Process, { folder, cancelled }: Inspection): void {
  if (pid === undefined) return
  const end = (): void => kill('SIGKILL')
  const watchdog = startWatchdog(folder)
  watchdog.watch({ pid })
  cancelled.addEventListener('abort', end)
  const forget = (): void => {
    watchdog.dismiss()
    cancelled.removeEventListener('abort', end)
  }
  ended.then(forget, forget)
}

/** As a single node gets it: what it refuses is the same for all. */
function describeOrder({ settings }: Inspection, program: Pick<ScriptOrder, 'k6' | 'script'>): ScriptOrder {
  const { hosts } = parseOverrideHosts(settings.overrideHosts ?? '')
  return { ...program, ...loadOf(settings), ...{ part: 0, parts: 1 }, hosts }
}

function loadOf({ threads, rampupSeconds, durationSeconds }: Settings) {
  return {
    vus: threads ?? null,
    rampupSec: rampupSeconds ?? null,
    durationSec: durationSeconds ?? null
  }
}

/** The variables that a run gives to the script. */
async function scriptEnvironment(
  { paths, settings, env }: Inspection,
  folder: string
): Promise<NodeJS.ProcessEnv> {
  const { vus: threads, rampupSec, durationSec } = loadOf(settings)
  const properties = readParameters(settings.overrideParameters ?? '')
  const names = paths.map((path) => basename(path))
  return {
    ...toolEnvironment(env),
    ...(await readEnvironmentFile(folder, names)),
    ...scriptVariables({ threads, rampupSec, durationSec, properties })
  }
}

/** Of a script with scenarios of its own: what of the settings these do not read. */
async function judge(
  { scenarios }: { readonly scenarios?: Readonly<Record<string, unknown>> | null },
  { paths, name, settings }: Inspection
): Promise<Finding[]> {
  const [plan, ...others] = await Promise.all(paths.map(readSource))
  // What the script in an archive reads is unknown.
  if (Object.keys(scenarios ?? {}).length === 0 || plan?.text === undefined) return []
  const { threads, rampupSeconds, durationSeconds } = settings
  return checkScenarios({
    plan: { name, text: plan.text },
    ...{ others, parameters: [], threads, rampupSeconds, durationSeconds }
  })
}

async function readSource(path: string): Promise<RunFile> {
  const isSource = /\.[cm]?[jt]s$/i.test(path)
  return { name: basename(path), text: isSource ? await readFile(path, 'utf8') : undefined }
}

function describeError({ words, how }: ScriptError, name: string): Finding {
  if (how.isLate)
    return warning(`k6 did not read ${name} within ${LONGEST_MS / 1000} s, so it could not be checked.`)
  const isMissingFile = /no such file|couldn't be found on local disk/.test(words)
  const advice = isMissingFile
    ? ' Files lie beside the script when it runs, without their folders: list the file under files, and name it ./ and its name in the script.'
    : ''
  const what = how.code === BAD_OPTIONS ? `The options of ${name} are not valid` : `k6 cannot read ${name}`
  return error(`${what}: ${inOneLine(words)}.${advice}`)
}

/** Without k6's own stack frames. */
function inOneLine(words: string): string {
  return words
    .replace(/\n\tat [^\n]*\(native\)/g, '')
    .replace(/\s*\n\s*/g, ' ')
    .trim()
    .replace(/\.$/, '')
}

function shortenWords(message: string): string {
  return message.length > MOST_WORDS ? `${message.slice(0, MOST_WORDS - 1)}…` : message
}
