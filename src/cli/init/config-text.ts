import { describeLoad } from '../plans/write-plan.js'
import type { Choices } from './choices.js'

/** Relative to the folder in which `loadgate init` runs, with slashes on every system. */
export const PLAN_PATH = 'load/plan.jmx'
export const CONFIG_PATH = '.github/loadgate.yml'
export const WORKFLOW_PATH = '.github/workflows/loadgate.yml'

/** Editors that know it complete and check the keys. */
const SCHEMA_URL = 'https://raw.githubusercontent.com/loadgate/loadgate/v1/schema/config.schema.json'
/** The tool is installed on first use, and the application has to start. */
const OVERHEAD_MINUTES = 15

export type ConfigFacts = Pick<Choices, 'load' | 'rampupSeconds' | 'durationSeconds' | 'thresholds'> & {
  /** An address that answers when the application is up. */
  readonly waitFor: string
  /** The label of a request in the plan. */
  readonly label: string
  /** What the plan needs besides, `name` of `-Jname=…`. */
  readonly properties: readonly string[]
}

/** The longest that a gate with this duration should take. */
export function timeoutMinutes(durationSeconds: number): number {
  return Math.ceil(durationSeconds / 60) + OVERHEAD_MINUTES
}

/** `.github/loadgate.yml`: what the action and the command line read. */
export function writeConfig(facts: ConfigFacts): string {
  const { rampupSeconds, durationSeconds, thresholds, waitFor, label, properties } = facts
  const parameters = ['-Jprotocol=https', '-Jhost=staging.example.com', '-Jport=443']
  const missing = properties.map((name) => `-J${name}=…`)
  return `# yaml-language-server: $schema=${SCHEMA_URL}
# The load gate: every key is an input of the action, and a flag of \`loadgate run\`.

# \`local\` runs the load test on the machine itself. To use a load-test service, put its address here.
base-url: local
tool: jmeter

# The plan, then the data files that it reads. They are put beside the plan: it names them without a folder.
files:
  - ${PLAN_PATH}
  # - load/users.csv

${loadLines(facts)}
rampup: ${rampupSeconds}s
duration: ${durationSeconds}s

# Other properties. The plan reads its address from these:
# override-parameters: ${parameters.join(', ')}
${missing.length === 0 ? '' : `# It needs these too. Secrets do not belong in this file: set them in the workflow, from secrets.\n# override-parameters: ${missing.join(', ')}\n`}
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
`
}

function loadLines({ load, rampupSeconds, durationSeconds }: ConfigFacts): string {
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
