import { describeLoad } from '../plans/write-plan.js'
import type { Choices, InitTool } from './choices.js'
import { parametersOf, type Credential } from './credentials.js'

/** Relative to the folder in which `loadgate init` runs, with slashes on every system. */
export const PLAN_PATHS = { jmeter: 'load/plan.jmx', k6: 'load/script.js' }
export const CONFIG_PATH = '.github/loadgate.yml'
export const WORKFLOW_PATH = '.github/workflows/loadgate.yml'

/** Editors that know it complete and check the keys. */
const schemaUrl = (reference: string): string =>
  `https://raw.githubusercontent.com/loadgate/loadgate/${reference}/schema/config.schema.json`
/** The tool is installed on first use, and the application has to start. */
const OVERHEAD_MINUTES = 15

type ConfigFacts = Pick<Choices, 'tool' | 'load' | 'rampupSeconds' | 'durationSeconds' | 'thresholds'> & {
  /** An address that answers when the application is up. */
  readonly waitFor: string
  /** The label of a request in the plan. */
  readonly label: string
  /** Further properties that the plan needs, `name` of `-Jname=…`. */
  readonly properties: readonly string[]
  /** The commit or tag of loadgate whose schema it is. */
  readonly reference: string
  readonly credentials: readonly Credential[]
}

/** What a tool calls its plan and the values in it, and how another target is given. */
const PLANS: Readonly<Record<InitTool, { word: string; values: string; target: string }>> = {
  jmeter: {
    word: 'plan',
    values: 'properties',
    target: '-Jprotocol=https, -Jhost=staging.example.com, -Jport=443'
  },
  k6: { word: 'script', values: 'variables', target: '-Jbase_url=https://staging.example.com' }
}

/** The longest that a gate with this duration should take. */
export function timeoutMinutes(durationSeconds: number): number {
  return Math.ceil(durationSeconds / 60) + OVERHEAD_MINUTES
}

/** `.github/loadgate.yml`: what the action and the command line read. */
export function writeConfig(facts: ConfigFacts): string {
  const { tool, rampupSeconds, durationSeconds, thresholds, waitFor, label, properties } = facts
  const missing = properties.map((name) => `-J${name}=…`)
  return `# yaml-language-server: $schema=${schemaUrl(facts.reference)}
# The load gate: every key is an input of the action, and a flag of \`loadgate run\`.

# \`local\` runs the load test on the machine itself. To use a load-test service, put its address here.
base-url: local
tool: ${tool}

# The ${PLANS[tool].word}, then the data files that it reads. They are put beside the ${PLANS[tool].word}: it names them without a folder.
files:
  - ${PLAN_PATHS[tool]}
  # - load/users.csv

${loadLines(facts)}
rampup: ${rampupSeconds}s
duration: ${durationSeconds}s

# Other ${PLANS[tool].values}. The ${PLANS[tool].word} reads its address from ${PLANS[tool].target.includes(',') ? 'these' : 'this one'}:
# override-parameters: ${PLANS[tool].target}
${missing.length === 0 ? '' : `# It needs these too. Secrets do not belong in this file: set them in the workflow, from secrets.\n# override-parameters: ${missing.join(', ')}\n`}${credentialLines(facts)}
# The load starts when this address answers.
wait-for: ${yamlScalar(waitFor)}
# Leave the first seconds out of all figures, while caches fill up:
# warm-up: 10s
timeout: ${timeoutMinutes(durationSeconds)}m

# What must hold: the gate fails if a line does not. \`warn:\` at the start only warns.
thresholds:
${thresholds.map((line) => `  - ${yamlScalar(line)}`).join('\n')}
  # - apdex >= 0.85
  # - ${yamlScalar(`p95{label="${label.replace(/["\\*]/g, '\\$&')}"} < 500ms`)}
  # - 'warn: p99 < 2s'
${tool === 'k6' ? `  # If the script has checks, this line makes them count:\n  # - 'error_rate{label="check: *"} < 1%'\n` : ''}`
}

function credentialLines({ credentials, tool }: ConfigFacts): string {
  return credentials.length === 0
    ? ''
    : `# The ${PLANS[tool].word} logs in with the values of environment variables: no file contains them.
override-parameters: ${parametersOf(credentials)}
`
}

function loadLines(facts: ConfigFacts): string {
  return facts.tool === 'k6' ? loadLinesOfK6(facts) : loadLinesOfJMeter(facts)
}

function loadLinesOfK6({ load }: ConfigFacts): string {
  if (load.kind === 'open')
    return `# Users arrive at a rate, whether others are waiting or not: ${describeLoad(load)}. \`threads\` has no effect; another rate
# is -Jrate=… among the override-parameters. These reach the script as __ENV.RAMPUP and __ENV.DURATION.`
  return `# These replace the options of the script. One with scenarios of its own reads them as __ENV.THREADS, __ENV.RAMPUP and
# __ENV.DURATION, or ignores them.
threads: ${load.threads}`
}

function loadLinesOfJMeter({ load, rampupSeconds, durationSeconds }: ConfigFacts): string {
  const duration = `\${__P(duration,${durationSeconds})}`
  const rampup = `\${__P(rampup,${rampupSeconds})}`
  if (load.kind === 'open')
    return `# Users arrive at a rate, whether others are waiting or not: ${describeLoad(load)}. \`threads\` has no effect; another rate
# is -Jrate=… among the override-parameters. These reach the plan as properties, as ${rampup} and
# ${duration}.`
  return `# These reach the plan as properties: it reads them as \${__P(threads,${load.threads})}, ${rampup} and
# ${duration}. A plan that does not read them ignores them.
threads: ${load.threads}`
}

/** A value on one line of YAML, in quotes if it needs them. */
function yamlScalar(text: string): string {
  const isPlain = /^[A-Za-z0-9][\w .<>=%/:?&+~-]*$/.test(text) && !/: |:$|\s$/.test(text)
  return isPlain ? text : `'${text.replace(/\s+/g, ' ').replaceAll("'", "''")}'`
}
