import type { NodeOrder, NodePosition } from './engine.js'

/** What identifies a run, as far as it is known. */
export interface RunIdentity {
  readonly sequence?: number | undefined
  readonly project?: string | null | undefined
  readonly account?: string | null | undefined
}

/**
 * Tells a plan where it runs, so that each node can use its own part of the data. Indices count from 0 and sequence
 * numbers from 1, as scripts expect. They also expect the misspelt name.
 */
export function placeVariables(place: NodePosition, run: RunIdentity = {}): Record<string, string> {
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
    FLOOD_SEQUENCE_ID: String(run.sequence ?? 1),
    FLOOD_PROJECT_ID: numberOr1(run.project),
    FLOOD_ACCOUNT_ID: numberOr1(run.account)
  }
}

/** Scripts read ids as numbers; a project's name would become NaN. */
function numberOr1(id: string | null | undefined): string {
  return id != null && /^\d+$/.test(id) ? id : '1'
}

/** The part of an order that becomes parameters. */
export type PlanSettings = Pick<NodeOrder, 'threads' | 'rampupSec' | 'durationSec' | 'properties'>

/** What a plan is given by name: the run's settings, then the overrides, `-D` and `-J` alike; the last one wins. */
export function planParameters(settings: PlanSettings): Map<string, string> {
  const given = { threads: settings.threads, rampup: settings.rampupSec, duration: settings.durationSec }
  return new Map([
    ...Object.entries(given).flatMap(([name, value]): [string, string][] =>
      value === null ? [] : [[name, String(value)]]
    ),
    ...settings.properties.map(({ name, value }): [string, string] => [name, value])
  ])
}

/** They decide which programs run and how, so they are the machine's, not the plan's. */
const MACHINES = new Set([
  ...['PATH', 'HOME', 'SHELL', 'TMPDIR', 'IFS', 'BASH_ENV'],
  ...['JAVA_HOME', 'JDK_HOME', 'JRE_HOME', 'CLASSPATH', 'JVM_ARGS', 'HEAP', 'JAVA_OPTS', 'JMETER_HOME'],
  ...['JAVA_TOOL_OPTIONS', 'JDK_JAVA_OPTIONS', '_JAVA_OPTIONS', 'JDK_JAVAC_OPTIONS'],
  ...['NODE_OPTIONS', 'NODE_PATH', 'NODE_REPL_EXTERNAL_MODULE', 'NODE_V8_COVERAGE', 'GCONV_PATH'],
  ...['GLIBC_TUNABLES', 'PWDEBUG', 'DEBUG', 'SSLKEYLOGFILE']
])
const MACHINES_PREFIX =
  /^(?:LD_|DYLD_|BASH_FUNC_|MAVEN_|M2_|NPM_CONFIG_|npm_config_|PLAYWRIGHT_|PW_|PWTEST_|SELENIUM_REMOTE_|LOADGATE_)/

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
