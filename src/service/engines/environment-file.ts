import { readFile, mkdir, symlink } from 'node:fs/promises'
import { join, basename, dirname, relative } from 'node:path'
import { ToolError } from '../errors.js'
import type { NodeOrder, NodePosition } from './engine.js'

/** An uploaded file of this name has variables for the plan, one `NAME=value` per line. */
export const ENVIRONMENT_FILE = 'environment'

/** A variable of a process may have about 128 KiB; a longer one would keep it from starting. */
const MAX_LENGTH = 65_536
const ASSIGNMENT = /^(?:export\s+)?([^\s=]+)\s*=\s*(.*)$/s
const NAME = /^[A-Za-z_]\w*$/
/** A value in quotes; a comment may follow it. */
const QUOTED = /^(?:"((?:[^"\\]|\\.)*)"|'([^']*)')\s*(?:#.*)?$/
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', '"': '"', '\\': '\\', $: '$' }

interface EnvironmentLines {
  readonly variables: Readonly<Record<string, string>>
  /** One sentence per line that cannot be used; never a value, which may be secret. */
  readonly problems: readonly string[]
}

/** Reads lines of `NAME=value`, with comments and quotes; the last value of a name counts. Nothing is expanded. */
export function parseEnvironment(text: string): EnvironmentLines {
  const tooLarge = `${ENVIRONMENT_FILE}: the file is larger than ${MAX_LENGTH} characters`
  if (text.length > MAX_LENGTH) return { variables: {}, problems: [tooLarge] }
  const variables = new Map<string, string>()
  const problems: string[] = []
  const lines = text.replace(/^\uFEFF/, '').split(/\r\n|\r|\n/)
  for (const [index, line] of lines.entries()) {
    const found = parseLine(line.trim())
    if (found && 'problem' in found) problems.push(`${ENVIRONMENT_FILE}, line ${index + 1}: ${found.problem}`)
    else if (found) variables.set(found.name, found.value)
  }
  return { variables: Object.fromEntries(variables), problems }
}

function parseLine(line: string): { name: string; value: string } | { problem: string } | undefined {
  if (line === '' || line.startsWith('#')) return undefined
  const [, name, rest] = ASSIGNMENT.exec(line) ?? []
  if (name === undefined || rest === undefined) return { problem: 'this is not NAME=value' }
  if (!NAME.test(name)) return { problem: 'a name has letters, digits and underscores only' }
  const refusal = refuseVariable(name)
  if (refusal !== undefined) return { problem: refusal }
  const value = parseValue(rest)
  if (value === undefined) return { problem: `the quotes around the value of ${name} do not match` }
  return value.includes('\0') ? { problem: `the value of ${name} has a NUL character` } : { name, value }
}

function parseValue(text: string): string | undefined {
  if (!/^["']/.test(text)) return text.replace(/(^|\s)#.*$/s, '').trimEnd()
  const [whole, double, single] = QUOTED.exec(text) ?? []
  if (whole === undefined) return undefined
  return double?.replace(/\\(.)/g, (written, letter: string) => ESCAPES[letter] ?? written) ?? single
}

/** The variables that the uploaded files in this folder give to the plan; none if there is no such file. */
export async function readEnvironmentFile(folder: string, fileNames: readonly string[]) {
  if (!fileNames.includes(ENVIRONMENT_FILE)) return {}
  const { variables, problems } = parseEnvironment(await readFile(join(folder, ENVIRONMENT_FILE), 'utf8'))
  if (problems.length > 0) throw new ToolError(problems.join('\n'))
  return variables
}

/** Files are uploaded into one folder. Links let a plan find them in the folders they have in its repository. */
export async function linkIntoFolders(folder: string, subPaths: readonly string[]): Promise<void> {
  for (const path of subPaths) {
    const place = join(folder, path)
    const target = relative(dirname(place), join(folder, basename(path)))
    // If the plan needs a link that cannot be created, its tool reports it.
    await mkdir(dirname(place), { recursive: true })
      .then(() => symlink(target, place))
      .catch(() => undefined)
  }
}

/** Tells a plan which node it runs on, to use its part of the data. Scripts expect indices from 0, sequences from 1, the misspelt name. */
export function placeVariables(place: NodePosition): Record<string, string> {
  const gridSequence = String(place.gridIndex + 1)
  return {
    FLOOD_LOAD_TEST: 'true',
    FLOOD_GRID_REGION: place.region,
    FLOOD_GRID_INDEX: String(place.gridIndex),
    FLOOD_GRID_SEQUENCE_ID: gridSequence,
    FLOOD_GRID_SQEUENCE_ID: gridSequence,
    FLOOD_NODE_INDEX: String(place.nodeIndex),
    // Across all grids, so that it alone tells the nodes of a run apart.
    FLOOD_GRID_NODE_SEQUENCE_ID: String(place.ordinal + 1),
    // Scripts read these as numbers.
    ...{ FLOOD_SEQUENCE_ID: '1', FLOOD_PROJECT_ID: '1', FLOOD_ACCOUNT_ID: '1' }
  }
}

/** What a plan is given by name: the run's settings, then the overrides, `-D` and `-J` alike; the last one wins. */
export function planParameters(
  order: Pick<NodeOrder, 'threads' | 'rampupSec' | 'durationSec' | 'properties'>
): Map<string, string> {
  const given = { threads: order.threads, rampup: order.rampupSec, duration: order.durationSec }
  const parameters = new Map<string, string>()
  for (const [name, value] of Object.entries(given)) if (value !== null) parameters.set(name, String(value))
  for (const { name, value } of order.properties) parameters.set(name, value)
  return parameters
}

/** They decide which programs run and how, so they belong to the machine, not to the plan. */
const MACHINES = new Set([
  ...['PATH', 'HOME', 'SHELL', 'TMPDIR', 'IFS', 'BASH_ENV'],
  ...['JAVA_HOME', 'JDK_HOME', 'JRE_HOME', 'CLASSPATH', 'JVM_ARGS', 'HEAP', 'JAVA_OPTS', 'JMETER_HOME'],
  ...['JAVA_TOOL_OPTIONS', 'JDK_JAVA_OPTIONS', '_JAVA_OPTIONS', 'JDK_JAVAC_OPTIONS'],
  ...['NODE_OPTIONS', 'NODE_PATH', 'NODE_REPL_EXTERNAL_MODULE', 'NODE_V8_COVERAGE', 'GCONV_PATH'],
  ...['GLIBC_TUNABLES', 'PWDEBUG', 'DEBUG', 'SSLKEYLOGFILE']
])
const MACHINES_PREFIX =
  /^(?:LD_|DYLD_|BASH_FUNC_|MAVEN_|M2_|NPM_CONFIG_|npm_config_|PLAYWRIGHT_|PW_|PWTEST_|SELENIUM_REMOTE_|LOADGATE_|K6_(?!BROWSER_))/

/** The service sets them for each node or user. */
const SERVICES = new Set([
  ...Object.keys(placeVariables({ region: '', gridIndex: 0, nodeIndex: 0, ordinal: 0 })),
  ...['WEBDRIVER_HOST', 'WEBDRIVER_PORT', 'THREAD_ID', 'ACTIVE_THREADS', 'BROWSER_ID', 'SEQUENCE']
])

/** Why an environment variable cannot be set for a plan; undefined if it can. */
export function refuseVariable(name: string): string | undefined {
  if (MACHINES.has(name) || MACHINES_PREFIX.test(name))
    return `${name} cannot be set, because it decides how the tool itself runs; use another name`
  if (SERVICES.has(name)) return `${name} cannot be set, because every node gets its own; use another name`
  return undefined
}
